/** What can be let go at once when this process is known to be the only one. */
import type { LocalContext } from '../context.ts';
import type { Statement } from '../db/database.ts';
import { isUnderWay } from '../db/queries/pix-transactions.ts';

const releaseClaims: Statement = {
  name: 'after-crash-claims',
  text: `
    update pix_transactions t set claimed_until = null
     where ${isUnderWay('t')} and claimed_until is not null`,
};

const releaseJobs: Statement = {
  name: 'after-crash-jobs',
  text: `
    update jobs set status = 'queued', leased_by = null, leased_until = null
     where status = 'running'`,
};

/**
 * Releases the claims and leases of the process that had this database before. The embedded
 * database serves one process at a time, so whoever held them is dead; on a server they run out by
 * themselves, because another instance may hold them.
 */
export async function releaseAfterCrash(context: LocalContext): Promise<void> {
  if (context.db.kind !== 'embedded') return;
  await context.db.query(releaseClaims, []);
  await context.db.query(releaseJobs, []);
}
