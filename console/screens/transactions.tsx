/** All transactions of the customer, a page at a time: the filters, the list, and receipts. */
import { useState } from 'react';
import type { PixListItem } from '../../contract/types.ts';
import { readFaults } from '../api.ts';
import { ListingScreen, useListing } from '../components/listing.tsx';
import type { Values } from '../state/contract.ts';
import { formatDay } from '../state/format.ts';
import { failure } from '../state/notice.ts';
import { cellText, type Row } from '../state/table.ts';
import { transactionColumns, transactionRow } from '../state/transactions.ts';
import { Receipt } from './receipt.tsx';

/** The transactions that are listed so far. */
interface Shown {
  readonly items: readonly PixListItem[];
  /** Where the list continues; null at its end and before the first page. */
  readonly next: string | null;
  /** The filters of the items; null before the first page. */
  readonly query: Values | null;
}

const inputs = {
  type: {
    label: 'Type',
    hint: '← → to choose',
    choices: {
      '': 'all',
      PIX_SEND: 'payments',
      PIX_CHARGE: 'charges',
      PIX_RECEIVED: 'received',
      PIX_REFUND_IN: 'refunds to you',
      PIX_REFUND_OUT: 'refunds to payers',
    },
  },
  status: {
    label: 'Status',
    hint: '← → to choose',
    choices: { '': 'all', PROCESSING: 'processing', COMPLETED: 'completed', FAILED: 'failed' },
  },
  start_date: 'From',
  end_date: 'To',
};

export function Transactions() {
  const [shown, setShown] = useState<Shown>({ items: [], next: null, query: null });
  const listing = useListing({
    name: 'transactions',
    operation: 'listPixTransactions',
    inputs,
    // A person continues with a key and types no cursor.
    given: { limit: 50, cursor: undefined },
    onResponse(response, { values: { cursor, ...query } }) {
      if (response.status !== 200) return;
      const { items, next_cursor: next = null } = response.body;
      setShown((now) => ({ items: cursor ? [...now.items, ...items] : items, next, query }));
    },
  });
  const { items, next, query } = shown;
  const { form } = listing;
  const fault = form.call.result && readFaults(form.call.result)[''];
  return (
    <ListingScreen
      {...{ title: 'transactions', listing, columns, query, button: 'List', formKey: 'f' }}
      hints={next === null ? hints : [...hints, 'm more']}
      notice={failure(fault)}
      rows={query && items.map(transactionRow)}
      heading={`Transactions: ${filterText(query ?? {})}`}
      none={next === null ? 'There are no transactions.' : 'None so far: m looks on.'}
      onKey={({ text }) => {
        if (text === 'm' && query && next) form.send({ ...query, cursor: next });
        return false;
      }}
      openRow={openReceipt}
    />
  );
}

function openReceipt(row: Row, close: () => void) {
  return <Receipt transactionId={cellText(row, 'transaction_id')} close={close} />;
}

function filterText({ type, status, start_date: from, end_date: to }: Values): string {
  const days = [from && `from ${formatDay(String(from))}`, to && `to ${formatDay(String(to))}`];
  const types: Readonly<Record<string, string>> = inputs.type.choices;
  const parts = [types[String(type)], status, ...days].filter(Boolean);
  return parts.length === 0 ? 'all' : parts.join(', ');
}

const hints = ['enter receipt', '/ find', 'f filters', 'r refresh'];

const columns = transactionColumns([
  'created_at',
  'type',
  'amount',
  'status',
  'who',
  'description',
  'end_to_end',
]);
