/**
 * Removes aged rows. Each SQL statement takes a bounded number of rows, skips rows that another
 * process has locked, and is repeated while there may be more. Most statements pass the rows as an
 * array: for a join, the planner does not know how few rows the limit returns, and would read the
 * whole table.
 */
import type { LocalContext } from '../context/context.ts';
import type { Statement } from '../db/database.ts';

interface Deletion {
  readonly name: string;
  readonly table: string;
  /** The primary key; `id` by default. */
  readonly key?: string;
  /** An SQL condition on `$1`. */
  readonly where: string;
  readonly oldestBy: string;
}

/** A statement that deletes the oldest rows of a table. Its second parameter is the limit. */
function deletingOldest({ name, table, key = 'id', where, oldestBy }: Deletion): Statement {
  return {
    name,
    text: `
    with deleted as (
      delete from ${table}
       where ${key} = any(array(
         select ${key} from ${table}
          where ${where}
          order by ${oldestBy} limit $2 for update skip locked))
      returning 1
    )
    select count(*)::int as rows from deleted`,
  };
}

/** Their parameters are a point in time and a limit. Exported for the tests of the simulation. */
export const retentionStatements = {
  /** Ends sessions whose provider token has expired, and destroys it. */
  sessions: {
    name: 'retention-sessions',
    text: `
      with expired as (
        update banking_sessions set status = 'EXPIRED', sealed_token = null, ended_at = $1
         where id = any(array(
           select id from banking_sessions
            where status = 'ACTIVE' and token_expires_at <= $1
            order by token_expires_at limit $2 for update skip locked))
        returning 1
      )
      select count(*)::int as rows from expired`,
  },
  /** Deletes counters of windows that have ended. */
  throttle: deletingOldest({
    name: 'retention-throttle',
    table: 'throttle_counters',
    key: 'key',
    where: 'expires_at <= $1',
    oldestBy: 'expires_at',
  }),
  /** Deletes security events. */
  securityEvents: deletingOldest({
    name: 'retention-security-events',
    table: 'security_events',
    where: 'at < $1',
    oldestBy: 'at',
  }),
  /** Deletes addresses that users have not logged in from lately. */
  addresses: {
    name: 'retention-addresses',
    text: `
      with forgotten as (
        delete from login_addresses
         where (user_id, address_digest) in (
           select user_id, address_digest from login_addresses
            where last_login_at <= $1
            order by last_login_at limit $2 for update skip locked)
        returning 1
      )
      select count(*)::int as rows from forgotten`,
  },
  /**
   * Empties events of their payload; the hash stays, so that a duplicate is known for ever. An
   * event that is not settled, an anomaly and an orphan keep their payload, however old: operators
   * need it as evidence, and `ponte webhook replay` settles them from it.
   */
  payloads: {
    name: 'retention-payloads',
    text: `
      with purged as (
        update webhook_events set payload = null
         where id = any(array(
           select id from webhook_events
            where payload is not null and received_at < $1
              and status in ('processed', 'ignored')
            order by received_at limit $2 for update skip locked))
        returning id
      ), forgotten as (
        delete from webhook_waits where event_id = any(array(select id from purged))
      )
      select count(*)::int as rows from purged`,
  },
  /** Deletes counts of refused webhooks. */
  webhookRefusals: {
    name: 'retention-webhook-refusals',
    text: `
      with deleted as (
        delete from webhook_refusals
         where (minute, reason) in (
           select minute, reason from webhook_refusals
            where minute < $1
            order by minute limit $2 for update skip locked)
        returning 1
      )
      select count(*)::int as rows from deleted`,
  },
  /** Deletes what says that a day was reconciled, or could not be. */
  reconciliations: {
    name: 'retention-reconciliations',
    text: `
      with deleted as (
        delete from reconciliations
         where (day, user_id) in (
           select day, user_id from reconciliations
            where day < $1::timestamptz::date
            order by day limit $2 for update skip locked)
        returning 1
      )
      select count(*)::int as rows from deleted`,
  },
  /** Deletes differences that are closed. */
  differences: deletingOldest({
    name: 'retention-differences',
    table: 'reconciliation_differences',
    where: 'closed_at < $1',
    oldestBy: 'closed_at',
  }),
  /** Deletes jobs that are done; dead ones stay. */
  doneJobs: deletingOldest({
    name: 'retention-jobs',
    table: 'jobs',
    where: `status = 'done' and finished_at < $1`,
    oldestBy: 'finished_at',
  }),
  /** Deletes app events that were delivered. */
  appEvents: deletingOldest({
    name: 'retention-app-events',
    table: 'app_events',
    where: 'delivered_at < $1',
    oldestBy: 'delivered_at',
  }),
  /** Deletes documents whose upload broke off, and their chunks. */
  unfinishedUploads: deletingOldest({
    name: 'retention-uploads',
    table: 'onboarding_documents',
    where: `status = 'receiving' and created_at < $1`,
    oldestBy: 'created_at',
  }),
  /**
   * Deletes applications that are not approved and have not changed lately, with their documents.
   * Their users are deleted, too, unless they have a banking session, open or ended (they have
   * logged in), an account or a transaction. A concurrent login makes the statement fail, and the
   * job repeats it.
   */
  applications: {
    name: 'retention-applications',
    text: `
      with expired as (
        select id, user_id from onboarding_applications
         where status <> 'APPROVED' and updated_at < $1
         order by updated_at limit $2 for update skip locked
      ), documents as (
        delete from onboarding_documents
         where application_id = any(array(select id from expired))
      ), applications as (
        delete from onboarding_applications where id = any(array(select id from expired))
      ), strangers as (
        delete from users u
         where id = any(array(select user_id from expired))
           and not exists (select from banking_sessions where user_id = u.id)
           and not exists (select from accounts where user_id = u.id)
           and not exists (select from pix_transactions where user_id = u.id)
      )
      select count(*)::int as rows from expired`,
  },
  /** Deletes the documents of decided applications. */
  decidedDocuments: {
    name: 'retention-documents',
    text: `
      with deleted as (
        delete from onboarding_documents
         where id = any(array(
           select d.id from onboarding_documents d
             join onboarding_applications a on a.id = d.application_id
            where a.status in ('APPROVED', 'REJECTED') and a.updated_at < $1
            limit $2 for update of d skip locked))
        returning 1
      )
      select count(*)::int as rows from deleted`,
  },
} satisfies Record<string, Statement>;

export interface Clearing {
  /** The kind of rows to clear. */
  readonly of: keyof typeof retentionStatements;
  /** Clears rows that had aged, ended or expired at this time. */
  readonly before: Date;
  /** The most rows of one statement, so that it holds its locks only for a moment. */
  readonly batch: number;
}

/**
 * Clears aged rows until there are no more, or the service stops.
 * @returns the number of rows.
 */
export async function clearAged(
  { db, stopping }: Pick<LocalContext, 'db' | 'stopping'>,
  { of, before, batch }: Clearing,
): Promise<number> {
  let total = 0;
  while (!stopping.aborted) {
    const [taken] = await db.query<{ rows: number }>(retentionStatements[of], [before, batch]);
    total += taken?.rows ?? 0;
    if ((taken?.rows ?? 0) < batch) break;
  }
  return total;
}
