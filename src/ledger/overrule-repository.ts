/**
 * The overrule: a COMPLETED transaction that was not paid becomes FAILED, once, by the word of two
 * operators. Only the bank's word in an event or an answer ends a transaction for good.
 */
import type { LocalContext } from '../context/context.ts';
import { sql, statement } from '../db/statement.ts';
import { closedLineNote, overruled, refundedNote } from '../domain/pix.ts';
import { notifyingFinalStatus } from './move-repository.ts';

/**
 * Overrules a transaction, with its timeline rows; no row: it is not COMPLETED since `settledAt`,
 * it was overruled before, its payee has received it, or money of it came back.
 */
const overrule = statement({
  name: 'pix-overrule',
  parameters: {
    id: 'uuid',
    settledAt: 'timestamptz null',
    now: 'timestamptz',
    note: 'text',
    closesLine: 'boolean',
  },
  text: ({ id, settledAt, now, note, closesLine }) => sql`
    with overruled as (
      update pix_transactions t
         set status = 'FAILED', outcome = 'rejected', failure_code = '${overruled}',
             corrected_at = null, paid_again_by = null, overruled_at = ${now},
             settled_at = ${now}, updated_at = ${now}
       where t.id = ${id} and t.status = 'COMPLETED' and t.settled_at = ${settledAt}
         and t.overruled_at is null and t.reached_payee is not true
         and coalesce(t.refunded_amount, t.refunding_amount) is null
      returning t.id
    ), noted as (
      insert into pix_timeline (transaction_id, phase, at, note)
      select id, 'SEEN', ${now}, '${closedLineNote}' from overruled where ${closesLine}
       union all
      select id, 'SETTLED', ${now}, ${note} from overruled
    )
    select id, ${notifyingFinalStatus('overruled')} as notified from overruled`,
});

const lockEvents = statement({
  name: 'pix-overrule-lock-events',
  parameters: {},
  text: () => sql`lock table webhook_queue in share mode`,
});

/**
 * Lets no event be stored or settled until the commit of an overrule: one that was judged before
 * it, and settled after it, would not correct it. Call it before the transaction is locked, in
 * the order in which events are settled.
 */
export async function lockEventQueue({ db }: Pick<LocalContext, 'db'>): Promise<void> {
  await db.query(lockEvents, {});
}

/** The COMPLETED transaction to overrule. */
export interface Overruled {
  readonly id: string;
  /** When it became COMPLETED; another end since then is not overruled. */
  readonly settledAt: Date | null;
  /** For the timeline: who, and why. */
  readonly note: string;
  /** Whether its line in the statement was seen: it corrects nothing from now on. */
  readonly closesLine: boolean;
}

/** @returns whether it was overruled. */
export async function overruleTransaction(
  { db, clock }: Pick<LocalContext, 'db' | 'clock'>,
  { id, settledAt, note, closesLine }: Overruled,
): Promise<boolean> {
  const now = clock.now();
  return (await db.query(overrule, { id, settledAt, now, note, closesLine })).length > 0;
}

/**
 * An end as FAILED, and the note of a refund, do not say that the transaction was paid. Its other
 * side, which has its end-to-end id, is the same payment.
 */
const findBankWord = statement({
  name: 'pix-bank-word',
  parameters: { id: 'uuid' },
  text: ({ id }) => sql`
    select from pix_timeline
     where transaction_id in (
             select side.id from pix_transactions t
               join pix_transactions side on side.end_to_end = t.end_to_end
              where t.id = ${id}
              union all
             select ${id})
       and phase = 'SETTLED'
       and (event_id is not null and coalesce(note, '') <> 'FAILED'
              and coalesce(note, '') not like '${refundedNote} %'
            or event_id is null and note = 'COMPLETED')
     limit 1`,
});

/** Whether an event or an answer by which it was completed is in the timeline of either side. */
export async function isCompletedByBank(
  { db }: Pick<LocalContext, 'db'>,
  id: string,
): Promise<boolean> {
  return (await db.query(findBankWord, { id })).length > 0;
}

const findClosedLine = statement({
  name: 'pix-closed-line',
  parameters: { id: 'uuid' },
  text: ({ id }) => sql`
    select from pix_timeline
     where transaction_id = ${id} and phase = 'SEEN' and note = '${closedLineNote}' limit 1`,
});

/** Whether the operators who have overruled a transaction have seen its line in the statement. */
export async function hasClosedLine(
  { db }: Pick<LocalContext, 'db'>,
  id: string,
): Promise<boolean> {
  return (await db.query(findClosedLine, { id })).length > 0;
}

/** @public For the tests of plans and of the simulation. */
export const overruleStatements = { overrule, findBankWord, findClosedLine };
