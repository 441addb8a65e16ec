import { foldTypography } from './text.ts';

/** Longer texts are refused before any pattern runs. */
const maxTypedLength = 40;

/**
 * A Brazilian number without country code (Anatel): the area code (DDD) has no zero; a mobile
 * number has nine digits and begins with 9, a landline number has eight and begins with 2 to 5.
 */
const nationalPattern = '([1-9]{2}(?:9\\d{8}|[2-5]\\d{7}))';

/**
 * A number dialled in Brazil, with its possible prefixes: `0055` or `55` (country), `0`
 * (long-distance), or `0` with a two-digit carrier code, as in `0 15 11 98765-4321`.
 */
const dialledInBrazil = new RegExp(`^(?:0055|55|0(?:[1-9]\\d)?)?${nationalPattern}$`);

const brazilianInternational = new RegExp(`^550?${nationalPattern}$`);

/** E.164 allows fifteen digits with the country code; the shortest numbers in use have seven. */
const e164Digits = /^[1-9]\d{6,14}$/;

/**
 * Normalises a phone number as typed. A number without `+` is Brazilian: `(11) 98765-4321`,
 * `011 98765-4321` and `55 11 98765-4321` all become `+5511987654321`. With `+` it may be of any
 * country; a Brazilian number must still be valid.
 *
 * @returns the number in E.164, or null when the text is not a phone number.
 */
export function toE164(text: string): string | null {
  if (text.length > maxTypedLength) return null;
  const typed = foldTypography(text);
  if (!/^\(?\+?[\d\s().-]+$/.test(typed)) return null;
  if (!/^\(?\+/.test(typed)) return brazilian(typed.replace(/\D/g, ''), dialledInBrazil);
  // In `+44 (0)20 …`, only callers inside the country dial the zero.
  const digits = typed.replace('(0)', '').replace(/\D/g, '');
  if (digits.startsWith('55')) return brazilian(digits, brazilianInternational);
  return e164Digits.test(digits) ? `+${digits}` : null;
}

function brazilian(digits: string, pattern: RegExp): string | null {
  const national = pattern.exec(digits)?.[1];
  return national === undefined ? null : `+55${national}`;
}

/** RFC 5321, section 4.5.3.1.3: a path of 256 octets less its brackets. */
export const maxEmailLength = 254;

const localPart = /^[a-z0-9.!#$&'*+/=?^_{}~`|-]+$/i;

const labelPattern = /^[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$/i;

/**
 * Whether a text is an e-mail address by DICT's rule for e-mail keys. It checks label by label,
 * because DICT's own pattern nests repetitions, which a hostile text can exploit.
 */
export function isEmail(text: string): boolean {
  if (text.length > maxEmailLength) return false;
  const [local, domain, ...rest] = text.split('@');
  if (local === undefined || domain === undefined || rest.length > 0) return false;
  return localPart.test(local) && domain.split('.').every((label) => labelPattern.test(label));
}
