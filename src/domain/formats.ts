/**
 * The formats of the contract's extension `x-format`, for texts that JSON Schema cannot describe
 * well. Each has messages that explain what is expected.
 */
import type { Text } from '../errors.ts';
import { brCodeError } from './br-code.ts';
import { normaliseCep, toState } from './cep.ts';
import { EMPTY, UNSTORABLE } from './validation-errors.ts';
import { toE164 } from './contact.ts';
import { parsePixCursor } from './pix-cursor.ts';
import { isPixKey } from './pix-key.ts';
import { taxIdKind } from './tax-id.ts';
import { cleanPasted, tidyLine } from './text.ts';

const NO_LETTER: Text = {
  en: 'The name must contain a letter.',
  pt: 'O nome deve conter uma letra.',
};

const NOT_A_CEP: Text = {
  en: 'The CEP must have eight digits.',
  pt: 'O CEP deve ter oito dígitos.',
};

const NOT_BARE_DIGITS: Text = {
  en: 'The CEP must have eight digits, without a hyphen.',
  pt: 'O CEP deve ter oito dígitos, sem hífen.',
};

const NOT_A_CPF: Text = {
  en: 'The CPF is not valid. Check its eleven digits.',
  pt: 'O CPF não é válido. Confira os onze dígitos.',
};

const COMPANY_ID: Text = {
  en: 'This is the CNPJ of a company. Enter a CPF.',
  pt: 'Este é o CNPJ de uma empresa. Informe um CPF.',
};

const NOT_A_CNPJ: Text = {
  en: 'The CNPJ is not valid. Check its fourteen characters.',
  pt: 'O CNPJ não é válido. Confira os quatorze caracteres.',
};

const PERSONAL_ID: Text = {
  en: 'This is the CPF of a person. Enter a CNPJ.',
  pt: 'Este é o CPF de uma pessoa. Informe um CNPJ.',
};

const NOT_A_TAX_ID: Text = {
  en: 'This is neither a CPF nor a CNPJ. Check its digits.',
  pt: 'Este não é um CPF nem um CNPJ. Confira os dígitos.',
};

const NOT_A_PHONE: Text = {
  en: 'The phone must have an area code, as in +55 11 98765-4321.',
  pt: 'O telefone deve ter o DDD, como em +55 11 98765-4321.',
};

const NOT_A_STATE: Text = {
  en: 'The value must be the two letters of a Brazilian state, such as SP.',
  pt: 'O valor deve ser a sigla de um estado brasileiro, como SP.',
};

const NOT_A_KEY: Text = {
  en: 'Send one key: 1 to 128 visible ASCII characters, no quotes or commas. A UUID is best.',
  pt: 'Envie uma chave: de 1 a 128 caracteres ASCII visíveis, sem aspas nem vírgulas. Um UUID é o ideal.',
};

const NOT_A_PIX_KEY: Text = {
  en: 'This is not a Pix key. Enter a CPF, CNPJ, e-mail, random key, or phone with its area code.',
  pt: 'Esta não é uma chave Pix. Informe um CPF, CNPJ, e-mail, chave aleatória ou telefone com DDD.',
};

const NOT_A_CURSOR: Text = {
  en: 'Enter the next_cursor of the page before unchanged. Begin without a cursor.',
  pt: 'Informe o next_cursor da página anterior sem alterações. Comece sem cursor.',
};

/**
 * Without `"` and `,`: a client that quotes its key, and a proxy that joins two headers, would turn
 * a repeat into a new payment.
 */
const IDEMPOTENCY_KEY = /^[\x21\x23-\x2b\x2d-\x7e]{1,128}$/;

const CONTROL_CHARACTER = /\p{C}/u;
const LETTER = /\p{L}/u;

const formats = {
  line: lineError,
  'optional-line': (text) => (tidyLine(text) === '' ? null : lineError(text)),
  name: (text) => lineError(text) ?? (LETTER.test(tidyLine(text)) ? null : NO_LETTER),
  cep: (text) => (normaliseCep(text) === null ? NOT_A_CEP : null),
  'cep-digits': (text) => (/^\d{8}$/.test(text) ? null : NOT_BARE_DIGITS),
  cpf: (text) => taxIdError(text, { CPF: null, CNPJ: COMPANY_ID, neither: NOT_A_CPF }),
  cnpj: (text) => taxIdError(text, { CPF: PERSONAL_ID, CNPJ: null, neither: NOT_A_CNPJ }),
  'tax-id': (text) => (taxIdKind(text) === null ? NOT_A_TAX_ID : null),
  phone: (text) => (toE164(text) === null ? NOT_A_PHONE : null),
  state: (text) => (toState(text) === null ? NOT_A_STATE : null),
  'br-code': brCodeError,
  'idempotency-key': (text) => (IDEMPOTENCY_KEY.test(text) ? null : NOT_A_KEY),
  'pix-key': pixKeyError,
  'pix-cursor': (text) => (parsePixCursor(text) === null ? NOT_A_CURSOR : null),
} as const satisfies Record<string, (text: string) => Text | null>;

export type FormatName = keyof typeof formats;

export const formatNames = Object.keys(formats) as FormatName[];

/** @returns why a text does not have a format, or null when it has. */
export function formatError(format: FormatName, text: string): Text | null {
  return formats[format](text);
}

function lineError(text: string): Text | null {
  const line = tidyLine(text);
  if (CONTROL_CHARACTER.test(line)) return UNSTORABLE;
  return line === '' ? EMPTY : null;
}

function pixKeyError(text: string): Text | null {
  const key = cleanPasted(text);
  if (key === '') return EMPTY;
  if (/\p{Cc}/u.test(key)) return UNSTORABLE;
  return isPixKey(key) ? null : NOT_A_PIX_KEY;
}

function taxIdError(
  text: string,
  errors: Readonly<Record<'CPF' | 'CNPJ' | 'neither', Text | null>>,
): Text | null {
  return errors[taxIdKind(text) ?? 'neither'];
}
