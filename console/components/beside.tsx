/** The right half of a wide window: the latest transactions, or the last request. */
import { Box, useWindowSize } from 'ink';
import { useEffect, useReducer, type ReactNode } from 'react';
import { useApp } from '../hooks/use-app.ts';
import { useRead } from '../hooks/use-call.ts';
import type { ScreenName } from '../state/app-state.ts';
import { exchangeLines } from '../state/exchange.ts';
import { layOutTable, toRow } from '../state/table.ts';
import type { Line, Room } from '../state/text.ts';
import { transactionColumns } from '../state/transactions.ts';
import { Coloured, Lines } from './coloured.tsx';
import { RoomContext } from './frame.tsx';

/** From this width on. */
const wideColumns = 120;

const besideColumns = 46;

/** The lists, the screens of the operator and a charge use the whole window themselves. */
const whole: readonly ScreenName[] = ['operator', 'charge', 'login', 'statement', 'transactions'];

export interface BesideProps {
  readonly name: ScreenName;
  readonly children: ReactNode;
}

/** Gives a screen the window, or the left of a wide one. */
export function BesideScreen({ name, children }: BesideProps) {
  const { columns, rows } = useWindowSize();
  const { holder } = useApp().state;
  const isWide = columns >= wideColumns && holder !== null && !whole.includes(name);
  const room = { columns: besideColumns - 3, rows: rows - 2 };
  // The screen element stays the same when the window gets wide, so its calls continue.
  return (
    <RoomContext.Provider value={isWide ? { columns: columns - besideColumns, rows } : null}>
      {children}
      {isWide && (
        <Box
          {...{ flexDirection: 'column', width: besideColumns, height: rows, paddingX: 1 }}
          {...{ borderStyle: 'single', borderTop: false, borderRight: false, borderBottom: false }}
          borderDimColor
          overflow="hidden"
        >
          {name === 'home' ? <Latest room={room} /> : <LastRequest room={room} />}
        </Box>
      )}
    </RoomContext.Provider>
  );
}

interface PanelProps {
  readonly room: Room;
}

function Panel({ title, lines, room }: PanelProps & { title: string; lines: readonly Line[] }) {
  return (
    <>
      <Coloured colour="faint">{title}</Coloured>
      <Lines lines={[{ text: '' }, ...lines.slice(0, room.rows)]} />
    </>
  );
}

function Latest({ room }: PanelProps) {
  const { api } = useApp();
  const query = { limit: Math.min(room.rows, 50) };
  const { result } = useRead((signal) => api.call('listPixTransactions', { query }, signal));
  const rows = result?.status === 200 ? result.body.items.map(toRow) : [];
  const table = layOutTable(columns, rows, room.columns);
  const lines = table.rows.map((cells) => ({ text: cells.map(({ text }) => text).join('  ') }));
  const none = result ? [{ text: 'There are no transactions.' }] : [];
  return (
    <Panel {...{ room, title: 'latest transactions', lines: rows.length > 0 ? lines : none }} />
  );
}

const columns = transactionColumns(['created_at', 'amount', 'status']);

function LastRequest({ room }: PanelProps) {
  const { api } = useApp();
  const [, redraw] = useReducer((count: number) => count + 1, 0);
  useEffect(() => {
    api.onNoted = redraw;
    return () => {
      api.onNoted = () => undefined;
    };
  }, [api]);
  const lines = api.last ? exchangeLines(api.last, room.columns) : [];
  return <Panel {...{ room, lines, title: 'last request (ctrl+t: all of it)' }} />;
}
