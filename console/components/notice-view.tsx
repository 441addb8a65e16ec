import { Spinner } from '@inkjs/ui';
import { Box } from 'ink';
import type { Line } from '../model/lines.ts';
import { LinesView } from './lines-view.tsx';

export interface NoticeViewProps {
  readonly lines: readonly Line[];
  readonly isBusy: boolean;
}

/** Says what happens; something turns while one waits. */
export function NoticeView({ lines, isBusy }: NoticeViewProps) {
  return (
    <Box gap={1}>
      {isBusy && <Spinner />}
      <LinesView lines={lines} />
    </Box>
  );
}
