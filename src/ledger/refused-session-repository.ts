/**
 * Orders whose every attempt the bank has answered by 401, which refuses the banking session and
 * proves nothing: a proxy may have repeated an executed request. Where the bank recognises a
 * repeat, the same key takes such an order from UNKNOWN to PAYING again, with the same ids, until
 * ten minutes after its first attempt. The statements are SQL: each decides under the lock of the
 * row.
 */
import type { LocalContext } from '../context/context.ts';
import { sql, statement } from '../db/statement.ts';
import { repeatNotes } from '../domain/pix.ts';
import { countRefusedSessions, isUnopposed } from './attempt-repository.ts';
import { mayBePaid } from './block.ts';
import { claimUntil, type PixTransaction } from './pix-transaction-repository.ts';

/** How long after its first attempt an order may be resumed. */
const resumableFor = `interval '10 minutes'`;

/** The attempts of an order, as its timeline has them. */
const attempts = (id: string): string => `
    (select min(at) filter (where phase = 'PAYING') as first_at,
            count(*) filter (where phase = 'PAYING') as made,
            ${countRefusedSessions('said')} as refused
       from pix_timeline said where transaction_id = ${id}) as attempts`;

const allow = statement({
  name: 'pix-allow-resume',
  parameters: { id: 'uuid' },
  text: ({ id }) => sql`
    update pix_transactions t set resumable_until = attempts.first_at + ${resumableFor}
      from ${attempts(id)}
     where t.id = ${id} and t.settled_at is null and t.phase = 'UNKNOWN'
       and t.resumable_until is null and attempts.made = attempts.refused`,
});

/**
 * Lets the same key resume an order, if the bank has answered its every attempt by 401, and the
 * customer has not given it up.
 */
export async function allowResume({ db }: Pick<LocalContext, 'db'>, id: string): Promise<void> {
  await db.query(allow, { id });
}

const resume = statement({
  name: 'pix-resume-refused',
  parameters: { id: 'uuid', claimedUntil: 'timestamptz', now: 'timestamptz' },
  text: ({ id, claimedUntil, now }) => sql<{ attempts: number }>`
    with resumed as (
      update pix_transactions t
         set phase = 'PAYING', claimed_until = ${claimedUntil}, updated_at = ${now},
             resumable_until = null
        from ${attempts(id)}
       where t.id = ${id} and t.settled_at is null and t.phase = 'UNKNOWN'
         and t.resumable_until > ${now} and ${mayBePaid} and ${isUnopposed('t')}
      returning t.id, attempts.made
    ), noted as (
      insert into pix_timeline (transaction_id, phase, at, attempt, note)
      select id, 'PAYING', ${now}, made::int + 1, '${repeatNotes.afterLogin}' from resumed
    )
    select made::int as attempts from resumed`,
});

/** An order that this process pays again. */
export interface ResumedOrder {
  readonly claimedUntil: Date;
  /** How many attempts were made before. */
  readonly attemptsBefore: number;
}

/**
 * Takes an order from UNKNOWN to PAYING under a claim of this process.
 * @returns null when it may not be resumed any more, or another process has resumed it.
 */
export async function resumeRefused(
  context: LocalContext,
  { id }: Pick<PixTransaction, 'id'>,
): Promise<ResumedOrder | null> {
  const claimedUntil = claimUntil(context);
  const [row] = await context.db.query(resume, { id, claimedUntil, now: context.clock.now() });
  return row ? { claimedUntil, attemptsBefore: row.attempts } : null;
}

const forbid = statement({
  name: 'pix-forbid-resume',
  parameters: { id: 'uuid' },
  text: ({ id }) => sql`
    update pix_transactions set resumable_until = '1970-01-01Z'
     where id = ${id} and settled_at is null`,
});

/**
 * Lets no request resume an order: the customer has given it up, perhaps before it is stored that
 * the bank has refused its session.
 */
export async function forbidResume({ db }: Pick<LocalContext, 'db'>, id: string): Promise<void> {
  await db.query(forbid, { id });
}

/** @public For the tests of plans and of the simulation. */
export const refusedSessionStatements = { allow, resume, forbid };
