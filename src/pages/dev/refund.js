/* The return of a received Pix by the customer, in its receipt. */
import { parseAmount } from './format.js';
import { Orders } from './order.js';
import { refundReasons } from './outcomes.js';
import { element, onSubmit, withAmountError } from './page.js';

const received = new Set(['PIX_CHARGE', 'PIX_RECEIVED']);

/** Only what was received, and is not returned in whole; the service says for how long. */
export function canBeRefunded({ type, status, amount, refunded_amount: returned = 0 }) {
  return received.has(type) && status === 'COMPLETED' && returned < amount;
}

/**
 * The form of a return.
 * @param onReturned what follows once the money has gone back.
 */
export function refundForm({ transaction_id: id }, onReturned) {
  const options = Object.entries(refundReasons).map(([value, text]) =>
    element('option', { value }, text),
  );
  const outcome = element('div', { role: 'status' });
  const status = element('p', { className: 'live', role: 'status' });
  const form = element(
    'form',
    { noValidate: true },
    element('h3', {}, 'Return this Pix'),
    element('label', { htmlFor: 'refund-amount' }, 'Amount to return'),
    element('input', { id: 'refund-amount', name: 'amount', inputMode: 'decimal' }),
    element('label', { htmlFor: 'refund-reason' }, 'Reason'),
    element('select', { id: 'refund-reason', name: 'reason' }, ...options),
    element('div', { className: 'actions' }, element('button', {}, 'Return the amount')),
    outcome,
    status,
  );
  const newKey = () => crypto.randomUUID();
  const returns = new Orders({
    kind: 'refund',
    path: `/pix/${encodeURIComponent(id)}/refund`,
    button: 'Return the amount',
    doing: 'Returning',
    outcome,
    status,
    newKey,
    onAnswer({ next }) {
      if (next === 'done') void onReturned();
    },
  });
  onSubmit(form, async ({ amount = '', reason }) => {
    const body = { amount: parseAmount(amount) ?? amount, reason };
    const key = returns.openKey ?? newKey();
    const typed = JSON.stringify(body);
    const response = await returns.submit({ key, typed, body });
    return response?.body.errors ? withAmountError(response, 'amount', amount || undefined) : null;
  });
  return form;
}
