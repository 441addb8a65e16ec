import { randomInt } from 'node:crypto';

const ALPHANUMERICS = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789';

/** Far more than any name or line has; see {@link normalised}. */
const MAX_NORMALISED_LENGTH = 1_024;

/**
 * Brings a text to one of Unicode's normal forms. The time grows with the square of its length
 * where combining marks are out of order, so the caller limits the length first.
 *
 * @param text at most 1,024 code units.
 * @throws RangeError when it is longer.
 */
export function normalised(text: string, form: 'NFC' | 'NFD' | 'NFKC'): string {
  if (text.length > MAX_NORMALISED_LENGTH) throw new RangeError('too long to be normalised');
  return text.normalize(form);
}

/**
 * Removes the accents of Latin letters: `São João` becomes `Sao Joao`.
 *
 * @param text at most 1,024 code units.
 * @returns the text in canonical decomposition (NFD) without U+0300 to U+036F; characters that do
 *   not decompose stay as they are.
 */
export function stripAccents(text: string): string {
  return normalised(text, 'NFD').replace(/[\u0300-\u036f]/g, '');
}

/**
 * Folds what copying and pasting adds to a number or a document: invisible formatting characters
 * are removed (address books wrap phone numbers in direction marks), every dash becomes `-`, every
 * space becomes U+0020, and the ends are trimmed. Letters and digits are never changed.
 */
export function foldTypography(text: string): string {
  return text
    .replace(/\p{Cf}/gu, '')
    .replace(/[\p{Pd}\u2212]/gu, '-')
    .replace(/\p{Zs}/gu, ' ')
    .trim();
}

/**
 * Brings a text to one tidy line: Unicode's composed form (NFC), without invisible characters, each
 * run of white space one space, the ends trimmed. Names then compare equal as they look equal.
 *
 * @param text at most 1,024 code units.
 */
export function tidyLine(text: string): string {
  const visible = text.replace(/[\p{Cf}\p{Default_Ignorable_Code_Point}]/gu, '');
  return normalised(visible, 'NFC').replace(/\s+/g, ' ').trim();
}

/**
 * Draws characters of `[A-Za-z0-9]` from the operating system's random source, each equally likely:
 * `randomInt` rejects what a remainder would favour.
 *
 * @param length how many characters, zero or more.
 */
export function randomAlphanumerics(length: number): string {
  let text = '';
  while (text.length < length) text += ALPHANUMERICS.charAt(randomInt(ALPHANUMERICS.length));
  return text;
}
