/* Charges by QR code. */
import { call } from './api.js';
import { offerKeys, withKeyField } from './idempotency.js';
import { follow } from './live.js';
import { parseAmount, byId, copy, element, onSubmit } from './page.js';

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

offerKeys({ field: 'charge-key', button: 'charge-new-key' });

onSubmit(byId('charge'), async ({ idempotency_key: key = '', ...values }) => {
  const answer = await call({
    method: 'POST',
    path: '/pix/charge',
    headers: { 'Idempotency-Key': key },
    body: buildBody(values),
  });
  if (answer.status === 200) showCharge(answer.body);
  return withKeyField(answer);
});

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
    amount: parseAmount(amount),
    ...(seconds !== undefined && { expiration_qr: Number(seconds) }),
    ...(reusable === 'on' && { reusable: true }),
    ...(additional.length > 0 && { additional_data: additional }),
  };
}

function showCharge(charge) {
  const { qr_code: image, copy_paste: text } = charge;
  const button = element('button', { type: 'button' }, 'Copy the text');
  button.addEventListener('click', () => copy(text, button));
  const status = element('p', { className: 'live', role: 'status' });
  byId('charge-result').replaceChildren(
    ...(image
      ? [element('img', { className: 'qr', alt: 'QR code of the charge', src: source(image) })]
      : []),
    ...(text
      ? [
          element('textarea', {
            readOnly: true,
            rows: 4,
            'aria-label': 'PIX copy and paste',
            value: text,
          }),
          button,
        ]
      : []),
    status,
  );
  void follow(status, charge);
}

function source(image) {
  return image.startsWith('data:image/') ? image : `data:image/png;base64,${image}`;
}
