/**
 * Scenes: each runs a hot statement on a few rows inserted for it. They cover cases that histories
 * seldom reach, and cases in which another condition hides the effect of a mutant.
 */
import { at, goodRow, insert, insertGood, type Row, type Table } from '../../api/db/rows.ts';
import type { Database, Statement } from '../../../src/db/database.ts';
import { named, runAny } from '../../support/intercepted.ts';
import type { Deviation } from '../deviation.ts';
import type { Store } from '../store.ts';

/** The operations of a scene. */
export interface Stage {
  /** Runs the statement of the scene for one call. @returns the number of its rows. */
  readonly call: (...parameters: unknown[]) => Promise<number>;
  /** As `call`. @returns the rows. */
  readonly fetchRows: (...parameters: unknown[]) => Promise<Row[]>;
  /** As `call` for a batch of calls: each parameter is an array. */
  readonly callBatch: (...columns: unknown[][]) => Promise<number>;
  /** As `callBatch`. @returns the rows. */
  readonly fetchBatch: (...columns: unknown[][]) => Promise<Row[]>;
  /** Inserts a valid row with some columns changed. @returns its id. */
  readonly row: (table: Table, changes?: Row) => Promise<unknown>;
  /** @returns the rows of a query, each as its values separated by spaces. */
  readonly found: (sql: string) => Promise<string[]>;
  /** The notifications of the database so far. */
  readonly notifications: readonly string[];
}

export interface Scene {
  readonly statement: Statement;
  readonly title: string;
  /** @returns the result, which must match `scenes.json`. */
  readonly play: (stage: Stage) => Promise<unknown>;
}

/** Times before, at and after the creation of all valid rows. */
export const moment = {
  made: at,
  earlier: new Date(at.getTime() - 3_600_000),
  now: new Date(at.getTime() + 60_000),
  later: new Date(at.getTime() + 3_600_000),
} as const;

/** Inserts two users with accounts and banking sessions. */
export async function insertTwoPayers({ row, found }: Pick<Stage, 'row' | 'found'>) {
  const users: number[] = [];
  const sessions: unknown[] = [];
  for (const document of ['93541134780', '39053344705']) {
    await row('accounts', { agency: '1', account_number: '2', document });
    const [newest] = await found('select max(user_id) as user_id from accounts');
    users.push(Number(newest));
    sessions.push(await row('banking_sessions', { user_id: Number(newest) }));
  }
  return { users, sessions };
}

/** Plays a scene on the service, with one deliberate change or none. */
export async function playScene(
  { statement, play }: Scene,
  store: Store,
  { db: change = (db: Database) => db }: Deviation = {},
): Promise<unknown> {
  const notifications: string[] = [];
  const notified = (channel: string, payload: string): void =>
    void notifications.push(channel + payload);
  await store.reset({ notified, logged: () => undefined });
  const db = change(store.db);
  const fetchBatch = (...columns: unknown[][]): Promise<Row[]> => {
    const { name, text } = replaceRun(statement, change);
    return store.db.query({ name, text }, columns);
  };
  return play({
    call: async (...values) => (await runAny(db, statement, named(statement, values))).length,
    fetchRows: (...values) => runAny(db, statement, named(statement, values)),
    callBatch: async (...columns) => (await fetchBatch(...columns)).length,
    fetchBatch,
    row: async (table, changes = {}) => {
      if (!('user_id' in changes)) return insertGood(store, table, changes);
      return insert(store, table, { ...goodRow[table](), ...changes });
    },
    found: async (sql) =>
      (await store.rows<Row>(sql)).map((row) => Object.values(row).map(String).join(' ')),
    notifications,
  }).catch(String);
}

function replaceRun(statement: Statement, change: (db: Database) => Database): Statement {
  let run = statement;
  const spy = {
    async query(requested: Statement) {
      run = requested;
      return [];
    },
  };
  void runAny(change(spy as unknown as Database), statement, {});
  return run;
}
