/** Validation messages that the HTTP layer, the domain and operations share. */
import type { FieldErrors, Text } from '../errors.ts';

/** The result of reading typed input: the normalised value, or all errors by field. */
export type Reading<Value> =
  | { readonly value: Value; readonly errors: null }
  | { readonly value: null; readonly errors: FieldErrors };

export const fieldRequired: Text = {
  en: 'The field is required.',
  pt: 'Este campo é obrigatório.',
};

export const fieldEmpty: Text = {
  en: 'The text must not be empty.',
  pt: 'Preencha este campo.',
};

export const unstorable: Text = {
  en: 'The text contains a character that is not allowed.',
  pt: 'Este campo contém um caractere que não é aceito.',
};

export const notAnEmail: Text = {
  en: 'The value must be an e-mail address.',
  pt: 'Informe um e-mail válido, como nome@exemplo.com.',
};

export const passwordsDiffer: Text = {
  en: 'The passwords do not match.',
  pt: 'As senhas não são iguais.',
};

export const weakPassword: Text = {
  en: 'This password is too easy to guess. Choose another one.',
  pt: 'Esta senha é muito fácil de adivinhar. Escolha outra.',
};

/** The message for a text with fewer characters than `limit`. */
export function tooShort(limit: number): Text {
  if (limit === 1) return fieldEmpty;
  return {
    en: `The text must have at least ${limit} characters.`,
    pt: `Use no mínimo ${limit} caracteres.`,
  };
}

/** The message for a text with more characters than `limit`. */
export function tooLong(limit: number): Text {
  return {
    en: `The text must have at most ${limit} ${limit === 1 ? 'character' : 'characters'}.`,
    pt: `Use no máximo ${limit} ${limit === 1 ? 'caractere' : 'caracteres'}.`,
  };
}

/**
 * Collects one error per field; null means that the field is valid.
 * @returns null when all fields are valid.
 */
export function fieldErrors(found: Readonly<Record<string, Text | null>>): FieldErrors | null {
  const errors = Object.entries(found).flatMap(([field, text]) => (text ? [[field, [text]]] : []));
  return errors.length === 0 ? null : (Object.fromEntries(errors) as FieldErrors);
}
