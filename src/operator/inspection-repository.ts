/** The backlog and the server's settings, for metrics and for `doctor`. */
import { dayMs } from '../clock.ts';
import type { LocalContext } from '../context/context.ts';
import { isOneOf, sql, statement } from '../db/statement.ts';
import {
  isAbandoned,
  isUnsettled,
  openTransactions,
} from '../ledger/pix-transaction-repository.ts';
import { staleAfterMs } from '../domain/call-duration.ts';
import { orderTypes } from '../domain/pix.ts';
import { firstUuidAt } from '../domain/timed-uuid.ts';
import { eventsKind } from '../settlement/event-queue-repository.ts';
import { isBlockedAtStart, isPixPaused, isUnaccounted } from '../ledger/block.ts';
import { unreadReasons } from '../provider/webhook-events.ts';

/** The waiting work, and what needs an operator. */
export interface StoredBacklog {
  /** The open jobs by kind and state. */
  readonly queue: readonly {
    readonly kind: string;
    readonly state: 'due' | 'later' | 'running' | 'dead';
    readonly jobs: number;
    /** Those that fail again and again: see {@link failedOften}. */
    readonly failing: number;
  }[];
  readonly oldestDueAt: Date | null;
  readonly received: number;
  readonly parked: number;
  readonly orphaned: number;
  readonly anomaly: number;
  readonly unknown: number;
  /** The creation of the oldest send with an unknown outcome. */
  readonly oldestUnknownAt: Date | null;
  /** Sends that are accepted and not settled. */
  readonly accepted: number;
  /** The creation of the oldest send that is accepted and not settled. */
  readonly oldestAcceptedAt: Date | null;
  /** Sends that have been in PAYING for longer than any process works on one. */
  readonly overdue: number;
  /** Sends before PAYING whose payment may have left, because commits may be lost. */
  readonly held: number;
  /** Open differences between the provider's statement and what is stored. */
  readonly differences: number;
  /** Those that were found more than a day ago. */
  readonly oldDifferences: number;
  /** Whether all sends are paused. */
  readonly isPaused: boolean;
  /** Lines of statements that block payments of their amount. */
  readonly unaccounted: number;
  readonly unblocked: number;
  /** The oldest dispute that the provider has not confirmed. */
  readonly oldestRequestedDisputeAt: Date | null;
  /** The oldest dispute that the provider has not decided. */
  readonly oldestOpenDisputeAt: Date | null;
}

/**
 * After so many failed runs an open job is reported; some kinds are tried for a day before they are
 * dead. A periodic job, whose runs are not counted, is reported when its last run failed.
 */
export const failedOften = 5;

const isFailing =
  `last_error is not null and (unique_key like 'every:%' or ` +
  `attempts - (status = 'running')::int >= ${failedOften})`;

/**
 * One statement for everything. Each part uses a partial index (`jobs_due`, `jobs_leases`,
 * `jobs_dead`, `webhook_events_attention`, `reconciliation_differences_open`,
 * `pix_disputes_unanswered`) or the tables `pix_open` and `webhook_queue`, so that the cost depends
 * on the backlog and not on the size of the others.
 *
 * @public For the tests of the simulation, which find it by its shape.
 */
export const backlogStatement = statement({
  name: 'backlog-read',
  parameters: { now: 'timestamptz', overdueSince: 'timestamptz', oldSince: 'timestamptz' },
  text: ({ now, overdueSince, oldSince }) => sql<StoredBacklog>`
    with queue as (
      select kind, case when run_at <= ${now} then 'due' else 'later' end as state,
             count(*)::int as jobs, min(run_at) as oldest_at,
             count(*) filter (where ${isFailing})::int as failing
        from jobs where status = 'queued' group by 1, 2
       union all
      select kind, 'running', count(*)::int, null,
             count(*) filter (where ${isFailing})::int
        from jobs where status = 'running' group by 1
       union all
      select kind, 'dead', count(*)::int, null, 0 from jobs where status = 'dead' group by 1
       union all
      select '${eventsKind}', case when due_at <= ${now} then 'due' else 'later' end, count(*)::int,
             min(due_at),
             count(*) filter (where greatest(failures, attempts) >= ${failedOften})::int
        from webhook_queue group by 2
    )
    select (select coalesce(jsonb_agg(jsonb_build_object('kind', kind, 'state', state,
                                                         'jobs', jobs, 'failing', failing)),
                             '[]'::jsonb)
              from (select kind, state, sum(jobs)::int as jobs, sum(failing)::int as failing
                      from queue group by kind, state order by kind, state) queue) as queue,
           (select min(oldest_at) from queue where state = 'due') as "oldestDueAt",
           (select count(*)::int from webhook_events
             where id = any(array(select event_id from webhook_queue))
               and status = 'received') as received,
           flagged.parked, flagged.orphaned, flagged.anomaly,
           unended.unknown, unended.oldest_unknown_at as "oldestUnknownAt",
           unended.accepted, unended.oldest_accepted_at as "oldestAcceptedAt", unended.overdue,
           unended.held,
           differing.differences, differing.old as "oldDifferences",
           ${isPixPaused} as "isPaused",
           blocking.unaccounted, blocking.unblocked,
           (select min(requested_at) from pix_disputes where status = 'REQUESTED')
             as "oldestRequestedDisputeAt",
           (select min(opened_at) from pix_disputes where status = 'OPEN')
             as "oldestOpenDisputeAt"
      from (select count(*) filter (where attention = 'parked')::int as parked,
                   count(*) filter (where attention = 'orphaned')::int as orphaned,
                   count(*) filter (where attention = 'anomaly')::int as anomaly
              from webhook_events where attention is not null) flagged,
           (select count(*) filter (where phase = 'UNKNOWN')::int as unknown,
                   min(created_at) filter (where phase = 'UNKNOWN') as oldest_unknown_at,
                   count(*) filter (where phase = 'ACCEPTED'
                       and ${isOneOf('operation', orderTypes)})::int
                     as accepted,
                   min(created_at) filter (where phase = 'ACCEPTED') as oldest_accepted_at,
                   count(*) filter (where phase = 'PAYING'
                       and ${isAbandoned('t', overdueSince, now)})::int as overdue,
                   count(*) filter (where ${isBlockedAtStart('t', overdueSince, now)})::int as held
              from ${openTransactions} where ${isUnsettled('t')}) unended,
           (select count(*)::int as differences,
             count(*) filter (where found_at < ${oldSince})::int as old
              from reconciliation_differences where closed_at is null) differing,
           (select count(*)::int as unaccounted,
                   count(*) filter (where a.id is not null and a.blocked_by is null)::int
                     as unblocked
              from reconciliation_differences line left join accounts a using (user_id)
             where line.blocks is not null and ${isUnaccounted}) blocking`,
});

