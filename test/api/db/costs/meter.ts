/** What work costs at the two neighbours of the service: the database and the provider. */
import pg from 'pg';
import { baseName } from '../../../../src/db/statement.ts';
import type { TestApp } from '../../../support/app.ts';

export interface Cost {
  /** What goes to the database, in its order: a round trip each. */
  readonly statements: readonly string[];
  /** The transactions that have written; null on a server, where others write as well. */
  readonly commits: number | null;
  /** The methods of the calls to the provider. */
  readonly calls: readonly string[];
}

/** Turns of the event loop without a statement after which none follows. */
const restingTurns = 10;

/** Counts what work sends, and what follows it. Nothing else may run in the service. */
export async function measure(app: TestApp, work: () => Promise<unknown>): Promise<Cost> {
  const callsBefore = await countCalls(app);
  const writtenBefore = await countTransactions(app);
  const statements = await recordStatements(async () => {
    await work();
    await comeToRest(app);
  });
  const written = await countTransactions(app);
  const calls = [...(await countCalls(app))].flatMap(([method, count]) =>
    Array.from({ length: count - (callsBefore.get(method) ?? 0) }, () => method),
  );
  const commits = app.context.db.kind === 'embedded' ? written - writtenBefore : null;
  return { statements, commits, calls };
}

type Query = (query: unknown, ...others: unknown[]) => unknown;

/** Statements, transactions and MikroORM: all pass the clients of the driver. */
async function recordStatements(work: () => Promise<void>): Promise<string[]> {
  const sent: string[] = [];
  const prototype = pg.Client.prototype as unknown as { query: Query };
  const { query } = prototype;
  prototype.query = function record(this: unknown, ...call: Parameters<Query>): unknown {
    sent.push(describe(call[0]));
    return query.apply(this, call);
  };
  try {
    await work();
  } finally {
    prototype.query = query;
  }
  return sent;
}

/** @returns the name of a statement; where it has none, what it does to which table. */
function describe(query: unknown): string {
  const { name = '', text = '' } = (typeof query === 'string' ? { text: query } : query) as {
    readonly name?: string;
    readonly text?: string;
  };
  if (name !== '') return baseName(name);
  const [verb = ''] = /\w+/.exec(text) ?? [];
  const [, table] = /\b(?:from|into|update)\s+"?(\w+)"?/i.exec(text) ?? [];
  return [verb.toLowerCase(), table].filter(Boolean).join(' ');
}

async function comeToRest({ context: { db } }: TestApp): Promise<void> {
  for (let quiet = 0; quiet < restingTurns; quiet += 1) {
    await new Promise((resolve) => setImmediate(resolve));
    const { busy, waiting } = db.connections();
    if (busy + waiting > 0) quiet = -1;
  }
}

/** @returns the next number of a transaction: each that writes takes one, and no other does. */
async function countTransactions({ rows }: TestApp): Promise<number> {
  const [row] = await rows<{ next: string }>(
    'select pg_snapshot_xmax(pg_current_snapshot())::text as next',
  );
  return Number(row?.next);
}

async function countCalls({ context }: TestApp): Promise<ReadonlyMap<string, number>> {
  const calls = new Map<string, number>();
  const { values } = await context.metrics.providerCalls.get();
  for (const { metricName, labels, value } of values) {
    const method = String(labels.method);
    if (metricName?.endsWith('_count')) calls.set(method, (calls.get(method) ?? 0) + value);
  }
  return calls;
}
