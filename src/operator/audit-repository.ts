/**
 * What the audit reads: pages of transactions, waiting events and running jobs, and the rows that
 * break an invariant. Each invariant of events and jobs ensures that every event of the provider is
 * settled; those of transactions are in `pix-invariants-repository.ts`. The statements are SQL,
 * because the simulation runs the audit.
 */
import type { LocalContext } from '../context/context.ts';
import type { Statement } from '../db/database.ts';
import { nilUuid } from '../domain/text.ts';
import { pixInvariants, type BrokenRow, type Invariant } from './pix-invariants-repository.ts';

/** The kinds of rows that are audited. */
export type AuditedKind = 'transaction' | 'event' | 'job';

/** A row that is audited. */
export interface AuditedRow {
  readonly id: string;
  readonly at: Date;
}

/**
 * A job that will settle an event: it is queued or it runs. Its key names the event; a job that an
 * older version has queued has no key.
 */
const openJob = `
  (exists (select from jobs j
            where j.unique_key = 'webhook:' || e.id and j.status in ('queued', 'running'))
   or exists (select from jobs j
               where j.unique_key is null and j.kind = 'settle-webhook'
                 and j.status in ('queued', 'running') and j.payload->>'eventId' = e.id::text))`;

const about = (name: string, text: string): Statement => ({ name: `audit-${name}`, text });

const eventInvariants: readonly Invariant[] = [
  {
    name: 'received_is_settled',
    says: 'A received event has a job that settles it',
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
    name: 'parked_is_retried',
    says: 'An event that waits for a transaction has a job that tries it again',
    statement: about(
      'parked-is-retried',
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
    says: 'An event that is not settled keeps its payload',
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

/** Twice as long as the job loops may take. */
const takenUpWithinMs = 2 * 60_000;

const jobInvariants: readonly Invariant[] = [
  {
    name: 'leases_held',
    says: 'A running job whose lease has expired is claimed within two minutes',
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

/** The invariants of the rows of each kind, in the order of the audit. */
export const auditedInvariants: Readonly<Record<AuditedKind, readonly Invariant[]>> = {
  transaction: pixInvariants,
  event: eventInvariants,
  job: jobInvariants,
};

/** How the rows of a kind are read, page by page. */
interface Pages {
  /** Before the first row. */
  readonly start: readonly unknown[];
  readonly keyOf: (row: AuditedRow) => readonly unknown[];
  /** Parameters: the key of the last row, when the audit started, limit. */
  readonly page: Statement;
  readonly count: Statement;
}

/** They include an event that is an anomaly by one of its items while another item waits. */
const waitingEvents = `
  select id, received_at from webhook_events where status in ('received', 'parked')
   union all
  select e.id, e.received_at from webhook_events e
   where e.status = 'anomaly' and exists (select from webhook_waits w where w.event_id = e.id)`;

const pages: Readonly<Record<AuditedKind, Pages>> = {
  transaction: {
    start: [nilUuid],
    keyOf: ({ id }) => [id],
    page: {
      name: 'audit-transactions',
      text: `
        select id, created_at as at from pix_transactions
         where id > $1::uuid and created_at <= $2 order by id limit $3`,
    },
    count: {
      name: 'audit-count-transactions',
      text: `
        select greatest((select count(*) from (select from pix_transactions limit 100000) as few),
                        (select reltuples::bigint from pg_class
                          where oid = 'pix_transactions'::regclass))::float8 as rows`,
    },
  },
  event: {
    start: [new Date(0), nilUuid],
    keyOf: ({ id, at }) => [at, id],
    page: {
      name: 'audit-events',
      text: `
        select id, received_at as at from (${waitingEvents}) as waiting
         where received_at <= $3 and (received_at, id) > ($1, $2::uuid)
         order by received_at, id limit $4`,
    },
    count: {
      name: 'audit-count-events',
      text: `
        select count(*)::float8 as rows from (${waitingEvents}) as waiting`,
    },
  },
  job: {
    start: [0],
    keyOf: ({ id }) => [id],
    page: {
      name: 'audit-jobs',
      text: `
        select id, created_at as at from jobs
         where status = 'running' and id > $1::bigint and created_at <= $2
         order by id limit $3`,
    },
    count: {
      name: 'audit-count-jobs',
      text: `select count(*)::float8 as rows from jobs where status = 'running'`,
    },
  },
};

/** @returns how many rows of a kind there are; for many transactions, the server's estimate. */
export async function countRows(
  { db }: Pick<LocalContext, 'db'>,
  kind: AuditedKind,
): Promise<number> {
  const [counted] = await db.query<{ rows: number }>(pages[kind].count, []);
  return counted?.rows ?? 0;
}

/**
 * @param page `after`: the last row of the page before, or null; `until`: when the audit started.
 * @returns the next rows of a kind.
 */
export function readPage(
  { db }: Pick<LocalContext, 'db'>,
  kind: AuditedKind,
  page: { readonly after: AuditedRow | null; readonly until: Date; readonly limit: number },
): Promise<AuditedRow[]> {
  const { start, keyOf, page: statement } = pages[kind];
  const key = page.after === null ? start : keyOf(page.after);
  return db.query<AuditedRow>(statement, [...key, page.until, page.limit]);
}

/** @returns the rows of a page that break an invariant. */
export function findBroken(
  { db }: Pick<LocalContext, 'db'>,
  { statement, further }: Invariant,
  page: { readonly ids: readonly string[]; readonly auditedAt: Date },
): Promise<BrokenRow[]> {
  return db.query<BrokenRow>(statement, [page.ids, ...(further?.(page.auditedAt) ?? [])]);
}
