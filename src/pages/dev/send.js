/* Sends a PIX. */
import { call } from './api.js';
import { offerKeys, withKeyField } from './idempotency.js';
import { follow } from './live.js';
import { parseAmount, byId, element, onSubmit } from './page.js';
import { receiptButton } from './receipt.js';
import { offerScenarios } from './scenarios.js';

const next = {
  accepted: 'The bank accepted the payment. The status is updated automatically.',
  unknown:
    'The answer was lost; the payment may have been made. Wait, or repeat with the same key.',
  not_sent: 'Nothing was sent. Use a new key to try again.',
  rejected: 'The bank refused the payment. Use a new key for a changed payment.',
};

offerKeys({ field: 'send-key', button: 'send-new-key' });

onSubmit(byId('send'), async ({ idempotency_key: key = '', amount, ...rest }) => {
  const answer = await call({
    method: 'POST',
    path: '/pix/send',
    headers: { 'Idempotency-Key': key },
    body: { ...rest, amount: parseAmount(amount) },
  });
  showOutcome(answer);
  return withKeyField(answer);
});

function showOutcome(answer) {
  // For any other status the message itself says what to do.
  const outcome = [200, 502].includes(answer.status) ? answer.header('pix-outcome') : null;
  const isReplay = answer.header('idempotency-replayed') === 'true';
  const lines = [
    ...(outcome ? [`Outcome: ${outcome}. ${next[outcome] ?? ''}`] : []),
    ...(isReplay ? ['This key was used before: nothing was paid again.'] : []),
  ];
  byId('send-outcome').replaceChildren(...lines.map((line) => element('p', {}, line)));
  byId('send-status').replaceChildren();
  byId('send-receipt').replaceChildren();
  if (answer.status !== 200) return;
  void follow(byId('send-status'), answer.body);
  byId('send-receipt').replaceChildren(receiptButton(answer.body.transaction_id));
}

await offerScenarios({ given: 'PIX key', picker: 'send-scenario', field: 'pix_key' });
