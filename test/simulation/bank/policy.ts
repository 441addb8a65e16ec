/**
 * The behaviour of the provider of a seed: how it handles repeats, its status words, the content of
 * its statement, and how often it posts an event. Each seed draws its own provider.
 */
import { Chance } from '../chance.ts';
import type { Hazard, Hazards } from '../hazards.ts';
import { drawAdversary, type Adversary } from './adversary.ts';
import { drawDisputePolicy, type DisputePolicy } from './dispute-policy.ts';
import {
  furtherDuplicates,
  knownVocabularies,
  numberVocabulary,
  plainDuplicates,
  unknownVocabulary,
  type Refusal,
  type Vocabulary,
} from './words.ts';

export interface Policy {
  /** The response to a payment that was executed before, or whose key was used before. */
  readonly repeat: 'replayed' | 'conflict' | 'refused' | 'rejected';
  /** How a repeat is refused. */
  readonly duplicates: readonly Refusal[];
  /** Whether the bank also reports a refused repeat in an ERROR event. */
  readonly repeatEvents: boolean;
  /** The scope in which a clientRequestId has to be unique. */
  readonly keysUniquePer: 'payment' | 'user' | 'company';
  /**
   * The probability that an attempt fails inside the bank: it answers 500 and posts ERROR, and a
   * repeat is executed.
   */
  readonly failedAttempts: number;
  /** Whether that ERROR may arrive after the repeat was executed; then no event is ever lost. */
  readonly lateFailures: boolean;
  /** How the bank refuses a payment: with an error status, or with 200 and a failed payment. */
  readonly refusal: 'status' | 'rejected';
  readonly vocabulary: Vocabulary;
  /** The status in the response to a payment; `frank`: the real status of the payment. */
  readonly receiptStatus: 'none' | 'under_way' | 'frank' | 'success';
  readonly receiptIds: 'both' | 'end_to_end' | 'client' | 'own';
  /** The response to a repeated order of a charge. */
  readonly repeatedCharges: 'replayed' | 'refused';
  /** The code of a charge: an image and the text, the text only, or the text in the image field. */
  readonly chargeCode: 'image' | 'text' | 'bare';
  /** How likely an event names a charge of one customer and the account of another. */
  readonly foreignPayees: number;
  /** Whether responses are wrapped in `data`. */
  readonly wrapsResponses: boolean;
  readonly statement: StatementPolicy;
  /** The longest time from the execution of a payment to its final status, in milliseconds. */
  readonly slowestSettlementMs: number;
  /** How often the provider posts an event before it gives up; 0: it posts no events. */
  readonly hookTries: number;
  /** What it, and others, do beside all lists. */
  readonly adversary: Adversary;
  /** How it handles disputes; null: no customer disputes a payment. */
  readonly disputes: DisputePolicy | null;
}

export interface StatementPolicy {
  readonly list: 'array' | 'items' | 'data' | 'list';
  /** How a line of the statement shows a debit. */
  readonly sign: 'minus' | 'direction' | 'none';
  readonly status: 'word' | 'none';
  /** Whether the statement lists payments that are not final yet. */
  readonly holds: boolean;
  /**
   * A returned payment: not listed, listed with its status, listed with a second line that says
   * CREDIT, or listed with a second line like the first.
   */
  readonly reversal: 'removed' | 'status' | 'credit' | 'same';
  /** Whether fees are listed, with the end-to-end id of their payment, in no declared kind. */
  readonly fees: boolean;
  /**
   * Whether the debit of a payment is listed as settled as soon as it is executed, whatever its end
   * is: a rejected one is then reversed by a second line, without a return id.
   */
  readonly booksAtOnce: boolean;
  /** Whether fees and holds of declared kinds, and pending lines, stand beside each payment. */
  readonly listsBeside: boolean;
  /** Whether the bank has taken some completed payments back, when the history is over. */
  readonly takesBack: boolean;
  /** Whether a line has the client's id of its payment. */
  readonly namesRequests: boolean;
  /** The longest range of a statement, in days; longer ones are refused. */
  readonly maxDays: number;
}

interface DrawPolicy {
  readonly seed: number;
  readonly hazards: Hazards;
  /** Whether customers dispute payments, whatever the seed draws. */
  readonly hasDisputes: boolean;
}

