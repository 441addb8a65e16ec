/**
 * What the audit reads: pages of transactions, events and running jobs, and the rows that
 * break an invariant. Each invariant of events and jobs ensures that every event of the provider is
 * settled; those of transactions are in `pix-invariants-repository.ts`. The statements are SQL,
 * because the simulation runs the audit.
 */
import type { LocalContext } from '../context/context.ts';
import { isOneOf, sql, statement } from '../db/statement.ts';
import { nilUuid } from '../domain/text.ts';
import { openStates } from '../jobs/job-repository.ts';
import {
  pixInvariants,
  type AuditedPage,
  type BrokenRow,
  type Invariant,
} from './pix-invariants-repository.ts';

/** The kinds of rows that are audited. */
export type AuditedKind = 'transaction' | 'event' | 'job';

/** A row that is audited. */
export interface AuditedRow {
  readonly id: string;
  readonly at: Date;
}

/** An event will be settled: it is in the queue, or release 1.2.0 has a job for it. */
const isQueued = `
  (exists (select from webhook_queue queue where queue.event_id = e.id)
   or exists (select from jobs j
               where j.unique_key = 'webhook:' || e.id and ${isOneOf('j.status', openStates)}))`;

/** An anomaly by one of its items, while another item waits. */
const isWaitingAnomaly = `
  e.status = 'anomaly' and exists (select from webhook_waits w where w.event_id = e.id)`;

function utc(time: string): string {
  return `to_char(${time} at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS"Z"')`;
}

const aboutEvents = (name: string, text: (ids: string) => string): Invariant['statement'] =>
  statement({
    name: `audit-${name}`,
    parameters: { ids: 'uuid[]' },
    text: ({ ids }) => sql<BrokenRow>`${text(ids)}`,
  });

const eventInvariants: readonly Invariant[] = [
  {
    name: 'received_is_settled',
    says: 'A received event is in the queue',
    statement: aboutEvents(
      'received-is-settled',
      (ids) => `select e.id, 'received ' || ${utc('e.received_at')} as found
         from webhook_events e
        where e.id = any(${ids}) and e.status = 'received' and not ${isQueued}
        order by e.id`,
    ),
  },
  {
    name: 'parked_is_retried',
    says: 'An event that waits for a transaction is in the queue',
    statement: aboutEvents(
      'parked-is-retried',
      (ids) => `select e.id, e.status || ' since ' || ${utc('e.received_at')} as found
         from webhook_events e
        where e.id = any(${ids}) and not ${isQueued}
          and (e.status = 'parked' or (${isWaitingAnomaly}))
        order by e.id`,
    ),
  },
  {
    name: 'waiting_is_kept',
    says: 'An event that is not settled keeps its payload',
    statement: aboutEvents(
      'waiting-is-kept',
      (ids) => `select e.id, e.status || ' without a payload' as found
         from webhook_events e
        where e.id = any(${ids}) and e.payload is null
          and (e.status in ('received', 'parked') or (${isWaitingAnomaly}))
        order by e.id`,
    ),
  },
];

const jobInvariants: readonly Invariant[] = [
  {
    name: 'leases_held',
    says: 'A running job whose lease has expired is claimed within two minutes',
    // Twice as long as the job loops may take.
    statement: statement({
      name: 'audit-leases-held',
      parameters: { ids: 'bigint[]', auditedAt: 'timestamptz' },
      text: ({ ids, auditedAt }) => sql<BrokenRow>`
        select j.id, j.kind || ' leased until ' || ${utc('j.leased_until')} as found
         from jobs j
        where j.id = any(${ids}) and j.status = 'running'
          and j.leased_until < ${auditedAt} - interval '2 minutes'
        order by j.id`,
    }),
  },
];

/** The invariants of the rows of each kind, in the order of the audit. */
export const auditedInvariants: Readonly<Record<AuditedKind, readonly Invariant[]>> = {
  transaction: pixInvariants,
  event: eventInvariants,
  job: jobInvariants,
};

const counted = (name: string, text: string) =>
  statement({
    name: `audit-count-${name}`,
    parameters: {},
    text: () => sql<{ rows: number }>`${text}`,
  });

/** Counts few rows; for many it returns the server's estimate. */
const estimated = (table: 'pix_transactions' | 'webhook_events'): string =>
  `select greatest((select count(*) from (select from ${table} limit 100000) as few),
                     (select reltuples::bigint from pg_class
                       where oid = '${table}'::regclass))::float8 as rows`;

const counts = {
  transaction: counted('transactions', estimated('pix_transactions')),
  event: counted('events', estimated('webhook_events')),
  job: counted('jobs', `select count(*)::float8 as rows from jobs where status = 'running'`),
} as const;

const pages = {
  transaction: statement({
    name: 'audit-transactions',
    parameters: { after: 'uuid', until: 'timestamptz', limit: 'int' },
    text: ({ after, until, limit }) => sql<AuditedRow>`
      select id, created_at as at from pix_transactions
       where id > ${after} and created_at <= ${until} order by id limit ${limit}`,
  }),
  event: statement({
    name: 'audit-events',
    parameters: { after: 'uuid', until: 'timestamptz', limit: 'int' },
    text: ({ after, until, limit }) => sql<AuditedRow>`
      select id, received_at as at from webhook_events
       where id > ${after} and received_at <= ${until} order by id limit ${limit}`,
  }),
  job: statement({
    name: 'audit-jobs',
    parameters: { after: 'bigint', until: 'timestamptz', limit: 'int' },
    text: ({ after, until, limit }) => sql<AuditedRow>`
      select id, created_at as at from jobs
       where status = 'running' and id > ${after} and created_at <= ${until}
       order by id limit ${limit}`,
  }),
} as const;

/** @returns how many rows of a kind there are; for many, the server's estimate. */
export async function countRows(
  { db }: Pick<LocalContext, 'db'>,
  kind: AuditedKind,
): Promise<number> {
  const [row] = await db.query(counts[kind], {});
  return row?.rows ?? 0;
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
  const { after, until, limit } = page;
  switch (kind) {
    case 'transaction':
      return db.query(pages.transaction, { after: after?.id ?? nilUuid, until, limit });
    case 'event':
      return db.query(pages.event, { after: after?.id ?? nilUuid, until, limit });
    case 'job':
      return db.query(pages.job, { after: after?.id ?? '0', until, limit });
  }
}

/** @returns the rows of a page that break an invariant. */
export function findBroken(
  { db }: Pick<LocalContext, 'db'>,
  invariant: Invariant,
  page: AuditedPage,
): Promise<BrokenRow[]> {
  return db.query(invariant.statement, page);
}
