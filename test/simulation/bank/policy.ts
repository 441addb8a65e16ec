/**
 * How the provider of a seed behaves: what it makes of repeats, how it words things, what its
 * statement shows, how long it goes on posting an event. Each seed has a provider of its own.
 */
import type { Chance } from '../chance.ts';
import type { Hazard, Hazards } from '../hazards.ts';
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
  /** The answer to a payment that was executed before, or whose key was used before. */
  readonly repeat: 'replayed' | 'conflict' | 'refused' | 'rejected';
  /** How a repeat is refused. */
  readonly duplicates: readonly Refusal[];
  /** A refused repeat is told in an ERROR event too. */
  readonly repeatEvents: boolean;
  /** Among whose payments a clientRequestId has to be unique. */
  readonly keysUniquePer: 'payment' | 'user' | 'company';
  /**
   * The probability that an attempt fails inside the bank: it answers 500 and posts ERROR, and a
   * repeat is executed.
   */
  readonly failedAttempts: number;
  /** That ERROR may arrive after the repeat was executed; no event is lost or given up then. */
  readonly lateFailures: boolean;
  /** A definite refusal: an error status, or 200 with a failed payment. */
  readonly refusal: 'status' | 'rejected';
  readonly vocabulary: Vocabulary;
  /** The status in the answer to a payment; `frank`: as the payment stands. */
  readonly receiptStatus: 'none' | 'under_way' | 'frank' | 'success';
  readonly receiptIds: 'both' | 'end_to_end' | 'client' | 'own';
  /** The answer to a repeated order of a charge. */
  readonly repeatedCharges: 'replayed' | 'refused';
  /** The code of a charge: an image with its text, the text alone, the text where images stand. */
  readonly chargeCode: 'image' | 'text' | 'bare';
  /** How likely an event names a charge of one customer and the account of another one. */
  readonly foreignPayees: number;
  /** Answers stand under `data`. */
  readonly wrapsAnswers: boolean;
  readonly statement: StatementPolicy;
  /** The longest that an executed payment is under way, in milliseconds. */
  readonly slowestSettlementMs: number;
  /** How often an event is posted before the provider gives it up; 0: it posts none. */
  readonly hookTries: number;
}

export interface StatementPolicy {
  readonly list: 'array' | 'items' | 'data' | 'list';
  /** How a line says that the money went out. */
  readonly sign: 'minus' | 'direction' | 'none';
  readonly status: 'word' | 'none';
  /** Whether payments that are under way are listed. */
  readonly holds: boolean;
  /**
   * A payment that has come back: not listed, listed with its status, listed with a line that
   * says CREDIT, or listed with a line like the first.
   */
  readonly reversal: 'removed' | 'status' | 'credit' | 'same';
  /** A fee stands under the end-to-end id of its payment. */
  readonly fees: boolean;
  /** Longer ranges are refused. */
  readonly longestDays: number;
}

/** Draws the policy of a seed's provider. */
export function drawPolicy(chance: Chance, hazards: Hazards): Policy {
  const has = (hazard: Hazard): boolean => hazards.has(hazard) && chance.happens(0.5);
  const isLate = has('late_failed_attempt_events');
  const failsAttempts = has('failed_attempt_events') || isLate;
  const isBare = has('bare_receipts');
  const isRejected = has('rejected_repeats');
  const isWordy = has('duplicate_wordings');
  const postsRepeats = has('duplicate_events');
  const statement = drawStatement(chance, has);
  // What a statement gets wrong shows where nothing else has told the end.
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
    wrapsAnswers: chance.happens(0.3),
    statement,
    slowestSettlementMs: chance.pick([50, 5_000, 300_000]),
    hookTries: drawHookTries(chance, { isLate, isSilent }),
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

/** They name the payment only where nobody else uses the same key. */
const clientIds = ['client'] as const;

const lineStatuses = ['word', 'word', 'none'] as const;

function drawStatement(chance: Chance, has: (hazard: Hazard) => boolean): StatementPolicy {
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
    longestDays: has('statement_limits') ? 7 : 366,
  };
}
