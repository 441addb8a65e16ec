/* The statement: what Ponte lists, a page at a time, and beside it the bank's own list. */
import { call } from './api.js';
import { formatAmount, localTime, shortLocalTime } from './format.js';
import { byId, element, onSubmit, showErrors, statusBadge, table } from './page.js';
import { receiptButton } from './receipt.js';

onSubmit(byId('statement'), async ({ view, ...filters }) =>
  view === 'bank' ? showBankList(filters) : showPage({ filters, before: [] }),
);

document.addEventListener('show-statement', () => {
  if (byId('statement-items').childElementCount === 0) byId('statement').requestSubmit();
});

const place = byId('statement-items');

function sayLoading() {
  if (place.childElementCount > 0) return;
  place.replaceChildren(element('p', { className: 'hint', role: 'status' }, 'Loading…'));
}

/** Adds a page to the items of the pages before it. */
async function showPage({ filters, before, cursor }) {
  sayLoading();
  const query = new URLSearchParams({ ...filters, ...(cursor && { cursor }) });
  const answer = await call({ path: query.size === 0 ? '/pix' : `/pix?${query}` });
  if (answer.status !== 200) {
    place.replaceChildren();
    return answer;
  }
  const { items: page, next_cursor: next } = answer.body;
  const items = [...before, ...page];
  const more = element('button', { type: 'button', className: 'quiet' }, 'More');
  more.addEventListener('click', async () => {
    const nextPage = { filters, before: items, cursor: next };
    showErrors(byId('statement'), await showPage(nextPage));
  });
  const end = next ? `${items.length} so far.` : `${items.length} in all.`;
  place.replaceChildren(
    list('Transactions of Ponte', items),
    element('p', { className: 'hint', role: 'status' }, `${end} Times are those of São Paulo.`),
    ...(next ? [more] : []),
  );
  if (cursor !== undefined && next) more.focus();
  return answer;
}

/** The bank's list of the same days. It is passed on as the provider wrote it. */
async function showBankList({ start_date: from, end_date: to }) {
  sayLoading();
  const days = { ...(from && { start_date: from }), ...(to && { end_date: to }) };
  const query = new URLSearchParams(days);
  const path = query.size === 0 ? '/accounts/statement' : `/accounts/statement?${query}`;
  const answer = await call({ path });
  if (answer.status !== 200) {
    place.replaceChildren();
    return answer;
  }
  const isMissing = answer.headers.get('x-statement-remote') === 'unavailable';
  place.replaceChildren(
    isMissing
      ? element('p', { className: 'error', role: 'alert' }, 'The bank did not return its own list.')
      : list("The bank's own list", answer.body.items.remote),
  );
  return answer;
}

/** Both lists have one shape; the bank's names differ, and its items have no receipt. */
function list(caption, items) {
  if (items.length === 0) {
    return element('p', { className: 'empty' }, `${caption}: nothing in these days.`);
  }
  const heads = ['When', 'Type', 'Amount', 'Status', 'Details', 'Receipt'];
  return table(caption, heads, items.map(cells));
}

const types = {
  PIX_SEND: 'payment',
  PIX_CHARGE: 'charge',
  PIX_RECEIVED: 'received',
  PIX_REFUND_IN: 'refund received',
  PIX_REFUND_OUT: 'refund sent',
};

const debits = new Set(['PIX_SEND', 'PIX_REFUND_OUT']);

function cells(item) {
  const { transaction_id: id, type, amount, status, direction } = item;
  const isDebit = debits.has(type) || direction === 'DEBIT';
  const when = item.created_at ?? item.createdAt ?? item.date;
  const about = item.pix_key ?? item.description ?? item.endToEnd;
  return [
    when === undefined ? '–' : timeOf(when),
    types[type] ?? type ?? '–',
    element('span', { className: 'number' }, formatAmount(isDebit ? -Math.abs(amount) : amount)),
    status === undefined ? '–' : statusBadge(status),
    element('code', {}, about ?? id ?? '–'),
    id === undefined ? '–' : receiptButton(id),
  ];
}

/** Short, so that a phone shows the row; the whole time is its title. */
function timeOf(when) {
  return element('time', { dateTime: when, title: localTime(when) }, shortLocalTime(when));
}
