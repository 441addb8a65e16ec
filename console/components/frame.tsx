/** What is around every screen: where one is, who is logged in, what happens, which keys help. */
import { Box, useWindowSize } from 'ink';
import type { ReactNode } from 'react';
import { useDesk } from '../desk-context.ts';
import { footOf } from '../model/foot.ts';
import { linesOf } from '../model/lines.ts';
import { noticeTone, type Notice } from '../model/notice.ts';
import { isTooSmall, smallestWindow } from '../model/window.ts';
import { NoticeView } from './notice-view.tsx';
import { Toned } from './toned.tsx';

/** The space that a screen has for its own. */
export interface Room {
  readonly columns: number;
  readonly rows: number;
}

export interface FrameProps {
  readonly title: string;
  /** The keys of this screen, such as `enter send`. */
  readonly keys: readonly string[];
  readonly notice: Notice | null;
  children(room: Room): ReactNode;
}

/** The title and the empty line below it. */
const headRows = 2;

export function Frame({ title, keys, notice, children }: FrameProps) {
  const { columns, rows } = useWindowSize();
  const { state } = useDesk();
  if (isTooSmall({ columns, rows })) return <TooSmall {...{ columns, rows }} />;
  const width = columns - 2;
  const ways = state.path.length > 1 ? ['esc back', 'ctrl+c quit'] : ['q quit'];
  const foot = footOf([...keys, ...ways], width);
  const notes = notice ? linesOf(notice.text, width - 2, noticeTone(notice)) : [];
  const noticeRows = Math.max(2, notes.length);
  const room = { columns: width, rows: rows - headRows - noticeRows - foot.length };
  return (
    <Box flexDirection="column" width={columns} height={rows} paddingX={1}>
      <Head title={title} />
      <Box flexDirection="column" height={room.rows} overflow="hidden" flexShrink={0}>
        {children(room)}
      </Box>
      <Box flexDirection="column" height={noticeRows} justifyContent="flex-end" flexShrink={0}>
        <NoticeView lines={notes} isBusy={notice?.kind === 'busy'} />
      </Box>
      <Box flexDirection="column" flexShrink={0}>
        {foot.map((line) => (
          <Toned key={line} tone="faint">
            {line}
          </Toned>
        ))}
      </Box>
    </Box>
  );
}

function Head({ title }: { readonly title: string }) {
  const { api, state } = useDesk();
  const holder = state.holder?.user.email ?? 'not logged in';
  return (
    <Box justifyContent="space-between" height={headRows} flexShrink={0}>
      <Box flexShrink={0}>
        <Toned bold>{`Ponte › ${title}`}</Toned>
      </Box>
      <Box marginLeft={2}>
        <Toned tone="faint">{`${holder} · ${new URL(api.url).host}`}</Toned>
      </Box>
    </Box>
  );
}

function TooSmall({ columns, rows }: Room) {
  const wanted = `${smallestWindow.columns}×${smallestWindow.rows}`;
  return (
    <Toned wrap="wrap">
      {`The console needs a window of ${wanted}; this one has ${columns}×${rows}. Make it larger.`}
    </Toned>
  );
}
