/* Sending a PIX. The idempotency key stays until the person asks for a new one. */
import { call } from './api.js';
import { offerKeys, withFieldOfKey } from './idempotency.js';
import { follow } from './live.js';
import { amountOf, byId, element, onSubmit } from './page.js';
import { offerScenarios } from './scenarios.js';

const next = {
  accepted: 'The bank took it. The status changes by itself.',
  unknown: 'The answer was lost and it may have been paid. Wait, or repeat with the same key.',
  not_sent: 'Nothing was sent. Take a new key to try again.',
  rejected: 'The bank refused it. Take a new key for a changed payment.',
};

offerKeys({ field: 'send-key', button: 'send-new-key' });

onSubmit(byId('send'), async ({ idempotency_key: key = '', amount, ...rest }) => {
  const answer = await call({
    method: 'POST',
    path: '/pix/send',
    headers: { 'Idempotency-Key': key },
    body: { ...rest, amount: amountOf(amount) },
  });
  showOutcome(answer);
  return withFieldOfKey(answer);
});

function showOutcome(answer) {
  // With any other status the message itself says what to do.
  const outcome = [200, 502].includes(answer.status) ? answer.header('pix-outcome') : null;
  const isReplay = answer.header('idempotency-replayed') === 'true';
  const lines = [
    ...(outcome ? [`Outcome: ${outcome}. ${next[outcome] ?? ''}`] : []),
    ...(isReplay ? ['This key was used before: nothing was paid again.'] : []),
  ];
  byId('send-outcome').replaceChildren(...lines.map((line) => element('p', {}, line)));
  if (answer.status === 200) void follow(byId('send-status'), answer.body);
  else byId('send-status').replaceChildren();
}

await offerScenarios({ given: 'PIX key', picker: 'send-scenario', field: 'pix_key' });
