/* The statement: what Ponte lists, a page at a time, and beside it the bank's own list. */
import { call } from './api.js';
import { onChange } from './changes.js';
import { byId, canBeRenewed, element, onSubmit, showErrors } from './page.js';
import { onShow } from './shell.js';
import { renderList } from './transactions.js';

onSubmit(byId('statement'), async ({ view, ...filters }) =>
  view === 'bank' ? showBankList(filters) : showPage({ filters, before: [] }),
);

// What has happened since the last time is on the first page.
onShow('statement', () => byId('statement').requestSubmit());

const place = byId('statement-items');

/** The filters of the first page while no other page is shown; null: the list stays as it is. */
let shownFilters = null;

onChange(() => {
  if (shownFilters !== null && canBeRenewed(place)) {
    void showPage({ filters: shownFilters, before: [] });
  }
});

function sayLoading() {
  if (place.childElementCount > 0) return;
  place.replaceChildren(element('p', { className: 'hint', role: 'status' }, 'Loading…'));
}

/** Adds a page to the items of the pages before it. */
async function showPage({ filters, before, cursor }) {
  shownFilters = cursor === undefined ? filters : null;
  sayLoading();
  const query = new URLSearchParams({ ...filters, ...(cursor && { cursor }) });
  const response = await call({ path: query.size === 0 ? '/pix' : `/pix?${query}` });
  if (response.status !== 200) {
    place.replaceChildren();
    return response;
  }
  const { items: page, next_cursor: next } = response.body;
  const items = [...before, ...page];
  const more = element('button', { type: 'button', className: 'quiet' }, 'More');
  more.addEventListener('click', async () => {
    const nextPage = { filters, before: items, cursor: next };
    showErrors(byId('statement'), await showPage(nextPage));
  });
  const end = next ? `${items.length} so far.` : `${items.length} in all.`;
  place.replaceChildren(
    renderList('Transactions of Ponte', items),
    element('p', { className: 'hint', role: 'status' }, `${end} Times are those of São Paulo.`),
    ...(next ? [element('div', { className: 'actions' }, more)] : []),
  );
  if (cursor !== undefined && next) more.focus();
  return response;
}

/** The bank's list of the same days. It is passed on as the provider wrote it. */
async function showBankList({ start_date: from, end_date: to }) {
  shownFilters = null;
  sayLoading();
  const days = { ...(from && { start_date: from }), ...(to && { end_date: to }) };
  const query = new URLSearchParams(days);
  const path = query.size === 0 ? '/accounts/statement' : `/accounts/statement?${query}`;
  const response = await call({ path });
  if (response.status !== 200) {
    place.replaceChildren();
    return response;
  }
  const isMissing = response.headers.get('x-statement-remote') === 'unavailable';
  place.replaceChildren(
    isMissing
      ? element('p', { className: 'error', role: 'alert' }, 'The bank did not return its own list.')
      : renderList("The bank's own list", response.body.items.remote),
  );
  return response;
}
