/* The other side of the simulated bank: what payers, other banks and bad luck do. */
import { parseAmount } from './format.js';
import { byId, onSubmit } from './page.js';
import { customerEmail, refreshBalance } from './session.js';

/**
 * Makes the bank do something. The requests are none of the app's: the list leaves them out.
 * @returns what the bank says, in a sentence.
 */
export async function actAtBank(act, values) {
  try {
    const query = new URLSearchParams(values);
    const request = { method: 'POST', headers: { 'X-Ponte-Bank': 'page' } };
    const answer = await fetch(`/dev/bank/${act}?${query}`, request);
    return (await answer.json()).message;
  } catch {
    return 'The service did not answer.';
  }
}

async function actAndSay(name, values) {
  byId('bank-said').textContent = 'The bank is at it…';
  byId('bank-said').textContent = await actAtBank(name, values);
}

onSubmit(byId('bank-pay'), async ({ code = '' }) => {
  await actAndSay('pay-charge', { code });
  await refreshBalance();
  return null;
});

onSubmit(byId('bank-receive'), async ({ amount = '' }) => {
  await actAndSay('receive', {
    email: customerEmail(),
    amount: String(parseAmount(amount) ?? amount),
  });
  await refreshBalance();
  return null;
});

byId('bank-expire').addEventListener('click', () =>
  actAndSay('expire-token', { email: customerEmail() }),
);
// The balance stays as it is shown: to read it would be the call that fails.
byId('bank-fail').addEventListener('click', () =>
  actAndSay('fail-next', { email: customerEmail() }),
);
