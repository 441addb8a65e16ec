import { Box } from 'ink';
import type { Line } from '../model/lines.ts';
import { Toned } from './toned.tsx';

/** Lines under each other, as high as there are many. */
export function LinesView({ lines }: { readonly lines: readonly Line[] }) {
  return (
    <Box flexDirection="column" flexShrink={0}>
      {lines.map(({ text, tone }, index) => (
        <Toned key={index} tone={tone}>
          {text === '' ? ' ' : text}
        </Toned>
      ))}
    </Box>
  );
}
