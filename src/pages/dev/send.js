/* Sends a Pix, to a payee that was looked up before, or by a code. */
import { call } from './api.js';
import { formatAmount, formatBank, localTime, parseAmount } from './format.js';
import { offerKeys, withKeyField } from './idempotency.js';
import { Orders } from './order.js';
import { isOver } from './outcomes.js';
import {
  byId,
  element,
  facts,
  formatTaxId,
  onSubmit,
  showErrors,
  withAmountError,
} from './page.js';
import { receiptButton } from './receipt.js';
import { offerScenarios } from './scenarios.js';

const payments = new Orders({
  kind: 'send',
  path: '/pix/send',
  button: 'Send',
  doing: 'Sending',
  outcome: byId('send-outcome'),
  status: byId('send-status'),
  newKey: () => newKey(),
  onAnswer(answer) {
    const { transaction_id: id } = answer.made;
    byId('send-receipt').replaceChildren(...(id === undefined ? [] : [receiptButton(answer.made)]));
    if (isOver(answer)) newKey();
  },
});

const newKey = offerKeys({
  field: 'send-key',
  button: 'send-new-key',
  isInDoubt: () => payments.isInDoubt,
  onRenew() {
    payments.forget();
    byId('send-receipt').replaceChildren();
  },
});

onSubmit(byId('send'), async ({ idempotency_key: key = '', amount, ...rest }) => {
  if (mayBeEither(rest) && rest.lookup_id === undefined) {
    const found = await checkPayee();
    if (found.status !== 200) return found;
    if (found.body.ambiguous) return null;
    rest.lookup_id = found.body.lookup_id;
  }
  const body = { ...rest, amount: readAmount(amount) };
  // Another look-up makes no other payment.
  const typed = JSON.stringify({ ...body, lookup_id: undefined });
  const response = await payments.submit({ key, typed, body });
  const { errors } = response?.body ?? {};
  if (errors?.lookup_id) forgetPayee();
  return errors ? withAmountError(withKeyField(response), 'amount', amount) : null;
});

/** An amount that cannot be read goes as it is: the service says what is wrong with it. */
function readAmount(text) {
  return text === undefined ? undefined : (parseAmount(text) ?? text);
}

/** Eleven digits that may be a CPF and a mobile number: the service knows. */
function mayBeEither({ pix_key: key = '', copy_paste: code = '' }) {
  return code === '' && /^\d{2}9\d{8}$/.test(key.trim());
}

byId('look-up').addEventListener('click', () => void checkPayee());

/** Shows who has the key, or asks which key is meant. */
async function checkPayee() {
  forgetPayee();
  const key = byId('pix_key').value;
  const response = await call({ method: 'POST', path: '/pix/lookup', body: { pix_key: key } });
  if (byId('pix_key').value !== key) return response;
  showErrors(byId('send'), response);
  if (response.status === 200 && response.body.ambiguous) askWhich(response.body);
  else if (response.status === 200) showOwner(response.body);
  return response;
}

/** Once chosen, the key is written so that it cannot be the other one. */
function askWhich(found) {
  const cpf = formatTaxId(found.pix_key);
  const phone = `+55${found.pix_key}`;
  const choice = (text, label, act) => {
    const onclick = () => {
      byId('pix_key').value = text;
      act();
      byId('pix_key').focus();
    };
    return element('button', { type: 'button', className: 'quiet', onclick }, `${label} ${text}`);
  };
  const question = 'These digits are a CPF and a mobile number. Which of the two is the Pix key?';
  const choices = [
    choice(cpf, 'CPF', () => showOwner(found)),
    choice(phone, 'Mobile number', () => void checkPayee()),
  ];
  const box = element('div', { className: 'outcome doubtful' }, element('p', {}, question));
  box.append(element('div', { className: 'beside' }, ...choices));
  byId('send-payee').replaceChildren(box);
}

byId('pix_key').addEventListener('input', forgetPayee);

function forgetPayee() {
  byId('lookup_id').value = '';
  byId('send-payee').replaceChildren();
}

/** Shows who has the key. The payment uses this look-up as long as the key stays. */
function showOwner({ lookup_id: lookupId, name, document, bank, expires_at: expiresAt }) {
  byId('lookup_id').value = lookupId;
  const lines = [
    ['Payee', name],
    ['Document', document],
    ['Institution', bank && formatBank(bank)],
    ['Valid until', localTime(expiresAt).slice(11)],
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
  const response = await call({ method: 'POST', path: '/pix/decode', body: { copy_paste: code } });
  if (field.value.trim() !== code) return;
  showErrors(byId('send'), response);
  if (response.status === 200) showCode(response.body);
}

/** Shows what a code asks for. It takes the place of the key, and its amount that of the amount. */
function showCode(code) {
  const { kind, pix_key: key, amount, payee_name: name, payee_city: city, ...rest } = code;
  byId('pix_key').value = '';
  if (kind === 'dynamic' && code.lookup_id) {
    showCharge(code);
    return;
  }
  if (kind === 'static') byId('send-amount').value = (amount?.toFixed(2) ?? '').replace('.', ',');
  const lines = [
    ['Payee', `${name}, ${city}`],
    [
      'Pix key',
      key ?? `the charge cannot be read, and not be paid now: ${rest.unread ?? 'no look-up'}`,
    ],
    ['Amount', amount === undefined ? 'chosen by the payer' : formatAmount(amount)],
    ...(rest.description === undefined ? [] : [['Description', rest.description]]),
  ];
  byId('send-payee').replaceChildren(facts(lines));
}

const codeStates = {
  PAYABLE: 'can be paid',
  PAID: 'is paid already',
  EXPIRED: 'has expired',
  REMOVED: 'was cancelled by the payee',
};

/** Shows the charge of a dynamic code, as the payee's bank has it. The payment uses this look-up. */
function showCharge({ lookup_id: lookupId, payee, state, amount, ...rest }) {
  byId('lookup_id').value = lookupId;
  byId('send-amount').value = (amount?.toFixed(2) ?? '').replace('.', ',');
  const least =
    rest.minimum_amount === undefined ? '' : ` from ${formatAmount(rest.minimum_amount)}`;
  const most =
    rest.maximum_amount === undefined ? '' : ` up to ${formatAmount(rest.maximum_amount)}`;
  const amounts = [
    ['Original amount', rest.original_amount],
    ['Discount', rest.discount],
    ['Interest', rest.interest],
    ['Fine', rest.fine],
  ];
  const lines = [
    ['Payee', payee.name],
    ['Document', payee.document],
    ['Institution', payee.bank && formatBank(payee.bank)],
    ['Charge', codeStates[state] ?? state],
    ['Description', rest.description],
    ['Amount', amount === undefined ? 'chosen by the payer' : formatAmount(amount)],
    ['Changeable', rest.amount_changeable ? `yes${least}${most}` : undefined],
    ...amounts.map(([label, part]) => [label, part === undefined ? undefined : formatAmount(part)]),
    ['Due', rest.due_date],
    ['Valid until', localTime(rest.expires_at).slice(11)],
  ];
  byId('send-payee').replaceChildren(facts(lines.filter(([, value]) => value !== undefined)));
}

await offerScenarios({ input: 'Pix key', picker: 'send-scenario', field: 'pix_key' });
