/** The statement: Ponte's list and the bank's, the details of an item, and the days to show. */
import { useState } from 'react';
import { readFaults, type OperationResponse } from '../api.ts';
import { Frame } from '../components/frame.tsx';
import { ListingScreen, useListing } from '../components/listing.tsx';
import { ScrollView } from '../components/lists.tsx';
import { useKeys } from '../hooks/use-keys.ts';
import { useList } from '../hooks/use-list.ts';
import type { Values } from '../state/contract.ts';
import { formatDay, localTime } from '../state/format.ts';
import { failure, type Notice } from '../state/notice.ts';
import { cellText, memberFacts, type FormatCell, type Row } from '../state/table.ts';
import { factLines, type Line } from '../state/text.ts';
import { signedAmount, transactionColumns, transactionRow } from '../state/transactions.ts';
import { Receipt } from './receipt.tsx';

type StatementResponse = Extract<OperationResponse<'getStatement'>, { readonly status: 200 }>;

interface Shown {
  readonly listed: StatementResponse | null;
  /** The days of the response. */
  readonly query: Values;
}

/** Whose list is shown. */
type Side = 'local' | 'remote';

const sides = {
  local: {
    title: "Ponte's list",
    other: 'remote',
    hint: "tab the bank's list",
    columns: transactionColumns(['created_at', 'type', 'amount', 'status', 'who', 'description']),
  },
  remote: {
    title: "The bank's own list",
    other: 'local',
    hint: "tab Ponte's list",
    columns: transactionColumns(['createdAt', 'type', 'amount', 'status', 'description']),
  },
} as const;

export function Statement() {
  const [{ listed, query }, setShown] = useState<Shown>({ listed: null, query: {} });
  const [side, setSide] = useState<Side>('local');
  const listing = useListing({
    name: 'statement',
    operation: 'getStatement',
    inputs: { start_date: 'From', end_date: 'To' },
    onResponse(response, { values }) {
      if (response.status === 200) setShown({ listed: response, query: values });
    },
  });
  const { title, other, hint, columns } = sides[side];
  return (
    <ListingScreen
      {...{ title: 'statement', listing, columns, query, button: 'Show', formKey: 'd' }}
      hints={['enter details', '/ find', 'd dates', 'r refresh', hint]}
      none="There are no items."
      rows={listed && readItems(listed, side)}
      heading={`${title}, ${daysText(query)}`}
      notice={resultNotice(listing.form.call.result, listed)}
      onKey={({ key }) => {
        if (key !== 'tab') return false;
        listing.go({});
        setSide(other);
        return true;
      }}
      openRow={(row, close) => <Item {...{ row, hasReceipt: side === 'local', close }} />}
    />
  );
}

/** Ponte's list has the refunds too, newest first; the bank's items are passed on as they are. */
function readItems(listed: StatementResponse, side: Side): readonly Row[] {
  const { local, remote, refunds = [] } = listed.body.items;
  if (side === 'remote') return remote;
  return [...local, ...refunds]
    .toSorted((one, other) => Date.parse(other.created_at) - Date.parse(one.created_at))
    .map(transactionRow);
}

function resultNotice(
  response: OperationResponse<'getStatement'> | null,
  listed: StatementResponse | null,
): Notice | null {
  if (response && response.status !== 200) return failure(readFaults(response)['']);
  if (listed?.headers.get('x-statement-remote') === 'unavailable') {
    return failure('The bank did not answer: its own list is missing.');
  }
  const isCut = listed?.headers.get('x-statement-local') === 'truncated';
  return failure(isCut && 'The period has more items: choose a shorter one.');
}

function daysText({ start_date: from, end_date: until = 'today' }: Values): string {
  const to = formatDay(String(until));
  if (from !== undefined) return `from ${formatDay(String(from))} to ${to}`;
  return to === 'today' ? 'the last 30 days' : `the 30 days to ${to}`;
}

interface ItemProps {
  readonly row: Row;
  /** Ponte's items have receipts. */
  readonly hasReceipt: boolean;
  close(): void;
}

/** The details of an item, or in their place its receipt. */
function Item(props: ItemProps) {
  const [isReceipt, showReceipt] = useState(false);
  if (!isReceipt) return <Details {...props} showReceipt={() => showReceipt(true)} />;
  return <Receipt transactionId={cellText(props.row, 'id')} close={() => showReceipt(false)} />;
}

function Details({ row, hasReceipt, close, showReceipt }: ItemProps & { showReceipt(): void }) {
  const lines = (columns: number): Line[] => factLines(memberFacts(row, detailCell), columns);
  const list = useList();
  useKeys((press) => {
    if (press.key === 'escape') close();
    else if (hasReceipt && press.text === 'v') showReceipt();
    else list.press(press);
  });
  const hints = ['↑↓ scroll', ...(hasReceipt ? ['v receipt'] : [])];
  return (
    <Frame {...{ title: 'statement', hints }} notice={null}>
      {(room) => <ScrollView {...{ lines, list, room }} />}
    </Frame>
  );
}

const detailCell: FormatCell = (row, name) =>
  localTime(name === 'amount' ? signedAmount(row) : cellText(row, name));
