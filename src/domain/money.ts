/**
 * The largest amount of one operation, in centavos: 999 999 999.99 reais. Sums of such amounts stay
 * well within `numeric(15,2)` and within the integers that a double represents exactly.
 */
export const maxAmountCents = 99_999_999_999;

/**
 * The largest value of `numeric(15,2)`, in centavos. A double represents every decimal of fifteen
 * digits uniquely; from 2^46 reais on, neighbouring doubles are more than a centavo apart.
 */
const maxExactCents = 999_999_999_999_999;

/** The format of `String(number)` for a finite number (ECMA-262, Number::toString). */
const numberText = /^-?(\d+)(?:\.(\d+))?(?:e([+-]\d+))?$/;

const decimalText = /^(-?)(\d+)(?:\.(\d{1,2}))?$/;

/**
 * Converts an amount of JSON, in reais, to centavos.
 *
 * It uses the shortest decimal text of the number: 4.35 * 100 is 434.99999999999994, and rounding
 * would also accept 1.005.
 *
 * @param value reais, for example `10.5`.
 * @returns whole centavos, or null when the value is negative, is not finite, has more than two
 *   decimals, or is over 9 999 999 999 999.99. It may exceed {@link maxAmountCents}: the caller
 *   checks limits.
 */
export function centsFromNumber(value: number): number | null {
  if (value < 0) return null;
  const shifted = digitsAndExponent(value);
  if (shifted === null || shifted.exponent < -2) return null;
  return exactOrNull(Number(`${shifted.digits}e${shifted.exponent + 2}`));
}

/**
 * Whether the shortest decimal text of a number, of either sign, has at most two decimals. False
 * for NaN and the infinities.
 */
export function hasAtMostTwoDecimals(value: number): boolean {
  const shifted = digitsAndExponent(value);
  return shifted !== null && shifted.exponent >= -2;
}

/**
 * Converts centavos to the number of reais that JSON writes with the same decimals: 99 to 0.99.
 *
 * @param cents an integer of at most fifteen digits, of either sign.
 * @throws RangeError for any other number.
 */
export function numberFromCents(cents: number): number {
  return Number(decimalFromCents(cents));
}

/**
 * Formats centavos as reais with exactly two decimals: 1000 becomes `10.00`, -5 becomes `-0.05`.
 *
 * @param cents an integer of at most fifteen digits, of either sign (a balance may be negative).
 * @throws RangeError for any other number.
 */
export function decimalFromCents(cents: number): string {
  if (!isExact(cents)) throw new RangeError(`not a whole number of cents: ${cents}`);
  const digits = String(Math.abs(cents)).padStart(3, '0');
  return `${cents < 0 ? '-' : ''}${digits.slice(0, -2)}.${digits.slice(-2)}`;
}

/**
 * Parses a decimal text of reais, as in `numeric(15,2)` and webhooks (`10.00`, `-3.5`, `7`).
 *
 * @returns whole centavos, or null when the text is malformed or has more than fifteen digits.
 */
export function centsFromDecimal(text: string): number | null {
  const match = decimalText.exec(text);
  if (match === null) return null;
  const cents = exactOrNull(Number(`${match[2]}${(match[3] ?? '').padEnd(2, '0')}`));
  // Without the test for zero, `-0.00` would become the negative zero.
  return cents === null || cents === 0 || match[1] === '' ? cents : -cents;
}

/** Splits the absolute value into digits and a power of ten, without rounding arithmetic. */
function digitsAndExponent(value: number): { digits: string; exponent: number } | null {
  const match = numberText.exec(String(value));
  if (match === null) return null;
  const decimals = match[2] ?? '';
  return { digits: `${match[1]}${decimals}`, exponent: Number(match[3] ?? 0) - decimals.length };
}

function exactOrNull(cents: number): number | null {
  return isExact(cents) ? cents : null;
}

function isExact(cents: number): boolean {
  return Number.isInteger(cents) && Math.abs(cents) <= maxExactCents;
}

/**
 * Formats reais for a message to a person.
 *
 * @param language `en-US`: `R$ 2,694.50`; `pt-BR`: `R$ 2.694,50`.
 */
export function formatReais(reais: number, language: 'en-US' | 'pt-BR'): string {
  const digits = { minimumFractionDigits: 2, maximumFractionDigits: 2 };
  return `R$ ${reais.toLocaleString(language, digits)}`;
}
