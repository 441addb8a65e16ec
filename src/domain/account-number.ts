import { randomInt } from 'node:crypto';

/** The one agency of accounts that are opened here. */
export const localAgency = '0001';

/**
 * The check digit of an account number: modulo 11 with the weights 2 to 9 from the right, over and
 * over, as most Brazilian banks do it; a result of 10 or 11 is written as 0.
 *
 * @param base digits.
 */
export function accountCheckDigit(base: string): string {
  const sum = [...base]
    .toReversed()
    .reduce((total, digit, index) => total + Number(digit) * (2 + (index % 8)), 0);
  const digit = 11 - (sum % 11);
  return String(digit > 9 ? 0 : digit);
}

/** Draws an account number: seven digits, of which the first is no zero, and the check digit. */
export function newAccountNumber(): string {
  const base = String(randomInt(1_000_000, 10_000_000));
  return base + accountCheckDigit(base);
}