/** Draws the policy of a seed's provider. */
export function drawPolicy(chance: Chance, { seed, hazards, hasDisputes }: DrawPolicy): Policy {
  const has = (hazard: Hazard): boolean => hazards.has(hazard) && chance.happens(0.5);
  const isLate = has('late_failed_attempt_events');
  const failsAttempts = has('failed_attempt_events') || isLate;
  const isBare = has('bare_receipts');
  const isRejected = has('rejected_repeats');
  const isWordy = has('duplicate_wordings');
  const postsRepeats = has('duplicate_events');
  const statement = {
    ...drawStatement(chance, has),
    namesRequests: namesRequests(seed),
    ...drawBooking(seed, hazards),
  };
  // A wrong conclusion from such a statement shows only if no event reports the final status.
  const isSilent =
    statement.reversal === 'same' || (statement.holds && statement.status === 'none');
  const keysUniquePer = isBare ? 'company' : chance.pick(keyScopes);
  return {
    repeat: drawRepeat(chance, { isRejected, isRefused: isWordy || postsRepeats }),
    duplicates: isWordy ? furtherDuplicates : plainDuplicates,
    repeatEvents: postsRepeats,
    keysUniquePer,
    failedAttempts: failsAttempts ? 0.4 : 0,
    lateFailures: isLate,
    refusal: chance.pick(['status', 'status', 'rejected']),
    vocabulary: drawVocabulary(chance, { isLate, isNumbers: has('status_numbers') }),
    receiptStatus: has('success_receipts')
      ? 'success'
      : chance.pick(['none', 'under_way', 'under_way', 'frank']),
    receiptIds: isBare
      ? chance.pick(['own', 'client'])
      : chance.pick(['both', 'end_to_end', ...(keysUniquePer === 'company' ? [] : clientIds)]),
    repeatedCharges: chance.pick(['replayed', 'replayed', 'refused']),
    chargeCode: chance.pick(['image', 'text', 'bare']),
    foreignPayees: has('foreign_payees') ? 0.3 : 0,
    wrapsResponses: chance.happens(0.3),
    statement,
    slowestSettlementMs: chance.pick([50, 5_000, 300_000]),
    hookTries: drawHookTries(chance, { isLate, isSilent }),
    adversary: drawAdversary(seed, hazards),
    disputes: drawDisputePolicy(seed, hasDisputes),
  };
}

function drawHookTries(
  chance: Chance,
  { isLate, isSilent }: { readonly isLate: boolean; readonly isSilent: boolean },
): number {
  if (isLate) return Infinity;
  return isSilent ? chance.pick([0, 3]) : chance.pick([Infinity, Infinity, 12, 3, 0]);
}

function drawVocabulary(
  chance: Chance,
  { isLate, isNumbers }: { readonly isLate: boolean; readonly isNumbers: boolean },
): Vocabulary {
  if (isLate) return chance.pick(knownVocabularies);
  return isNumbers ? numberVocabulary : chance.pick([...knownVocabularies, unknownVocabulary]);
}

function drawRepeat(
  chance: Chance,
  { isRejected, isRefused }: { readonly isRejected: boolean; readonly isRefused: boolean },
): Policy['repeat'] {
  if (isRejected) return 'rejected';
  return isRefused ? 'refused' : chance.pick(['replayed', 'replayed', 'conflict', 'refused']);
}

const keyScopes = ['payment', 'user', 'company'] as const;

/** The receipt ids that identify a payment only if no other customer uses the same key. */
const clientIds = ['client'] as const;

const lineStatuses = ['word', 'word', 'none'] as const;

/** Drawn from a separate random sequence, so that the rest of the policy stays as it is. */
function namesRequests(seed: number): boolean {
  return new Chance(seed + 4).happens(0.5);
}

/** Drawn from a separate random sequence, too. */
function drawBooking(seed: number, hazards: Hazards): Booking {
  const chance = new Chance(seed + 8);
  const has = (likely: number): boolean => chance.happens(likely) && hazards.has('booked_debits');
  return { booksAtOnce: has(0.5), listsBeside: has(0.4), takesBack: has(0.3) };
}

type Booking = Pick<StatementPolicy, 'booksAtOnce' | 'listsBeside' | 'takesBack'>;

function drawStatement(
  chance: Chance,
  has: (hazard: Hazard) => boolean,
): Omit<StatementPolicy, 'namesRequests' | keyof Booking> {
  const showsBareHolds = has('statement_holds');
  const status = showsBareHolds ? 'none' : chance.pick(lineStatuses);
  return {
    list: chance.pick(['array', 'items', 'data', 'list']),
    sign: chance.pick(['minus', 'direction', 'none']),
    status,
    holds: showsBareHolds || (status === 'word' && chance.happens(0.3)),
    reversal: has('statement_reversals')
      ? 'same'
      : chance.pick(['removed', 'credit', ...(status === 'word' ? (['status'] as const) : [])]),
    fees: chance.happens(0.2),
    maxDays: has('statement_limits') ? 7 : 366,
  };
}
