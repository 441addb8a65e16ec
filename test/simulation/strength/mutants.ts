/**
 * The mutants of the service: hot statements, the phases of moves, response mappings, and the
 * mutations that are written by hand.
 */
import { loadModule } from 'libpg-query';
import type { Statement } from '../../../src/db/database.ts';
import { disputeStatements } from '../../../src/disputes/dispute-repository.ts';
import { jobStatements as jobs } from '../../../src/jobs/job-repository.ts';
import { correctionStatements } from '../../../src/ledger/correction-repository.ts';
import { moveStatements } from '../../../src/ledger/move-repository.ts';
import { paymentStatements } from '../../../src/ledger/payment-repository.ts';
import { transactionStatements } from '../../../src/ledger/pix-transaction-repository.ts';
import { findReplay } from '../../../src/ledger/replay-repository.ts';
import { reservationStatements } from '../../../src/ledger/reservation-repository.ts';
import { returnReservationStatements } from '../../../src/ledger/return-reservation-repository.ts';
import { limitStatements } from '../../../src/ledger/spending-limit-repository.ts';
import { sweepStatements } from '../../../src/ledger/sweep-repository.ts';
import { queueStatements as queue } from '../../../src/settlement/event-queue-repository.ts';
import {
  finishWebhookEvent,
  parkWebhookEvent,
  storeWebhookEvent,
} from '../../../src/settlement/event-repository.ts';
import { recordRefund } from '../../../src/ledger/refund-repository.ts';
import {
  findCandidates,
  findReturns,
  identifyPayment,
  recordReceived,
} from '../../../src/ledger/transaction-repository.ts';
import {
  phasesBeforePaying,
  phasesOpenToResponse,
  phasesOpenToFailure,
  phasesOpenToSettlement,
} from '../../../src/domain/pix.ts';
import {
  ProviderError,
  type FailedOutcome,
  type ProviderStatusClass,
} from '../../../src/provider/errors.ts';
import type { Provider } from '../../../src/provider/provider.ts';
import { intercepted } from '../../support/intercepted.ts';
import type { Deviation, Mutation } from '../deviation.ts';
import { changingMoves } from '../moves.ts';
import { mutations } from '../mutations.ts';
import { otherLists, statementMutants, withAll } from './statement-mutants.ts';

/** The statements that every send, charge, event and job runs, and those of the sweep. */
const hotStatements: readonly Statement[] = [
  reservationStatements.reserveForSession,
  reservationStatements.reserveJudged,
  limitStatements.read,
  paymentStatements.step,
  paymentStatements.repeat,
  moveStatements.move,
  reservationStatements.reserve,
  transactionStatements.takeOver,
  findReplay,
  identifyPayment,
  recordReceived,
  transactionStatements.storeAnomaly,
  storeWebhookEvent,
  finishWebhookEvent,
  parkWebhookEvent,
  queue.take,
  queue.postpone,
  queue.enqueue,
  queue.remove,
  findCandidates,
  recordRefund,
  returnReservationStatements.reserve,
  findReturns,
  correctionStatements.correct,
  correctionStatements.awaitsReturns,
  sweepStatements.findStale,
  sweepStatements.findUnconfirmed,
  sweepStatements.touchUnconfirmed,
  sweepStatements.findExpired,
  jobs.claim,
  jobs.finish,
  jobs.requeue,
  jobs.releaseLapsed,
  jobs.renew,
  disputeStatements.request,
  disputeStatements.requestWithdrawal,
  disputeStatements.claim,
  disputeStatements.end,
  disputeStatements.report,
  disputeStatements.reportEvent,
  disputeStatements.check,
  disputeStatements.findPending,
];

/** Redundant conditions of a statement: a mutant is detectable only if it omits all of them. */
const covering: readonly (readonly [Statement, ...string[]])[] = [
  [
    paymentStatements.repeat,
    't.settled_at is null',
    "t.phase = 'PAYING'",
    't.claimed_until = $2::timestamptz',
    't.claimed_until > $3::timestamptz',
  ],
];

/** All mutants, always in the same order. */
export async function allMutants(): Promise<Mutation[]> {
  await loadModule();
  const generated = [...changedStatements().map(runInstead), ...ofMoves(), ...ofErrors()];
  return [...generated, ...ofReceipts(), ...mutations];
}

/** A statement of the service, and the statement that replaces it. */
interface ChangedStatement {
  readonly name: string;
  readonly original: Statement;
  readonly text: string;
}

