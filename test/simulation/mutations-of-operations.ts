/** Mutations of all operations except sends and returns: see `mutations.ts`. */
import { pause } from '../../src/clock.ts';
import type { Statement } from '../../src/db/database.ts';
import { sweepStatements } from '../../src/ledger/sweep-repository.ts';
import { notYet } from '../../src/process/unstored-outcomes.ts';
import { sendPix } from '../../src/pix/send-pix.ts';
import { recordRefund } from '../../src/ledger/refund-repository.ts';
import { recordReceived } from '../../src/ledger/transaction-repository.ts';
import { findPayees } from '../../src/ledger/payee-repository.ts';
import { sessionStatements } from '../../src/auth/session-repository.ts';
import { queueStatements } from '../../src/settlement/event-queue-repository.ts';
import { retentionStatements } from '../../src/retention/retention-repository.ts';
import { paymentStatements } from '../../src/ledger/payment-repository.ts';
import { limitStatements } from '../../src/ledger/spending-limit-repository.ts';
import { transactionStatements } from '../../src/ledger/pix-transaction-repository.ts';
import type { Provider } from '../../src/provider/provider.ts';
import { noAdversary } from './bank/adversary.ts';
import { intercepted } from '../support/intercepted.ts';
import { manyPayments, type Deviation, type Mutation } from './deviation.ts';

type Row = Record<string, unknown>;

/** Replaces one statement by another. */
export function replacing(original: Statement, change: (text: string) => string): Deviation {
  const text = change(original.text);
  if (text === original.text) throw new Error(`nothing is replaced in ${original.name}`);
  const changed = { ...original, name: `${original.name}#changed`, text };
  return {
    db: (db) =>
      intercepted(
        db,
        (run) => (statement, parameters) =>
          run(statement === original ? changed : statement, parameters),
      ),
  };
}

/** Changes the result of a statement, or does not execute it at all. */
export function responding(original: Statement, change: (rows: Row[]) => Row[] | null): Deviation {
  return {
    db: (db) =>
      intercepted(db, (run) => async (statement, parameters) => {
        if (statement !== original) return run(statement, parameters);
        const nothing = change([]);
        if (nothing === null) return [];
        return change(await run(statement, parameters)) ?? [];
      }),
  };
}

let attempts = 0;

/** Each attempt to create a static charge sends a new identification to the provider. */
const newIdentifications = (wire: Provider): Provider => {
  const renamed = <Order extends { readonly transactionIdentification: string }>(order: Order) => {
    attempts += 1;
    const number = String(attempts).padStart(6, '0');
    const transactionIdentification = order.transactionIdentification.slice(0, 20) + number;
    return { ...order, transactionIdentification };
  };
  return {
    ...wire,
    createStaticCharge: (request) =>
      wire.createStaticCharge({ ...request, order: renamed(request.order) }),
  };
};

/** A send before PAYING is not read again after its step has timed out. */
const lateStepNotAwaited: Deviation = {
  send: {
    ...sendPix,
    run(context, call) {
      const { outcomes } = context;
      const changed: Pick<typeof outcomes, 'keep' | 'noteEndToEnd' | 'track'> = {
        track: (id, work) => outcomes.track(id, work),
        noteEndToEnd: (id, endToEnd) => outcomes.noteEndToEnd(id, endToEnd),
        keep: ({ transactionId, store }) =>
          outcomes.keep({ transactionId, store: () => store().then(unlessNotYet) }),
      };
      return sendPix.run({ ...context, outcomes: changed as typeof outcomes }, call);
    },
  },
  profile: { lateCommits: 0.2, deaths: 0, stops: 0 },
};

function unlessNotYet(result: unknown): unknown {
  return result === notYet ? null : result;
}

/** A look-up takes long enough for an operator to block the payer's account meanwhile. */
const slowDirectory: NonNullable<Deviation['provider']> = (provider, clock) => ({
  ...provider,
  async lookUpKey(request) {
    const found = await provider.lookUpKey(request);
    await pause(clock, 8_000);
    return found;
  },
});

export const mutationsOfOperations: readonly Mutation[] = [
  {
    name: 'a received PIX is attributed although an identifier disagrees',
    deviation: responding(findPayees, (rows) => rows.map((row) => ({ ...row, agrees: true }))),
  },
  {
    name: 'a blocked account keeps paying',
    deviation: {
      ...replacing(paymentStatements.step, (text) =>
        text.replace("a.status = 'ACTIVE'", "a.status <> 'none'"),
      ),
      provider: slowDirectory,
      profile: { ...manyPayments, stalls: 0.15 },
    },
  },
  {
    name: 'a contradiction is not recorded',
    deviation: responding(transactionStatements.storeAnomaly, () => null),
  },
  { name: 'a received PIX is not recorded', deviation: responding(recordReceived, () => null) },
  { name: 'a refund is not recorded', deviation: responding(recordRefund, () => null) },
  {
    name: 'a refund beyond the payment is recorded',
    deviation: replacing(recordRefund, (text) =>
      text.replace('where original.fits', 'where true').replace(/, counted as .*?\n {4}\)/s, ''),
    ),
  },
  {
    name: 'a corrected send does not count towards a limit',
    deviation: {
      ...replacing(limitStatements.read, (text) =>
        text.replace(
          /t\.status <> 'FAILED'(?=\s+and t\.created_at)/,
          '$& and t.corrected_at is null',
        ),
      ),
      policy: { adversary: { ...noAdversary, falseRefusals: 0.6 } },
      profile: { deaths: 0, lostNotices: 0, slowestNoticeMs: 50, databaseWindows: 0, failovers: 0 },
    },
  },
  {
    name: 'an expired charge stays open',
    deviation: responding(sweepStatements.findExpired, () => null),
  },
  {
    name: 'no process takes up the events of one that has died',
    deviation: responding(queueStatements.take, () => null),
  },
  { name: 'a timed-out step to PAYING is not awaited', deviation: lateStepNotAwaited },
  {
    name: 'a log-out does not end the session',
    deviation: responding(sessionStatements.end, () => null),
  },
  {
    name: 'retention empties unsettled events',
    deviation: replacing(retentionStatements.payloads, (text) =>
      text.replace('and status in', "and 'x' not in"),
    ),
  },
  {
    name: 'a charge has a new identification at each attempt',
    deviation: { wire: newIdentifications },
  },
];
