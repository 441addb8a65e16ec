/**
 * Who is paid by a send, and which limits apply to it: the rule of the limits by payee. The Central
 * Bank limits sends between natural persons at night (BCB, Resolução 142/2021, article 2; Instrução
 * Normativa 512/2024 with 669/2025), so that a bank may allow more to companies and to an account
 * of the same holder.
 */
import { isCnpj, isCpf, normaliseTaxId } from './tax-id.ts';

/** A payee: another natural person, a company, or the holder of the paying account. */
export const payeeClasses = ['person', 'company', 'own'] as const;
export type PayeeClass = (typeof payeeClasses)[number];

/** The classes that may have a limit apart from that of persons. */
export const apartClasses = ['company', 'own'] as const;
export type ApartClass = (typeof apartClasses)[number];

/** The stored class of a send whose look-up is still to say who is paid. */
export const unjudgedClass = 'unknown';

/**
 * Classifies a payee. A document that is masked or absent is a person's. An individual entrepreneur
 * (MEI) is a natural person with a CNPJ, which the CNPJ does not show: it counts as a company.
 * @param document of the payee, as the directory says it.
 * @param payerDocument of the paying account.
 */
export function classifyPayee(document: string | null, payerDocument: string): PayeeClass {
  const taxId = document === null ? null : normaliseTaxId(document);
  if (taxId === null) return 'person';
  if (taxId === normaliseTaxId(payerDocument)) return 'own';
  return isCnpj(taxId) ? 'company' : 'person';
}

/**
 * @param key in the format of DICT.
 * @returns the classes that the owner of a Pix key may have, as far as the key alone shows.
 */
export function classesOfKey(key: string): readonly PayeeClass[] {
  if (isCnpj(key)) return ['company', 'own'];
  return isCpf(key) ? ['person', 'own'] : payeeClasses;
}

/** A limit of one class. */
export interface ApartLimit {
  readonly cents: number;
  /** Whether sends to the class count towards the shared limit, too. */
  readonly isShared: boolean;
}

/** What the service, or the customer, has set for one period, in centavos. */
export interface PeriodLimits {
  /** Of persons, and of each class without a limit of its own, together; null: no limit. */
  readonly shared: number | null;
  readonly apart: Readonly<Record<ApartClass, ApartLimit | null>>;
}

/** What counts in a period, in centavos. */
export interface Spent extends Readonly<Record<PayeeClass, number>> {
  /** Sends that have left to a payee who is not known: they count towards every limit. */
  readonly anyone: number;
  /** Sends that are judged before they leave: they count only where every class does. */
  readonly unjudged: number;
}

/** What a payee may get now, in centavos; null: no limit. */
export interface Allowance {
  readonly limitCents: number | null;
  /** At least 0. */
  readonly leftCents: number | null;
}

/**
 * The rule of the limits by payee. A class with a limit of its own is summed alone, the others
 * together. Each setter is judged by itself, and the lower result holds: a customer who sets a
 * limit for companies does not get more than the service allows to all together.
 * @param setters what the service has set, and what the customer has set.
 */
export function findAllowance(
  setters: readonly PeriodLimits[],
  spent: Spent,
  payee: PayeeClass,
): Allowance {
  const results = setters.flatMap((limits) => judgeSetter(limits, spent, payee));
  const lowest = (values: readonly number[]): number | null =>
    values.length === 0 ? null : Math.min(...values);
  const left = lowest(results.map(({ cents, sum }) => cents - sum));
  return {
    limitCents: lowest(results.map(({ cents }) => cents)),
    leftCents: left === null ? null : Math.max(0, left),
  };
}

/** A limit with what counts towards it. */
interface Counted {
  readonly cents: number;
  readonly sum: number;
}

function judgeSetter(
  { shared, apart }: PeriodLimits,
  spent: Spent,
  payee: PayeeClass,
): readonly Counted[] {
  const alone = payee === 'person' ? null : apart[payee];
  const together = payeeClasses.filter((one) => one === 'person' || (apart[one]?.isShared ?? true));
  return [
    ...(alone === null ? [] : [{ cents: alone.cents, sum: spent[payee] + spent.anyone }]),
    ...(shared !== null && together.includes(payee)
      ? [{ cents: shared, sum: sumOf(together, spent) }]
      : []),
  ];
}

function sumOf(classes: readonly PayeeClass[], spent: Spent): number {
  const isEveryone = classes.length === payeeClasses.length;
  const known = classes.reduce((sum, one) => sum + spent[one], 0);
  return known + spent.anyone + (isEveryone ? spent.unjudged : 0);
}

/**
 * @returns the allowance of the class that may get most: a send is not refused before it is known
 *   who is paid, if one of the payees may get it.
 */
export function widestAllowance(allowances: readonly Allowance[]): Allowance {
  return allowances.reduce((widest, one) => (leftOf(one) > leftOf(widest) ? one : widest));
}

function leftOf({ leftCents }: Allowance): number {
  return leftCents ?? Infinity;
}
