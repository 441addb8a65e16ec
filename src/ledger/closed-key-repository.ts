/**
 * Closing of keys: the statement stores a FAILED order under a key that no order has. It is SQL,
 * because it decides and writes in one round trip with the check of the banking session, and the
 * simulation runs it.
 */
import { activeSessions } from '../auth/session-repository.ts';
import type { LocalContext } from '../context/context.ts';
import { sql, statement } from '../db/statement.ts';
import { decimalFromCents } from '../domain/money.ts';
import { closedNote, type OrderType } from '../domain/pix.ts';
import { AppError } from '../errors.ts';
import type { VerifiedToken } from '../process/access-tokens.ts';
import { asStored, ofHolder, toKeyHolder, type KeyHolder, type ReservedRow } from './key-holder.ts';
import { mayHaveLostOrders } from './block.ts';
import type { PixTransaction } from './pix-transaction-repository.ts';
import { queryWithRetry } from './retried-query.ts';

/** An order that is not made, and whose key is closed. */
export interface UnmadeOrder {
  /** The id of the transaction if it is a new one. */
  readonly id: string;
  readonly operation: OrderType;
  readonly idempotencyKey: string;
  readonly fingerprint: Buffer;
  /** What it would have paid; null: not known. Such a key replays whatever the request. */
  readonly amountCents: number | null;
  readonly pixKey?: string;
  readonly description?: string | null;
  /** The return id of a return with an amount. */
  readonly endToEnd?: string;
  /** The payment that a return with an amount would have returned. */
  readonly originalId?: string;
  /** Why it is not made: a code of `pix/failure-reason.ts`. */
  readonly failureCode: string;
}

/**
 * Stores a FAILED order under a key that no order has, or reads the order that has it. The insert
 * waits for an order with the key that is being committed; the statement does not see it then, and
 * is run again. While commits may be lost for the user, it stores nothing. No row: the session is
 * not active.
 */
const close = statement({
  name: 'pix-close-key',
  parameters: {
    sessionId: 'uuid',
    userId: 'int',
    now: 'timestamptz',
    id: 'uuid',
    operation: 'text',
    idempotencyKey: 'text',
    fingerprint: 'bytea',
    amount: 'numeric null',
    pixKey: 'text null',
    description: 'text null',
    endToEnd: 'text null',
    originalId: 'uuid null',
    failureCode: 'text',
    mayClose: 'boolean',
  },
  text: (value) => sql<ClosedRow>`
    with requested as (
      select ${value.sessionId} as session_id, ${value.userId} as user_id, ${value.now} as now,
             ${value.id} as id, ${value.operation} as operation,
             ${value.idempotencyKey} as idempotency_key
    ), call as (
      select requested.*, ${mayHaveLostOrders('requested')} as may_be_lost
        from requested join ${activeSessions}
    ), closed as (
      insert into pix_transactions
             (id, user_id, operation, idempotency_key, fingerprint, status, phase, outcome,
              failure_code, amount, pix_key, description, end_to_end, original_id, created_at,
              updated_at, settled_at)
      select id, user_id, operation, idempotency_key, ${value.fingerprint}, 'FAILED', 'SETTLED',
             'not_sent', ${value.failureCode}, ${value.amount}, ${value.pixKey},
             ${value.description}, ${value.endToEnd}, ${value.originalId}, now, now, now
        from call where ${value.mayClose} and not may_be_lost
          on conflict (user_id, operation, idempotency_key) do nothing
      returning id, created_at
    ), noted as (
      insert into pix_timeline (transaction_id, phase, at, note)
      select id, 'SETTLED', created_at, '${closedNote}' from closed
    )
    select call.may_be_lost as "mayBeLost", closed.id is not null or t.id = call.id as reserved,
           ${ofHolder.select('t')}
      from call
      left join closed on closed.id = call.id
      left join lateral (
             select ${ofHolder.list()} from pix_transactions
              where user_id = call.user_id and operation = call.operation
                and idempotency_key = call.idempotency_key limit 1) t on true`,
});

type ClosedRow = ReservedRow & Pick<ClosedKey, 'mayBeLost'>;

/** The result of closing a key. */
export interface ClosedKey {
  /** The order that has the key, new or not; null: none is visible. */
  readonly holder: KeyHolder | null;
  /** Whether commits about orders may be lost for the user, so that nothing is closed. */
  readonly mayBeLost: boolean;
}

/**
 * Closes a key, or reads the order that has it.
 * @param closing the order that is not made; `mayClose: false` only reads.
 * @throws AppError UNAUTHENTICATED when the session of the token is not active.
 */
export async function storeClosedKey(
  context: LocalContext,
  { sessionId, userId }: VerifiedToken,
  { mayClose, ...unmade }: UnmadeOrder & { readonly mayClose: boolean },
): Promise<ClosedKey> {
  const { amountCents, ...order } = unmade;
  const { pixKey = null, description = null, endToEnd = null, originalId = null } = order;
  const [row] = await queryWithRetry(context, close, {
    ...order,
    sessionId,
    userId,
    now: context.clock.now(),
    amount: amountCents === null ? null : decimalFromCents(amountCents),
    pixKey,
    description,
    endToEnd,
    originalId,
    mayClose,
  });
  if (!row) throw new AppError('UNAUTHENTICATED');
  const claim = { claimedUntil: null, claims: new Set([null]) };
  const own = { transaction: closedAsStored(userId, unmade), ...claim };
  return { holder: toKeyHolder(row, own), mayBeLost: row.mayBeLost };
}

/** A new row is not read back. */
function closedAsStored(userId: number, { failureCode, ...order }: UnmadeOrder): PixTransaction {
  const reserved = asStored({ ...order, userId, transactionIdentification: null });
  return { ...reserved, status: 'FAILED', phase: 'SETTLED', outcome: 'not_sent', failureCode };
}

/** @public For the tests of plans and of the simulation. */
export const closedKeyStatements = { close };
