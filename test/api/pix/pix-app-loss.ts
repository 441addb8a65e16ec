/** Commits that a test loses, and the procedure of an operator afterwards. */
import { pausePix, resumePix } from '../../../src/operator/pix-pause.ts';
import { maxCallMs } from '../../../src/domain/call-duration.ts';
import type { LocalContext } from '../../../src/context/context.ts';
import { blockByLine } from '../../../src/ledger/lost-send-repository.ts';
import { unwatched } from '../operator/asking.ts';
import type { PixApp } from './pix-app.ts';

const minuteMs = 60_000;

/** Removes a transaction, as a restore does that goes back to the time before it. */
export async function forget(app: PixApp, id: string): Promise<void> {
  await app.ownerRows(`
    do $$ begin
      perform set_config('session_replication_role', 'replica', true);
      delete from pix_timeline where transaction_id = '${id}';
      delete from pix_transactions where id = '${id}';
    end $$`);
}

/** Takes a send back to the time before it was PAYING. */
export async function forgetPaying(app: PixApp, id: string): Promise<void> {
  await app.ownerRows(`
    do $$ begin
      perform set_config('session_replication_role', 'replica', true);
      delete from pix_timeline where transaction_id = '${id}' and phase <> 'RESERVED';
      update pix_transactions
         set phase = 'RESERVED', status = 'PROCESSING', outcome = null, end_to_end = null,
             provider_txid = null, settled_at = null, payee = null, claimed_until = null
       where id = '${id}';
    end $$`);
}

/** Pauses and resumes sends after a loss, as the handbook says. */
export async function recordLoss(app: PixApp, since?: Date): Promise<void> {
  const from = since ?? new Date(app.clock.now().getTime() - minuteMs);
  await pausePix.run(app.context, { reason: 'restore', since: from.toISOString() }, unwatched);
  await resume(app);
}

/** Resumes sends once the payments from before the pause have ended. */
export async function resume(app: PixApp): Promise<void> {
  await app.clock.advance(maxCallMs(app.context.config.provider));
  await resumePix.run(app.context, { reason: 'restored' }, unwatched);
}

/**
 * Stores a line of a statement that no order accounts for.
 * @param amountCents in centavos.
 */
export async function blockByPayment(
  context: LocalContext,
  { userId, endToEnd, amountCents = 1_250 }: BlockingPayment,
): Promise<void> {
  const now = context.clock.now();
  const day = now.toISOString().slice(0, 10);
  const line = { userId, subject: endToEnd, endToEnd, amountCents, day, readingSince: now };
  await blockByLine(context, { ...line, blocks: 'SEND' });
}

interface BlockingPayment {
  readonly userId: number;
  readonly endToEnd: string;
  readonly amountCents?: number;
}
