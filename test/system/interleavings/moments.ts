/**
 * Stored states and operations: those of the scenes, and what each repository function does. Every
 * row has the same name in each state, so that any operation fits any state.
 */
import type { Context } from '../../../src/context/context.ts';
import type { Database, Statement } from '../../../src/db/database.ts';
import { bind } from '../../../src/db/statement.ts';
import { inTransaction } from '../../../src/db/unit-of-work.ts';
import {
  isCompletedByBank,
  lockEventQueue,
  overruleTransaction,
} from '../../../src/ledger/overrule-repository.ts';
import { operationCases } from '../../api/db/repositories/operations.ts';
import { paymentCases } from '../../api/db/repositories/payments.ts';
import type { Cases, Seed } from '../../api/db/repositories/seed.ts';
import type { Row } from '../../api/db/rows.ts';
import { nameOfScene, scenes } from '../../simulation/strength/scenes.ts';
import { moment, playScene } from '../../simulation/strength/stage.ts';
import type { Store } from '../../simulation/store.ts';
import { intercepted, runAny } from '../../support/intercepted.ts';
import type { Operation } from './held.ts';
import type { Lane } from './lane.ts';
import type { Contents } from './stored.ts';

/** A stored state, and what a scene does in it. */
export interface Moment {
  readonly scene: string;
  readonly contents: Contents;
  readonly operation: Operation;
}

/** A moment whose operation changes rows. */
export interface WritingMoment extends Moment {
  /** What it changes: the names of rows, and the tables in which it stores new ones. */
  readonly touched: ReadonlySet<string>;
}

/** Plays the scenes. @returns a moment for each of their calls that differs from the others. */
export async function playMoments({ held, stored }: Lane): Promise<Moment[]> {
  const [session] = held.sessions;
  if (!session) throw new Error('a lane has no session');
  const moments = new Map<string, Moment>();
  let scene = '';
  const note = async (statement: Statement, parameters: unknown): Promise<void> => {
    const names = new Names();
    const contents = names.inRows(await stored.read());
    const values = bind(statement, parameters).map((value) => names.inValue(value));
    const operation = operationOf(statement, values);
    const key = JSON.stringify([contents, operation.key]);
    if (!moments.has(key)) moments.set(key, { scene, contents, operation });
  };
  const db = intercepted(session.database(), (run) => async (statement, parameters) => {
    await note(statement, parameters);
    return run(statement, parameters);
  });
  const rows: Lane['held']['rows'] = (text, values) => held.rows(text, values);
  const store = { db, rows, reset: () => stored.restore({}, 1) };
  for (const one of scenes.filter(({ statement }) => !statement.name.startsWith('jobs-'))) {
    scene = nameOfScene(one);
    await playScene(one, store as unknown as Store);
  }
  return [...moments.values()];
}

/** A statement without the names of its parameters is a batch of several calls. */
function operationOf(statement: Statement, values: readonly unknown[]): Operation {
  const { name, text, names, batching, indexed } = statement;
  const isIndexed = !names || batching || indexed;
  const called: Statement = {
    ...(statement.alone ?? { name: names ? name : `${name} of several`, text }),
    ...(isIndexed && { indexed: true }),
  };
  const make = (some: readonly unknown[]): Operation => ({
    name,
    key: JSON.stringify([called.name, some]),
    run: (db) => runAny(db, called, some),
  });
  const operation = make(values);
  const twin = make(values.map(asTwin));
  return twin.key === operation.key ? operation : { ...operation, twin };
}

/** What a scene invents for a new order or refund, and for another one. */
const inventedByScenes = [
  [/^key$/, 'twin'],
  [/^0{8}-0000-4000-8000-0{8}ffff$/, '00000000-0000-4000-8000-00000000fffe'],
  [/^D\d+$/, 'D00000000202605241200000000000099'],
] as const;

function asTwin(value: unknown): unknown {
  if (Array.isArray(value) || typeof value !== 'string') return value;
  return inventedByScenes.find(([pattern]) => pattern.test(value))?.[1] ?? value;
}

/** The ids that the scenes count up, and those ids as bytes. */
const prefix = '00000000-0000-4000-8000-';
const counted = new RegExp(`${prefix}\\d{12}`, 'g');
const countedBytes = new RegExp(`${Buffer.from(prefix).toString('hex')}(?:3\\d){12}`, 'g');

/** New names of those ids: by their table, its column, and their order in it. */
class Names {
  readonly #names = new Map<string, string>();
  readonly #columns: string[] = [];

  inRows(contents: Contents): Contents {
    const tables = Object.entries(contents).map(([name, rows]) => [name, inOrder(rows)] as const);
    for (const column of ['id', '']) {
      for (const [name, rows] of tables) for (const row of rows) this.#nameIn(name, row, column);
    }
    return JSON.parse(this.#inText(JSON.stringify(Object.fromEntries(tables)))) as Contents;
  }

  inValue(value: unknown): unknown {
    if (typeof value === 'string') return this.#inText(value);
    if (Array.isArray(value)) return value.map((part) => this.inValue(part));
    if (!Buffer.isBuffer(value)) return value;
    return Buffer.from(this.#inText(value.toString('latin1')), 'latin1');
  }

  #nameIn(table: string, row: Row, only: string): void {
    for (const [column, value] of Object.entries(row)) {
      if (only !== '' && column !== only) continue;
      for (const id of this.#readable(String(value)).match(counted) ?? []) {
        if (this.#names.has(id)) continue;
        const place = `${table}.${column}`;
        const nth = this.#columns.filter((one) => one === place).length + 1;
        this.#columns.push(place);
        this.#names.set(id, nameOf(place, nth));
      }
    }
  }

  #readable(text: string): string {
    return text.replaceAll(countedBytes, (hex) => Buffer.from(hex, 'hex').toString());
  }

  #inText(text: string): string {
    const named = (id: string): string => this.#names.get(id) ?? id;
    return text
      .replaceAll(counted, named)
      .replaceAll(countedBytes, (hex) =>
        Buffer.from(named(Buffer.from(hex, 'hex').toString())).toString('hex'),
      );
  }
}

