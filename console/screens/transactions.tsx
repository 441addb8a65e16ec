/** All transactions of the customer, a page at a time: the filters, the list, and receipts. */
import { useEffect, useState } from 'react';
import type { PixListItem } from '../../contract/types.ts';
import { readFaults, type Answer } from '../api.ts';
import { Coloured } from '../components/coloured.tsx';
import { FormScreen } from '../components/form.tsx';
import { Frame } from '../components/frame.tsx';
import { TableView } from '../components/lists.tsx';
import { useApp } from '../hooks/use-app.ts';
import { useFilter } from '../hooks/use-filter.ts';
import { useForm, type Form } from '../hooks/use-form.ts';
import { useKeys } from '../hooks/use-keys.ts';
import { useList } from '../hooks/use-list.ts';
import { back } from '../state/app-state.ts';
import type { Values } from '../state/contract.ts';
import { readValues } from '../state/form.ts';
import { formatDay } from '../state/format.ts';
import { failure, reading } from '../state/notice.ts';
import { toRow } from '../state/table.ts';
import { transactionColumns } from '../state/transactions.ts';
import { Receipt } from './receipt.tsx';

/** What is listed so far. */
interface Shown {
  readonly items: readonly PixListItem[];
  /** Where the list goes on; null at its end, and before the first page. */
  readonly next: string | null;
  /** The filters of the items; null before the first page. */
  readonly query: Values | null;
}

interface View {
  readonly mode: 'list' | 'receipt' | 'filters';
  readonly chosen: number;
}

interface TransactionsProps {
  readonly shown: Shown;
  readonly form: Form<'listPixTransactions'>;
  readonly view: View;
  go(change: Partial<View>): void;
}

const inputs = {
  type: {
    label: 'Type',
    choices: {
      ...{ '': 'all', PIX_SEND: 'payments', PIX_CHARGE: 'charges', PIX_RECEIVED: 'received' },
      ...{ PIX_REFUND_IN: 'refunds to you', PIX_REFUND_OUT: 'refunds to payers' },
    },
  },
  status: {
    label: 'Status',
    choices: { '': 'all', PROCESSING: 'processing', COMPLETED: 'completed', FAILED: 'failed' },
  },
  start_date: 'From',
  end_date: 'To',
};

export function Transactions() {
  const [shown, setShown] = useState<Shown>({ items: [], next: null, query: null });
  const [view, setView] = useState<View>({ mode: 'list', chosen: 0 });
  const turn = (changed: Partial<View>): void => setView((now) => ({ ...now, ...changed }));
  const form = useForm({
    ...{ name: 'transactions', operation: 'listPixTransactions', inputs },
    // A person goes on with a key, and types no cursor.
    given: { limit: 50, cursor: undefined },
    onAnswer(answer, { values: { cursor, ...query } }) {
      if (answer.status === 200) {
        const { items, next_cursor: next = null } = answer.body;
        setShown((now) => ({ items: cursor ? [...now.items, ...items] : items, next, query }));
      }
      const mode = answer.status === 422 ? 'filters' : 'list';
      turn(cursor ? { mode } : { mode, chosen: 0 });
    },
  });
  useEffect(() => form.send(readValues(form.state, form.fields)), []);
  const go = (changed: Partial<View>): void => {
    // The notice of the last call is about what was shown then.
    form.call.clear();
    turn(changed);
  };
  const props = { shown, form, view, go };
  const item = shown.items[view.chosen];
  if (view.mode === 'filters') return <Filters {...props} />;
  return view.mode === 'receipt' && item ? (
    <Receipt transactionId={item.transaction_id} close={() => go({ mode: 'list' })} />
  ) : (
    <Items {...props} />
  );
}

function Items({ form, shown, view, go }: TransactionsProps) {
  const { change } = useApp();
  const { items, next, query } = shown;
  const all = items.map(toRow);
  const filter = useFilter(all, columns);
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
    if (key === 'enter' && row) return go({ mode: 'receipt', chosen });
    if (text === 'f') return go({ mode: 'filters', chosen });
    if (text === 'm' && query && next) return form.send({ ...query, cursor: next });
    if (text !== 'r' || !query) return undefined;
    list.choose(0);
    return form.send(query);
  }, options);
  const hints = ['↑↓ pgup pgdn', 'enter receipt', '/ find', 'f filters', 'r refresh'];
  const none = next === null ? 'There are no transactions.' : 'None so far: m looks on.';
  return (
    <Frame
      {...{ title: 'transactions', hints: next === null ? hints : [...hints, 'm more'] }}
      notice={reading(form.call) ?? failure(faultOf(form.call.result))}
    >
      {(room) =>
        query && (
          <TableView
            {...{ list, rows, room, columns, none }}
            title={<Coloured>{`Transactions: ${filterText(query)}${filter.title}`}</Coloured>}
          />
        )
      }
    </Frame>
  );
}

function faultOf(answer: Answer<'listPixTransactions'> | null): string | undefined {
  return answer && answer.status !== 200 ? readFaults(answer)[''] : undefined;
}

function filterText({ type, status, start_date: from, end_date: to }: Values): string {
  const days = [from && `from ${formatDay(String(from))}`, to && `to ${formatDay(String(to))}`];
  const types: Readonly<Record<string, string>> = inputs.type.choices;
  const parts = [types[String(type)], status, ...days].filter(Boolean);
  return parts.length === 0 ? 'all' : parts.join(', ');
}

function Filters({ form, shown, go }: TransactionsProps) {
  const notice = reading(form.call) ?? form.notice;
  const close = { ...(shown.query && { close: () => go({ mode: 'list' }) }) };
  return <FormScreen {...{ title: 'transactions', form, button: 'List', notice, ...close }} />;
}

const columns = transactionColumns(['created_at', 'type', 'amount', 'status']);
