/**
 * Removes aged rows. Each SQL statement takes a bounded number of rows, skips rows that another
 * process has locked, and is repeated while there may be more. Most statements pass the rows as an
 * array: for a join, the planner does not know how few rows the limit returns, and would read the
 * whole table.
 */
import type { LocalContext } from '../context/context.ts';
import { isOneOf, sql, statement } from '../db/statement.ts';
import { settledStatuses } from '../settlement/event-repository.ts';

interface Deletion {
  readonly name: string;
  readonly table: string;
  /** The columns of the primary key; `id` by default. */
  readonly key?: string;
  /** An SQL condition. */
  readonly where: (before: string) => string;
  readonly oldestBy: string;
}

/** What has aged by `before`, and the most rows of one run. */
const parameters = { before: 'timestamptz', limit: 'int' } as const;

interface ClearedRow {
  readonly rows: number;
}

/** A statement that deletes the oldest rows of a table. */
function deletingOldest({ name, table, key = 'id', where, oldestBy }: Deletion) {
  const isOneOfSeveral = key.includes(',');
  const [start, end] = isOneOfSeveral ? [`(${key}) in (`, ')'] : [`${key} = any(array(`, '))'];
  return statement({
    name,
    parameters,
    text: ({ before, limit }) => sql<ClearedRow>`
    with deleted as (
      delete from ${table}
       where ${start}
         select ${key} from ${table}
          where ${where(before)}
          order by ${oldestBy} limit ${limit} for update skip locked${end}
      returning 1
    )
    select count(*)::int as rows from deleted`,
  });
}

/** Exported for the tests of the simulation. */
export const retentionStatements = {
  /** Ends sessions whose provider token has expired, and destroys it. */
  sessions: statement({
    name: 'retention-sessions',
    parameters,
    text: ({ before, limit }) => sql<ClearedRow>`
      with expired as (
        update banking_sessions set status = 'EXPIRED', sealed_token = null, ended_at = ${before}
         where id = any(array(
           select id from banking_sessions
            where status = 'ACTIVE' and token_expires_at <= ${before}
            order by token_expires_at limit ${limit} for update skip locked))
        returning 1
      )
      select count(*)::int as rows from expired`,
  }),
  /** Deletes counters of windows that have ended. */
  throttle: deletingOldest({
    name: 'retention-throttle',
    table: 'throttle_counters',
    key: 'key',
    where: (before) => `expires_at <= ${before}`,
    oldestBy: 'expires_at',
  }),
  /** Deletes security events. */
  securityEvents: deletingOldest({
    name: 'retention-security-events',
    table: 'security_events',
    where: (before) => `at < ${before}`,
    oldestBy: 'at',
  }),
  /** Deletes addresses that users have not logged in from lately. */
  addresses: deletingOldest({
    name: 'retention-addresses',
    table: 'login_addresses',
    key: 'user_id, address_digest',
    where: (before) => `last_login_at <= ${before}`,
    oldestBy: 'last_login_at',
  }),
  /**
   * Empties events of their payload; the hash stays, so that a duplicate is known for ever. An
   * event that is not settled, an anomaly and an orphan keep their payload, however old: operators
   * need it as evidence, and `ponte webhook replay` settles them from it.
   */
  payloads: statement({
    name: 'retention-payloads',
    parameters,
    text: ({ before, limit }) => sql<ClearedRow>`
      with purged as (
        update webhook_events set payload = null
         where id = any(array(
           select id from webhook_events
            where payload is not null and received_at < ${before}
              and ${isOneOf('status', settledStatuses)}
            order by received_at limit ${limit} for update skip locked))
        returning id
      ), forgotten as (
        delete from webhook_waits where event_id = any(array(select id from purged))
      )
      select count(*)::int as rows from purged`,
  }),
  /** Deletes counts of refused webhooks. */
  webhookRefusals: deletingOldest({
    name: 'retention-webhook-refusals',
    table: 'webhook_refusals',
    key: 'minute, reason',
    where: (before) => `minute < ${before}`,
    oldestBy: 'minute',
  }),
  /** Deletes what says that a day was reconciled, or could not be. */
  reconciliations: deletingOldest({
    name: 'retention-reconciliations',
    table: 'reconciliations',
    key: 'day, user_id',
    where: (before) => `day < ${before}::date`,
    oldestBy: 'day',
  }),
  /** Deletes differences that are closed. */
  differences: deletingOldest({
    name: 'retention-differences',
    table: 'reconciliation_differences',
    where: (before) => `closed_at < ${before}`,
    oldestBy: 'closed_at',
  }),
  /** Removes what customers have written about disputes that have ended. */
  disputeDetails: statement({
    name: 'retention-dispute-details',
    parameters,
    text: ({ before, limit }) => sql<ClearedRow>`
      with cleared as (
        update pix_disputes set details = null
         where transaction_id = any(array(
           select transaction_id from pix_disputes
            where details is not null and ended_at < ${before}
            order by ended_at limit ${limit} for update skip locked))
        returning 1
      )
      select count(*)::int as rows from cleared`,
  }),
  /** Deletes jobs that are done; dead ones stay. */
  doneJobs: deletingOldest({
    name: 'retention-jobs',
    table: 'jobs',
    where: (before) => `status = 'done' and finished_at < ${before}`,
    oldestBy: 'finished_at',
  }),
  /** Deletes app events that were delivered. */
  appEvents: deletingOldest({
    name: 'retention-app-events',
    table: 'app_events',
    where: (before) => `delivered_at < ${before}`,
    oldestBy: 'delivered_at',
  }),
  /** Deletes documents whose upload broke off, and their chunks. */
  unfinishedUploads: deletingOldest({
    name: 'retention-uploads',
    table: 'onboarding_documents',
    where: (before) => `status = 'receiving' and created_at < ${before}`,
    oldestBy: 'created_at',
  }),
  /**
   * Deletes applications that are not approved and have not changed lately, with their documents.
   * Their users are deleted, too, unless they have a banking session, open or ended (they have
   * logged in), an account or a transaction. A concurrent login makes the statement fail, and the
   * job repeats it.
   */
  applications: statement({
    name: 'retention-applications',
    parameters,
    text: ({ before, limit }) => sql<ClearedRow>`
      with expired as (
        select id, user_id from onboarding_applications
         where status <> 'APPROVED' and updated_at < ${before}
         order by updated_at limit ${limit} for update skip locked
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
  }),
  /** Deletes the documents of decided applications; the decision ends the step `kyc`. */
  decidedDocuments: statement({
    name: 'retention-documents',
    parameters,
    text: ({ before, limit }) => sql<ClearedRow>`
      with deleted as (
        delete from onboarding_documents
         where id = any(array(
           select d.id from onboarding_documents d
             join onboarding_applications a on a.id = d.application_id
            where a.status in ('APPROVED', 'REJECTED')
              and coalesce(
                    (select (step ->> 'updatedAt')::timestamptz
                       from jsonb_array_elements(a.steps) as step where step ->> 'name' = 'kyc'),
                    a.updated_at) < ${before}
            limit ${limit} for update of d skip locked))
        returning 1
      )
      select count(*)::int as rows from deleted`,
  }),
};

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
    const [taken] = await db.query(retentionStatements[of], { before, limit: batch });
    total += taken?.rows ?? 0;
    if ((taken?.rows ?? 0) < batch) break;
  }
  return total;
}
