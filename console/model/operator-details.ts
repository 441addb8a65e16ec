/** What the commands tell of one event, payment or job, as lines. */
import { factLines, linesOf, type Line } from './lines.ts';
import { utcMoment } from './moments.ts';
import { countsText, rowFacts, wordOf, type OperatorView, type Row } from './operator-views.ts';

/** @param shown what the command printed; null where the row is all that there is. */
export function detailLines(
  { of }: OperatorView,
  { row, shown }: { readonly row: Row; readonly shown: unknown },
  columns: number,
): Line[] {
  const all = (shown ?? {}) as Row;
  if (of === 'event') return eventLines(all, row, columns);
  return of === 'payment' ? paymentLines(all, row, columns) : factLines(rowFacts(row), columns);
}

function eventLines(shown: Row, row: Row, columns: number): Line[] {
  const items = listOf(shown, 'items').map((item) =>
    [`item ${wordOf(item, 'index')}`, ...filled(item, ['result', 'reason', 'transactionId'])].join(
      '  ',
    ),
  );
  const waits = Array.isArray(shown['waitsFor']) ? (shown['waitsFor'] as string[]) : [];
  const jobs = listOf(shown, 'jobs').map((job) =>
    [`job ${wordOf(job, 'id')}`, ...filled(job, ['state', 'lastError'])].join('  '),
  );
  const { payload } = shown;
  const text = payload === undefined ? '' : JSON.stringify(payload, null, 2);
  return [
    ...factLines(rowFacts((shown['event'] as Row | undefined) ?? row), columns),
    { text: '' },
    ...section('Items', items, columns),
    ...section('Waits for', waits, columns),
    ...section('Jobs', jobs, columns),
    ...section('Payload, without people', text === '' ? [] : [text], columns),
  ];
}

function paymentLines(shown: Row, row: Row, columns: number): Line[] {
  const timeline = listOf(shown, 'timeline').map((entry) =>
    [
      utcMoment(wordOf(entry, 'at')),
      ...filled(entry, ['phase', 'attempt', 'providerStatus', 'note']),
    ].join('  '),
  );
  return [
    ...section('Waits for', filled(shown, ['waitsFor']), columns),
    ...section('You can', filled(shown, ['operator']), columns),
    ...section('Timeline', timeline, columns),
    ...factLines(rowFacts((shown['transaction'] as Row | undefined) ?? row), columns),
  ];
}

/** What a replay did, or would do. */
export function replayLines(printed: unknown, columns: number): Line[] {
  const { dryRun, events } = (printed ?? {}) as Row;
  const [event] = Array.isArray(events) ? (events as Row[]) : [];
  if (!event) return linesOf('The command has replayed nothing.', columns, 'bad');
  const [from, to] = [wordOf(event, 'from'), wordOf(event, 'to')];
  const change = from === to ? `It stays ${from}` : `${from} → ${to}`;
  const head = dryRun === true ? 'A replay would do this; nothing was changed.' : 'Replayed.';
  const items = listOf(event, 'items').map((item) =>
    [
      `item ${wordOf(item, 'index')}`,
      ...filled(item, ['result', 'reason', 'transactionId']),
      ...(item['to'] === undefined ? [] : [`${wordOf(item, 'from')} → ${wordOf(item, 'to')}`]),
    ].join('  '),
  );
  const result = wordOf(event, 'result');
  const isDone = result === 'replayed' || result === 'preview';
  return [
    ...linesOf(isDone ? head : `It could not be replayed: ${result}.`, columns, 'strong'),
    ...linesOf(`${change}; items: ${countsText(event['outcomes'])}`, columns),
    ...items.flatMap((item) => linesOf(item, columns)),
    { text: '' },
  ];
}

/** What became of a dead job that was to be tried again. */
export function retrySentence(printed: unknown): string {
  const { retried, superseded } = (printed ?? {}) as Row;
  if (retried === 1) return 'The job is queued again.';
  return superseded === 1
    ? 'It stays dead: another job does the same work.'
    : 'It is not dead any more: it is left as it is.';
}

/** Texts under a head; nothing where there are none. */
function section(head: string, texts: readonly string[], columns: number): Line[] {
  if (texts.length === 0) return [];
  const lines = texts.flatMap((text) => linesOf(text, columns));
  return [{ text: head, tone: 'strong' }, ...lines, { text: '' }];
}

function listOf(row: Row, name: string): readonly Row[] {
  const list = row[name];
  return Array.isArray(list) ? (list as Row[]) : [];
}

/** The members that say something. */
function filled(row: Row, names: readonly string[]): string[] {
  return names.map((name) => wordOf(row, name)).filter((word) => word !== '–');
}
