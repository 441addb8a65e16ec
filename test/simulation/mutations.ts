/**
 * Mutations of the service, each with one plausible defect that an invariant has to detect. The
 * service has no code for them.
 */
import type { Clock } from '../../src/clock.ts';
import { pause } from '../../src/clock.ts';
import type { Database, Statement } from '../../src/db/database.ts';
import { findWebhookEvent } from '../../src/settlement/event-repository.ts';
import { paymentStatements } from '../../src/ledger/payment-repository.ts';
import { reservationStatements } from '../../src/ledger/reservation-repository.ts';
import { receiveProviderWebhook } from '../../src/settlement/receive-provider-webhook.ts';
import { ProviderError } from '../../src/provider/errors.ts';
import type { Provider } from '../../src/provider/provider.ts';
import { intercepted } from '../support/intercepted.ts';
import { mutationsOfApps } from './mutations-of-apps.ts';
import { mutationsOfEvidence } from './mutations-of-evidence.ts';
import { mutationsOfCodes } from './mutations-of-codes.ts';
import { mutationsOfDisputes } from './mutations-of-disputes.ts';
import { mutationsOfLookUps } from './mutations-of-look-ups.ts';
import { mutationsOfOperations } from './mutations-of-operations.ts';
import { mutationsOfReturns } from './mutations-of-returns.ts';
import { sendJobs } from './jobs.ts';
import type { Deviation, Mutation } from './deviation.ts';
import { changingMoves } from './moves.ts';

/** The replaced value of a column in a move to UNKNOWN. */
const whenUnknown =
  (instead: unknown) =>
  (value: unknown, { phase }: { readonly phase: unknown }): unknown =>
    phase === 'UNKNOWN' ? instead : value;

const failedOnTimeOut = changingMoves({
  phase: whenUnknown('SETTLED'),
  status: whenUnknown('FAILED'),
  outcome: whenUnknown('not_sent'),
  failure_code: whenUnknown('PROVIDER_TIMEOUT'),
});

/** All open phases, as the text of an array. */
const everyPhase = '{RESERVED,RESOLVED,PAYING,ACCEPTED,UNKNOWN}';

/** The statement for the steps of a send, without its condition on the current phase. */
const stepFromAnyPhase = {
  ...paymentStatements.step,
  name: `${paymentStatements.step.name}#any`,
  text: paymentStatements.step.text.replace(/and t\.phase = any\(.*\)/, ''),
};

const movedFromAnyPhase: Deviation = {
  db(db) {
    const moving = changingMoves({ from_phases: () => everyPhase }).db?.(db) ?? db;
    return intercepted(
      moving,
      (run) => (statement, parameters) =>
        run(statement === paymentStatements.step ? stepFromAnyPhase : statement, parameters),
    );
  },
  profile: { stalls: 0.4, deaths: 0, stops: 0, databaseFaults: 0, impatience: 0.5 },
};

const payingNotAwaited = {
  db: (db: Database): Database =>
    intercepted(db, (run) => async (statement, parameters) => {
      const isPaying = statement === paymentStatements.step && parameters['toPhase'] === 'PAYING';
      if (!isPaying) return run(statement, parameters);
      // Not awaited: the payment leaves while this statement is still on its way.
      void run(statement, parameters).catch(() => undefined);
      return [{}];
    }),
} satisfies Deviation;

const isClaimOfSend = (statement: Statement): boolean =>
  [reservationStatements.reserveForSession, reservationStatements.reserveJudged].some(
    (one) => one.name === statement.name,
  );

const claimedTwice: Deviation = {
  db: (db) =>
    intercepted(db, (run) => async (statement, parameters) => {
      const rows = await run(statement, parameters);
      const isKnown = rows[0]?.['reserved'] === false;
      if (!isClaimOfSend(statement) || !isKnown) return rows;
      const { idempotencyKey, id } = parameters;
      const another = `${String(idempotencyKey)} again ${String(id)}`;
      return run(statement, { ...parameters, idempotencyKey: another });
    }),
};

/** Wraps the payment method of the provider. */
function paying(change: (provider: Provider, clock: Clock) => Provider['pay']): Deviation {
  return { provider: (provider, clock) => ({ ...provider, pay: change(provider, clock) }) };
}

const lookedUpAgain = paying((provider, clock) => async (request) => {
  try {
    return await provider.pay(request);
  } catch (error) {
    if (!(error instanceof ProviderError) || error.outcome !== 'unknown') throw error;
    await pause(clock, 1_000);
    const { session, order } = request;
    const { payer, key } = order;
    const { endToEnd } = await provider.lookUpKey({ session, payerId: payer.document, key });
    const receipt = await provider.pay({ ...request, order: { ...order, endToEnd } });
    return { ...receipt, endToEnd: order.endToEnd };
  }
});

