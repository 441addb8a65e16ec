/**
 * The reads of the send that has a key, without a claim: of a repeat, and of a refusal. The
 * statements are SQL: they check the banking session in the same round trip, and the simulation
 * runs them.
 */
import type { VerifiedToken } from '../process/access-tokens.ts';
import { activeSessions } from '../auth/session-repository.ts';
import type { LocalContext } from '../context/context.ts';
import { columnsOf, type RowOf } from '../db/rows.ts';
import { batchedStatement, isOneOf, sql } from '../db/statement.ts';
import { isDatabaseUnavailable } from '../db/unavailable.ts';
import { phasesBeforePaying, storedOutcome, type OrderType } from '../domain/pix.ts';
import { AppError, type RefusedOrder } from '../errors.ts';
import { mayHaveLostOrders } from './block.ts';
import type { SentView } from './pix-transaction-repository.ts';
import type { SendReservation } from './reservation-repository.ts';

const sent = columnsOf(
  'pix_transactions',
  'id, status, outcome, endToEnd, heldAt, createdAt, failureCode',
);

/**
 * The send that a repeated request replays, in one read with the check of the banking session. It
 * returns a row only if the claim would return the same row: the session is active, the request is
 * the same, and a payment may have been sent, so that the send is not resumed: nor was it refused
 * for its session alone.
 */
export const findReplay = batchedStatement({
  name: 'pix-find-replay',
  parameters: {
    sessionId: 'uuid',
    userId: 'int',
    now: 'timestamptz',
    idempotencyKey: 'text',
    fingerprint: 'bytea',
  },
  batching: { lane: 'replays' },
  text: (requested) => sql<RowOf<typeof sent>>`
    select requested.ordinal, ${sent.select('t')}
      from ${requested}
      join ${activeSessions}
      join lateral (
             select ${sent.list()}, phase, fingerprint, resumable_until
               from pix_transactions
              where user_id = u.id and operation = 'SEND'
                and idempotency_key = requested.idempotency_key limit 1) t
          on t.fingerprint = requested.fingerprint
         and not ${isOneOf('t.phase', phasesBeforePaying)} and t.resumable_until is null`,
});

/**
 * Reads the send that a repeated request replays, without a claim: the database takes half the CPU,
 * this process a fifth less, and no batch of new sends waits for it.
 * @returns null when only the claim can decide. The result is also null when the read fails,
 *   because the claim is repeated after a failure.
 */
export async function readReplay(
  { db, clock }: LocalContext,
  { sessionId, userId }: VerifiedToken,
  { idempotencyKey, fingerprint }: SendReservation,
): Promise<SentView | null> {
  try {
    const [found] = await db.query(findReplay, {
      sessionId,
      userId,
      now: clock.now(),
      idempotencyKey,
      fingerprint,
    });
    return found ?? null;
  } catch (error) {
    if (!isDatabaseUnavailable(error)) throw error;
    return null;
  }
}

const ofOrder = columnsOf('pix_transactions', 'id, outcome, status, failureCode, amount');

/**
 * The order that has a key, with the check of the banking session. No row: the session is not
 * active.
 */
const findOutcomeOfKey = batchedStatement({
  name: 'pix-outcome-of-key',
  parameters: {
    sessionId: 'uuid',
    userId: 'int',
    now: 'timestamptz',
    operation: 'text',
    idempotencyKey: 'text',
  },
  batching: {},
  text: (requested) => sql<OutcomeRow>`
    select requested.ordinal, ${ofOrder.select('t')},
           ${mayHaveLostOrders('requested')} as "mayBeLost"
      from ${requested}
      join ${activeSessions}
      left join lateral (
             select ${ofOrder.list()} from pix_transactions
              where user_id = u.id and operation = requested.operation
                and idempotency_key = requested.idempotency_key limit 1) t on true`,
});

type OutcomeRow = (
  | RowOf<typeof ofOrder>
  /** No order has the key. */
  | { readonly id: null }
) & {
  /** Whether the commit of an order may be lost. */
  readonly mayBeLost: boolean;
};

/** The idempotency key of an order: those of sends and of returns are apart. */
export interface OrderKey {
  readonly operation: OrderType;
  readonly idempotencyKey: string;
}

/**
 * Reads what is known of the order that has a key, for a request that is refused for its own
 * fields: an order with the key is that of another request, and a key that was closed without an
 * amount is that of none.
 * @returns `not_sent` when no order has the key, and no commit of one can be lost.
 * @throws AppError UNAUTHENTICATED when the session of the token is not active.
 */
export async function readOutcomeOfKey(
  { db, clock }: Pick<LocalContext, 'db' | 'clock'>,
  { sessionId, userId }: VerifiedToken,
  { operation, idempotencyKey }: OrderKey,
): Promise<RefusedOrder> {
  const [row] = await db.query(findOutcomeOfKey, {
    sessionId,
    userId,
    now: clock.now(),
    operation,
    idempotencyKey,
  });
  if (!row) throw new AppError('UNAUTHENTICATED');
  if (row.id === null) {
    return row.mayBeLost ? { outcome: 'unknown', doubt: 'lost_commits' } : { outcome: 'not_sent' };
  }
  const { id, status, failureCode, amount } = row;
  const order = { outcome: storedOutcome(row), stored: { id, status, failureCode } };
  return amount === null ? order : { ...order, doubt: 'other_request' };
}

/** @public For the tests of plans and of the simulation. */
export const replayStatements = { findReplay, findOutcomeOfKey };
