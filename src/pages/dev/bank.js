/* The other side of the simulated bank: what payers, other banks and bad luck do. */
import { parseAmount } from './format.js';
import { byId, onSubmit } from './page.js';
import { customerEmail, refreshBalance } from './session.js';

/**
 * Makes the bank do something. The requests are none of the app's: the list leaves them out.
 * @returns {Promise<{status: number, body: {message: string, errors?: object}}>} with the status 0
 *   without an answer.
 */
export async function actAtBank(act, values) {
  try {
    const query = new URLSearchParams(values);
    const request = { method: 'POST', headers: { 'X-Ponte-Bank': 'page' } };
    const answer = await fetch(`/dev/bank/${act}?${query}`, request);
    return { status: answer.status, body: await answer.json() };
  } catch {
    return { status: 0, body: { message: 'The service did not answer.' } };
  }
}

async function actAndSay(name, values) {
  byId('bank-said').textContent = 'The bank is at it…';
  const answer = await actAtBank(name, values);
  // What is wrong with a field is said there.
  byId('bank-said').textContent = answer.body.errors === undefined ? answer.body.message : '';
  return answer;
}

/** Shows the errors of the fields; the message is below the forms already. */
function faultsOf(answer) {
  return answer.body.errors === undefined ? null : answer;
}

onSubmit(byId('bank-pay'), async ({ code = '' }) => {
  const answer = await actAndSay('pay-charge', { code });
  await refreshBalance();
  return faultsOf(answer);
});

onSubmit(byId('bank-receive'), async ({ amount = '' }) => {
  const reais = String(parseAmount(amount) ?? amount);
  const answer = await actAndSay('receive', { email: customerEmail(), amount: reais });
  await refreshBalance();
  return faultsOf(answer);
});

byId('bank-expire').addEventListener('click', () =>
  actAndSay('expire-token', { email: customerEmail() }),
);
// The balance stays as it is shown: to read it would be the call that fails.
byId('bank-fail').addEventListener('click', () =>
  actAndSay('fail-next', { email: customerEmail() }),
);
