/**
 * The bucket of look-ups of each user, in the table of the throttles: `expires_at` is the time at
 * which the directory has given all of them back (the generic cell rate algorithm). A look-up moves
 * it by thirty seconds. The statements are SQL: a send takes one beside the read of its key.
 */
import type { LocalContext } from '../context/context.ts';
import { sql, statement } from '../db/statement.ts';
import type { VerifiedToken } from '../process/access-tokens.ts';
import { isActiveSession } from './session-repository.ts';

/** The directory gives two look-ups a minute back. */
const perLookUp = "interval '30 seconds'";
const perLookUpMs = 30_000;

/** How many look-ups there are, and how many look-ups of keys leave for known payees. */
const allLookUps = 100;
const keptLookUps = 10;

/** @returns the key of a user's bucket, an SQL expression. */
const bucketKey = (userId: string): string => `'pix-look-ups:' || ${userId}`;

const emptied = (now: string): string =>
  `case when c.expires_at > ${now} then c.expires_at else ${now} end`;

/**
 * The common table expressions that give look-ups back: a data-modifying one, which needs no
 * reader.
 * @param moved a table expression with `user_id` and `look_ups`.
 */
export function returningLookUps(moved: string): string {
  return `returned as (
      select ${bucketKey('user_id')} as key, sum(look_ups)::int as look_ups
        from ${moved} where look_ups > 0 group by user_id
    ), bucket as (
      select c.key, returned.look_ups from throttle_counters c join returned on returned.key = c.key
       order by c.key for update of c
    ), credited as (
      update throttle_counters c set expires_at = c.expires_at - ${perLookUp} * bucket.look_ups
        from bucket where c.key = bucket.key
    )`;
}

const take = statement({
  name: 'pix-look-up-take',
  parameters: { userId: 'int', now: 'timestamptz', latest: 'timestamptz' },
  text: ({ userId, now, latest }) => sql<BucketRow>`
    with taken as (
      insert into throttle_counters as c (key, window_started_at, attempts, expires_at)
      values (${bucketKey(`${userId}::text`)}, ${now}, 1, ${now} + ${perLookUp})
          on conflict (key) do update
         set expires_at = ${emptied(now)} + ${perLookUp}
       where c.expires_at <= ${latest}
      returning key
    )
    select exists (select from taken) as "isTaken",
           (select expires_at from throttle_counters
             where key = ${bucketKey(`${userId}::text`)}) as "endsAt"`,
});

interface BucketRow {
  readonly isTaken: boolean;
  /** As it was before; null: the bucket was full. */
  readonly endsAt: Date | null;
}

/** `waitMs`: how long a caller has to wait for a look-up; 0: it is taken. */
interface Taken {
  readonly waitMs: number;
}

/** The latest end of a bucket from which a look-up may be taken. */
function latestEnd(now: Date): Date {
  return new Date(now.getTime() + (allLookUps - keptLookUps - 1) * perLookUpMs);
}

function toTaken(row: BucketRow | undefined, now: Date): Taken {
  if (!row || row.isTaken || row.endsAt === null) return { waitMs: 0 };
  return { waitMs: Math.max(1, row.endsAt.getTime() - latestEnd(now).getTime()) };
}

/** Takes a look-up of a key or of a code, unless ten are left. */
export async function takeLookUp(
  { db, clock }: Pick<LocalContext, 'db' | 'clock'>,
  userId: number,
): Promise<Taken> {
  const now = clock.now();
  const [row] = await db.query(take, { userId, now, latest: latestEnd(now) });
  return toTaken(row, now);
}

const takeMore = statement({
  name: 'pix-look-up-take-more',
  parameters: { userId: 'int', now: 'timestamptz', more: 'int' },
  text: ({ userId, now, more }) => sql`
    insert into throttle_counters as c (key, window_started_at, attempts, expires_at)
    values (${bucketKey(`${userId}::text`)}, ${now}, 1, ${now} + ${perLookUp} * ${more})
        on conflict (key) do update
       set expires_at = ${emptied(now)} + ${perLookUp} * ${more}`,
});

/**
 * Takes what a missing key costs beside its look-up. A bucket may owe: look-ups that run at once
 * are all taken before the first is known to miss, and would otherwise miss at a price of one.
 */
export async function takeMissing(
  { db, clock }: Pick<LocalContext, 'db' | 'clock'>,
  userId: number,
  more: number,
): Promise<void> {
  await db.query(takeMore, { userId, now: clock.now(), more });
}

const takeForSend = statement({
  name: 'pix-look-up-take-for-send',
  parameters: {
    sessionId: 'uuid',
    userId: 'int',
    now: 'timestamptz',
    latest: 'timestamptz',
    idempotencyKey: 'text',
    pixKey: 'text',
  },
  text: ({ sessionId, userId, now, latest, idempotencyKey, pixKey }) => sql<
    BucketRow & { readonly isKnown: boolean }
  >`
    with send as (
      select exists (select from pix_transactions
                      where user_id = ${userId} and operation = 'SEND'
                        and idempotency_key = ${idempotencyKey}) as has_order
       where exists (select from banking_sessions s
                      where s.id = ${sessionId} and s.user_id = ${userId}
                        and ${isActiveSession('s', now)})
    ), payee as (
      select exists (select from pix_transactions
                      where user_id = ${userId} and operation = 'SEND' and pix_key = ${pixKey}
                        and outcome = 'accepted' and status <> 'FAILED') as is_known
        from send where not has_order
    ), taken as (
      insert into throttle_counters as c (key, window_started_at, attempts, expires_at)
      select ${bucketKey(`${userId}::text`)}, ${now}, 1, ${now} + ${perLookUp}
        from payee where not is_known
          on conflict (key) do update
         set expires_at = ${emptied(now)} + ${perLookUp}
       where c.expires_at <= ${latest}
      returning key
    )
    select exists (select from taken) as "isTaken", payee.is_known as "isKnown",
           (select expires_at from throttle_counters
             where key = ${bucketKey(`${userId}::text`)}) as "endsAt"
      from payee`,
});

/** A send whose look-up is to be taken. */
export interface LookedUpSend {
  readonly idempotencyKey: string;
  readonly pixKey: string;
}

/**
 * Takes the look-up of a send, unless an order has its key, the session has ended, or the user has
 * paid the key before.
 * @returns `waitMs` greater than 0: ten are left.
 */
export async function takeLookUpOfSend(
  { db, clock }: Pick<LocalContext, 'db' | 'clock'>,
  { sessionId, userId }: VerifiedToken,
  { idempotencyKey, pixKey }: LookedUpSend,
): Promise<Taken & { readonly isTaken: boolean; readonly isKnown: boolean }> {
  const now = clock.now();
  const latest = latestEnd(now);
  const parameters = { sessionId, userId, now, latest, idempotencyKey, pixKey };
  const [row] = await db.query(takeForSend, parameters);
  if (!row) return { isTaken: false, isKnown: false, waitMs: 0 };
  const { isTaken, isKnown } = row;
  return { isTaken, isKnown, ...(isKnown ? { waitMs: 0 } : toTaken(row, now)) };
}

const giveBack = statement({
  name: 'pix-look-up-give-back',
  parameters: { userId: 'int' },
  text: ({ userId }) => sql`
    update throttle_counters set expires_at = expires_at - ${perLookUp}
     where key = ${bucketKey(`${userId}::text`)}`,
});

/** Gives a look-up back that was taken for a send which was not claimed. */
export async function giveLookUpBack(
  { db }: Pick<LocalContext, 'db'>,
  userId: number,
): Promise<void> {
  await db.query(giveBack, { userId });
}