const newKeyForEachAttempt: Deviation = {
  wire(wire) {
    let attempts = 0;
    return {
      ...wire,
      async pay(request) {
        attempts += 1;
        const { order } = request;
        const clientRequestId = `${order.clientRequestId}#${attempts}`;
        const receipt = await wire.pay({ ...request, order: { ...order, clientRequestId } });
        return { ...receipt, clientRequestId: order.clientRequestId };
      },
    };
  },
};

const unknownAsRejected = paying((provider) => async (request) => {
  try {
    return await provider.pay(request);
  } catch (error) {
    if (!(error instanceof ProviderError) || error.outcome !== 'unknown') throw error;
    const { code, statusClass } = error;
    throw new ProviderError({ outcome: 'rejected', code, statusClass });
  }
});

const foreignReceiptsAccepted: Deviation = {
  wire: (wire) => ({
    ...wire,
    async pay(request) {
      const receipt = await wire.pay(request);
      const { endToEnd, clientRequestId } = request.order;
      // The receipt belongs to another payment: the bank may not have processed this one.
      if (receipt.endToEnd === endToEnd) return { ...receipt, clientRequestId };
      throw new ProviderError({
        outcome: 'rejected',
        code: 'PROVIDER_REJECTED',
        statusClass: '2xx',
      });
    },
  }),
};

const wrongAmountAccepted: Deviation = {
  db: (db) =>
    intercepted(db, (run) => async (statement, parameters) => {
      const rows = await run(statement, parameters);
      if (statement !== findWebhookEvent) return rows;
      return rows.map((row) =>
        Object.assign(row, { payload: withoutAmounts(row['payload'] as Buffer | null) }),
      );
    }),
  profile: { mismatches: 0.05 },
};

function withoutAmounts(payload: Buffer | null): Buffer | null {
  if (payload === null) return null;
  const text = payload.toString('utf8').replaceAll(/"(amount|value)":/gi, '"unread":');
  return Buffer.from(text, 'utf8');
}

const acknowledgedTooEarly: Deviation = {
  intake: {
    access: 'secret',
    async run(context, call) {
      void receiveProviderWebhook.run(context, call).catch(() => undefined);
      return { status: 200, body: { message: '', event_id: '', duplicate: false } };
    },
  },
  profile: { deaths: 0.1, repeatedNotices: 0, lostNotices: 0 },
};

/** A sweep that fails the payments that it could not settle. */
const missingInStatementFails: Deviation = {
  jobs: {
    ...sendJobs,
    'sweep-pix': {
      everyMs: 60_000,
      async run(context, job) {
        const result = await sendJobs['sweep-pix'].run(context, job);
        const text = `
          update pix_transactions
             set phase = 'SETTLED', status = 'FAILED', settled_at = $1, updated_at = $1
           where phase = 'UNKNOWN' and created_at < $1::timestamptz - interval '2 minutes'`;
        await context.db.query({ name: 'fail-unknown', text }, [context.clock.now()]);
        return result;
      },
    },
  },
  profile: { attemptFaults: 0.8, statementLagMs: 600_000, lostNotices: 0.5, deaths: 0.02 },
};

const neverSwept: Deviation = {
  jobs: { ...sendJobs, 'sweep-pix': { everyMs: 60_000, run: async () => undefined } },
};

export const mutations: readonly Mutation[] = [
  { name: 'an unknown outcome is stored as FAILED', deviation: failedOnTimeOut },
  { name: 'an unknown outcome is answered as rejected', deviation: unknownAsRejected },
  {
    name: 'a payment that the statement does not list is FAILED',
    deviation: missingInStatementFails,
  },
  { name: 'the key is looked up again after PAYING', deviation: lookedUpAgain },
  { name: 'each attempt has a new client request id', deviation: newKeyForEachAttempt },
  { name: 'the payment leaves before PAYING is stored', deviation: payingNotAwaited },
  { name: 'a key is claimed twice', deviation: claimedTwice },
  { name: 'a move ignores the current phase', deviation: movedFromAnyPhase },
  {
    name: 'a receipt with foreign ids is accepted',
    deviation: foreignReceiptsAccepted,
  },
  { name: 'an event with a wrong amount is accepted', deviation: wrongAmountAccepted },
  { name: 'an event is acknowledged before it is stored', deviation: acknowledgedTooEarly },
  { name: 'the sweep does nothing', deviation: neverSwept },
  ...mutationsOfOperations,
  ...mutationsOfReturns,
  ...mutationsOfDisputes,
  ...mutationsOfLookUps,
  ...mutationsOfCodes,
  ...mutationsOfEvidence,
  ...mutationsOfApps,
];
