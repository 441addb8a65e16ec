/**
 * Forms that a text of the contract may have to have beyond what JSON Schema says well: the
 * contract names one with `x-form`, and a fault says in words what is expected.
 */
import type { Text } from '../errors.ts';
import { normaliseCep } from './cep.ts';
import { EMPTY, UNSTORABLE } from './faults.ts';
import { toE164 } from './phone.ts';
import { toState } from './states.ts';
import { taxIdKind } from './tax-id.ts';
import { tidyLine } from './text.ts';

const NO_LETTER: Text = {
  en: 'The name must contain a letter.',
  pt: 'O nome deve conter uma letra.',
};

const NOT_A_CEP: Text = { en: 'The CEP has eight digits.', pt: 'O CEP tem oito dígitos.' };

const NOT_BARE_DIGITS: Text = {
  en: 'The CEP has eight digits, without a hyphen.',
  pt: 'O CEP tem oito dígitos, sem hífen.',
};

const NOT_A_CPF: Text = {
  en: 'The CPF is not valid. Check its eleven digits.',
  pt: 'O CPF não é válido. Confira os onze dígitos.',
};

const COMPANY_ID: Text = {
  en: 'This is the CNPJ of a company. A CPF is needed here.',
  pt: 'Este é o CNPJ de uma empresa. Aqui é necessário um CPF.',
};

const NOT_A_CNPJ: Text = {
  en: 'The CNPJ is not valid. Check its fourteen characters.',
  pt: 'O CNPJ não é válido. Confira os quatorze caracteres.',
};

const PERSONAL_ID: Text = {
  en: 'This is the CPF of a person. A CNPJ is needed here.',
  pt: 'Este é o CPF de uma pessoa. Aqui é necessário um CNPJ.',
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
  en: 'The key must have 1 to 128 visible ASCII characters. A UUID is best.',
  pt: 'A chave deve ter de 1 a 128 caracteres ASCII visíveis. Um UUID é o ideal.',
};

const CONTROL_CHARACTER = /\p{C}/u;
const LETTER = /\p{L}/u;

const forms = {
  line: lineFault,
  'optional-line': (text) => (tidyLine(text) === '' ? null : lineFault(text)),
  name: (text) => lineFault(text) ?? (LETTER.test(tidyLine(text)) ? null : NO_LETTER),
  cep: (text) => (normaliseCep(text) === null ? NOT_A_CEP : null),
  'cep-digits': (text) => (/^\d{8}$/.test(text) ? null : NOT_BARE_DIGITS),
  cpf: (text) => taxIdFault(text, { CPF: null, CNPJ: COMPANY_ID, neither: NOT_A_CPF }),
  cnpj: (text) => taxIdFault(text, { CPF: PERSONAL_ID, CNPJ: null, neither: NOT_A_CNPJ }),
  phone: (text) => (toE164(text) === null ? NOT_A_PHONE : null),
  state: (text) => (toState(text) === null ? NOT_A_STATE : null),
  'idempotency-key': (text) => (/^[\x21-\x7e]{1,128}$/.test(text) ? null : NOT_A_KEY),
} as const satisfies Record<string, (text: string) => Text | null>;

export type FormName = keyof typeof forms;

export const formNames = Object.keys(forms) as FormName[];

/** @returns what keeps a text from having a form, or null when it has it. */
export function formFault(form: FormName, text: string): Text | null {
  return forms[form](text);
}

function lineFault(text: string): Text | null {
  const line = tidyLine(text);
  if (CONTROL_CHARACTER.test(line)) return UNSTORABLE;
  return line === '' ? EMPTY : null;
}

function taxIdFault(
  text: string,
  faults: Readonly<Record<'CPF' | 'CNPJ' | 'neither', Text | null>>,
): Text | null {
  return faults[taxIdKind(text) ?? 'neither'];
}
