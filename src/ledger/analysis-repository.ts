/**
 * Sends that the provider holds for analysis. The statement is SQL, because a send notes it beside
 * its other statements.
 */
import { offers } from '../config/config.ts';
import type { LocalContext } from '../context/context.ts';
import { isOneOf, sql, statement } from '../db/statement.ts';
import { phasesOpenToSettlement } from '../domain/pix.ts';

const note = statement({
  name: 'pix-note-analysis',
  parameters: { id: 'uuid', now: 'timestamptz' },
  text: ({ id, now }) => sql`
    update pix_transactions set held_at = ${now}
     where id = ${id} and operation = 'SEND' and settled_at is null and held_at is null
       and ${isOneOf('phase', phasesOpenToSettlement)}
    returning id`,
});

/**
 * Notes that the provider holds a send for analysis, where the provider offers to report it. The
 * phase stays as it is: only the end of the analysis moves the send.
 * @returns whether it is noted now: the send is open and was not held before.
 */
export async function noteAnalysis(
  context: Pick<LocalContext, 'db' | 'clock' | 'config'>,
  id: string,
): Promise<boolean> {
  if (!offers(context.config, 'analysis')) return false;
  return (await context.db.query(note, { id, now: context.clock.now() })).length > 0;
}
