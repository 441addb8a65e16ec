/**
 * Sends whose record was lost, and that the provider's statement shows: they are stored again under
 * their idempotency key, or block orders until something accounts for them. The statements are SQL:
 * the simulation runs them.
 */
import { randomUUIDv7 } from 'node:crypto';
import type { LocalContext } from '../context/context.ts';
import { sql, statement } from '../db/statement.ts';
import { inTransaction } from '../db/unit-of-work.ts';
import { centsFromDecimal, decimalFromCents } from '../domain/money.ts';
import { foundAfterLossNote, type OrderType } from '../domain/pix.ts';
import { unknownCode } from './code-holder-repository.ts';
import { processed, type PixTransaction, type ProcessedRow } from './pix-transaction-repository.ts';
import type { SoughtOrder } from './correction-repository.ts';

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

/** A user's payment in the provider's statement that no stored send records. */
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
 * row: its key or its end-to-end id has a transaction.
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
      returning id, created_at
    ), noted as (
      insert into pix_timeline (transaction_id, phase, at, note)
      select stored.id, step.phase, stored.created_at, ${note}
        from stored join (values (1, 'RESERVED'), (2, 'PAYING'), (3, 'UNKNOWN'))
                         as step (item, phase) on true
       order by step.item
    )
    select id from stored`,
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

const lock = statement({
  name: 'pix-block-lock',
  parameters: { userIds: 'int[]' },
  text: ({ userIds }) => sql`
    select a.id from users u join accounts a on a.user_id = u.id
     where u.id = any(${userIds}) order by u.id for key share of u for no key update of a`,
});

/**
 * Locks the accounts of users before differences that block their orders are stored or closed, so
 * that the accounts agree with what is stored. The users, to whom the differences refer, are locked
 * before, in the order in which a person is erased. Call it in the transaction that changes the
 * differences.
 */
export async function lockAccounts(
  { db }: Pick<LocalContext, 'db'>,
  userIds: readonly number[],
): Promise<void> {
  await db.query(lock, { userIds });
}

/**
 * Stores the difference of a line that blocks orders, and the fact at the account that one does; no
 * row: it is known. With two amounts, or none, it blocks every amount. An operator who has accepted
 * it has accounted for it, unless the amount is another one. The result has the orders that have
 * entered PAYING since the reading began, which the line might have blocked.
 */
const block = statement({
  name: 'pix-block-by-line',
  parameters: {
    userId: 'int',
    day: 'date',
    reason: 'text',
    blocks: 'text',
    subject: 'text',
    endToEnd: 'text null',
    amount: 'numeric null',
    now: 'timestamptz',
    readingSince: 'timestamptz',
  },
  text: ({ userId, day, reason, blocks, subject, endToEnd, amount, now, readingSince }) =>
    sql<{ payingIds: string | null }>`
    with stored as (
      insert into reconciliation_differences as known
             (day, user_id, kind, reason, subject, end_to_end, amount, found_at, seen_at, blocks)
      values (${day}, ${userId}, 'MISSING_HERE', ${reason}, ${subject}, ${endToEnd}, ${amount},
              ${now}, ${now}, ${blocks})
          on conflict (user_id, kind, subject)
          do update set seen_at = excluded.seen_at, closed_at = null, closed_as = null,
                        blocks = case when known.blocks <> excluded.blocks then 'ANY'
                                      else excluded.blocks end,
                        amount = case when known.blocks is not null and known.closed_at is null
                                      then null else excluded.amount end,
                        found_at = case when known.closed_at is null then known.found_at
                                        else excluded.found_at end
                  where case when known.closed_as = 'ACCEPTED'
                             then known.amount is distinct from excluded.amount
                             when known.blocks is not null and known.closed_at is null
                             then known.amount is distinct from excluded.amount
                                  and known.amount is not null
                                  or known.blocks not in (excluded.blocks, 'ANY')
                             else true end
      returning id
    ), named as (
      update accounts set blocked_by = line.id
        from (select id from stored
               union all
              select id from reconciliation_differences
               where user_id = ${userId} and kind = 'MISSING_HERE' and subject = ${subject}
                 and blocks is not null and closed_at is null) line
       where user_id = ${userId} and (blocked_by is null or exists (select from stored))
    )
    select (select string_agg(t.id::text, ' ') from pix_transactions t
             where t.user_id = ${userId} and t.settled_at is null
               and exists (select from pix_timeline step
                            where step.transaction_id = t.id and step.phase = 'PAYING'
                              and step.at >= ${readingSince})) as "payingIds"
      from stored`,
});

/** A line of a statement that no stored order accounts for. */
export interface BlockingLine {
  readonly userId: number;
  /** The line's return id, end-to-end id or another name. */
  readonly subject: string;
  readonly endToEnd: string | null;
  /** In centavos; null: it cannot be read. */
  readonly amountCents: number | null;
  /** The day to which the difference belongs, `yyyy-mm-dd`. */
  readonly day: string;
  /** What it may be the payment of. */
  readonly blocks: OrderType | 'ANY';
  /** When the reading of the statement began. */
  readonly readingSince: Date;
}

/**
 * Blocks the orders of the amount of a line, until an order or an operator accounts for it.
 * @returns the open orders that have entered PAYING since the reading began, of whatever amount;
 *   null: the line is known.
 */
export function blockByLine(
  context: Store,
  { amountCents, ...line }: BlockingLine,
): Promise<readonly string[] | null> {
  const amount = amountCents === null ? null : decimalFromCents(amountCents);
  const reason = line.blocks === 'REFUND_OUT' ? 'return_out' : 'payment_out';
  return inTransaction(context, async ({ db, clock }) => {
    await lockAccounts({ db }, [line.userId]);
    const [row] = await db.query(block, { ...line, amount, reason, now: clock.now() });
    return row ? (row.payingIds?.split(' ') ?? []) : null;
  });
}

/** @public For the tests of plans and of the simulation. */
export const lostSendStatements = { findKnown, findReturns, storeAgain, findHolder, lock, block };
