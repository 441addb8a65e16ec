/** The statement: Ponte's list and the bank's, the details of an item, and the days to show. */
import { useEffect, useState } from 'react';
import { readFaults, type Answer } from '../api.ts';
import { Coloured } from '../components/coloured.tsx';
import { FormScreen } from '../components/form.tsx';
import { Frame } from '../components/frame.tsx';
import { ScrollView, TableView } from '../components/lists.tsx';
import { useApp } from '../hooks/use-app.ts';
import { useFilter } from '../hooks/use-filter.ts';
import { useForm, type Form } from '../hooks/use-form.ts';
import { useKeys } from '../hooks/use-keys.ts';
import { useList } from '../hooks/use-list.ts';
import { back } from '../state/app-state.ts';
import type { Values } from '../state/contract.ts';
import { formatDay, localTime } from '../state/format.ts';
import { failure, reading, type Notice } from '../state/notice.ts';
import { readValues } from '../state/form.ts';
import { cellText, memberFacts, toRow, type FormatCell, type Row } from '../state/table.ts';
import { factLines, type Line } from '../state/text.ts';
import { signedAmount, transactionColumns } from '../state/transactions.ts';
import { Receipt } from './receipt.tsx';

type Reply = Extract<Answer<'getStatement'>, { readonly status: 200 }>;

/** What the screen shows of the statement. */
interface View {
  readonly mode: 'list' | 'item' | 'receipt' | 'dates';
  readonly side: 'local' | 'remote';
  readonly chosen: number;
}

interface Shown {
  readonly reply: Reply | null;
  /** The days of the reply. */
  readonly query: Values;
}

interface StatementProps extends Shown {
  readonly form: Form<'getStatement'>;
  readonly view: View;
  go(change: Partial<View>): void;
}

export function Statement() {
  const [shown, setShown] = useState<Shown>({ reply: null, query: {} });
  const [view, setView] = useState<View>({ mode: 'list', side: 'local', chosen: 0 });
  const turn = (changed: Partial<View>): void => setView((now) => ({ ...now, ...changed }));
  const form = useForm({
    ...{ name: 'statement', operation: 'getStatement' },
    inputs: { start_date: 'From', end_date: 'To' },
    onAnswer(answer, { values }) {
      if (answer.status === 200) setShown({ reply: answer, query: values });
      turn({ mode: answer.status === 422 ? 'dates' : 'list', chosen: 0 });
    },
  });
  useEffect(() => form.send(readValues(form.state, form.fields)), []);
  const go = (changed: Partial<View>): void => {
    // The notice of the last call is about what was shown then.
    form.call.clear();
    turn(changed);
  };
  const props = { ...shown, form, view, go };
  if (view.mode === 'dates') return <Dates {...props} />;
  const { id } = readItems(shown.reply, view.side)[view.chosen] ?? {};
  if (view.mode === 'receipt' && typeof id === 'string') {
    return <Receipt transactionId={id} close={() => go({ mode: 'item' })} />;
  }
  return view.mode === 'list' ? <Items {...props} /> : <Details {...props} />;
}

const sides = {
  local: { title: "Ponte's list", other: 'remote' },
  remote: { title: "The bank's own list", other: 'local' },
} as const;

function Items({ form, reply, view, query, go }: StatementProps) {
  const { change } = useApp();
  const { side } = view;
  const { title, other } = sides[side];
  const all = readItems(reply, side);
  const filter = useFilter(all, columns[side]);
  const { rows } = filter;
  const list = useList(rows.length, view.chosen);
  const options = { isTyping: filter.isTyping };
  useKeys((press) => {
    const { key, text } = press;
    if (filter.press(press)) return list.choose(0);
    if (key === 'escape') return change(back);
    if (form.call.isBusy || list.press(press)) return undefined;
    const row = rows[list.chosen];
    const chosen = row ? all.indexOf(row) : 0;
    if (key === 'enter' && row) return go({ mode: 'item', chosen });
    if (text === 'd') return go({ mode: 'dates', chosen });
    if (key !== 'tab' && text !== 'r') return undefined;
    list.choose(0);
    return key === 'tab' ? go({ side: other }) : form.send(query);
  }, options);
  const hints = ['↑↓ pgup pgdn', 'enter details', 'd dates', 'r refresh'];
  return (
    <Frame
      {...{ title: 'statement', hints: [...hints, `tab ${sides[other].title}`] }}
      notice={reading(form.call) ?? resultNotice(form.call.result, reply)}
    >
      {(room) =>
        reply && (
          <TableView
            {...{ list, rows, room, columns: columns[side], none: 'There are no items.' }}
            title={<Coloured>{`${title}, ${daysText(query)}${filter.title}`}</Coloured>}
          />
        )
      }
    </Frame>
  );
}

/** Ponte's list has the refunds too, newest first; the bank's items are passed on as they are. */
function readItems(reply: Reply | null, side: View['side']): readonly Row[] {
  if (!reply) return [];
  const { local, remote, refunds = [] } = reply.body.items;
  if (side === 'remote') return remote;
  return [...local, ...refunds]
    .toSorted((one, other) => Date.parse(other.created_at) - Date.parse(one.created_at))
    .map(toRow);
}

function resultNotice(answer: Answer<'getStatement'> | null, reply: Reply | null): Notice | null {
  if (answer && answer.status !== 200) return failure(readFaults(answer)['']);
  if (reply?.headers.get('x-statement-remote') === 'unavailable') {
    return failure('The bank did not answer: its own list is missing.');
  }
  const isCut = reply?.headers.get('x-statement-local') === 'truncated';
  return failure(isCut && 'The period has more items: choose a shorter one.');
}

function daysText({ start_date: from, end_date: until = 'today' }: Values): string {
  const to = formatDay(String(until));
  if (from !== undefined) return `from ${formatDay(String(from))} to ${to}`;
  return to === 'today' ? 'the last 30 days' : `the 30 days to ${to}`;
}

function Details({ reply, view, go }: StatementProps) {
  const item = readItems(reply, view.side)[view.chosen] ?? {};
  const hasReceipt = view.side === 'local';
  const lines = (columns: number): Line[] => factLines(memberFacts(item, detailCell), columns);
  const list = useList();
  useKeys((press) => {
    if (press.key === 'escape') go({ mode: 'list' });
    else if (hasReceipt && press.text === 'v') go({ mode: 'receipt' });
    else list.press(press);
  });
  const hints = ['↑↓ scroll', ...(hasReceipt ? ['v receipt'] : [])];
  return (
    <Frame {...{ title: 'statement', hints }} notice={null}>
      {(room) => <ScrollView {...{ lines, list, room }} />}
    </Frame>
  );
}

function Dates({ form, reply, go }: StatementProps) {
  const notice = reading(form.call) ?? form.notice;
  const close = { ...(reply && { close: () => go({ mode: 'list' }) }) };
  return <FormScreen {...{ title: 'statement', form, button: 'Show', notice, ...close }} />;
}

const detailCell: FormatCell = (row, name) =>
  localTime(name === 'amount' ? signedAmount(row) : cellText(row, name));

const columns = {
  local: transactionColumns(['created_at', 'type', 'amount', 'status', 'pix_key']),
  remote: transactionColumns(['createdAt', 'type', 'amount', 'status', 'description']),
} as const;
