/**
 * Masks personal data in a payload. It keeps the structure, the field names, and only the values
 * that identify the payment and its result: whatever is not known to be harmless is masked.
 */
import { normaliseTaxId } from '../domain/tax-id.ts';

const mask = '***';

/** Compared in lower case and without `_`, `-` and spaces. */
const plain = (name: string): string => name.toLowerCase().replace(/[_\-\s]/g, '');

const ids = new Set(
  `id endtoend endtoendid clientrequestid clientcode correlationid transactionidentification txid
  transactionid paymentid providertxid returnid`.split(/\s+/),
);

const amounts = new Set(['amount', 'valor', 'value']);

const words = new Set(
  `event type entity transactiontype status statuscode statusid code errorcode reasoncode reason
  error`.split(/\s+/),
);

const times = new Set(
  `createdat createtimestamp updatedat timestamp horario date datetime settledat`.split(/\s+/),
);

const idForm = /^[\x21-\x7e]{1,255}$/;
const amountForm = /^\d{1,9}(?:\.\d{1,2})?$/;
const wordForm = /^[\w.:-]{1,64}$/;
const timeForm = /^\d{4}-\d{2}-\d{2}(?:[T ][\d:.]+(?:Z|[+-]\d{2}:?\d{2})?)?$/;

/** Names of fields are shown; one that no API would use may be a value. */
const nameForm = /^[A-Za-z_$][\w$ .-]{0,63}$/;

/** Deeper than any provider's payload; everything below is masked. */
const maxDepth = 12;

/** Masks the personal values of parsed JSON. */
export function redacted(value: unknown, depth = 0): unknown {
  if (typeof value !== 'object' || value === null) return redactedLeaf('', value);
  if (depth === maxDepth) return mask;
  if (Array.isArray(value)) return value.map((item: unknown) => redacted(item, depth + 1));
  const fields = Object.entries(value);
  // In `{name: "CPF", value: "…"}` a value may be anything.
  const isNamed = fields.some(([name]) => ['name', 'nome'].includes(plain(name)));
  return Object.fromEntries(
    fields.map(([name, content]) => [
      nameForm.test(name) && !isPersonal(name) ? name : mask,
      typeof content === 'object' && content !== null
        ? redacted(content, depth + 1)
        : redactedLeaf(isNamed && amounts.has(plain(name)) ? '' : plain(name), content),
    ]),
  );
}

function redactedLeaf(name: string, value: unknown): unknown {
  if (typeof value !== 'string' && typeof value !== 'number') return value;
  const text = String(value);
  if (amounts.has(name) && amountForm.test(text)) return value;
  const isShown =
    (ids.has(name) && idForm.test(text)) ||
    (words.has(name) && wordForm.test(text)) ||
    (times.has(name) && timeForm.test(text));
  return isShown && !isPersonal(text) ? value : mask;
}

/** An e-mail, a CPF, a CNPJ, or as many digits as a phone number. */
function isPersonal(text: string): boolean {
  return namesPerson(text) || /^\+?\d{10,13}$/.test(text.replace(/[\s().-]/g, ''));
}

/** Whether a text contains an e-mail, a CPF or a CNPJ. */
export function namesPerson(text: string): boolean {
  return (
    text.includes('@') || text.split(/[\s,;:()]+/).some((word) => normaliseTaxId(word) !== null)
  );
}
