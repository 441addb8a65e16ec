/** Reads and accepts differences. They are accepted by SQL, on the condition that they are open. */
import type { LocalContext } from '../context/context.ts';
import { sql, statement } from '../db/statement.ts';
import { openUnit } from '../db/unit-of-work.ts';
import { unblocking } from '../ledger/block.ts';
import { lockAccounts } from '../ledger/lost-send-repository.ts';
import type { BlockedOrders, DifferenceKind, UnreadBecause } from '../domain/reconciliation.ts';

type Store = Pick<LocalContext, 'db'>;

export interface StoredDifference {
  readonly id: string;
  readonly day: string;
  readonly userId: number;
  readonly kind: DifferenceKind;
  readonly reason: string;
  readonly subject: string;
  readonly transactionId: string | null;
  readonly endToEnd: string | null;
  readonly amount: string | null;
  readonly storedAmount: string | null;
  readonly foundAt: Date;
  readonly closedAs: 'EXPLAINED' | 'ACCEPTED' | null;
  /** The orders of its amount that it blocks while it is open; null: none. */
  readonly blocks: BlockedOrders | null;
}

/** Which differences to list; an absent field matches every one. */
export interface DifferenceFilter {
  readonly userId?: number | undefined;
  readonly day?: string | undefined;
  /** Closed ones, too. */
  readonly all: boolean;
  /** Only those that block orders. */
  readonly blocking: boolean;
  readonly limit: number;
}

/** @returns differences, the oldest first. */
export async function findDifferences(
  { db }: Store,
  { userId, day, all, blocking, limit }: DifferenceFilter,
): Promise<StoredDifference[]> {
  const { em, ReconciliationDifference: Difference } = await openUnit(db);
  const rows = await em.find(
    Difference,
    {
      ...(userId !== undefined && { user: userId }),
      ...(day !== undefined && { day }),
      ...(!all && { closedAt: null }),
      ...(blocking && { blocks: { $ne: null } }),
    },
    { orderBy: { foundAt: 'asc', id: 'asc' }, limit },
  );
  return rows.map((row) => ({
    id: String(row.id),
    day: row.day,
    userId: row.user.id,
    kind: row.kind,
    reason: row.reason,
    subject: row.subject,
    transactionId: row.transactionId ?? null,
    endToEnd: row.endToEnd ?? null,
    amount: row.amount ?? null,
    storedAmount: row.storedAmount ?? null,
    foundAt: row.foundAt,
    closedAs: row.closedAs ?? null,
    blocks: row.blocks ?? null,
  }));
}

/** A user and day whose statement could not be read. */
export interface UnreadDay {
  readonly day: string;
  readonly userId: number;
  readonly reason: UnreadBecause;
  readonly triedAt: Date;
}

/** @returns days whose statement could not be read, the oldest first. */
export async function findUnreadDays(
  { db }: Store,
  { userId, limit }: Pick<DifferenceFilter, 'userId' | 'limit'>,
): Promise<UnreadDay[]> {
  const { em, Reconciliation } = await openUnit(db);
  const rows = await em.find(
    Reconciliation,
    { state: 'UNREAD', ...(userId !== undefined && { user: userId }) },
    { orderBy: { day: 'asc', user: 'asc' }, limit },
  );
  return rows.map(({ day, user, reason, triedAt }) => {
    return { day, userId: user.id, reason: reason ?? 'UNAVAILABLE', triedAt };
  });
}

const accept = statement({
  name: 'ops-reconcile-accept',
  parameters: { ids: 'bigint[]', now: 'timestamptz' },
  text: ({ ids, now }) => sql<{ id: string }>`
    with accepted as (
      update reconciliation_differences set closed_at = ${now}, closed_as = 'ACCEPTED'
       where id = any(${ids}) and closed_at is null
      returning id, user_id
    ), ${unblocking('accepted')}
    select id::text as id from accepted`,
});

const findUsers = statement({
  name: 'ops-reconcile-users',
  parameters: { ids: 'bigint[]' },
  text: ({ ids }) => sql<{ userId: number }>`
    select distinct user_id as "userId" from reconciliation_differences where id = any(${ids})`,
});

/**
 * Closes open differences for good: they block no orders any more.
 * @param transaction in which they are closed.
 * @returns the ids of those that were open.
 */
export async function acceptDifferences(
  { db, clock }: Pick<LocalContext, 'db' | 'clock'>,
  ids: readonly string[],
): Promise<string[]> {
  const users = await db.query(findUsers, { ids });
  await lockAccounts(
    { db },
    users.map(({ userId }) => userId),
  );
  const rows = await db.query(accept, { ids, now: clock.now() });
  return rows.map(({ id }) => id);
}
