/** What is said of a field in several places: the contract's check, the domain, an operation. */
import type { FieldFaults, Text } from '../errors.ts';

/** What reading a form gives: the value in its normal form, or all of its faults by field. */
export type Reading<Value> =
  | { readonly value: Value; readonly faults: null }
  | { readonly value: null; readonly faults: FieldFaults };

export const REQUIRED: Text = { en: 'The field is required.', pt: 'O campo é obrigatório.' };

export const EMPTY: Text = { en: 'The text must not be empty.', pt: 'O texto não deve ser vazio.' };

export const UNSTORABLE: Text = {
  en: 'The text contains a character that is not allowed.',
  pt: 'O texto contém um caractere não permitido.',
};

export const NOT_AN_EMAIL: Text = {
  en: 'The value must be an e-mail address.',
  pt: 'O valor deve ser um e-mail.',
};

export const PASSWORDS_DIFFER: Text = {
  en: 'Must be equal to the password.',
  pt: 'Deve ser igual à senha.',
};

export const WEAK_PASSWORD: Text = {
  en: 'This password is too easy to guess. Choose another one.',
  pt: 'Esta senha é muito fácil de adivinhar. Escolha outra.',
};

/** What is said of a text with fewer characters than `limit`. */
export function tooShort(limit: number): Text {
  if (limit === 1) return EMPTY;
  return {
    en: `The text must have at least ${limit} characters.`,
    pt: `O texto deve ter no mínimo ${limit} caracteres.`,
  };
}

/** What is said of a text with more characters than `limit`. */
export function tooLong(limit: number): Text {
  return {
    en: `The text must have at most ${limit} ${limit === 1 ? 'character' : 'characters'}.`,
    pt: `O texto deve ter no máximo ${limit} ${limit === 1 ? 'caractere' : 'caracteres'}.`,
  };
}

/** Gathers one fault a field: those that are null are none. */
export function fieldFaults(found: Readonly<Record<string, Text | null>>): FieldFaults | null {
  const faults = Object.entries(found).flatMap(([field, text]) => (text ? [[field, [text]]] : []));
  return faults.length === 0 ? null : (Object.fromEntries(faults) as FieldFaults);
}
