/** The operator's lists, which the command `ponte` prints. */
import { Box } from 'ink';
import { useEffect, useRef, useState } from 'react';
import { Coloured } from '../components/coloured.tsx';
import { Frame } from '../components/frame.tsx';
import { TableView } from '../components/lists.tsx';
import { useApp } from '../hooks/use-app.ts';
import { useRead } from '../hooks/use-call.ts';
import { useKeys } from '../hooks/use-keys.ts';
import { useList } from '../hooks/use-list.ts';
import type { Operate } from '../operate.ts';
import { back } from '../state/app-state.ts';
import { failure, reading } from '../state/notice.ts';
import type { Typed } from '../state/operator-actions.ts';
import {
  namesAround,
  operatorCell,
  operatorLists,
  readRows,
  type OperatorList,
} from '../state/operator.ts';
import { memberColumns, type Row } from '../state/table.ts';
import { OperatorRow, waiting } from './operator-row.tsx';

/** The list that is shown, its rows once they are known, and the row that is open. */
interface Place {
  readonly shown: OperatorList;
  readonly rows: readonly Row[] | null;
  readonly chosen: number;
  readonly row: Row | null;
}

interface OperatorProps {
  readonly operate: Operate;
  readonly place: Place;
  go(change: Partial<Place>): void;
}

export function Operator() {
  const { operate } = useApp();
  const [place, setPlace] = useState<Place>(firstPlace);
  const [typed, setTyped] = useState<Typed>({});
  if (!operate) return null;
  const go = (change: Partial<Place>): void => setPlace((now) => ({ ...now, ...change }));
  const { row, shown } = place;
  if (row) {
    const keep = (values: Typed): void => setTyped((now) => ({ ...now, ...values }));
    return (
      <OperatorRow {...{ operate, shown, row, typed, keep }} close={() => go({ row: null })} />
    );
  }
  // Another list begins with a call of its own.
  return <ListView key={place.shown.name} {...{ operate, place, go }} />;
}

const firstPlace = { shown: operatorLists[0], rows: null, chosen: 0, row: null };

/** How often a list is read. */
const refreshMs = 5_000;

/** Refreshes the list while it is shown; the chosen row stays chosen when it moves. */
function useRows({ operate, place, go }: OperatorProps) {
  const { shown, rows } = place;
  const list = useList(rows?.length ?? 0, place.chosen);
  const chosen = useRef<{ id: unknown; index: number }>({ id: undefined, index: 0 });
  chosen.current = { id: rows?.[list.chosen]?.['id'], index: list.chosen };
  const call = useRead(async (signal) => {
    const output = await operate([...shown.command, '--json'], signal);
    // A command may end after another list was chosen.
    if (signal.aborted) return;
    const found = readRows(shown, output);
    const { id, index } = chosen.current;
    const moved = id === undefined ? -1 : found.findIndex((row) => row['id'] === id);
    go({ rows: found });
    if (moved >= 0 && moved !== index) list.choose(moved);
  });
  // While the clock reads the list, the failure of the last read still holds.
  const failed = useRef<string | null>(null);
  const isQuiet = useRef(false);
  if (!call.isBusy) failed.current = call.failure;
  const read = (quiet: boolean): void => {
    isQuiet.current = quiet;
    call.read();
  };
  const isBusy = useRef(false);
  isBusy.current = call.isBusy;
  useEffect(() => {
    const timer = setInterval(() => {
      if (!isBusy.current) read(true);
    }, refreshMs);
    return () => clearInterval(timer);
  }, []);
  const notice = isQuiet.current ? failure(failed.current) : reading(call, waiting);
  return { list, notice, read: () => read(false) };
}

function ListView(props: OperatorProps) {
  const { place, go } = props;
  const { change } = useApp();
  const { shown, rows } = place;
  const { list, notice, read } = useRows(props);
  const turn = (step: number): void => {
    const index = operatorLists.indexOf(shown) + step + operatorLists.length;
    go({ ...firstPlace, shown: operatorLists[index % operatorLists.length] ?? shown });
  };
  useKeys((press) => {
    const { key, text } = press;
    if (key === 'escape') return change(back);
    if (key === 'right' || key === 'tab') return turn(1);
    if (key === 'left' || key === 'shift+tab') return turn(-1);
    if (list.press(press)) return undefined;
    if (text === 'r') return read();
    const row = rows?.[list.chosen];
    return key === 'enter' && row ? go({ chosen: list.chosen, row }) : undefined;
  });
  const hints = ['←→ lists', '↑↓ choose', 'enter details', 'r refresh (every 5 s)'];
  return (
    <Frame {...{ title: 'operator', hints, notice }}>
      {(room) => (
        <TableView
          {...{ rows: rows ?? [], list, room, none: rows ? shown.none : '' }}
          columns={memberColumns(shown.columns, operatorCell)}
          title={<Names {...{ shown, columns: room.columns }} />}
        />
      )}
    </Frame>
  );
}

interface NamesProps {
  readonly shown: OperatorList;
  readonly columns: number;
}

/** The names of the lists around the shown one. */
function Names({ shown, columns }: NamesProps) {
  return (
    <Box gap={1}>
      {namesAround(operatorLists.indexOf(shown), columns).map((name) => (
        <Coloured key={name} bold={name === `[${shown.name}]`} colour={chooseNameColour(name)}>
          {name}
        </Coloured>
      ))}
    </Box>
  );
}

function chooseNameColour(name: string) {
  return name.startsWith('[') ? 'plain' : 'faint';
}
