/* Charges by QR code. */
import { call } from './api.js';
import { actAtBank } from './bank.js';
import { parseAmount } from './format.js';
import { anotherKey, offerKeys, withKeyField } from './idempotency.js';
import { follow } from './live.js';
import { chargeOutcome, noResponseToCharge, slowCharge } from './outcomes.js';
import { byId, copy, element, onSubmit, withAmountError } from './page.js';
import { about } from './shell.js';
import { showWaiting } from './waiting.js';

byId('add-datum').addEventListener('click', () => addDatum());

let datums = 0;

function addDatum() {
  datums += 1;
  const number = datums;
  const field = (part, label) => [
    element('label', { htmlFor: `datum-${part}-${number}` }, `${label} ${number}`),
    element('input', { id: `datum-${part}-${number}`, name: `datum_${part}_${number}` }),
  ];
  const remove = element('button', { type: 'button', className: 'quiet' }, 'Remove');
  const row = element('div', { className: 'row' }, ...field('name', 'Name'));
  row.append(...field('value', 'Value'), remove);
  remove.addEventListener('click', () => row.remove());
  byId('additional-data').append(row);
  row.querySelector('input').focus();
}

const newKey = offerKeys({ field: 'charge-key', button: 'charge-new-key', onRenew: forget });

/** The charge that has the key, as it was typed. */
let made = { key: null, typed: null };

onSubmit(byId('charge'), async ({ idempotency_key: given = '', ...values }) => {
  forget();
  const typed = JSON.stringify(values);
  const key = given === made.key && typed !== made.typed ? newKey() : given;
  const end = showWaiting(byId('charge-outcome'), { doing: 'Charging', slow: slowCharge });
  const response = await call({
    method: 'POST',
    path: '/pix/charge',
    headers: { 'Idempotency-Key': key },
    body: buildBody(values),
  });
  end();
  byId('charge-outcome').textContent = outcomeText(response);
  if (response.status === 200) {
    made = { key, typed };
    void showCharge(response.body);
  }
  return withAmountError(withKeyField(response), 'amount', values.amount);
});

function forget() {
  byId('charge-outcome').replaceChildren();
  byId('charge-result').replaceChildren();
}

function outcomeText(response) {
  if (response.status === 0) return noResponseToCharge;
  if (response.status === 200 && response.body.status !== 'FAILED') return '';
  return chargeOutcome(response, anotherKey).text;
}

function buildBody(values) {
  const { amount, expiration_qr: seconds, reusable, ...rest } = values;
  const plain = Object.entries(rest).filter(([name]) => !name.startsWith('datum_'));
  const numbers = Object.keys(rest).flatMap((name) => /^datum_name_(\d+)$/.exec(name)?.[1] ?? []);
  const additional = numbers.map((number) => ({
    name: rest[`datum_name_${number}`],
    value: rest[`datum_value_${number}`] ?? '',
  }));
  return {
    ...Object.fromEntries(plain),
    ...(amount !== undefined && { amount: parseAmount(amount) ?? amount }),
    ...(seconds !== undefined && { expiration_qr: Number(seconds) }),
    ...(reusable === 'on' && { reusable: true }),
    ...(additional.length > 0 && { additional_data: additional }),
  };
}

async function showCharge(charge) {
  const { qr_code: image, copy_paste: text } = charge;
  const status = element('p', { className: 'live', role: 'status' });
  const said = element('p', { className: 'hint', role: 'status' });
  const pay = payButton(text, said);
  byId('charge-result').replaceChildren(
    said,
    status,
    ...(image
      ? [element('img', { className: 'qr', alt: 'QR code of the charge', src: png(image) })]
      : []),
    ...(text ? codeParts(text, pay) : []),
  );
  if (charge.status === 'PROCESSING') said.textContent = 'The code can be paid now.';
  const { body: end = charge } = (await follow(status, charge)) ?? {};
  if (end.status === 'PROCESSING') return;
  pay.hidden = true;
  said.textContent =
    end.status === 'COMPLETED' ? 'The charge is paid.' : 'The charge cannot be paid.';
  if (byId('charge-key').value === made.key) newKey();
}

/** What a payer does: the simulated bank plays it. */
function payButton(text, said) {
  const pay = element('button', { type: 'button', hidden: !about.hasBank }, 'Pay this charge');
  pay.addEventListener('click', async () => {
    const { status, body } = await actAtBank('pay-charge', { code: text });
    if (status !== 200) said.textContent = body.errors?.code?.join(' ') ?? body.message;
  });
  return pay;
}

function codeParts(text, pay) {
  const copyButton = element('button', { type: 'button', className: 'quiet' }, 'Copy the code');
  copyButton.addEventListener('click', () => copy(text, copyButton));
  const label = 'Pix copia e cola';
  return [
    element('textarea', { readOnly: true, rows: 4, 'aria-label': label, value: text }),
    element('div', { className: 'actions' }, pay, copyButton),
  ];
}

function png(base64) {
  return `data:image/png;base64,${base64}`;
}
