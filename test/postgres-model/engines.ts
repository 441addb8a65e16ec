/**
 * The database of a simulation: a model of PostgreSQL in memory, PostgreSQL itself (embedded, or a
 * server), or both, whose responses are compared.
 */
import { isDeepStrictEqual } from 'node:util';
import type { Database, Query } from '../../src/db/database.ts';
import { bind, type Statement } from '../../src/db/statement.ts';
import type { Catalog, RunQuery } from './catalog.ts';
import { MemoryDatabase, type Snapshot } from './database.ts';
import { putIn, readTables } from './tables-on-server.ts';

export const engineNames = ['memory', 'embedded', 'both'] as const;

export type EngineName = (typeof engineNames)[number];

export interface Engine {
  readonly db: Database;
  /** Restores the contents at the time of opening. */
  reset(): Promise<void>;
  /** The current contents of all tables. */
  snapshot(): Snapshot;
  /** Restores a snapshot: all later commits are lost. */
  restore(snapshot: Snapshot): Promise<void>;
  /** The differences between two databases since the last call; none with one database. */
  differences(): Promise<readonly string[]>;
}

export interface EngineOptions {
  readonly catalog: Catalog;
  readonly notified: (channel: string, payload: string) => void;
}

interface RealOptions extends EngineOptions {
  /** A migrated database with the contents of the catalog. */
  readonly real: Database;
}

type Row = Record<string, unknown>;

/** The model in memory only. */
export async function memoryEngine({ catalog, notified }: EngineOptions): Promise<Engine> {
  const memory = await MemoryDatabase.open(catalog, notified);
  const first = memory.snapshot();
  return {
    reset: async () => memory.restore(first),
    db: databaseOn(queryOfMemory(memory), (work) => inMemory(memory, work)),
    snapshot: () => memory.snapshot(),
    restore: async (snapshot) => memory.restore(snapshot),
    differences: async () => [],
  };
}

function queryOfMemory(memory: MemoryDatabase): Query {
  return async <Result>({ text, ...statement }: Statement<Result>, parameters: unknown) =>
    runInMemory(memory, text, bindSingle(statement, parameters)) as Result[];
}

function runInMemory(memory: MemoryDatabase, text: string, values: readonly unknown[]): Row[] {
  // A failed statement changes nothing in memory, in a transaction neither.
  return /^(?:rollback to )?savepoint /.test(text) ? [] : memory.run(text, values);
}

/** Statements that are executed together, or not at all. */
type Transaction = Database['transaction'];

/** No other statement runs during a transaction: a failed one restores its initial snapshot. */
async function inMemory<Result>(
  memory: MemoryDatabase,
  work: (transaction: Database) => Promise<Result>,
): Promise<Result> {
  const before = memory.snapshot();
  try {
    return await work(transactionOn(queryOfMemory(memory)));
  } catch (error) {
    memory.restore(before);
    throw error;
  }
}

/** A database in a transaction; a transaction within it is a part of it. */
export function transactionOn(query: Query): Database {
  const transaction: Database = {
    ...databaseOn(query, (work) => work(transaction)),
    isTransaction: true,
  };
  return transaction;
}

/** A database of a test that executes statements and transactions itself, and has no MikroORM. */
export function databaseOn(query: Query, transaction: Transaction): Database {
  const missing = (): never => {
    throw new Error('this database has no MikroORM');
  };
  return {
    kind: 'postgresql',
    orm: missing,
    em: missing,
    migrating: missing,
    query,
    transaction,
    isTransaction: false,
    connections: () => ({ busy: 0, idle: 0, waiting: 0 }),
    // Processes listen through the simulation.
    listen: async () => missing(),
    notificationsUp: () => true,
    keepWarm: () => Promise.resolve(),
    vacuum: () => Promise.resolve(),
    close: () => Promise.resolve(),
  };
}

/** The number of resets between two vacuums; deleted rows take space until then. */
const resetsBetweenVacuums = 50;

/** PostgreSQL only, embedded or on a server. */
export async function embeddedEngine({ real, catalog, notified }: RealOptions): Promise<Engine> {
  for (const channel of ['ponte_jobs', 'ponte_pix', 'ponte_webhooks']) {
    await real.listen(channel, (payload) => notified(channel, payload));
  }
  const memory = await MemoryDatabase.open(catalog, () => undefined);
  const contents = memory.contents(memory.snapshot());
  const missing = (): never => {
    throw new Error('only the database in memory can restore a snapshot');
  };
  let resets = 0;
  return {
    db: real,
    snapshot: missing,
    restore: missing,
    async reset() {
      await putIn(makeQuery(real), catalog, contents);
      resets += 1;
      if (resets % resetsBetweenVacuums === 0) await real.vacuum();
    },
    differences: async () => [],
  };
}

function makeQuery(real: Database): RunQuery {
  return (text, parameters = []) => real.query({ name: '', text }, parameters);
}

