/** What a server leaves open: who sees whose row, and in which order rows come. */
import type { Database, Statement } from '../../src/db/database.ts';
import type { Scheduler } from './scheduler.ts';

export type Row = Record<string, unknown>;

/** @returns the name of a statement without the mark of one that was broken on purpose. */
export function plainName({ name }: Pick<Statement, 'name'>): string {
  return name.replace(/#.*$/, '');
}

/** A round trip that was carried out. */
interface Answered {
  readonly statement: Statement;
  /** The parameters of each call. */
  readonly calls: readonly (readonly unknown[])[];
  /** The step that it was asked at. */
  readonly askedAt: number;
}

/**
 * On a server a statement sees the rows that were there when it began. One that runs into a row
 * that was committed since then neither inserts its own nor finds the other one.
 */
export class Races {
  readonly #scheduler: Scheduler;
  readonly #isOnServer: boolean;
  readonly #committedAt = new Map<string, number>();

  constructor({
    scheduler,
    kind,
  }: {
    readonly scheduler: Scheduler;
    readonly kind: Database['kind'];
  }) {
    this.#scheduler = scheduler;
    this.#isOnServer = kind === 'postgresql';
  }

  /** The commits that were raced for are lost. */
  forget(): void {
    this.#committedAt.clear();
  }

  /** @returns the rows as the process gets them. */
  answer(answered: Answered, rows: readonly Row[]): Row[] {
    const { statement, calls } = answered;
    const name = plainName(statement);
    const race = racing[name];
    if (!race) return this.#inAnyOrder(name, rows);
    return calls.flatMap((parameters, index) => {
      const own = rows.filter(({ ordinal }) => Number(ordinal) === index + 1);
      const isLost = this.#isLost(race.keyOf(parameters), answered.askedAt, own);
      return isLost ? race.lost(own) : own;
    });
  }

  /** The database promises no order here: it is left to chance, and to ours alone. */
  #inAnyOrder(name: string, rows: readonly Row[]): Row[] {
    const order = unordered[name];
    return order ? this.#scheduler.chance.shuffled(rows.toSorted(order)) : [...rows];
  }

  #isLost(key: string, askedAt: number, [row]: readonly Row[]): boolean {
    if (row === undefined) return false;
    const isOwn = row['reserved'] === true || row['is_new'] === true;
    // A second try that finds its own row commits nothing anew.
    if (isOwn && !this.#committedAt.has(key)) this.#committedAt.set(key, this.#scheduler.taken);
    const isRace = !isOwn && (this.#committedAt.get(key) ?? 0) > askedAt;
    const isLost = isRace && this.#isOnServer && this.#scheduler.chance.happens(0.5);
    if (isLost) this.#scheduler.count('races lost');
    return isLost;
  }
}

interface Racing {
  keyOf(parameters: readonly unknown[]): string;
  /** What is answered to the one who came second. */
  lost(rows: readonly Row[]): Row[];
}

/** Statements that insert, or find the row that stands in their way. */
const racing: Readonly<Record<string, Racing>> = {
  'pix-reserve-send': {
    keyOf: ([, userId, , , key]) => JSON.stringify([userId, key]),
    // The payer is found, and no transaction.
    lost: withoutTransaction,
  },
  'pix-reserve-send-limited': {
    keyOf: ([, userId, , , key]) => JSON.stringify([userId, key]),
    // Whoever came first has counted the user's row.
    lost: (rows) => withoutTransaction(rows.map((row) => Object.assign(row, overtaken))),
  },
  'pix-reserve': {
    keyOf: ([, userId, operation, key]) => JSON.stringify([userId, operation, key]),
    lost: withoutTransaction,
  },
  'webhook-store': { keyOf: ([, hash]) => (hash as Buffer).toString('hex'), lost: withoutEvent },
};

const overtaken = { is_counted: false };

/** Neither stored nor visible. */
function withoutEvent([row]: readonly Row[]): Row[] {
  return [{ ...row, event_id: null }];
}

function withoutTransaction(rows: readonly Row[]): Row[] {
  return rows.map((row) => ({
    ...row,
    id: null,
    phase: null,
    status: null,
    reserved: null,
  }));
}

type Comparison = (one: Row, other: Row) => number;

const by =
  (column: string): Comparison =>
  (one, other) =>
    Number(one[column]) - Number(other[column]);

/** Statements whose rows come in no order or with ties, and what tells their rows apart. */
const unordered: Readonly<Record<string, Comparison>> = {
  'jobs-claim': by('id'),
  'pix-candidates': by('created_at'),
};
