/**
 * What is taken out of the tables with age. Each statement takes a bounded number of rows, passes
 * over what somebody else has in hand, and answers how many it took: it is run again while there
 * may be more. The rows are named by an array, because the server cannot know how few of them a
 * limit leaves, and would read the whole table for a join.
 */
import type { Statement } from '../database.ts';

/** Ends sessions whose provider token has expired, and destroys it. Parameters: now, limit. */
export const expireSessions: Statement = {
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
};

/** Deletes counters of attempts. Parameters: the start of the youngest window to go, limit. */
export const purgeThrottle: Statement = {
  name: 'retention-throttle',
  text: `
    with purged as (
      delete from throttle_counters
       where key = any(array(
         select key from throttle_counters
          where window_started_at <= $1
          order by window_started_at limit $2 for update skip locked))
      returning 1
    )
    select count(*)::int as rows from purged`,
};

/**
 * Empties events of their payload; the hash stays, so that a duplicate is known for ever. An event
 * that is not settled, an anomaly and an orphan keep their payload, however old: operators
 * need it as evidence, and `ponte webhook replay` settles them from it.
 * Parameters: received before, limit.
 */
export const purgePayloads: Statement = {
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
};

/** Deletes jobs that are done; dead ones stay. Parameters: finished before, limit. */
export const deleteDoneJobs: Statement = {
  name: 'retention-jobs',
  text: `
    with deleted as (
      delete from jobs
       where id = any(array(
         select id from jobs
          where status = 'done' and finished_at < $1
          order by finished_at limit $2 for update skip locked))
      returning 1
    )
    select count(*)::int as rows from deleted`,
};

/** Deletes documents whose upload broke off, and their chunks. Parameters: begun before, limit. */
export const deleteUnfinishedUploads: Statement = {
  name: 'retention-uploads',
  text: `
    with deleted as (
      delete from onboarding_documents
       where id = any(array(
         select id from onboarding_documents
          where status = 'receiving' and created_at < $1
          order by created_at limit $2 for update skip locked))
      returning 1
    )
    select count(*)::int as rows from deleted`,
};
