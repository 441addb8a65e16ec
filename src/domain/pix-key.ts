import { isEmail, toE164 } from './contact.ts';
import { normaliseTaxId } from './tax-id.ts';
import { cleanPasted, foldTypography } from './text.ts';

/** The kind of a Pix key, by its format; `UNKNOWN` for a format that is not recognised. */
export type PixKeyKind = 'CPF' | 'CNPJ' | 'PHONE' | 'EMAIL' | 'EVP' | 'UNKNOWN';

/** The type of a Pix key in the contract and at the provider. */
export type PixKeyType =
  'CPF' | 'CNPJ' | 'CELULAR' | 'E_MAIL' | 'EVP_ENDERECO_VIRTUAL_DE_PAGAMENTO';

const keyTypes: Readonly<Record<Exclude<PixKeyKind, 'UNKNOWN'>, PixKeyType>> = {
  CPF: 'CPF',
  CNPJ: 'CNPJ',
  PHONE: 'CELULAR',
  EMAIL: 'E_MAIL',
  EVP: 'EVP_ENDERECO_VIRTUAL_DE_PAGAMENTO',
};

/** @returns the type of a kind of keys; null when it is unknown. */
export function toKeyType(kind: PixKeyKind): PixKeyType | null {
  return kind === 'UNKNOWN' ? null : keyTypes[kind];
}

/** A Pix key in the format of DICT, the central bank's directory of keys. */
export interface PixKey {
  readonly kind: PixKeyKind;
  readonly key: string;
}

/** The longest key in DICT; no pattern is applied to a longer text. */
export const maxPixKeyLength = 77;

const evp = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;

/**
 * Eleven digits grouped as a phone number (`11 987654321`, `11 98765-4321`) and not as a CPF
 * (3-3-3-2). Without this rule, one phone number in a hundred would be read as a CPF, because its
 * check digits happen to be valid.
 */
const groupedAsPhone = /^\d{2}[ .-]|[ .-]\d{4}$/;

/**
 * Eleven digits grouped 3-3-3-2, wholly or in part, as in a CPF. Without this rule, a CPF with a
 * wrong digit could be read as a phone number, and the holder of that number would be paid.
 */
const groupedAsCpf = /^\d{3}[ .-]*\d{3}[ .-]*\d{3}[ .-]+\d{2}$|^\d{3}[ .-]+\d{3}[ .-]+\d{5}$/;

/**
 * Normalises a Pix key as typed to the format of DICT: CPF and CNPJ without punctuation, phone in
 * E.164, e-mail and EVP (random key) in lower case.
 *
 * Eleven bare digits with valid check digits are a CPF, otherwise a mobile number. Digits that are
 * grouped as one of the two are never read as the other. In an unknown format, the key is the
 * cleaned text, so that a key reported by the provider can still be compared.
 */
export function normalisePixKey(text: string): PixKey {
  const cleaned = cleanPasted(text);
  const unknown: PixKey = { kind: 'UNKNOWN', key: cleaned };
  if (cleaned.length > maxPixKeyLength) return unknown;
  if (isEmail(cleaned)) return { kind: 'EMAIL', key: cleaned.toLowerCase() };
  const typed = foldTypography(cleaned);
  if (evp.test(typed)) return { kind: 'EVP', key: typed.toLowerCase() };
  return taxIdOrPhone(typed) ?? unknown;
}

/**
 * Whether a text has the format of any kind of Pix key. DICT has no keys of other formats, so a
 * text of another format is neither looked up nor paid.
 */
export function isPixKey(text: string): boolean {
  return normalisePixKey(text).kind !== 'UNKNOWN';
}

/**
 * Whether two keys certainly differ: both must be complete and of known formats, so a masked key
 * (`m***@x.com`) does not count. Eleven digits may be the requested phone number although they are
 * also a valid CPF.
 *
 * @param named a value that the provider names.
 * @param requested a key in any format.
 */
export function isOtherPixKey(named: unknown, requested: string): boolean {
  if (typeof named !== 'string' || named.includes('*')) return false;
  if (requested === `+55${named.replace(/\D/g, '')}`) return false;
  const keys = [normalisePixKey(named), normalisePixKey(requested)] as const;
  return keys.every(({ kind }) => kind !== 'UNKNOWN') && keys[0].key !== keys[1].key;
}

/**
 * Whether a text that is read as a CPF is a mobile number as well: eleven digits that are grouped
 * as neither. Only the person who typed them knows which of the two they mean.
 */
export function isAmbiguousPixKey(text: string): boolean {
  if (normalisePixKey(text).kind !== 'CPF') return false;
  const typed = foldTypography(text.trim());
  return !groupedAsCpf.test(typed) && !isNoPhone(typed) && toE164(typed) !== null;
}

function taxIdOrPhone(typed: string): PixKey | null {
  const taxId = isGroupedAsPhone(typed) ? null : normaliseTaxId(typed);
  if (taxId !== null) return { kind: taxId.length === 11 ? 'CPF' : 'CNPJ', key: taxId };
  const phone = groupedAsCpf.test(typed) || isNoPhone(typed) ? null : toE164(typed);
  return phone === null ? null : { kind: 'PHONE', key: phone };
}

/**
 * Whether digits are a mistyped tax id rather than a phone number, whose holder could be paid by
 * mistake: fourteen bare digits are a CNPJ, and eleven digits are a CPF unless the third is 9, as
 * in a mobile number.
 */
function isNoPhone(typed: string): boolean {
  const digits = typed.replace(/\D/g, '');
  if (typed.includes('+')) return false;
  return /^\d{14}$/.test(typed) || (digits.length === 11 && digits[2] !== '9');
}

function isGroupedAsPhone(typed: string): boolean {
  return groupedAsPhone.test(typed) && typed.replace(/\D/g, '').length === 11;
}
