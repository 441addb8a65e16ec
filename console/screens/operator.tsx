/** The operator's screens, which use the command `ponte`: the lists, and one row of a list. */
import { Box } from 'ink';
import { useEffect, useRef, useState } from 'react';
import { Coloured } from '../components/coloured.tsx';
import { Frame } from '../components/frame.tsx';
import { ScrollView, TableView } from '../components/lists.tsx';
import { useApp } from '../hooks/use-app.ts';
import { useRead } from '../hooks/use-call.ts';
import { useKeys } from '../hooks/use-keys.ts';
import { useList } from '../hooks/use-list.ts';
import { useQuestion } from '../hooks/use-question.ts';
import type { Operate } from '../operate.ts';
import { back } from '../state/app-state.ts';
import { utcTime } from '../state/format.ts';
import { failure, reading, writing } from '../state/notice.ts';
import { operatorCell, operatorLists, readRows, type OperatorList } from '../state/operator.ts';
import { cellText, memberColumns, memberFacts, type FormatCell, type Row } from '../state/table.ts';
import { factLines, wrapLines, type Line } from '../state/text.ts';

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
  if (!operate) return null;
  const go = (change: Partial<Place>): void => setPlace((now) => ({ ...now, ...change }));
  if (place.row) return <Details {...{ operate, place, go, row: place.row }} />;
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
  const names = operatorLists.map((one) => (
    <Coloured key={one.name} bold={one === shown} colour={one === shown ? 'plain' : 'faint'}>
      {one === shown ? `[${one.name}]` : one.name}
    </Coloured>
  ));
  const hints = ['←→ lists', '↑↓ choose', 'enter details', 'r refresh (every 5 s)'];
  return (
    <Frame {...{ title: 'operator', hints, notice }}>
      {(room) => (
        <TableView
          {...{ rows: rows ?? [], list, room, none: rows ? shown.none : '' }}
          columns={memberColumns(shown.columns, operatorCell)}
          title={<Box gap={1}>{names}</Box>}
        />
      )}
    </Frame>
  );
}

const waiting = 'Waiting for ponte';

interface DetailsProps extends OperatorProps {
  readonly row: Row;
}

const actions = {
  replay: { command: ['webhook', 'replay'], hints: ['d replay dry', 'w replay'] },
  retry: { command: ['jobs', 'retry'], hints: ['t try again'] },
} as const;

/** One event, payment or dead job, in the words of the command, and what can be done about it. */
function Details(props: DetailsProps) {
  const { place, go, row } = props;
  const action = place.shown.action ?? 'none';
  const { command, hints } = action === 'none' ? { command: [], hints: [] } : actions[action];
  const id = cellText(row, 'id');
  const { call, isWriting, execute, lines } = useCommands(props, id);
  const question = useQuestion();
  const list = useList();
  useKeys((press) => {
    const { key, text } = press;
    if (question.press(press)) return undefined;
    if (key === 'escape') return isWriting ? call.cancel() : go({ row: null });
    if (call.isBusy || list.press(press)) return undefined;
    const act = (): void => execute([...command, id, '--yes']);
    if (action === 'retry' && text === 't') return question.ask('Queue the job again?', act);
    if (action !== 'replay' || (text !== 'd' && text !== 'w')) return undefined;
    list.choose(0);
    // The operator sees the effects of a replay before it is executed.
    return execute([...command, id, '--dry-run'], () => {
      if (text === 'w') question.ask('Replay it for good?', act);
    });
  });
  return (
    <Frame
      {...{ title: `operator › ${place.shown.name}`, hints: ['↑↓ scroll', ...hints] }}
      notice={question.notice ?? (isWriting ? writing : reading)(call, waiting)}
    >
      {(room) => <ScrollView {...{ lines, list, room }} />}
    </Frame>
  );
}

const detailCell: FormatCell = (row, name) => utcTime(cellText(row, name));

/** The commands for one row, and their output. */
function useCommands({ operate, place, row }: DetailsProps, id: string) {
  const { details } = place.shown;
  const [description, setDescription] = useState('');
  const [result, setResult] = useState('');
  const [isChange, setChange] = useState(false);
  const describe = async (signal: AbortSignal): Promise<void> => {
    if (details) setDescription(await operate([...details, id], signal));
  };
  const call = useRead(describe);
  const execute = (args: readonly string[], then?: () => void): void => {
    setChange(args.includes('--yes'));
    call.run(async (signal) => {
      setResult(await operate(args, signal));
      then?.();
      await describe(signal);
    });
  };
  const lines = (columns: number): Line[] => [
    ...wrapLines(result, columns, 'strong'),
    ...(description === ''
      ? factLines(memberFacts(row, detailCell), columns)
      : wrapLines(description, columns)),
  ];
  return { call, isWriting: isChange && call.isBusy, execute, lines };
}
