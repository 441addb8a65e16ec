/**
 * When a statement has first shown the debit of an order: a bank may reverse the line of a rejected
 * payment some minutes after it has booked it. The statement is SQL, because the simulation runs
 * it.
 */
import type { LocalContext } from '../context/context.ts';
import { sql, statement } from '../db/statement.ts';
import { seenInStatementNote } from '../domain/pix.ts';

const note = statement({
  name: 'pix-note-sight',
  parameters: { id: 'uuid', readAt: 'timestamptz', isDryRun: 'boolean' },
  text: ({ id, readAt, isDryRun }) => sql<{ at: Date | null }>`
    with seen as (
      select min(at) as at from pix_timeline where transaction_id = ${id} and phase = 'SEEN'
    ), noted as (
      insert into pix_timeline (transaction_id, phase, at, note)
      select ${id}, 'SEEN', ${readAt}, '${seenInStatementNote}' from seen
       where seen.at is null and not ${isDryRun}
      returning id
    )
    select seen.at from seen left join noted on true`,
});

/**
 * Stores that a reading shows the debit of an order, if none has before; in a dry run, nothing.
 * @returns when the first of the earlier readings began that have shown it; null: this is the
 * first.
 */
export async function noteSight(
  { db }: Pick<LocalContext, 'db'>,
  id: string,
  { readAt, isDryRun = false }: { readonly readAt: Date; readonly isDryRun?: boolean },
): Promise<Date | null> {
  const [row] = await db.query(note, { id, readAt, isDryRun });
  return row?.at ?? null;
}

/** @public For the tests of plans and of the simulation. */
export const sightStatements = { note };
