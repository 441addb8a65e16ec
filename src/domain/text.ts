import { randomInt } from 'node:crypto';

const alphanumerics = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789';

/** Longer than any name or line; see {@link normalised}. */
const maxNormalisedLength = 1_024;

/**
 * Converts a text to a Unicode normalisation form. The time is quadratic in the length when
 * combining marks are out of order, so the caller must limit the length first.
 *
 * @param text at most 1,024 code units.
 * @throws RangeError when it is longer.
 */
export function normalised(text: string, form: 'NFC' | 'NFD' | 'NFKC'): string {
  if (text.length > maxNormalisedLength) throw new RangeError('too long to be normalised');
  return text.normalize(form);
}

/**
 * Normalises a password before it is hashed or compared (NIST SP 800-63B, section 5.1.1.2), because
 * keyboards write "ã" as one code point or as two.
 *
 * @param password at most 1,024 code units.
 * @returns the password in Unicode's compatibility composition (NFKC).
 */
export function normalisePassword(password: string): string {
  return normalised(password, 'NFKC');
}

/** Whether two texts are one password at a login; one that is too long is equal to itself only. */
export function isSamePassword(one: string, other: string): boolean {
  if (one.length > maxNormalisedLength || other.length > maxNormalisedLength) return one === other;
  return normalisePassword(one) === normalisePassword(other);
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

/** C0 but tab and line ends, DEL and C1, and what changes the direction of the text after it. */
const controls = /(?![\t\n\r])[\p{Cc}\p{Bidi_C}]/u;

/** Whether a text has characters that control a terminal, or the order in which it is shown. */
export function hasControls(text: string): boolean {
  return controls.test(text);
}

/** The same characters, and line separators; a colour (`ESC [ 31 m`) stays. */
const unprintable = /(?!\x1b\[[\d;]*m)(?![\t\n])[\p{Cc}\p{Bidi_C}\p{Zl}\p{Zp}]/gu;

/** Escapes characters that would control a terminal, as in JSON: `\u202e`. */
export function escapeControls(text: string): string {
  return text.replaceAll(
    unprintable,
    (control) => `\\u${control.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}

/**
 * Draws characters of `[A-Za-z0-9]` from the operating system's random source, all equally likely.
 *
 * @param length how many characters, zero or more.
 */
export function randomAlphanumerics(length: number): string {
  let text = '';
  while (text.length < length) text += alphanumerics.charAt(randomInt(alphanumerics.length));
  return text;
}

/**
 * Writes a digest as alphanumerics.
 * @param digest at least one byte more than the text has information for: 32 bytes for 11.
 */
export function alphanumericDigest(digest: Buffer, length: number): string {
  let rest = BigInt(`0x${digest.toString('hex')}`);
  let text = '';
  while (text.length < length) {
    text += alphanumerics.charAt(Number(rest % BigInt(alphanumerics.length)));
    rest /= BigInt(alphanumerics.length);
  }
  return text;
}

const uuid = /^[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}$/i;

/** The nil UUID, which sorts before every other (RFC 9562, section 5.9). */
export const nilUuid = '00000000-0000-0000-0000-000000000000';

/** Whether a text is a UUID without URN prefix, in either case. */
export function isUuid(text: string): boolean {
  return uuid.test(text);
}

/** @returns a name with the first letter of each word only: `A*** S***`. */
export function maskName(name: string): string {
  return name
    .split(' ')
    .map((word) => `${[...word][0] ?? ''}***`)
    .join(' ');
}
