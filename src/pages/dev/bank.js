/* The other side of the simulated bank: what payers, other banks and bad luck do. */
import { lang } from './api.js';
import { parseAmount } from './format.js';
import { byId, onSubmit, withAmountError } from './page.js';
import { customerEmail } from './session.js';

/**
 * Makes the bank do something. The requests are none of the app's: the list leaves them out.
 * @returns {Promise<{status: number, body: {message: string, errors?: object}}>} with the status 0
 *   without a response.
 */
export async function actAtBank(act, values) {
  try {
    const query = new URLSearchParams(values);
    const headers = { 'X-Ponte-Bank': 'page', 'Accept-Language': lang };
    const request = { method: 'POST', headers };
    const response = await fetch(`/dev/bank/${act}?${query}`, request);
    return { status: response.status, body: await response.json() };
  } catch {
    return { status: 0, body: { message: 'The service did not answer.' } };
  }
}

/** What has happened, in words. */
const done = {
  'make-code': 'Pay this code on the page "Send a Pix".',
  'pay-charge': 'The charge is paid.',
  receive: 'The Pix was received.',
  'expire-token': 'The token has expired: the next call to the bank ends this session.',
  'fail-next': 'The next call to the bank fails.',
};

/** Acts at each submit of a form, and says below its button what has happened. */
function offer(id, act, valuesFrom) {
  const form = byId(id);
  const said = form.querySelector('.said');
  onSubmit(form, async (typed) => {
    said.textContent = 'Working…';
    const response = await actAtBank(act, valuesFrom(typed));
    // What is wrong with a field is said there.
    const isOfField = response.body.errors !== undefined;
    const refusal = isOfField ? '' : response.body.message;
    said.textContent = response.status === 200 ? (done[act] ?? response.body.message) : refusal;
    if (response.body.copy_paste) byId('bank-made-code').value = response.body.copy_paste;
    return isOfField ? withAmountError(response, 'amount', typed.amount) : null;
  });
}

offer('bank-make-code', 'make-code', ({ amount = '', state = '' }) => ({
  amount: String(parseAmount(amount) ?? amount),
  state,
}));
offer('bank-pay', 'pay-charge', ({ code = '' }) => ({ code }));
offer('bank-receive', 'receive', ({ amount = '' }) => ({
  email: customerEmail(),
  amount: String(parseAmount(amount) ?? amount),
}));
offer('bank-advance', 'advance', ({ by = '' }) => ({ by }));
offer('bank-expire', 'expire-token', () => ({ email: customerEmail() }));
offer('bank-fail', 'fail-next', () => ({ email: customerEmail() }));
