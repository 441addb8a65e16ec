/* Balance and statement. */
import { call } from './api.js';
import { byId, element, money, onSubmit, statusBadge } from './page.js';

byId('show-balance').addEventListener('click', async () => {
  const { status, body } = await call({ path: '/accounts/balance' });
  byId('balance').textContent =
    status === 200 ? `${money(body.balance)} (source: ${body.source})` : body.message;
});

onSubmit(byId('statement'), async (values) => {
  const answer = await call({ path: `/accounts/statement?${new URLSearchParams(values)}` });
  if (answer.status === 200) showStatement(answer);
  return answer;
});

function showStatement(answer) {
  const { local, remote } = answer.body.items;
  const isMissing = answer.header('x-statement-remote') === 'unavailable';
  byId('statement-items').replaceChildren(
    table(
      'Transactions of Ponte',
      ['When', 'Type', 'Amount', 'Status', 'Key'],
      local.map((item) => [
        new Date(item.created_at).toLocaleString(),
        item.type,
        money(item.amount),
        statusBadge(item.status),
        item.pix_key ?? '–',
      ]),
    ),
    element(
      'p',
      { className: 'hint' },
      isMissing
        ? 'The provider did not return its own list.'
        : `The provider lists ${remote.length} items; see the answer under Requests.`,
    ),
  );
}

/** A wide table scrolls in its own region, also by keyboard. */
function table(caption, heads, rows) {
  const body = rows.map((cells) =>
    element('tr', {}, ...cells.map((cell) => element('td', {}, cell))),
  );
  const head = heads.map((text) => element('th', { scope: 'col' }, text));
  return element(
    'div',
    { className: 'wide', tabIndex: 0, role: 'region', 'aria-label': caption },
    element(
      'table',
      {},
      element('caption', {}, rows.length === 0 ? `${caption}: none` : caption),
      element('thead', {}, element('tr', {}, ...head)),
      element('tbody', {}, ...body),
    ),
  );
}
