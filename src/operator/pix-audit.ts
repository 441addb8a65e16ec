/**
 * `pix audit`: holds the money's rules against the rows, on a service that runs. Each rule is one
 * statement over a page of rows, so that none runs long and each sees one moment; what comes in
 * after the audit has begun is left to the next one.
 */
import type { LocalContext } from '../context.ts';
import type { Statement } from '../db/database.ts';
import { nilUuid } from '../domain/text.ts';
import { OpError, type Op } from './op.ts';
import { eventInvariants, jobInvariants } from './pix-invariants-queue.ts';
import { pixInvariants, type BrokenRow, type Invariant } from './pix-invariants.ts';

/** What became of one rule. */
export interface InvariantResult {
  readonly name: string;
  readonly says: string;
  /** What its rows are. */
  readonly of: RowKind;
  readonly broken: number;
  /** The rows that break it, up to a hundred. */
  readonly rows: readonly BrokenRow[];
}

export interface PixAudit {
  readonly ok: boolean;
  readonly checked: {
    readonly transactions: number;
    readonly events: number;
    readonly jobs: number;
  };
  readonly invariants: readonly InvariantResult[];
}

type RowKind = 'transaction' | 'event' | 'job';

/** Rows of one statement: some ten milliseconds of work. */
const pageSize = 1_000;

const listedAtMost = 100;

interface PageRow {
  readonly id: string;
  readonly at: Date;
}

/** Rows that are checked page by page, and the rules that they are held against. */
interface Scope {
  readonly of: RowKind;
  readonly invariants: readonly Invariant[];
  /** Before the first row, in the order of {@link keyOf}. */
  readonly start: readonly unknown[];
  readonly keyOf: (row: PageRow) => readonly unknown[];
  /** Parameters: the key of the last row, when the audit began, limit. Answers the next rows. */
  readonly page: Statement;
  /** How many there are, as far as that is quickly told: of many rows the server's own guess. */
  readonly count: Statement;
}

/** Also the event that is an anomaly by one of its items while another one waits. */
const waitingEvents = `
  select id, received_at from webhook_events where status in ('received', 'parked')
   union all
  select e.id, e.received_at from webhook_events e
   where e.status = 'anomaly' and exists (select from webhook_waits w where w.event_id = e.id)`;

const scopes: readonly Scope[] = [
  {
    of: 'transaction',
    invariants: pixInvariants,
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
  {
    of: 'event',
    invariants: eventInvariants,
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
  {
    of: 'job',
    invariants: jobInvariants,
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
];

/** Audits. It reads only, and may be run at any time. */
export const auditPix: Op<Record<string, never>, PixAudit> = {
  async run(context, _input, { progress }) {
    const startedAt = context.clock.now();
    const total = await countAll(context);
    const results: InvariantResult[] = [];
    const checked = { transaction: 0, event: 0, job: 0 };
    for (const scope of scopes) {
      const before = checked.transaction + checked.event + checked.job;
      const found = await auditScope(context, scope, {
        startedAt,
        onPage: (rows) => progress(before + rows, Math.max(total, before + rows)),
      });
      checked[scope.of] = found.rows;
      results.push(...found.results);
    }
    return {
      ok: results.every(({ broken }) => broken === 0),
      checked: { transactions: checked.transaction, events: checked.event, jobs: checked.job },
      invariants: results,
    };
  },
};

async function countAll({ db }: LocalContext): Promise<number> {
  let total = 0;
  for (const { count } of scopes) {
    const [counted] = await db.query<{ rows: number }>(count, []);
    total += counted?.rows ?? 0;
  }
  return total;
}

interface Walk {
  readonly startedAt: Date;
  readonly onPage: (rows: number) => void;
}

async function auditScope(
  context: LocalContext,
  scope: Scope,
  { startedAt, onPage }: Walk,
): Promise<{ readonly rows: number; readonly results: InvariantResult[] }> {
  const tallies = scope.invariants.map((invariant) => ({
    invariant,
    broken: 0,
    listed: [] as BrokenRow[],
  }));
  let rows = 0;
  for (let key = scope.start; ;) {
    if (context.stopping.aborted) throw new OpError('REFUSED', 'the service stops: audit it again');
    const page = await context.db.query<PageRow>(scope.page, [...key, startedAt, pageSize]);
    const ids = page.map(({ id }) => id);
    for (const tally of ids.length > 0 ? tallies : []) {
      const { statement, further } = tally.invariant;
      const parameters = [ids, ...(further?.(startedAt) ?? [])];
      const broken = await context.db.query<BrokenRow>(statement, parameters);
      tally.broken += broken.length;
      tally.listed.push(...broken.slice(0, listedAtMost - tally.listed.length));
    }
    rows += page.length;
    onPage(rows);
    const last = page.at(-1);
    if (last === undefined || page.length < pageSize) break;
    key = scope.keyOf(last);
  }
  const results = tallies.map(({ invariant: { name, says }, broken, listed }) => ({
    name,
    says,
    of: scope.of,
    broken,
    rows: listed,
  }));
  return { rows, results };
}
