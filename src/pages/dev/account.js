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
  const isCut = answer.header('x-statement-remote') === 'unavailable';
  byId('statement-items').replaceChildren(
    table(
      'What Ponte knows',
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
      isCut
        ? 'The provider did not answer with its own list.'
        : `The provider lists ${remote.length} items; see the answer under Requests.`,
    ),
  );
}

/** A wide table scrolls in itself, by keyboard too. */
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
      element('caption', {}, rows.length === 0 ? `${caption}: nothing` : caption),
      element('thead', {}, element('tr', {}, ...head)),
      element('tbody', {}, ...body),
    ),
  );
}
