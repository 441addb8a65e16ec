/* The receipt of a transaction, on the page and on paper. */
import { call } from './api.js';
import { formatAmount, localTime } from './format.js';
import { byId, element, facts, statusBadge } from './page.js';

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

/** A button that shows the receipt of a transaction. */
export function receiptButton(id) {
  const button = element('button', { type: 'button', className: 'quiet' }, 'Receipt');
  button.addEventListener('click', async () => {
    const answer = await call({ path: `/pix/${encodeURIComponent(id)}/receipt` });
    show(answer.status === 200 ? receipt(answer.body) : [failure(answer)], button);
  });
  return button;
}

/** @param opener gets the focus back when the receipt is closed. */
function show(content, opener) {
  const print = element('button', { type: 'button' }, 'Print');
  print.addEventListener('click', () => window.print());
  const close = element('button', { type: 'button', className: 'quiet' }, 'Close');
  close.addEventListener('click', () => {
    byId('receipt').replaceChildren();
    opener.focus();
  });
  const section = element(
    'section',
    { tabIndex: -1, 'aria-labelledby': 'receipt-title' },
    element('h2', { id: 'receipt-title' }, 'Receipt'),
    ...content,
    element('div', { className: 'actions' }, print, close),
  );
  byId('receipt').replaceChildren(section);
  section.focus();
}

function failure({ body }) {
  return element('p', { className: 'error', role: 'alert' }, body.message);
}

function receipt(body) {
  const { payer = {}, payee = {}, failure: reason } = body;
  const pairs = [
    ['Made', time(body.created_at)],
    ['Settled', time(body.settled_at)],
    ['Expires', time(body.expires_at)],
    ['Refunded', body.refunded_amount && formatAmount(body.refunded_amount)],
    ['Description', body.description],
    ...party('Payer', payer),
    ...party('Payee', payee),
    ['Reason', reason && `${reason.message} (${reason.code})`],
    ['End-to-end id', body.end_to_end],
    ['Return id', body.return_id],
    ['Original', body.original_transaction_id],
    ['Transaction', body.transaction_id],
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

function party(role, { name, document, institution, key }) {
  return [
    [role, name],
    [`${role}'s CPF or CNPJ`, document],
    [`${role}'s institution`, institution && `ISPB ${institution.ispb}`],
    [`${role}'s Pix key`, key],
  ];
}

/** A time in São Paulo, as the statement's days are. */
function time(text) {
  return text === undefined ? undefined : localTime(text);
}
