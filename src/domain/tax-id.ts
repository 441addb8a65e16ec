import { foldTypography } from './text.ts';

/** The two kinds of Brazilian tax identifier: of a person (CPF) and of a company (CNPJ). */
export type TaxIdKind = 'CPF' | 'CNPJ';

/** Longer texts are refused before any pattern runs: `12.ABC.345/01DE-35` has 18 characters. */
const MAX_TYPED_LENGTH = 40;

const CNPJ_WEIGHTS = [6, 5, 4, 3, 2, 9, 8, 7, 6, 5, 4, 3, 2];

/**
 * Computes the two check digits of a CPF (Receita Federal, modulo 11).
 *
 * @param base9 the first nine digits.
 * @returns two digits: `123456789` gives `09`.
 * @throws RangeError when `base9` is not nine digits.
 */
export function cpfCheckDigits(base9: string): string {
  if (!/^\d{9}$/.test(base9)) throw new RangeError('a CPF base has nine digits');
  const first = checkDigit(base9, [10, 9, 8, 7, 6, 5, 4, 3, 2]);
  return first + checkDigit(base9 + first, [11, 10, 9, 8, 7, 6, 5, 4, 3, 2]);
}

/**
 * Computes the two check digits of a CNPJ, numeric or alphanumeric (IN RFB 2.229/2024, in force
 * since July 2026): a character counts as its ASCII code less 48, so that `A` is 17.
 *
 * @param base12 the first twelve characters, digits and capital letters.
 * @returns two digits: `12ABC34501DE` gives `35`.
 * @throws RangeError when `base12` has another form.
 */
export function cnpjCheckDigits(base12: string): string {
  if (!/^[0-9A-Z]{12}$/.test(base12)) throw new RangeError('a CNPJ base has twelve characters');
  const first = checkDigit(base12, CNPJ_WEIGHTS.slice(1));
  return first + checkDigit(base12 + first, CNPJ_WEIGHTS);
}

/** Tells whether a text is a valid CPF: eleven digits, right check digits, not all equal. */
export function isCpf(text: string): boolean {
  return (
    /^\d{11}$/.test(text) && !allEqual(text) && text.slice(9) === cpfCheckDigits(text.slice(0, 9))
  );
}

/**
 * Tells whether a text is a valid CNPJ: twelve digits or capital letters, then two right check
 * digits, not all equal.
 */
export function isCnpj(text: string): boolean {
  return (
    /^[0-9A-Z]{12}\d{2}$/.test(text) &&
    !allEqual(text) &&
    text.slice(12) === cnpjCheckDigits(text.slice(0, 12))
  );
}

/**
 * Reads a CPF or CNPJ as a person types it: dots, hyphens, slashes and spaces are removed and
 * letters upper-cased. Letters are never removed, because since July 2026 they are part of a CNPJ.
 *
 * @returns eleven characters (CPF) or fourteen (CNPJ), or null when the check digits are wrong or
 *   the text is neither.
 */
export function normaliseTaxId(text: string): string | null {
  if (text.length > MAX_TYPED_LENGTH) return null;
  const bare = foldTypography(text).replace(/[\s./-]/g, '');
  // Tested before upper-casing, which would turn a dotless i or a long s into a plain letter.
  if (!/^[0-9A-Za-z]+$/.test(bare)) return null;
  const upper = bare.toUpperCase();
  return isCpf(upper) || isCnpj(upper) ? upper : null;
}

/** Tells which kind of valid tax identifier a text is, as typed or normalised; null: neither. */
export function taxIdKind(text: string): TaxIdKind | null {
  const taxId = normaliseTaxId(text);
  if (taxId === null) return null;
  return taxId.length === 11 ? 'CPF' : 'CNPJ';
}

/** Modulo 11, as both documents define it: a remainder of 0 or 1 gives 0, else 11 less it. */
function checkDigit(base: string, weights: readonly number[]): string {
  const sum = weights.reduce(
    (total, weight, index) => total + weight * (base.charCodeAt(index) - 48),
    0,
  );
  const remainder = sum % 11;
  return String(remainder < 2 ? 0 : 11 - remainder);
}

/** `000.000.000-00` and its like have right check digits and were never issued. */
function allEqual(text: string): boolean {
  return text === text.charAt(0).repeat(text.length);
}
