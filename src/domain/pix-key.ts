import { isEmail } from './email.ts';
import { toE164 } from './phone.ts';
import { normaliseTaxId } from './tax-id.ts';
import { foldTypography } from './text.ts';

/** What a PIX key is, by its form; `UNKNOWN` is any form that the service does not recognise. */
export type PixKeyKind = 'CPF' | 'CNPJ' | 'PHONE' | 'EMAIL' | 'EVP' | 'UNKNOWN';

/** A PIX key in the form in which DICT, the central bank's directory of keys, stores it. */
export interface PixKey {
  readonly kind: PixKeyKind;
  readonly key: string;
}

/** DICT holds no key longer than this, and no pattern here runs on a longer text. */
const MAX_KEY_LENGTH = 77;

const EVP = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;

/**
 * Eleven digits grouped as a phone number (`11 987654321`, `11 98765-4321`) and not as a CPF, whose
 * groups are 3-3-3-2. Without this, one phone number in a hundred would be paid to the CPF whose
 * check digits it happens to fit.
 */
const GROUPED_AS_PHONE = /^\d{2}[ .-]|[ .-]\d{4}$/;

/**
 * Eleven digits grouped 3-3-3-2, wholly or in part, as nobody groups a phone number. Without this,
 * a CPF with one wrong digit could be paid to whoever has the phone number that it reads as.
 */
const GROUPED_AS_CPF = /^\d{3}[ .-]*\d{3}[ .-]*\d{3}[ .-]+\d{2}$|^\d{3}[ .-]+\d{3}[ .-]+\d{5}$/;

/**
 * Brings a PIX key as a person types it to the form that DICT stores: CPF and CNPJ without
 * punctuation, phone in E.164, e-mail and EVP (the random key) in lower case.
 *
 * Eleven bare digits may be a CPF or a mobile number: right check digits make it a CPF. Digits that
 * are grouped as one of the two are never read as the other. An unknown form keeps the trimmed text
 * as typed, to be forwarded: new kinds of key may appear, and the provider decides.
 */
export function normalisePixKey(text: string): PixKey {
  const trimmed = text.trim();
  const unknown: PixKey = { kind: 'UNKNOWN', key: trimmed };
  if (trimmed.length > MAX_KEY_LENGTH) return unknown;
  // Address books wrap what is copied from them in invisible direction marks.
  const visible = trimmed.replace(/\p{Cf}/gu, '');
  if (isEmail(visible)) return { kind: 'EMAIL', key: visible.toLowerCase() };
  const typed = foldTypography(trimmed);
  if (EVP.test(typed)) return { kind: 'EVP', key: typed.toLowerCase() };
  return taxIdOrPhone(typed) ?? unknown;
}

function taxIdOrPhone(typed: string): PixKey | null {
  const taxId = isGroupedAsPhone(typed) ? null : normaliseTaxId(typed);
  if (taxId !== null) return { kind: taxId.length === 11 ? 'CPF' : 'CNPJ', key: taxId };
  const phone = GROUPED_AS_CPF.test(typed) || isNoPhone(typed) ? null : toE164(typed);
  return phone === null ? null : { kind: 'PHONE', key: phone };
}

/**
 * Fourteen bare digits are a CNPJ with a wrong digit rather than a number with its prefixes, and
 * eleven digits are a CPF with a wrong digit unless they can be a mobile number, whose third digit
 * is 9: read as a phone number, either could pay the holder of that number.
 */
function isNoPhone(typed: string): boolean {
  const digits = typed.replace(/\D/g, '');
  if (typed.includes('+')) return false;
  return /^\d{14}$/.test(typed) || (digits.length === 11 && digits[2] !== '9');
}

function isGroupedAsPhone(typed: string): boolean {
  return GROUPED_AS_PHONE.test(typed) && typed.replace(/\D/g, '').length === 11;
}
