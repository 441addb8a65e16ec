/**
 * Sends whose record was lost, and that the provider's statement shows: they are stored again under
 * their idempotency key, or noted until an operator accounts for them. The statements are SQL: the
 * simulation runs them.
 */
import { randomUUIDv7 } from 'node:crypto';
import type { LocalContext } from '../context/context.ts';
import { sql, statement } from '../db/statement.ts';
import { centsFromDecimal, decimalFromCents } from '../domain/money.ts';
import { foundAfterLossNote } from '../domain/pix.ts';
import { unknownCode } from './code-holder-repository.ts';
import { processed, type PixTransaction, type ProcessedRow } from './pix-transaction-repository.ts';
import type { SoughtOrder } from './correction-repository.ts';
import { naming, wakingEvents } from './waiting-events-repository.ts';

type Store = Pick<LocalContext, 'db' | 'clock'>;

const findKnown = statement({
  name: 'pix-known-sends',
  parameters: { endToEnds: 'text[]' },
  text: ({ endToEnds }) => sql<{ endToEnd: string }>`
    select end_to_end as "endToEnd" from pix_transactions
     where end_to_end = any(${endToEnds}) and operation = 'SEND'`,
});

/** @returns those of some end-to-end ids that stored sends have. */
export async function findKnownSends(
  { db }: Store,
  endToEnds: readonly string[],
): Promise<ReadonlySet<string>> {
  const rows = await db.query(findKnown, { endToEnds });
  return new Set(rows.map(({ endToEnd }) => endToEnd));
}

const findReturns = statement({
  name: 'pix-known-returns',
  parameters: { userId: 'int', returnIds: 'text[]' },
  text: ({ userId, returnIds }) => sql<ProcessedRow>`
    select ${processed.select('t')} from pix_transactions t
     where t.id = any(array(
             select known.id from pix_transactions known
              where known.end_to_end = any(${returnIds}) and known.operation = 'REFUND_OUT'
              union
             select open.id from pix_open
               join pix_transactions open on open.id = any(array[pix_open.transaction_id])
              where not pix_open.has_code and open.user_id = ${userId}
                and open.operation = 'REFUND_OUT'))`,
});

/**
 * @returns the refunds of a user that have some return ids, and the open returns: the line of one
 *   that was requested again may have another minute in its id.
 */
export async function findStoredReturns(
  { db }: Store,
  userId: number,
  returnIds: readonly string[],
): Promise<(SoughtOrder & Pick<PixTransaction, 'phase'>)[]> {
  if (returnIds.length === 0) return [];
  const rows = await db.query(findReturns, { userId, returnIds });
  return rows.map((row) => ({
    id: row.id,
    userId,
    operation: 'REFUND_OUT',
    status: row.status,
    phase: row.phase,
    endToEnd: row.endToEnd ?? '',
    amountCents: centsFromDecimal(row.amount),
    idempotencyKey: null,
  }));
}

/** A payment of a user in the provider's statement that no stored send has. */
export interface LostSend {
  readonly userId: number;
  readonly endToEnd: string;
  /** In centavos. */
  readonly amountCents: number;
}

/** A lost send whose idempotency key the statement names. */
export interface NamedLostSend extends LostSend {
  readonly idempotencyKey: string;
}

/**
 * The fingerprint of a send whose request is not known: a repeat is the same request if it has the
 * same amount.
 */
export const unknownFingerprint = Buffer.alloc(0);

/**
 * Stores a lost send again, as one whose outcome is unknown, with the steps that it has taken; no
 * row: its key or its end-to-end id has a transaction. Events that wait for it are woken.
 */
const storeAgain = statement({
  name: 'pix-store-again',
  parameters: {
    id: 'uuid',
    userId: 'int',
    idempotencyKey: 'text',
    fingerprint: 'bytea',
    amount: 'numeric',
    endToEnd: 'text',
    codeDigest: 'bytea',
    now: 'timestamptz',
    note: 'text',
  },
  text: ({ id, userId, idempotencyKey, fingerprint, amount, endToEnd, codeDigest, now, note }) =>
    sql<{ id: string }>`
    with stored as (
      insert into pix_transactions
             (id, user_id, operation, idempotency_key, fingerprint, status, phase, outcome, amount,
              end_to_end, code_digest, created_at, updated_at)
      values (${id}, ${userId}, 'SEND', ${idempotencyKey}, ${fingerprint}, 'PROCESSING',
        'UNKNOWN', 'unknown', ${amount}, ${endToEnd}, ${codeDigest}, ${now}, ${now})
          on conflict do nothing
      returning ${naming.list()}, created_at
    ), noted as (
      insert into pix_timeline (transaction_id, phase, at, note)
      select stored.id, step.phase, stored.created_at, ${note}
        from stored join (values (1, 'RESERVED'), (2, 'PAYING'), (3, 'UNKNOWN'))
                         as step (item, phase) on true
       order by step.item
    ), ${wakingEvents('stored', 'created_at')}
    select id from stored, woken`,
});

/** @returns the id of the send; null: a transaction has its key or its end-to-end id. */
export async function storeSendAgain(
  { db, clock }: Store,
  { userId, idempotencyKey, amountCents, endToEnd }: NamedLostSend,
): Promise<string | null> {
  const [row] = await db.query(storeAgain, {
    id: randomUUIDv7(),
    userId,
    idempotencyKey,
    fingerprint: unknownFingerprint,
    amount: decimalFromCents(amountCents),
    endToEnd,
    codeDigest: unknownCode,
    now: clock.now(),
    note: foundAfterLossNote,
  });
  return row?.id ?? null;
}

const findHolder = statement({
  name: 'pix-send-of-key',
  parameters: { idempotencyKey: 'text', userId: 'int' },
  text: ({ idempotencyKey, userId }) => sql<ProcessedRow>`
    select ${processed.select('t')} from pix_transactions t
     where idempotency_key = ${idempotencyKey} and user_id = ${userId} and operation = 'SEND'`,
});

/** The send that has a key. */
export interface SendOfKey {
  readonly transaction: PixTransaction;
  /** In centavos; null: an amount that is too large to compare. */
  readonly amountCents: number | null;
}

/** @returns the send of a user that has a key, or null. */
export async function findSendOfKey(
  { db }: Store,
  { userId, idempotencyKey }: NamedLostSend,
): Promise<SendOfKey | null> {
  const [row] = await db.query(findHolder, { idempotencyKey, userId });
  return row ? { transaction: row, amountCents: centsFromDecimal(row.amount) } : null;
}

const note = statement({
  name: 'pix-unaccounted-note',
  parameters: { endToEnd: 'text', userId: 'int', amount: 'numeric', now: 'timestamptz' },
  text: ({ endToEnd, userId, amount, now }) => sql`
    insert into pix_unaccounted_lines (end_to_end, user_id, amount, found_at)
    values (${endToEnd}, ${userId}, ${amount}, ${now})
        on conflict do nothing
    returning end_to_end`,
});

/**
 * Notes a lost send that cannot be stored again: its user sends nothing of its amount until it is
 * accounted for.
 * @returns whether it is new.
 */
export async function noteUnaccounted(
  { db, clock }: Store,
  { endToEnd, userId, amountCents }: LostSend,
): Promise<boolean> {
  const rows = await db.query(note, {
    endToEnd,
    userId,
    amount: decimalFromCents(amountCents),
    now: clock.now(),
  });
  return rows.length > 0;
}

/** @public For the tests of plans and of the simulation. */
export const lostSendStatements = { findKnown, findReturns, storeAgain, findHolder, note };
