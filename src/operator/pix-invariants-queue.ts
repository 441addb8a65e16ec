/** What has to hold of events and jobs, so that whatever the provider has told is settled. */
import type { Statement } from '../db/database.ts';
import type { Invariant } from './pix-invariants.ts';

/**
 * A job that will settle an event: it waits for its time, or it runs. Its key tells the event; what
 * an older version has queued has none.
 */
const openJob = `
  (exists (select from jobs j
            where j.unique_key = 'webhook:' || e.id and j.status in ('queued', 'running'))
   or exists (select from jobs j
               where j.unique_key is null and j.kind = 'settle-webhook'
                 and j.status in ('queued', 'running') and j.payload->>'eventId' = e.id::text))`;

/** Twice as long as the job loops may take. */
const takenUpWithinMs = 2 * 60_000;

const about = (name: string, text: string): Statement => ({ name: `audit-${name}`, text });

/** The rules about the events that wait. */
export const eventInvariants: readonly Invariant[] = [
  {
    name: 'received_is_settled',
    says: 'An event that was acknowledged has a job that settles it',
    statement: about(
      'received-is-settled',
      `select e.id, 'received ' || to_char(e.received_at at time zone 'UTC',
                                           'YYYY-MM-DD"T"HH24:MI:SS"Z"') as found
         from webhook_events e
        where e.id = any($1::uuid[]) and e.status = 'received' and not ${openJob}
        order by e.id`,
    ),
  },
  {
    name: 'parked_is_looked_at',
    says: 'An event that waits for a transaction has a job that looks at it again',
    statement: about(
      'parked-is-looked-at',
      `select e.id, e.status || ' since ' || to_char(e.received_at at time zone 'UTC',
                                                     'YYYY-MM-DD"T"HH24:MI:SS"Z"') as found
         from webhook_events e
        where e.id = any($1::uuid[]) and not ${openJob}
          and (e.status = 'parked'
               or (e.status = 'anomaly'
                   and exists (select from webhook_waits w where w.event_id = e.id)))
        order by e.id`,
    ),
  },
  {
    name: 'waiting_is_kept',
    says: 'An event that waits keeps its payload',
    statement: about(
      'waiting-is-kept',
      `select e.id, e.status || ' without a payload' as found
         from webhook_events e
        where e.id = any($1::uuid[]) and e.payload is null
          and (e.status in ('received', 'parked')
               or (e.status = 'anomaly'
                   and exists (select from webhook_waits w where w.event_id = e.id)))
        order by e.id`,
    ),
  },
];

/** The rules about the jobs that run. */
export const jobInvariants: readonly Invariant[] = [
  {
    name: 'leases_held',
    says: "A dead process's job is taken up within two minutes",
    statement: about(
      'leases-held',
      `select j.id, j.kind || ' leased until ' || to_char(j.leased_until at time zone 'UTC',
                                                       'YYYY-MM-DD"T"HH24:MI:SS"Z"') as found
         from jobs j
        where j.id = any($1::bigint[]) and j.status = 'running'
          and j.leased_until < $2
        order by j.id`,
    ),
    further: (auditedAt) => [new Date(auditedAt.getTime() - takenUpWithinMs)],
  },
];