function inOrder(rows: readonly Row[]): Row[] {
  const order = (row: Row): string =>
    `${asText(row['id']).padStart(40, '0')}${JSON.stringify(row)}`;
  return rows.toSorted((one, other) => (order(one) < order(other) ? -1 : 1));
}

/** A column as text; one without a value is empty. */
function asText(value: unknown): string {
  return typeof value === 'string' || typeof value === 'number' ? String(value) : '';
}

const places: string[] = [];

/** The scenes count up to numbers with fewer digits. */
export function nameOf(place: string, nth: number): string {
  if (!places.includes(place)) places.push(place);
  const number = 9e11 + places.indexOf(place) * 1e8 + nth;
  return `${prefix}${number}`;
}

/** The folders whose functions pay, settle or dispute. */
const capabilities = /^(?:disputes|ledger|pix|settlement)\//;

/** Functions that only read. */
const reads = /^(?:awaits|count|find|has|is|list|load|read|view|was)[A-Z]/;

/** What an operator does in one transaction. */
const operatorCases: Cases = {
  overrule: (context, { paidId: id, now: settledAt }) =>
    inTransaction(context, async (transaction) => {
      await lockEventQueue(transaction);
      const end = { id, settledAt, note: 'overruled', closesLine: true };
      const isDone = await overruleTransaction(transaction, end);
      if (isDone && (await isCompletedByBank(transaction, id))) throw new Error('confirmed');
      return isDone;
    }),
};

/** The repository functions that may write, all about the first rows of a state. */
export function repositoryOperations(context: Context, contents: Contents): Operation[] {
  const seed = seedOf(contents);
  const own = { 'pix/operator': operatorCases };
  const modules = Object.entries({ ...paymentCases, ...operationCases, ...own });
  return modules.flatMap(([path, functions]) =>
    Object.entries(functions)
      .filter(([name]) => capabilities.test(path) && !reads.test(name))
      .map(([name, work]) => ({
        name,
        key: JSON.stringify([name, seed]),
        run: (db) => work(contextOn(context, db, contents), seed),
      })),
  );
}

function seedOf(contents: Contents): Seed {
  const rows = (table: string): readonly Row[] => contents[table] ?? [];
  const id = (table: string): string => asText(rows(table)[0]?.['id']) || nameOf(`${table}.id`, 1);
  const [payer = {}] = [...rows('pix_transactions'), ...rows('banking_sessions'), ...rows('users')];
  const userId = Number(payer['user_id'] ?? payer['id'] ?? 0);
  const own = (table: string): string =>
    asText(rows(table).find((row) => row['user_id'] === userId)?.['id']);
  const sessionId = own('banking_sessions') || id('banking_sessions');
  const payment = id('pix_transactions');
  return {
    userId,
    otherUserId: userId,
    accountId: Number(own('accounts')),
    token: { sessionId, userId, tokenId: 'token', expiresAt: moment.later },
    sendId: payment,
    payingId: payment,
    unknownId: payment,
    paidId: payment,
    failedId: payment,
    receivedId: payment,
    chargeId: payment,
    eventId: id('webhook_events'),
    now: moment.now,
  } as Seed;
}

/** The ids and the keys that the cases invent; each becomes that of the state. */
const invented = /E1116575620260524120000000000\dxyz|D1116575620260524120000000000\dxyz|D-1/g;

function contextOn(context: Context, db: Database, contents: Contents): Context {
  const [payment = {}] = contents['pix_transactions'] ?? [];
  const endToEnd = asText(payment['end_to_end']) || 'E00000000202605241200000000000001';
  const replace = (value: unknown): unknown => {
    if (Array.isArray(value)) return value.map(replace);
    if (typeof value !== 'string') return value;
    if (/^(?:reserved|closed|returned|lost)$/.test(value)) return 'key';
    return value.replaceAll(invented, (id) =>
      id.startsWith('E') ? endToEnd : 'D00000000202605241200000000000001',
    );
  };
  const run = intercepted(db, (inner) => (statement, parameters) => {
    const entries = Object.entries(parameters).map(([name, value]) => [name, replace(value)]);
    return inner(statement, Object.fromEntries(entries));
  });
  return { ...context, db: run };
}

/** The columns that name a row of another table. */
const parents = [
  ['user_id', 'users'],
  ['transaction_id', 'pix_transactions'],
  ['event_id', 'webhook_events'],
  ['blocked_by', 'reconciliation_differences'],
] as const;

/** A state with the rows of one, and those of the other in the tables that the first one lacks. */
export function merged(one: Contents, other: Contents): Contents {
  const contents: Record<string, readonly Row[]> = { ...one };
  const isKept = (row: Row): boolean =>
    parents.every(([column, parent]) => {
      const named = row[column] ?? null;
      const rows = contents[parent] ?? other[parent] ?? [];
      return named === null || rows.some(({ id }) => id === named);
    });
  for (const [table, rows] of Object.entries(other)) {
    if (contents[table]) continue;
    const kept = rows.filter(isKept);
    if (kept.length > 0) contents[table] = kept;
  }
  return contents;
}
