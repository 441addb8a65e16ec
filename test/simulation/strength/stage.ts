/**
 * Scenes: a hot statement on a few rows that were put there for it. Histories seldom come to what
 * they show, or something else covers for it there.
 */
import { at, goodRow, insert, insertGood, type Row, type Table } from '../../api/db/rows.ts';
import type { Database, Statement } from '../../../src/db/database.ts';
import type { Deviation } from '../deviation.ts';
import type { Store } from '../store.ts';

/** What a scene plays on. */
export interface Stage {
  /** Runs the statement of the scene for one call. @returns how many rows it answers. */
  readonly ask: (...parameters: unknown[]) => Promise<number>;
  /** The same, with the rows. */
  readonly answers: (...parameters: unknown[]) => Promise<Row[]>;
  /** The same for several calls at once, each parameter an array. */
  readonly askTogether: (...columns: unknown[][]) => Promise<number>;
  /** The same, with the rows. */
  readonly answersTogether: (...columns: unknown[][]) => Promise<Row[]>;
  /** Inserts a good row, changed in some columns, and gives its id. */
  readonly row: (table: Table, changes?: Row) => Promise<unknown>;
  /** The rows that a query finds, each as its values with blanks between them. */
  readonly found: (sql: string) => Promise<string[]>;
  /** What the database has notified so far. */
  readonly heard: readonly string[];
}

export interface Scene {
  readonly statement: Statement;
  readonly says: string;
  /** @returns what is found in the end, which `scenes.json` has to agree with. */
  readonly play: (stage: Stage) => Promise<unknown>;
}

/** Moments around the one at which all good rows were made. */
export const moment = {
  made: at,
  earlier: new Date(at.getTime() - 3_600_000),
  now: new Date(at.getTime() + 60_000),
  later: new Date(at.getTime() + 3_600_000),
} as const;

/** Plays a scene on the service, a part of which may have been broken on purpose. */
export async function playScene(
  { statement, play }: Scene,
  store: Store,
  { db: change = (db: Database) => db }: Deviation = {},
): Promise<unknown> {
  const heard: string[] = [];
  const notified = (channel: string, payload: string): void => void heard.push(channel + payload);
  await store.reset({ notified, logged: () => undefined });
  const db = change(store.db);
  const answersTogether = (...columns: unknown[][]): Promise<Row[]> => {
    const { name, text } = runInPlaceOf(statement, change);
    return store.db.query({ name, text }, columns);
  };
  return play({
    ask: async (...parameters) => (await db.query(statement, parameters)).length,
    answers: (...parameters) => db.query(statement, parameters),
    askTogether: async (...columns) => (await answersTogether(...columns)).length,
    answersTogether,
    row: async (table, changes = {}) => {
      if (!('user_id' in changes)) return insertGood(store, table, changes);
      return insert(store, table, { ...goodRow[table](), ...changes });
    },
    found: async (sql) =>
      (await store.rows<Row>(sql)).map((row) => Object.values(row).map(String).join(' ')),
    heard,
  }).catch(String);
}

function runInPlaceOf(statement: Statement, change: (db: Database) => Database): Statement {
  let run = statement;
  const spy = {
    async query(asked: Statement) {
      run = asked;
      return [];
    },
  };
  void change(spy as unknown as Database).query(statement, []);
  return run;
}
