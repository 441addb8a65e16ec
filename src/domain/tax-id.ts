import { cnpj, cpf } from 'cpf';
import { foldTypography } from './text.ts';

/** The two kinds of Brazilian tax identifier: of a person (CPF) and of a company (CNPJ). */
export type TaxIdKind = 'CPF' | 'CNPJ';

/** Longer texts are refused before any pattern runs: `12.ABC.345/01DE-35` has 18 characters. */
const maxTypedLength = 40;

/**
 * Computes the two check digits of a CPF (Receita Federal, modulo 11).
 *
 * @param base9 the first nine digits.
 * @returns two digits: `09` for `123456789`.
 * @throws RangeError when `base9` is not nine digits.
 */
export function cpfCheckDigits(base9: string): string {
  if (!/^\d{9}$/.test(base9)) throw new RangeError('a CPF base has nine digits');
  return cpf.calculateCheckDigits(Array.from(base9, Number)).join('');
}

/** Whether a text is a valid CPF: eleven digits, valid check digits, not all equal. */
export function isCpf(text: string): boolean {
  // The package ignores punctuation and blanks anywhere in the text.
  return /^\d{11}$/.test(text) && cpf.isValid(text);
}

/**
 * Whether a text is a valid CNPJ, numeric or alphanumeric (IN RFB 2.229/2024, in force since July
 * 2026): twelve digits or capital letters, then two valid check digits, not all equal.
 */
export function isCnpj(text: string): boolean {
  return /^[0-9A-Z]{12}\d{2}$/.test(text) && cnpj.isValid(text);
}

/**
 * Normalises a CPF or CNPJ as typed: removes dots, hyphens, slashes and spaces, and upper-cases
 * letters, which may be part of a CNPJ since July 2026.
 *
 * @returns eleven characters (CPF) or fourteen (CNPJ), or null when the text is not a valid one.
 */
export function normaliseTaxId(text: string): string | null {
  if (text.length > maxTypedLength) return null;
  const bare = foldTypography(text).replace(/[\s./-]/g, '');
  // Tested before upper-casing, which would turn a dotless i or a long s into a plain letter.
  if (!/^[0-9A-Za-z]+$/.test(bare)) return null;
  const upper = bare.toUpperCase();
  return isCpf(upper) || isCnpj(upper) ? upper : null;
}

/** @returns the kind of a valid tax identifier, typed or normalised; null for any other text. */
export function taxIdKind(text: string): TaxIdKind | null {
  const taxId = normaliseTaxId(text);
  if (taxId === null) return null;
  return taxId.length === 11 ? 'CPF' : 'CNPJ';
}

/**
 * Masks a tax identifier as receipts show it: `***.456.789-**` for a CPF, `**.345.678/0001-**` for
 * a CNPJ.
 *
 * @param taxId without punctuation.
 * @returns null for a text of another length.
 */
export function maskTaxId(taxId: string): string | null {
  if (/^\d{11}$/.test(taxId)) return `***.${taxId.slice(3, 6)}.${taxId.slice(6, 9)}-**`;
  if (!/^[0-9A-Z]{12}\d{2}$/.test(taxId)) return null;
  return `**.${taxId.slice(2, 5)}.${taxId.slice(5, 8)}/${taxId.slice(8, 12)}-**`;
}

/**
 * Reads a masked tax identifier, each of whose hidden characters is an asterisk.
 *
 * @returns `***456789**` for `***.456.789-**`; null for a text without an asterisk, or of another
 *   length than that of a CPF or a CNPJ.
 */
export function readMaskedTaxId(text: string): string | null {
  if (text.length > maxTypedLength || !text.includes('*')) return null;
  const bare = text.replace(/[\s./-]/g, '').toUpperCase();
  return /^(?:[0-9*]{11}|[0-9A-Z*]{14})$/.test(bare) ? bare : null;
}

/** Whether a tax identifier, without punctuation, has every character that a masked one shows. */
export function fitsMask(taxId: string, masked: string): boolean {
  const isSame = (shown: string, place: number): boolean => shown === '*' || shown === taxId[place];
  return taxId.length === masked.length && Array.from(masked).every(isSame);
}
