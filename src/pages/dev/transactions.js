/* A list of transactions, of Ponte or of the bank, as a table. */
import { formatAmount, localTime, shortLocalTime } from './format.js';
import { element, statusBadge, table } from './page.js';
import { receiptButton } from './receipt.js';

/** Both lists have one shape; the bank's names differ, and its items have no receipt. */
export function renderList(caption, items) {
  if (items.length === 0) {
    return element('p', { className: 'empty' }, 'No transaction matches these filters.');
  }
  const hasReceipts = items.some(({ transaction_id: id }) => id !== undefined);
  const ids = hasReceipts ? ['Who and what for', 'More'] : ['Details'];
  const heads = ['When', 'Type', 'Amount', 'Status', ...ids];
  return table(caption, heads, items.map(cells));
}

const types = {
  PIX_SEND: 'payment',
  PIX_CHARGE: 'charge',
  PIX_RECEIVED: 'received',
  PIX_REFUND_IN: 'refund received',
  PIX_REFUND_OUT: 'refund sent',
  // Of the bank's own list.
  PIX_PAYMENT_OUT: 'payment',
  PIX_PAYMENT_REVERSAL: 'payment reversed',
};

const debits = new Set(['PIX_SEND', 'PIX_REFUND_OUT']);

function cells(item) {
  const { transaction_id: id, type, status } = item;
  const when = item.created_at ?? item.createdAt ?? item.date;
  return [
    when === undefined ? '–' : renderTime(when),
    renderType(type),
    renderAmount(item),
    status === undefined ? '–' : statusBadge(status),
    ...(id === undefined ? [bankDetails(item)] : [about(item), receiptButton(item)]),
  ];
}

function bankDetails(item) {
  const details = item.pix_key ?? item.description ?? item.endToEnd ?? item.returnId;
  return element('code', {}, details ?? '–');
}

/** The other party, as far as it is known, the description, and the id to look for. */
function about({ payee, payer, description, ...ids }) {
  const { name, document, key } = payee ?? payer ?? {};
  const who = [name ?? key, document].filter((part) => part !== undefined).join(', ');
  const id = ids.return_id ?? ids.end_to_end ?? ids.transaction_id;
  const lines = [who && element('strong', {}, who), description, element('code', {}, id)];
  return element(
    'div',
    { className: 'about' },
    ...lines.filter(Boolean).map((line) => element('div', {}, line)),
  );
}

/** Refunds are seldom: they stand out. */
function renderType(type) {
  const words = types[type] ?? type ?? '–';
  return /REFUND|REVERSAL/.test(type)
    ? element('span', { className: 'badge refund' }, words)
    : words;
}

const settled = new Set(['COMPLETED', 'CONFIRMED']);

/** What left has a minus, and what came a plus; a charge that is not paid is neither. */
function renderAmount({ type, amount, status, direction }) {
  const isDebit = debits.has(type) || direction === 'DEBIT';
  const sign = !isDebit && settled.has(status) ? '+' : '';
  const isOff = status === 'FAILED' || status === 'ERROR';
  return element(
    'span',
    { className: `number ${isOff ? 'off' : ''}` },
    `${sign}${formatAmount(isDebit ? -Math.abs(amount) : amount)}`,
  );
}

/** Short, so that a phone shows the row; the whole time is its title. */
function renderTime(when) {
  return element('time', { dateTime: when, title: localTime(when) }, shortLocalTime(when));
}
