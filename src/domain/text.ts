import { randomInt } from 'node:crypto';

const ALPHANUMERICS = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789';

/** Longer than any name or line; see {@link normalised}. */
const MAX_NORMALISED_LENGTH = 1_024;

/**
 * Converts a text to a Unicode normalisation form. The time is quadratic in the length when
 * combining marks are out of order, so the caller must limit the length first.
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
 * Cleans a copied number or document: removes invisible formatting characters (address books wrap
 * phone numbers in direction marks), turns every dash into `-` and every space into U+0020, and
 * trims the ends. Letters and digits are unchanged.
 */
export function foldTypography(text: string): string {
  return text
    .replace(/\p{Cf}/gu, '')
    .replace(/[\p{Pd}\u2212]/gu, '-')
    .replace(/\p{Zs}/gu, ' ')
    .trim();
}

/**
 * Cleans a text that is one word or one code and was pasted: removes the invisible characters and
 * the line breaks that chat applications and mail add anywhere, and trims spaces at both ends.
 */
export function cleanPasted(text: string): string {
  return text
    .replace(/[\p{Cf}\p{Default_Ignorable_Code_Point}\n\v\f\r\u0085\u2028\u2029]/gu, '')
    .trim();
}

/**
 * Normalises a text to one line: composed form (NFC), no invisible characters, single spaces,
 * trimmed ends. Names that look equal then compare equal.
 *
 * @param text at most 1,024 code units.
 */
export function tidyLine(text: string): string {
  const visible = text.replace(/[\p{Cf}\p{Default_Ignorable_Code_Point}]/gu, '');
  return normalised(visible, 'NFC').replace(/\s+/g, ' ').trim();
}

/**
 * Draws characters of `[A-Za-z0-9]` from the operating system's random source, all equally likely.
 *
 * @param length how many characters, zero or more.
 */
export function randomAlphanumerics(length: number): string {
  let text = '';
  while (text.length < length) text += ALPHANUMERICS.charAt(randomInt(ALPHANUMERICS.length));
  return text;
}

const UUID = /^[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}$/i;

/** The nil UUID, which sorts before every other (RFC 9562, section 5.9). */
export const nilUuid = '00000000-0000-0000-0000-000000000000';

/** Whether a text is a UUID without URN prefix, in either case. */
export function isUuid(text: string): boolean {
  return UUID.test(text);
}

/** @returns a name with the first letter of each word only: `A*** S***`. */
export function maskName(name: string): string {
  return name
    .split(' ')
    .map((word) => `${[...word][0] ?? ''}***`)
    .join(' ');
}
