/* Balance and statement. */
import { call } from './api.js';
import { byId, element, money, onSubmit, statusBadge, table } from './page.js';
import { receiptButton } from './receipt.js';

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
      ['When', 'Type', 'Amount', 'Status', 'Key', 'Receipt'],
      local.map((item) => [
        new Date(item.created_at).toLocaleString(),
        item.type,
        money(item.amount),
        statusBadge(item.status),
        item.pix_key ?? '–',
        receiptButton(item.id),
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
