/** The fields of a charge. */
import type { Field } from './form.ts';

const fixed: readonly Field[] = [
  {
    name: 'type',
    label: 'Type',
    kind: 'text',
    choices: { dynamic: 'dynamic: it expires', static: 'static: without an end' },
    hint: '← → to choose',
  },
  { name: 'amount', label: 'Amount in R$', kind: 'money', hint: 'such as 25,00 or 1.234,56' },
  { name: 'description', label: 'Description', kind: 'text', hint: 'for the payer' },
  { name: 'key', label: 'Key that receives', kind: 'text', hint: "empty: the account's" },
  { name: 'receiver_name', label: "Receiver's name", kind: 'text', hint: 'empty: yours' },
  { name: 'city', label: 'City', kind: 'text', hint: 'empty: Sao Paulo' },
  { name: 'zipcode', label: 'CEP', kind: 'text', hint: 'eight digits' },
  {
    name: 'expiration_qr',
    label: 'Expires after',
    kind: 'number',
    hint: 'in seconds, 60 to 86400; for a dynamic one',
  },
  { name: 'payer_name', label: "Payer's name", kind: 'text' },
  { name: 'payer_cpf', label: "Payer's CPF", kind: 'text' },
  { name: 'reusable', label: 'Reusable', kind: 'flag', hint: '← → yes or no' },
  { name: 'code_category', label: 'Category code', kind: 'text', hint: 'four digits (MCC)' },
];

/** As many as the contract takes. */
const mostPairs = 50;

const pairName = /^additional_data\.(\d+)\./;

/** All fields: of the named texts for the payer, always one more than is filled in. */
export function chargeFields(values: Readonly<Record<string, string>>, last: Field): Field[] {
  const filled = Object.entries(values)
    .filter(([, value]) => value !== '')
    .map(([name]) => Number(pairName.exec(name)?.[1] ?? -1));
  const count = Math.min(mostPairs, Math.max(-1, ...filled) + 2);
  const pairs = Array.from({ length: count }, (_, index) => pairOf(index)).flat();
  return [...fixed, ...pairs, last];
}

function pairOf(index: number): Field[] {
  const name = (member: string): string => `additional_data.${index}.${member}`;
  return [
    {
      name: name('name'),
      label: `Text ${index + 1}, name`,
      kind: 'text',
      hint: 'a text that the payer sees, such as Table',
    },
    { name: name('value'), label: `Text ${index + 1}, value`, kind: 'text', hint: 'such as 12' },
  ];
}
