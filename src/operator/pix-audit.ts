/**
 * `pix audit`: checks the invariants of the stored payments, on a running service. Each invariant
 * is one statement over a page of rows, so that none runs long and each sees one snapshot; rows
 * that are stored after the start of the audit are left to the next one.
 */
import type { LocalContext } from '../context/context.ts';
import {
  auditedInvariants,
  countRows,
  findBroken,
  readPage,
  type AuditedKind,
  type AuditedRow,
} from './audit-repository.ts';
import { OpError, type Op } from './op.ts';
import type { BrokenRow } from './pix-invariants-repository.ts';

/** The result of one invariant. */
export interface InvariantResult {
  readonly name: string;
  readonly says: string;
  /** The kind of its rows. */
  readonly of: AuditedKind;
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

const kinds = ['transaction', 'event', 'job'] as const satisfies AuditedKind[];

/** Audits. It reads only, and may be run at any time. */
export const auditPix: Op<Record<string, never>, PixAudit> = {
  async run(context, _input, { progress }) {
    const startedAt = context.clock.now();
    let total = 0;
    for (const kind of kinds) total += await countRows(context, kind);
    const results: InvariantResult[] = [];
    const checked = { transaction: 0, event: 0, job: 0 };
    for (const kind of kinds) {
      const before = checked.transaction + checked.event + checked.job;
      const audited = await auditRows(context, kind, {
        startedAt,
        onPage: (rows) => progress(before + rows, Math.max(total, before + rows)),
      });
      checked[kind] = audited.rows;
      results.push(...audited.results);
    }
    return {
      ok: results.every(({ broken }) => broken === 0),
      checked: { transactions: checked.transaction, events: checked.event, jobs: checked.job },
      invariants: results,
    };
  },
};

/** Rows of one statement: some ten milliseconds of work. */
const pageSize = 1_000;

const maxListed = 100;

interface Progress {
  readonly startedAt: Date;
  readonly onPage: (rows: number) => void;
}

async function auditRows(
  context: LocalContext,
  kind: AuditedKind,
  { startedAt, onPage }: Progress,
): Promise<{ readonly rows: number; readonly results: InvariantResult[] }> {
  const tallies = auditedInvariants[kind].map((invariant) => ({
    invariant,
    broken: 0,
    listed: [] as BrokenRow[],
  }));
  let rows = 0;
  for (let after: AuditedRow | null = null; ;) {
    if (context.stopping.aborted) throw new OpError('REFUSED', 'the service stops: audit it again');
    const page: AuditedRow[] = await readPage(context, kind, {
      after,
      until: startedAt,
      limit: pageSize,
    });
    const ids = page.map(({ id }) => id);
    for (const tally of ids.length > 0 ? tallies : []) {
      const broken = await findBroken(context, tally.invariant, { ids, auditedAt: startedAt });
      tally.broken += broken.length;
      tally.listed.push(...broken.slice(0, maxListed - tally.listed.length));
    }
    rows += page.length;
    onPage(rows);
    after = page.at(-1) ?? null;
    if (page.length < pageSize) break;
  }
  const results = tallies.map(({ invariant: { name, says }, broken, listed }) => ({
    name,
    says,
    of: kind,
    broken,
    rows: listed,
  }));
  return { rows, results };
}
