/* The receipt of a transaction, in front of the page and on paper. */
import { call, exchanges, token } from './api.js';
import { actAtBank } from './bank.js';
import { formatAmount, formatBank, localTime, parseAmount } from './format.js';
import { canBeDisputed, disputeCard } from './dispute.js';
import { canBeRefunded, refundForm } from './refund.js';
import { byId, element, facts, onSubmit, statusBadge, withAmountError } from './page.js';
import { about, showView } from './shell.js';

const types = {
  PIX_SEND: 'Pix payment',
  PIX_CHARGE: 'Pix charge',
  PIX_RECEIVED: 'Pix received',
  PIX_REFUND_IN: 'Pix refund received',
  PIX_REFUND_OUT: 'Pix refund sent',
};

/** What a receipt says of a transaction that is not completed. */
const doubts = {
  PROCESSING: 'The outcome is not known yet: this is no proof of a payment.',
  FAILED: 'The transaction has failed: this is no proof of a payment.',
};

const dialog = byId('receipt');

dialog.addEventListener('close', () => dialog.replaceChildren());
exchanges.addEventListener('session', () => {
  if (token() === null) dialog.close();
});

/** Only what has moved money has a receipt: it is a proof of a payment. */
function chooseTitle(status) {
  return status === 'COMPLETED' ? 'Receipt' : 'Details';
}

/** A button that shows the receipt of a transaction, or the details of one that is not paid. */
export function receiptButton({ transaction_id: id, status }) {
  const button = element('button', { type: 'button', className: 'quiet' }, chooseTitle(status));
  button.addEventListener('click', async () => show(await read(id)));
  return button;
}

function read(id) {
  return call({ path: `/pix/${encodeURIComponent(id)}/receipt` });
}

/** Shows a receipt in front of the page, which gets the focus back when it is closed. */
function show(response) {
  // The session may have ended.
  if (token() === null) return;
  const print = element('button', { type: 'button' }, 'Print');
  print.addEventListener('click', () => window.print());
  const close = element('button', { type: 'button', className: 'quiet' }, 'Close');
  close.addEventListener('click', () => dialog.close());
  const { status, body } = response;
  dialog.replaceChildren(
    element('h2', { id: 'receipt-title', tabIndex: -1, autofocus: true }, chooseTitle(body.status)),
    ...(status === 200 ? receipt(body) : [failure(response)]),
    ...(status === 200 && canBeDisputed(body) ? [disputeCard(body)] : []),
    ...(status === 200 && canBeRefunded(body) ? [customerForm(body)] : []),
    ...(status === 200 && canBeReturned(body) ? [returnForm(body)] : []),
    element('div', { className: 'actions' }, print, close),
  );
  if (dialog.open) byId('receipt-title').focus();
  else dialog.showModal();
}

function customerForm(body) {
  return refundForm(body, () => showReturned(body.transaction_id, body.refunded_amount));
}

const returned = new Set(['PIX_SEND', 'PIX_CHARGE', 'PIX_RECEIVED']);

function canBeReturned({ type, status, amount, refunded_amount: refunded = 0 }) {
  return about.hasBank && returned.has(type) && status === 'COMPLETED' && refunded < amount;
}

/** What the payee's bank or the payee does: the simulated bank plays both. */
function returnForm({ transaction_id: id, type, refunded_amount: before }) {
  const form = element(
    'form',
    { className: 'at-bank', noValidate: true },
    element('h3', {}, 'At the simulated bank'),
    element('label', { htmlFor: 'return-amount' }, 'Amount to return (empty: all that is left)'),
    element('input', { id: 'return-amount', name: 'amount', inputMode: 'decimal' }),
    element(
      'div',
      { className: 'actions' },
      element(
        'button',
        { className: 'quiet' },
        type === 'PIX_SEND' ? 'Return this payment' : 'Return this Pix',
      ),
    ),
  );
  onSubmit(form, async ({ amount = '' }) => {
    const reais = String(parseAmount(amount) ?? amount);
    const response = await actAtBank('return', { transaction: id, amount: reais });
    if (response.status === 200) await showReturned(id, before);
    return withAmountError(response, 'amount', amount || undefined);
  });
  return form;
}

const attempts = 20;

const pauseMs = 250;

/** The bank has posted its webhook; Ponte works on it a moment later. */
async function showReturned(id, before) {
  let response = await read(id);
  for (let nth = 1; nth < attempts && response.body.refunded_amount === before; nth += 1) {
    await new Promise((resolve) => setTimeout(resolve, pauseMs));
    response = await read(id);
  }
  if (dialog.open) show(response);
  showView();
}

function failure({ body }) {
  return element('p', { className: 'error', role: 'alert' }, body.message);
}

function receipt(body) {
  const { payer = {}, payee = {}, failure: reason } = body;
  const pairs = [
    ['Made', time(body.created_at)],
    ['Settled', time(body.settled_at)],
    ['Corrected', body.corrected_at && `${localTime(body.corrected_at)}: it had failed`],
    ['Overruled', body.overruled_at && `${localTime(body.overruled_at)}: it was not paid`],
    ['Paid again by', body.paid_again_by],
    ['Expires', time(body.expires_at)],
    ['Refunded', body.refunded_amount && formatAmount(body.refunded_amount)],
    ['Description', body.description],
    ...party('Payer', payer),
    ...party('Payee', payee),
    ['Reason', reason && `${reason.message} (${reason.code})`],
    ['End-to-end id', code(body.end_to_end)],
    ['Return id', code(body.return_id)],
    ['Original', renderOriginal(body)],
    ['Transaction', code(body.transaction_id)],
    ['Issued', time(body.issued_at)],
  ];
  return [
    element('p', {}, `${types[body.type] ?? body.type} `, statusBadge(body.status)),
    element('p', { className: 'amount' }, formatAmount(body.amount)),
    ...(doubts[body.status] ? [element('p', {}, doubts[body.status])] : []),
    facts(pairs.filter(([, value]) => value !== undefined)),
    element('p', { className: 'hint' }, 'Times are those of São Paulo.'),
  ];
}

function renderOriginal({ original_transaction_id: id }) {
  return id === undefined ? undefined : element('span', {}, code(id), ' ', originalButton(id));
}

/** Only a completed transaction is returned. */
function originalButton(id) {
  return receiptButton({ transaction_id: id, status: 'COMPLETED' });
}

function code(id) {
  return id === undefined ? undefined : element('code', {}, id);
}

function party(role, { name, document, bank, key }) {
  return [
    [role, name],
    [`${role}'s CPF or CNPJ`, document],
    [`${role}'s institution`, bank && formatBank(bank)],
    [`${role}'s Pix key`, key],
  ];
}

/** A time in São Paulo, as the statement's days are. */
function time(text) {
  return text === undefined ? undefined : localTime(text);
}
