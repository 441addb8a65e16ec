/* The return of a received Pix by the customer, in its receipt. */
import { call } from './api.js';
import { parseAmount } from './format.js';
import { refundReasons } from './outcomes.js';
import { element, onSubmit, withAmountError } from './page.js';

const received = new Set(['PIX_CHARGE', 'PIX_RECEIVED']);

/** Only what was received, and is not returned in whole; the service says for how long. */
export function canBeRefunded({ type, status, amount, refunded_amount: returned = 0 }) {
  return received.has(type) && status === 'COMPLETED' && returned < amount;
}

/** With these outcomes nothing is returned under the key. */
const unpaid = new Set(['not_sent', 'rejected']);

/**
 * The form of a return. Its key stays until the response says what became of the return, so that a
 * repeat does not return twice.
 * @param onReturned what follows once the service has the return.
 */
export function refundForm({ transaction_id: id }, onReturned) {
  const path = `/pix/${encodeURIComponent(id)}/refund`;
  const options = Object.entries(refundReasons).map(([value, text]) =>
    element('option', { value }, text),
  );
  const form = element(
    'form',
    { noValidate: true },
    element('h3', {}, 'Return this Pix'),
    element('label', { htmlFor: 'refund-amount' }, 'Amount to return'),
    element('input', { id: 'refund-amount', name: 'amount', inputMode: 'decimal' }),
    element('label', { htmlFor: 'refund-reason' }, 'Reason'),
    element('select', { id: 'refund-reason', name: 'reason' }, ...options),
    element('div', { className: 'actions' }, element('button', {}, 'Return the amount')),
  );
  let key = crypto.randomUUID();
  onSubmit(form, async ({ amount = '', reason }) => {
    const body = { amount: parseAmount(amount) ?? amount, reason };
    const headers = { 'Idempotency-Key': key };
    const response = await call({ method: 'POST', path, headers, body });
    const isOver = response.status === 200 || unpaid.has(response.headers.get('pix-outcome') ?? '');
    if (isOver) key = crypto.randomUUID();
    if (response.status === 200) await onReturned();
    return withAmountError(response, 'amount', amount || undefined);
  });
  return form;
}
