/** The frame of every screen: its title, the customer, a notice and the key hints. */
import { Spinner, StatusMessage } from '@inkjs/ui';
import { Box, useWindowSize } from 'ink';
import { createContext, useContext, type ReactNode } from 'react';
import { useApp } from '../hooks/use-app.ts';
import { useElapsed } from '../hooks/use-elapsed.ts';
import { success, withElapsed, type Notice } from '../state/notice.ts';
import { joinHints, wrap, type Room } from '../state/text.ts';
import { Coloured } from './coloured.tsx';

/** The part of the window that a screen has; null for all of it. */
export const RoomContext = createContext<Room | null>(null);

const smallest: Room = { columns: 60, rows: 20 };

/** Whether a window has no room for a screen. Such a window takes no keys either. */
export function isTooSmall({ columns, rows }: Room): boolean {
  return columns < smallest.columns || rows < smallest.rows;
}

/** In place of a screen that has no room. */
export function TooSmall({ columns, rows }: Room) {
  const needed = `a window of ${smallest.columns}×${smallest.rows}`;
  const text = `The console needs ${needed}; this one has ${columns}×${rows}. Make it larger.`;
  return <Coloured wrap="wrap">{text}</Coloured>;
}

export interface FrameProps {
  readonly title: string;
  /** The keys of this screen, such as `enter send`. */
  readonly hints: readonly string[];
  readonly notice: Notice | null;
  /** The keys that leave it; by default those of a screen. */
  readonly exits?: readonly string[];
  children(room: Room): ReactNode;
}

/** The title and the empty line below it. */
const headRows = 2;

/** What a long notice leaves of the screen. */
const minRows = 6;

export function Frame({ title, hints, exits, children, ...props }: FrameProps) {
  const given = useCopied() ?? props.notice;
  const seconds = useElapsed(given?.kind === 'busy' ? given.text : null);
  const size = useWindowSize();
  const { columns, rows } = useContext(RoomContext) ?? size;
  const { api, state } = useApp();
  const width = columns - 2;
  const holder = state.holder?.user.email ?? 'not logged in';
  const ways = state.path.length > 1 ? ['esc back', 'ctrl+c quit'] : ['q quit'];
  const hintLines = joinHints([...hints, ...(exits ?? ways)], width);
  const most = Math.max(2, rows - headRows - hintLines.length - minRows);
  const notice = given && fitNotice(withElapsed(given, seconds), { columns: width, rows: most });
  const noticeRows = Math.max(2, noticeLines(notice, width).length);
  const room = { columns: width, rows: rows - headRows - noticeRows - hintLines.length };
  return (
    <Box flexDirection="column" width={columns} height={rows} paddingX={1}>
      <Box justifyContent="space-between" height={headRows} flexShrink={0}>
        <Box flexShrink={0}>
          <Coloured bold>{`Ponte › ${title}`}</Coloured>
        </Box>
        <Box marginLeft={2}>
          <Coloured colour="faint">{`${holder} · ${new URL(api.url).host}`}</Coloured>
        </Box>
      </Box>
      <Box flexDirection="column" height={room.rows} overflow="hidden" flexShrink={0}>
        {children(room)}
      </Box>
      <Box flexDirection="column" height={noticeRows} justifyContent="flex-end" flexShrink={0}>
        <NoticeView {...{ notice, columns: width }} />
      </Box>
      <Box flexDirection="column" flexShrink={0}>
        {hintLines.map((line) => (
          <Coloured key={line} colour="faint">
            {line}
          </Coloured>
        ))}
      </Box>
    </Box>
  );
}

/** The notice after a text was copied: only the terminal knows whether it has taken it. */
export function useCopied(): Notice | null {
  return success(useApp().state.hasCopied && 'Copied, if your terminal allows it.');
}

/** A notice with its icon; a spinner turns while a call is under way. */
export function NoticeView({
  notice,
  columns,
}: Pick<FrameProps, 'notice'> & Pick<Room, 'columns'>) {
  if (!notice) return null;
  const text = noticeLines(notice, columns).join('\n');
  if (notice.kind === 'busy') return <Spinner label={text} />;
  return <StatusMessage variant={notice.kind}>{text}</StatusMessage>;
}

/** The end of a notice that would push the title out of the window is left out. */
function fitNotice(notice: Notice, { columns, rows }: Room): Notice {
  const lines = noticeLines(notice, columns);
  if (lines.length <= rows) return notice;
  const shown = lines.slice(0, rows);
  return { ...notice, text: `${shown.join(' ').slice(0, -1)}…` };
}

/** The icon and the space after it take two columns. */
function noticeLines(notice: Notice | null, columns: number): string[] {
  return notice ? wrap(notice.text, columns - 2) : [];
}
