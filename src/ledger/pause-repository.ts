/** Pauses of all sends, and the losses of commits that they record. */
import type { LocalContext } from '../context/context.ts';
import { sql, statement } from '../db/statement.ts';
import { tryInTransaction } from '../db/unit-of-work.ts';

type Store = Pick<LocalContext, 'db' | 'clock'>;

/**
 * Begins a pause, or widens the open one: then its loss begins at the earlier time. Nothing happens
 * if the time of the missing row is in a loss that is recorded.
 */
const begin = statement({
  name: 'pix-pause-begin',
  parameters: {
    now: 'timestamptz',
    by: 'text',
    reason: 'text',
    lostSince: 'timestamptz null',
    missingSince: 'timestamptz null',
  },
  text: ({ now, by, reason, lostSince, missingSince }) => sql<{ result: 'begun' | 'widened' }>`
    with widened as (
      update pix_pauses set lost_since = ${lostSince}
       where ended_at is null
         and (lost_since > ${lostSince} or (lost_since is null and ${lostSince} is not null))
      returning id
    ), begun as (
      insert into pix_pauses (began_at, began_by, reason, lost_since)
      select ${now}, ${by}, ${reason}, ${lostSince}
       where not exists (select from pix_pauses where ended_at is null)
         and not exists (select from pix_pauses
                          where lost_since <= ${missingSince} and ended_at >= ${missingSince})
          on conflict do nothing
      returning id
    )
    select 'begun' as result from begun union all select 'widened' from widened`,
});

export interface NewPause {
  /** An operator, or `ponte`. */
  readonly by: string;
  readonly reason: string;
  /** Since when commits may be lost; null: none are. */
  readonly lostSince: Date | null;
  /** When the row was committed that is missing now, if a process has noticed one. */
  readonly missingSince?: Date | null;
}

/**
 * A run that waits for another pause, or for the end of one, does not see what that has stored: the
 * next run does.
 */
const maxRuns = 3;

/** @returns null when nothing has changed: the pause, or the loss, is recorded. */
export async function beginPause(
  { db, clock }: Store,
  { missingSince = null, ...pause }: NewPause,
): Promise<'begun' | 'widened' | null> {
  for (let run = 0; run < maxRuns; run += 1) {
    const [row] = await db.query(begin, { ...pause, now: clock.now(), missingSince });
    if (row) return row.result;
  }
  return null;
}

/** Conflicts with the lock of every statement that claims an order, and with no read. */
const lockClaims = statement({
  name: 'pix-await-claims',
  parameters: {},
  text: () => sql`lock table pix_transactions in share mode`,
});

/**
 * Waits until the claims of orders that have begun have ended, at most for the time-out of locks:
 * one may have waited for the lock of a row, and not have seen a pause that was committed since.
 * @returns false when one may still run.
 */
export function awaitClaims(context: Pick<LocalContext, 'db'>): Promise<boolean> {
  return tryInTransaction(context, ({ db }) => db.query(lockClaims, {}));
}

/** A pause that has not ended. */
export interface OpenPause {
  readonly id: number;
  readonly beganAt: Date;
  readonly beganBy: string;
  readonly reason: string;
  /** Since when commits may be lost; null: none are. */
  readonly lostSince: Date | null;
}

const findOpen = statement({
  name: 'pix-pause-find',
  parameters: {},
  text: () => sql<OpenPause>`
    select id, began_at as "beganAt", began_by as "beganBy", reason, lost_since as "lostSince"
      from pix_pauses where ended_at is null`,
});

/** @returns the open pause, or null. */
export async function findPause({ db }: Pick<LocalContext, 'db'>): Promise<OpenPause | null> {
  const [pause] = await db.query(findOpen, {});
  return pause ?? null;
}

const end = statement({
  name: 'pix-pause-end',
  parameters: { id: 'int', lostSince: 'timestamptz null', now: 'timestamptz', by: 'text' },
  text: ({ id, lostSince, now, by }) => sql`
    update pix_pauses set ended_at = ${now}, ended_by = ${by}
     where id = ${id} and ended_at is null and lost_since is not distinct from ${lostSince}
    returning id`,
});

/** @returns whether the pause was open, with the loss of commits that was read. */
export async function endPause(
  { db, clock }: Store,
  { id, lostSince }: Pick<OpenPause, 'id' | 'lostSince'>,
  by: string,
): Promise<boolean> {
  return (await db.query(end, { id, lostSince, now: clock.now(), by })).length > 0;
}

/** The reading of a statement that a user owes. */
export interface OwedReading {
  /** The last loss that it is for. */
  readonly pauseId: number;
  /** The commits between these times may be lost. */
  readonly since: Date;
  readonly until: Date;
}

const findOwed = statement({
  name: 'pix-statement-owed',
  parameters: { userId: 'int' },
  text: ({ userId }) => sql<OwedReading | { readonly pauseId: null }>`
    select max(loss.id) as "pauseId", min(lost_since) as since, max(ended_at) as until
      from accounts a join pix_pauses loss on loss.id > a.loss_read
     where a.user_id = ${userId} and lost_since is not null and ended_at is not null`,
});

/** @returns null when the user's statement was read since the last loss, or there was none. */
export async function findOwedReading(
  { db }: Pick<LocalContext, 'db'>,
  userId: number,
): Promise<OwedReading | null> {
  const [row] = await db.query(findOwed, { userId });
  return row && row.pauseId !== null ? row : null;
}

const store = statement({
  name: 'pix-statement-read',
  parameters: { userId: 'int', pauseId: 'int' },
  text: ({ userId, pauseId }) => sql`
    update accounts set loss_read = ${pauseId}
     where user_id = ${userId} and loss_read < ${pauseId}`,
});

/** Stores that a user's statement was read whole since a loss: the user may send again. */
export async function storeReading(
  { db }: Pick<LocalContext, 'db'>,
  userId: number,
  { pauseId }: Pick<OwedReading, 'pauseId'>,
): Promise<void> {
  await db.query(store, { userId, pauseId });
}

/** @public For the tests of plans and of the simulation. */
export const pauseStatements = { begin, findOpen, end, findOwed, store };
