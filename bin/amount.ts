/** Amounts as they are typed. */
import { InvalidArgumentError } from 'commander';
import { centsFromDecimal } from '../src/domain/money.ts';

/** Parses an amount in reais, such as `150.50` or `150,5`; returns centavos. */
export function parseAmount(text: string): number {
  const cents = centsFromDecimal(text.replace(',', '.'));
  if (cents !== null && cents > 0) return cents;
  throw new InvalidArgumentError('It must be an amount in reais, such as 150.50.');
}
