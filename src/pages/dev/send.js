/* Sends a Pix, and says at each moment what is known of it and what to do. */
import { call } from './api.js';
import { formatAmount, localTime, parseAmount } from './format.js';
import { newKeyWords, offerKeys, withKeyField } from './idempotency.js';
import { follow } from './live.js';
import { askBeforeAnother, isInDoubt, orderOutcome, orderTexts } from './outcomes.js';
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
import { showWaiting } from './waiting.js';

const texts = orderTexts.send;

/** The key of the last payment while it may have been made without its end being known. */
let doubtfulKey = null;

/** A key that replaces the doubtful one, after the person has confirmed it. */
let askedAbout = null;

offerKeys({
  field: 'send-key',
  button: 'send-new-key',
  isInDoubt: () => doubtfulKey !== null,
  onRenew() {
    doubtfulKey = null;
    forgetOutcome();
  },
});

// The key would be lost with the page.
addEventListener('beforeunload', (event) => {
  if (doubtfulKey !== null) event.preventDefault();
});

onSubmit(byId('send'), async ({ idempotency_key: key = '', amount, ...rest }) => {
  if (mayBeEither(rest) && rest.lookup_id === undefined) {
    const found = await checkPayee();
    if (found.status !== 200) return found;
    if (found.body.ambiguous) return null;
    rest.lookup_id = found.body.lookup_id;
  }
  const isAnother = doubtfulKey !== null && doubtfulKey !== key;
  if (isAnother && askedAbout !== key) {
    askedAbout = key;
    say(askBeforeAnother('send'), 'doubtful', 'Press “Send” once more to make it.');
    return null;
  }
  forgetOutcome();
  const isDoubtful = doubtfulKey === key;
  // Until there is a response.
  doubtfulKey = key;
  const response = await send(key, { ...rest, amount: readAmount(amount) });
  if (response.body.errors?.lookup_id) forgetPayee();
  if (response.status !== 0 && !isInDoubt(response, isDoubtful)) doubtfulKey = null;
  void showOutcome(response, isDoubtful);
  // The result has the sentence of the response; the fields have what is wrong with them.
  const hasErrors = response.body.errors !== undefined;
  return hasErrors ? withAmountError(withKeyField(response), 'amount', amount) : null;
});

async function send(key, body) {
  const place = byId('send-outcome');
  const end = showWaiting(place, { doing: 'Sending', slow: texts.slow });
  bringIntoView();
  const headers = { 'Idempotency-Key': key };
  const response = await call({ method: 'POST', path: '/pix/send', headers, body });
  end();
  return response;
}

/** An amount that cannot be read goes as it is: the service says what is wrong with it. */
function readAmount(text) {
  return text === undefined ? undefined : (parseAmount(text) ?? text);
}

function forgetOutcome() {
  askedAbout = null;
  void follow(byId('send-status'), null);
  for (const part of ['outcome', 'status', 'receipt']) byId(`send-${part}`).replaceChildren();
}

function say(text, colour = 'plain', ...more) {
  byId('send-outcome').replaceChildren(
    element('p', { className: `outcome ${colour}` }, text),
    ...more.map((line) => element('p', { className: 'hint' }, line)),
  );
  bringIntoView();
}

/** On a phone the result is below the form. */
function bringIntoView() {
  byId('send-outcome').scrollIntoView({ block: 'nearest' });
}

async function showOutcome(response, isDoubtful) {
  if (response.status === 0) {
    say(texts.noResponse, 'bad');
    return;
  }
  const isReplay = response.headers.get('idempotency-replayed') === 'true';
  const { message, code, errors } = response.body;
  const refusal = errors === undefined && message ? [code ? `${message} (${code})` : message] : [];
  const replay = isReplay ? [texts.replayed] : [];
  const notes = [...refusal, ...replay];
  const show = ({ live, reason }) => {
    const known = { live, reason, isDoubtful, newKey: newKeyWords };
    const { colour, text } = orderOutcome('send', response, known);
    // An ended session is announced by the login.
    if (response.status !== 401) say(text, colour, ...notes);
  };
  show({ live: response.body.status ?? null });
  if (response.status !== 200) return;
  const { transaction_id: id } = response.body;
  byId('send-receipt').replaceChildren(receiptButton(response.body));
  const status = await follow(byId('send-status'), response.body);
  // Another payment may have taken the place meanwhile.
  if (status === null) return;
  doubtfulKey = null;
  byId('send-receipt').replaceChildren(receiptButton({ transaction_id: id, status }));
  show({ live: status, reason: status === 'FAILED' ? await readReason(id) : undefined });
}

async function readReason(id) {
  const { status, body } = await call({ path: `/pix/${encodeURIComponent(id)}/receipt` });
  return status === 200 ? body.failure?.message : undefined;
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
function showOwner({ lookup_id: lookupId, name, document, institution, expires_at: expiresAt }) {
  byId('lookup_id').value = lookupId;
  const lines = [
    ['Payee', name],
    ['Document', document],
    ['Institution', institution && `ISPB ${institution}`],
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
    ['Institution', payee.institution && `ISPB ${payee.institution}`],
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