/** Both: every statement runs on both, and the model in memory answers. */
export async function bothEngines({ real, catalog, notified }: RealOptions): Promise<Engine> {
  const memory = await MemoryDatabase.open(catalog, notified);
  const ask = makeQuery(real);
  let found: string[] = [];
  const compareTables = async (change: (row: Row) => Row): Promise<void> => {
    const stored = await readTables(ask, catalog);
    const { tables } = memory.contents(memory.snapshot());
    for (const [name, rows] of Object.entries(stored)) {
      const difference = differenceOfRows(rows.map(change), (tables[name] ?? []).map(change));
      if (difference !== null) found.push(`table ${name}: ${difference}`);
    }
  };
  const synchronize = async (): Promise<void> => {
    await compareTables(withoutSerials);
    await putIn(ask, catalog, memory.contents(memory.snapshot()));
  };
  const compareWith =
    (queryReal: Query): Query =>
    async <Result, Parameters>(
      statement: Statement<Result, Parameters>,
      parameters: NoInfer<Parameters>,
    ) => {
      const values = bindSingle(statement, parameters);
      const expected = await ended(() => queryReal(statement, parameters) as Promise<Row[]>);
      const response = await ended(async () => runInMemory(memory, statement.text, values));
      const isOfBatch = isBatch(values);
      const difference = findDifference(expected, response, isOfBatch ? withoutSerials : asItIs);
      if (difference !== null) found.push(`${statement.name || statement.text}: ${difference}`);
      if (isOfBatch && queryReal === real.query) await synchronize();
      if (response.error) throw response.error;
      return response.rows as Result[];
    };
  // A transaction that is rolled back has used sequence numbers all the same.
  const transaction: Transaction = async (work) => {
    try {
      return await inMemory(memory, () =>
        real.transaction((inReal) => work(transactionOn(compareWith(inReal.query)))),
      );
    } finally {
      await synchronize();
    }
  };
  const first = memory.snapshot();
  const restore = async (snapshot: Snapshot): Promise<void> => {
    memory.restore(snapshot);
    await putIn(ask, catalog, memory.contents(snapshot));
  };
  return {
    db: databaseOn(compareWith(real.query), transaction),
    reset: () => restore(first),
    snapshot: () => memory.snapshot(),
    restore,
    async differences() {
      await compareTables(asItIs);
      const differences = found;
      found = [];
      return differences;
    },
  };
}

/** Whether the parameters are those of a batch of calls: each one is an array of their values. */
function isBatch(parameters: readonly unknown[]): boolean {
  return parameters.length > 0 && parameters.every((one) => Array.isArray(one) && one.length > 1);
}

const asItIs = (row: Row): Row => row;

/**
 * Removes sequence numbers before a comparison: PostgreSQL assigns them in the order in which its
 * plan executes the calls of a batch. It also removes what the server stamps an operator's action
 * with: its time and its role.
 */
function withoutSerials(row: Row): Row {
  const isStamped = Object.hasOwn(row, 'database_user');
  return Object.fromEntries(
    Object.entries(row).map(([name, value]) => {
      const isSerial = /^id$/.test(name) && isDigits(value);
      const isStamp = isStamped && (name === 'at' || name === 'database_user');
      return [name, isSerial || isStamp ? '#' : value];
    }),
  );
}

function isDigits(value: unknown): boolean {
  return typeof value === 'string' && /^\d+$/.test(value);
}

interface Ended {
  readonly rows: Row[];
  readonly error?: Error & { readonly code?: unknown; readonly constraint?: unknown };
}

async function ended(work: () => Promise<Row[]>): Promise<Ended> {
  try {
    return { rows: await work() };
  } catch (error) {
    return { rows: [], error: error as Error };
  }
}

/** The difference of the second result, as a sentence; null: none. */
function findDifference(expected: Ended, found: Ended, change: (row: Row) => Row): string | null {
  if (expected.error || found.error) {
    const [one, other] = [describe(expected), describe(found)];
    return one === other ? null : `${other} in place of ${one}`;
  }
  return differenceOfRows(expected.rows.map(change), found.rows.map(change));
}

function describe({ rows, error }: Ended): string {
  if (!error) return `${rows.length} rows`;
  const words = [error.name, error.code, error.constraint].filter(Boolean).join(' ');
  return error.code === undefined ? `${words} (${error.message})` : words;
}

/** Compares the rows in any order, because the order of ties is undefined. */
function differenceOfRows(expected: readonly Row[], found: readonly Row[]): string | null {
  const [one, other] = [inOrder(expected), inOrder(found)];
  if (
    isDeepStrictEqual(
      one.map(([, row]) => row),
      other.map(([, row]) => row),
    )
  )
    return null;
  const words = new Set(one.map(([word]) => word));
  const extra = other.filter(([word]) => !words.has(word)).map(([word]) => word);
  const others = new Set(other.map(([word]) => word));
  const missing = one.filter(([word]) => !others.has(word)).map(([word]) => word);
  return `${extra.join(', ') || 'nothing'} in place of ${missing.join(', ') || 'nothing'}`;
}

function inOrder(rows: readonly Row[]): (readonly [string, Row])[] {
  const described = rows.map((row) => {
    const entries = Object.entries(row).toSorted(([one], [other]) => (one < other ? -1 : 1));
    return [JSON.stringify(entries), { ...row }] as const;
  });
  return described.toSorted(([one], [other]) => (one < other ? -1 : 1));
}

/** @returns the values of a single call for the batched form: each one as an array. */
export function bindSingle(
  { names = [], batching }: Pick<Statement, 'names' | 'batching'>,
  parameters: unknown,
): unknown[] {
  const values = bind({ names }, parameters);
  return batching ? values.map((value) => [value]) : values;
}
