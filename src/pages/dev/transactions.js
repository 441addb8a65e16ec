/* All transactions, with filters, a page at a time. */
import { call } from './api.js';
import { byId, element, money, onSubmit, showErrors, statusBadge, table } from './page.js';
import { receiptButton } from './receipt.js';

onSubmit(byId('transactions'), (filters) => showPage({ filters, before: [] }));

/** Adds a page to the items of the pages before it. */
async function showPage({ filters, before, cursor }) {
  const query = new URLSearchParams({ ...filters, ...(cursor && { cursor }) });
  const answer = await call({ path: `/pix?${query}` });
  if (answer.status !== 200) return answer;
  const { items: page, next_cursor: next } = answer.body;
  const items = [...before, ...page];
  const more = element('button', { type: 'button', className: 'quiet' }, 'More');
  more.addEventListener('click', async () => {
    const nextPage = { filters, before: items, cursor: next };
    showErrors(byId('transactions'), await showPage(nextPage));
  });
  const end = next ? `${items.length} so far.` : `${items.length} in all.`;
  byId('transaction-items').replaceChildren(
    table('Found transactions', ['When', 'Type', 'Amount', 'Status', 'Receipt'], items.map(cells)),
    element('p', { className: 'hint', role: 'status' }, end),
    ...(next ? [more] : []),
  );
  if (cursor !== undefined && next) more.focus();
  return answer;
}

function cells(item) {
  return [
    new Date(item.created_at).toLocaleString(),
    item.type,
    money(item.amount),
    statusBadge(item.status),
    receiptButton(item.transaction_id),
  ];
}
