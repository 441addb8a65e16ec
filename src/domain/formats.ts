/**
 * The formats of the contract's extension `x-format`, for texts that JSON Schema cannot describe
 * well. Each has messages that explain what is expected.
 */
import type { Text } from '../errors.ts';
import { brCodeError } from './br-code.ts';
import { normaliseCep, toState } from './cep.ts';
import { fieldEmpty, tooLong, tooShort, unstorable } from './validation-errors.ts';
import { toE164 } from './contact.ts';
import { parsePixCursor } from './pix-cursor.ts';
import { isPixKey } from './pix-key.ts';
import { taxIdKind } from './tax-id.ts';
import { cleanPasted, hasControls, normalisePassword, tidyLine, nilUuid } from './text.ts';

const noLetter: Text = {
  en: 'The name must contain a letter.',
  pt: 'O nome deve conter uma letra.',
};

const notACep: Text = {
  en: 'The CEP must have eight digits.',
  pt: 'O CEP deve ter oito dígitos.',
};

const notBareDigits: Text = {
  en: 'The CEP must have eight digits, without a hyphen.',
  pt: 'O CEP deve ter oito dígitos, sem hífen.',
};

const notACpf: Text = {
  en: 'The CPF is not valid. Check its eleven digits.',
  pt: 'O CPF não é válido. Confira os onze dígitos.',
};

const companyId: Text = {
  en: 'This is the CNPJ of a company. Enter a CPF.',
  pt: 'Este é o CNPJ de uma empresa. Informe um CPF.',
};

const notACnpj: Text = {
  en: 'The CNPJ is not valid. Check its fourteen characters.',
  pt: 'O CNPJ não é válido. Confira os quatorze caracteres.',
};

const personalId: Text = {
  en: 'This is the CPF of a person. Enter a CNPJ.',
  pt: 'Este é o CPF de uma pessoa. Informe um CNPJ.',
};

const notATaxId: Text = {
  en: 'This is neither a CPF nor a CNPJ. Check its digits.',
  pt: 'Este não é um CPF nem um CNPJ. Confira os dígitos.',
};

const notAPhone: Text = {
  en: 'The phone must have an area code, as in +55 11 98765-4321.',
  pt: 'O telefone deve ter o DDD, como em +55 11 98765-4321.',
};

const notAState: Text = {
  en: 'The value must be the two letters of a Brazilian state, such as SP.',
  pt: 'O valor deve ser a sigla de um estado brasileiro, como SP.',
};

const notAKey: Text = {
  en: 'Send one key: 1 to 128 visible ASCII characters, no quotes or commas. A UUID is best.',
  pt: 'Envie uma chave: de 1 a 128 caracteres ASCII visíveis, sem aspas nem vírgulas. Um UUID é o ideal.',
};

const lostKey: Text = {
  en: 'This is what an app sends when it has lost its key. Each payment needs a key of its own.',
  pt: 'Isto é o que um app envia quando perdeu a chave. Cada pagamento precisa de uma chave própria.',
};

const notAPixKey: Text = {
  en: 'This is not a Pix key. Enter a CPF, CNPJ, e-mail, random key, or phone with its area code.',
  pt: 'Esta não é uma chave Pix. Informe um CPF, CNPJ, e-mail, chave aleatória ou telefone com DDD.',
};

const notACursor: Text = {
  en: 'Enter the next_cursor of the page before unchanged. Begin without a cursor.',
  pt: 'Informe o next_cursor da página anterior sem alterações. Comece sem cursor.',
};

/**
 * Without `"` and `,`: a client that quotes its key, and a proxy that joins two headers, would turn
 * a repeat into a new payment.
 */
const idempotencyKey = /^[\x21\x23-\x2b\x2d-\x7e]{1,128}$/;

/** With one of these, all payments of a broken app would have the same key. */
const lostKeys: ReadonlySet<string> = new Set([
  'undefined',
  'null',
  '(null)',
  'nil',
  'nan',
  'none',
  nilUuid,
]);

function idempotencyKeyError(text: string): Text | null {
  if (lostKeys.has(text.toLowerCase())) return lostKey;
  return idempotencyKey.test(text) ? null : notAKey;
}

const controlsRefused: Text = {
  en: 'The text must have no control characters but tabs and line ends.',
  pt: 'O texto não pode ter caracteres de controle, a não ser tabulações e fins de linha.',
};

const controlCharacter = /\p{C}/u;
const letterPattern = /\p{L}/u;

const minPasswordLength = 8;
const maxPasswordLength = 128;

/** A composed character has at most four code points when it is decomposed, as `ᾂ` has. */
const maxTypedLength = 4 * maxPasswordLength;

/** Counts the characters as they are hashed: each login may type them in another form. */
function newPasswordError(text: string): Text | null {
  if (text.length > maxTypedLength) return tooLong(maxPasswordLength);
  const { length } = [...normalisePassword(text)];
  if (length < minPasswordLength) return tooShort(minPasswordLength);
  return length > maxPasswordLength ? tooLong(maxPasswordLength) : null;
}

/** Takes what was set when characters were counted as typed, too. */
function passwordError(text: string): Text | null {
  return [...text].length > maxPasswordLength ? newPasswordError(text) : null;
}

const formats = {
  line: lineError,
  'optional-line': (text) => (tidyLine(text) === '' ? null : lineError(text)),
  text: (text) => (hasControls(text) ? controlsRefused : null),
  name: (text) => lineError(text) ?? (letterPattern.test(tidyLine(text)) ? null : noLetter),
  cep: (text) => (normaliseCep(text) === null ? notACep : null),
  'cep-digits': (text) => (/^\d{8}$/.test(text) ? null : notBareDigits),
  cpf: (text) => taxIdError(text, { CPF: null, CNPJ: companyId, neither: notACpf }),
  cnpj: (text) => taxIdError(text, { CPF: personalId, CNPJ: null, neither: notACnpj }),
  'tax-id': (text) => (taxIdKind(text) === null ? notATaxId : null),
  phone: (text) => (toE164(text) === null ? notAPhone : null),
  state: (text) => (toState(text) === null ? notAState : null),
  'br-code': brCodeError,
  'idempotency-key': idempotencyKeyError,
  'pix-key': pixKeyError,
  password: passwordError,
  'new-password': newPasswordError,
  'pix-cursor': (text) => (parsePixCursor(text) === null ? notACursor : null),
} as const satisfies Record<string, (text: string) => Text | null>;

export type FormatName = keyof typeof formats;

export const formatNames = Object.keys(formats) as FormatName[];

/** @returns why a text does not have a format, or null when it has. */
export function formatError(format: FormatName, text: string): Text | null {
  return formats[format](text);
}

function lineError(text: string): Text | null {
  const line = tidyLine(text);
  if (controlCharacter.test(line)) return unstorable;
  return line === '' ? fieldEmpty : null;
}

function pixKeyError(text: string): Text | null {
  const key = cleanPasted(text);
  if (key === '') return fieldEmpty;
  if (/\p{Cc}/u.test(key)) return unstorable;
  return isPixKey(key) ? null : notAPixKey;
}

function taxIdError(
  text: string,
  errors: Readonly<Record<'CPF' | 'CNPJ' | 'neither', Text | null>>,
): Text | null {
  return errors[taxIdKind(text) ?? 'neither'];
}