/** Reads the backlog. */
export async function readBacklog({
  config,
  db,
  clock,
}: Pick<LocalContext, 'config' | 'db' | 'clock'>): Promise<StoredBacklog> {
  const now = clock.now();
  const overdueSince = new Date(now.getTime() - staleAfterMs(config.provider));
  const [backlog] = await db.query(backlogStatement, {
    now,
    overdueSince,
    oldSince: new Date(now.getTime() - dayMs),
  });
  if (!backlog) throw new Error('the backlog has no row');
  return backlog;
}

/** The server, its settings and its time. */
export interface ServerState {
  readonly now: Date;
  readonly version: string;
  /** Whether it is a standby, or refuses writes by its settings. */
  readonly isReadOnly: boolean;
  /** `on` or `off`. */
  readonly fsync: string;
  readonly fullPageWrites: string;
  /** The value on this service's connections. */
  readonly synchronousCommit: string;
  /** Whether a commit waits for a standby. */
  readonly hasSynchronousStandby: boolean;
  /** The number of standbys that are connected. */
  readonly standbys: number;
  /** Whether this service's connections write app events. */
  readonly writesAppEvents: boolean;
  /** Whether this connection's role may drop the tables or the database; null without tables. */
  readonly ownsTables: boolean | null;
}

const server = statement({
  name: 'ops-inspect-database',
  parameters: {},
  text: () => sql<ServerState>`
    select clock_timestamp() as now, current_setting('server_version') as version,
           pg_is_in_recovery() or current_setting('default_transaction_read_only') = 'on'
             as "isReadOnly",
           current_setting('fsync') as fsync,
           current_setting('full_page_writes') as "fullPageWrites",
           current_setting('synchronous_commit') as "synchronousCommit",
           current_setting('synchronous_standby_names') <> '' as "hasSynchronousStandby",
           (select count(*)::int from pg_stat_replication) as standbys,
           coalesce(current_setting('ponte.app_events', true) = 'on', false) as "writesAppEvents",
           (select pg_has_role(relowner, 'member') or pg_has_role(datdba, 'member')
              from pg_class, pg_database
             where pg_class.oid = to_regclass('pix_timeline')
               and datname = current_database()) as "ownsTables"`,
});

/** Needs no table. */
export async function readServerState({ db }: Pick<LocalContext, 'db'>): Promise<ServerState> {
  const [state] = await db.query(server, {});
  if (!state) throw new Error('the state of the server has no row');
  return state;
}

/** What the database has of the provider's webhooks. */
export interface WebhookState {
  /** When the newest event was received. */
  readonly newestAt: Date | null;
  /** Events that could not be read: about an open transaction, or for want of a dialect. */
  readonly unread: number;
  /** The refused webhooks by reason, the most frequent first; their times are texts. */
  readonly refusals: readonly {
    readonly reason: string;
    readonly refusals: number;
    readonly lastAt: string;
  }[];
}

/** An anomaly that an operator has accepted is ignored too, with the results that it had. */
const webhookState = statement({
  name: 'ops-inspect-webhooks',
  parameters: {
    refusedSince: 'timestamptz',
    unreadSince: 'timestamptz',
    unreadFrom: 'uuid',
    reasons: 'text[]',
  },
  text: ({ refusedSince, unreadSince, unreadFrom, reasons }) => sql<WebhookState>`
    select (select received_at from webhook_events order by id desc limit 1) as "newestAt",
           (select count(*)::int from webhook_events
             where id >= ${unreadFrom} and received_at >= ${unreadSince}
               and exists (select from jsonb_array_elements(results) as item
                            where (status <> 'ignored' or item->>'result' = 'ignored')
                              and (status = 'ignored' and item->>'transactionId' is not null
                                   or item->>'reason' = any(${reasons})))) as unread,
           (select coalesce(jsonb_agg(jsonb_build_object('reason', reason, 'refusals', refusals,
                                                         'lastAt', last_at)), '[]'::jsonb)
              from (select reason, sum(refusals)::int as refusals, max(last_at) as last_at
                      from webhook_refusals where minute >= ${refusedSince}
                     group by reason order by refusals desc, reason) counted) as refusals`,
});

/** For `doctor` only: it reads the events of a day. */
export async function readWebhookState(
  { db }: Pick<LocalContext, 'db'>,
  { refusedSince, unreadSince }: { readonly refusedSince: Date; readonly unreadSince: Date },
): Promise<WebhookState> {
  const [state] = await db.query(webhookState, {
    refusedSince,
    unreadSince,
    unreadFrom: firstUuidAt(unreadSince),
    reasons: unreadReasons,
  });
  if (!state) throw new Error('the state of the webhooks has no row');
  return state;
}
