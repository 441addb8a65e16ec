/* The dispute of a payment, in its receipt: its status, the form that opens it, its withdrawal. */
import { call, token } from './api.js';
import { formatAmount, localTime } from './format.js';
import { element, facts, onSubmit } from './page.js';

const situations = {
  SCAM: 'I was deceived into sending it',
  ACCOUNT_TAKEOVER: 'Someone else has sent it',
  COERCION: 'I was forced to send it',
  FRAUDULENT_ACCESS: 'Someone had access to my device or password',
  OTHER: 'Another fraud',
};

/** Only a send that is paid; the service says for how long. */
export function canBeDisputed({ type, status }) {
  return type === 'PIX_SEND' && status === 'COMPLETED';
}

/** The part of a receipt about the dispute of its payment: a button, until it is read. */
export function disputeCard({ transaction_id: id }) {
  const path = `/pix/${encodeURIComponent(id)}/dispute`;
  const place = element('div', { className: 'dispute' });
  const read = async () => {
    const { status, body } = await call({ path });
    if (token() === null) return;
    if (status === 200) place.replaceChildren(...shown(body, path, read));
    else if (status === 404) place.replaceChildren(openForm(path, read));
    else place.replaceChildren(element('p', { className: 'error', role: 'alert' }, body.message));
  };
  const button = element('button', { type: 'button', className: 'quiet' }, 'Contest this payment');
  button.addEventListener('click', read);
  place.append(element('div', { className: 'actions' }, button));
  return place;
}

function shown(dispute, path, read) {
  const { status, situation, refunded_amount: refunded } = dispute;
  const pairs = [
    ['Status', status],
    ['Situation', situation === undefined ? 'opened at another channel' : situations[situation]],
    ['Requested', time(dispute.requested_at)],
    ['Opened', time(dispute.opened_at)],
    ['Withdrawal requested', time(dispute.withdrawal_requested_at)],
    ['Ended', time(dispute.ended_at)],
    ['Returned so far', refunded && formatAmount(refunded)],
  ];
  const refresh = element('button', { type: 'button', className: 'quiet' }, 'Refresh the dispute');
  refresh.addEventListener('click', read);
  return [
    element('h3', {}, 'Dispute'),
    facts(pairs.filter(([, value]) => value !== undefined)),
    ...(status === 'REFUSED' ? [openForm(path, read)] : []),
    ...(status === 'OPEN' ? [withdrawForm(path, read)] : []),
    element('div', { className: 'actions' }, refresh),
  ];
}

function openForm(path, read) {
  const options = Object.entries(situations).map(([value, text]) =>
    element('option', { value }, text),
  );
  const form = element(
    'form',
    { noValidate: true },
    element('h3', {}, 'Contest this payment'),
    element('label', { htmlFor: 'dispute-situation' }, 'What happened'),
    element('select', { id: 'dispute-situation', name: 'situation' }, ...options),
    element('label', { htmlFor: 'dispute-details' }, 'Details for the bank (optional)'),
    element('textarea', { id: 'dispute-details', name: 'details', rows: 2 }),
    element(
      'div',
      { className: 'actions' },
      element('button', { className: 'quiet' }, 'Contest this payment'),
    ),
  );
  onSubmit(form, async ({ situation, details = '' }) => {
    const body = { situation, ...(details !== '' && { details }) };
    const response = await call({ method: 'POST', path, body });
    if (response.status === 200) await read();
    return response;
  });
  return form;
}

function withdrawForm(path, read) {
  const button = element('button', { className: 'quiet' }, 'Withdraw the dispute');
  const form = element(
    'form',
    { noValidate: true },
    element('div', { className: 'actions' }, button),
  );
  onSubmit(form, async () => {
    const response = await call({ method: 'DELETE', path });
    if (response.status === 200) await read();
    return response;
  });
  return form;
}

function time(text) {
  return text === undefined ? undefined : localTime(text);
}
