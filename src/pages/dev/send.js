/* Sends a PIX. */
import { call } from './api.js';
import { offerKeys, withKeyField } from './idempotency.js';
import { follow } from './live.js';
import { byId, element, facts, money, onSubmit, parseAmount, showErrors } from './page.js';
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

byId('look-up').addEventListener('click', async () => {
  forgetPayee();
  const key = byId('pix_key').value;
  const answer = await call({ method: 'POST', path: '/pix/lookup', body: { pix_key: key } });
  if (byId('pix_key').value !== key) return;
  showErrors(byId('send'), answer);
  if (answer.status === 200) showOwner(answer.body);
});
byId('pix_key').addEventListener('input', forgetPayee);

function forgetPayee() {
  byId('lookup_id').value = '';
  byId('send-payee').replaceChildren();
}

/** Shows who has the key. The payment uses this look-up as long as the key stays. */
function showOwner({ lookup_id: lookupId, name, document, institution, expires_at: expiresAt }) {
  byId('lookup_id').value = lookupId;
  const lines = [
    ['Payee', name],
    ['Document', document],
    ['Institution', institution],
    ['Valid until', new Date(expiresAt).toLocaleTimeString('pt-BR')],
  ];
  byId('send-payee').replaceChildren(facts(lines));
}

// A pasted code is read at once, when the field has it, and a typed one when it is complete.
byId('copy_paste').addEventListener('paste', () => setTimeout(readCode));
byId('copy_paste').addEventListener('change', () => void readCode());

let codeRead = '';

async function readCode() {
  const field = byId('copy_paste');
  const code = field.value.trim();
  if (code === codeRead) return;
  codeRead = code;
  forgetPayee();
  showErrors(byId('send'), null);
  if (code === '') return;
  const answer = await call({ method: 'POST', path: '/pix/decode', body: { copy_paste: code } });
  if (field.value.trim() !== code) return;
  showErrors(byId('send'), answer);
  if (answer.status === 200) showCode(answer.body);
}

/** Shows what a code asks for. It takes the place of the key, and its amount that of the amount. */
function showCode({ kind, pix_key: key, amount, payee_name: name, payee_city: city, ...rest }) {
  byId('pix_key').value = '';
  if (kind === 'static') byId('send-amount').value = (amount?.toFixed(2) ?? '').replace('.', ',');
  const lines = [
    ['Payee', `${name}, ${city}`],
    ['PIX key', key ?? 'known to the payee’s bank only: a dynamic code cannot be paid here'],
    ['Amount', amount === undefined ? 'chosen by the payer' : money(amount)],
    ...(rest.description === undefined ? [] : [['Description', rest.description]]),
  ];
  byId('send-payee').replaceChildren(facts(lines));
}

await offerScenarios({ input: 'PIX key', picker: 'send-scenario', field: 'pix_key' });
