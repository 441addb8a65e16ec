/**
 * The largest amount of one operation, in centavos: 999 999 999.99 reais. It keeps every sum that
 * the service makes far inside `numeric(15,2)` and inside the integers that a double holds exactly.
 */
export const MAX_AMOUNT_CENTS = 99_999_999_999;

/**
 * The largest value of `numeric(15,2)`, in centavos. A double gives back every decimal of fifteen
 * digits; from 2^46 reais on, neighbouring doubles are more than a centavo apart.
 */
const MAX_EXACT_CENTS = 999_999_999_999_999;

/** What `String(number)` writes for a finite number, per ECMA-262 Number::toString. */
const NUMBER_TEXT = /^-?(\d+)(?:\.(\d+))?(?:e([+-]\d+))?$/;

const DECIMAL_TEXT = /^(-?)(\d+)(?:\.(\d{1,2}))?$/;

/**
 * Converts an amount as JSON carries it (reais) to centavos.
 *
 * The decision is taken on the shortest decimal text of the number: 4.35 * 100 is
 * 434.99999999999994, and rounding that away would also let 1.005 pass.
 *
 * @param value reais, for example `10.5`.
 * @returns whole centavos, or null when the value is negative, is not finite, has more than two
 *   decimals, or is over 9 999 999 999 999.99. It may exceed {@link MAX_AMOUNT_CENTS}: a limit
 *   is the caller's rule, with its own message.
 */
export function centsFromNumber(value: number): number | null {
  if (value < 0) return null;
  const shifted = digitsAndExponent(value);
  if (shifted === null || shifted.exponent < -2) return null;
  return exactOrNull(Number(`${shifted.digits}e${shifted.exponent + 2}`));
}

/**
 * Tells whether a number, of either sign, is written with at most two decimals in its shortest
 * decimal text. NaN and the infinities are not.
 */
export function hasAtMostTwoDecimals(value: number): boolean {
  const shifted = digitsAndExponent(value);
  return shifted !== null && shifted.exponent >= -2;
}

/**
 * Converts centavos to the number of reais that JSON writes with the same decimals: 99 gives 0.99.
 *
 * @param cents a whole number of at most fifteen digits, of either sign.
 * @throws RangeError when `cents` is another number.
 */
export function numberFromCents(cents: number): number {
  return Number(decimalFromCents(cents));
}

/**
 * Writes centavos as reais with exactly two decimals: 1000 gives `10.00`, -5 gives `-0.05`.
 *
 * @param cents a whole number of at most fifteen digits, of either sign (a balance may be
 *   negative).
 * @throws RangeError when `cents` is another number.
 */
export function decimalFromCents(cents: number): string {
  if (!isExact(cents)) throw new RangeError(`not a whole number of cents: ${cents}`);
  const digits = String(Math.abs(cents)).padStart(3, '0');
  return `${cents < 0 ? '-' : ''}${digits.slice(0, -2)}.${digits.slice(-2)}`;
}

/**
 * Reads a decimal text of reais, as `numeric(15,2)` and webhooks write it (`10.00`, `-3.5`, `7`).
 *
 * @returns whole centavos, or null when the text has another form or the value is over fifteen
 *   digits.
 */
export function centsFromDecimal(text: string): number | null {
  const match = DECIMAL_TEXT.exec(text);
  if (match === null) return null;
  const cents = exactOrNull(Number(`${match[2]}${(match[3] ?? '').padEnd(2, '0')}`));
  // Without the test for zero, `-0.00` would give the negative zero.
  return cents === null || cents === 0 || match[1] === '' ? cents : -cents;
}

/** The absolute value as digits and a power of ten, so that no arithmetic can round it. */
function digitsAndExponent(value: number): { digits: string; exponent: number } | null {
  const match = NUMBER_TEXT.exec(String(value));
  if (match === null) return null;
  const decimals = match[2] ?? '';
  return { digits: `${match[1]}${decimals}`, exponent: Number(match[3] ?? 0) - decimals.length };
}

function exactOrNull(cents: number): number | null {
  return isExact(cents) ? cents : null;
}

function isExact(cents: number): boolean {
  return Number.isInteger(cents) && Math.abs(cents) <= MAX_EXACT_CENTS;
}