/** Every mutant of a hot statement. */
export function changedStatements(): ChangedStatement[] {
  const single = hotStatements.flatMap((original) =>
    statementMutants(original.text).map((mutant) => ({
      name: `${original.name}: ${mutant.change}`,
      original,
      get text() {
        return mutant.text;
      },
    })),
  );
  const several = covering.map(([original, ...conditions]) => {
    const changes = conditions.map((condition) => `without ${condition}`);
    const chosen = statementMutants(original.text).filter(({ change }) => changes.includes(change));
    const name = `${original.name}: without ${conditions.join(', ')}`;
    return { name, original, text: withAll(original.text, chosen) };
  });
  return [...single, ...several];
}

function runInstead(changed: ChangedStatement, place: number): Mutation {
  const { name, original } = changed;
  const deviation: Deviation = {
    db(db) {
      const mutant = { ...original, name: `${original.name}#${place}`, text: changed.text };
      return intercepted(
        db,
        (run) => (statement, parameters) =>
          run(statement === original ? mutant : statement, parameters),
      );
    },
  };
  return { name, deviation };
}

/** The lists of phases from which moves are allowed. */
const leftPhases: readonly (readonly string[])[] = [
  phasesBeforePaying,
  phasesOpenToResponse,
  phasesOpenToFailure,
  phasesOpenToSettlement,
  ['RESERVED', ...phasesOpenToSettlement],
];

/** A list of phases, and the list that replaces it. */
interface ChangedMove {
  readonly name: string;
  readonly listed: readonly string[];
  readonly phases: readonly string[];
}

/** Every mutant of a list of phases. */
export function changedMoves(): ChangedMove[] {
  return leftPhases.flatMap((listed) =>
    otherLists(listed).map(({ change, phases }) => ({
      name: `a move leaves ${change}`,
      listed,
      phases,
    })),
  );
}

function ofMoves(): Mutation[] {
  return changedMoves().map(({ name, listed, phases }) => {
    const from = `{${listed.join(',')}}`;
    const changed = (value: unknown): unknown => (value === from ? `{${phases.join(',')}}` : value);
    return { name, deviation: changingMoves({ from_phases: changed }) };
  });
}

/** The failures of an attempt to pay, with the outcome of each: see `provider/http`. */
const verdicts: readonly (readonly [ProviderStatusClass, FailedOutcome])[] = [
  ['2xx', 'unknown'],
  ['2xx', 'rejected'],
  ['401', 'unknown'],
  ['404', 'unknown'],
  ['429', 'unknown'],
  ['4xx', 'rejected'],
  ['4xx', 'unknown'],
  ['5xx', 'unknown'],
  ['timeout', 'unknown'],
  ['reset', 'unknown'],
  ['connect', 'not_sent'],
  ['invalid', 'unknown'],
];

/** Seldom no attempt at a payment finds a connection while its process lives on. */
const manyFailedAttempts = { attemptFaults: 0.8, deaths: 0, stops: 0, databaseFaults: 0 } as const;

const outcomes = ['not_sent', 'rejected', 'unknown'] as const satisfies FailedOutcome[];

function ofErrors(): Mutation[] {
  return verdicts.flatMap(([statusClass, outcome]) =>
    outcomes
      .filter((other) => other !== outcome)
      .map((other) => ({
        name: `a payment that ends in ${statusClass} is ${other}, not ${outcome}`,
        deviation: {
          ...paying(async (pay) => {
            try {
              return await pay();
            } catch (error) {
              const isMeant =
                error instanceof ProviderError &&
                error.statusClass === statusClass &&
                error.outcome === outcome;
              throw isMeant ? otherwise(error, other) : error;
            }
          }),
          ...(statusClass === 'connect' && { profile: manyFailedAttempts }),
        },
      })),
  );
}

function otherwise(error: ProviderError, outcome: FailedOutcome): ProviderError {
  const { code, statusClass, retryable, reason, httpStatus, refusalCode, cause } = error;
  const details = { httpStatus, refusalCode, ...(reason !== undefined && { reason }) };
  return new ProviderError({ outcome, code, statusClass, retryable, cause, ...details });
}

const receiptStatuses = ['PROCESSING', 'COMPLETED'] as const;

function ofReceipts(): Mutation[] {
  return receiptStatuses.flatMap((status) =>
    receiptStatuses
      .filter((other) => other !== status)
      .map((other) => ({
        name: `a receipt that says ${status} says ${other}`,
        deviation: {
          ...paying(async (pay) => {
            const receipt = await pay();
            return receipt.status === status ? { ...receipt, status: other } : receipt;
          }),
          policy: status === 'COMPLETED' ? { receiptStatus: 'frank' } : {},
        },
      })),
  );
}

type Paid = ReturnType<Provider['pay']>;

/** Wraps each attempt to pay, below the retries. */
function paying(change: (pay: () => Paid) => Paid): Deviation {
  return {
    wire: (wire) => ({
      ...wire,
      pay: (request) => change(() => wire.pay(request)),
    }),
  };
}
