import { randomInt } from 'node:crypto';

/** The states of an account: PENDING → ACTIVE | REJECTED | BLOCKED. */
export const accountStatuses = ['PENDING', 'ACTIVE', 'REJECTED', 'BLOCKED'] as const;

export type AccountStatus = (typeof accountStatuses)[number];

/** The agency of all local accounts. */
export const localAgency = '0001';

/**
 * Computes the check digit of an account number: modulo 11 with the weights 2 to 9 repeated from
 * the right, as at most Brazilian banks; a result of 10 or 11 becomes 0.
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

/** Draws a random account number: seven digits, the first not zero, and the check digit. */
export function newAccountNumber(): string {
  const base = String(randomInt(1_000_000, 10_000_000));
  return base + accountCheckDigit(base);
}
