/** What a server does not define: races between inserts, and the order of rows. */
import type { CallParameters } from '../../src/db/batcher.ts';
import type { Database, Statement } from '../../src/db/database.ts';
import type { Scheduler } from './scheduler.ts';

export type Row = Record<string, unknown>;

/** @returns the name of a statement without the suffix of a mutation. */
export function plainName({ name }: Pick<Statement, 'name'>): string {
  return name.replace(/#.*$/, '');
}

/** A round trip that was executed. */
interface RoundTrip {
  readonly statement: Pick<Statement, 'name'>;
  /** The parameters of each call. */
  readonly calls: readonly CallParameters[];
  /** The step at which it was sent. */
  readonly requestedAt: number;
}

/**
 * On a server a statement sees the rows at its beginning. If it conflicts with a row that was
 * committed later, it neither inserts its own row nor finds the other one.
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

  /** Forgets the commits that a failover has lost. */
  forget(): void {
    this.#committedAt.clear();
  }

  /** @returns the rows as the process gets them. */
  respond(trip: RoundTrip, rows: readonly Row[]): Row[] {
    const { statement, calls } = trip;
    const name = plainName(statement);
    const race = racing[name];
    if (!race) return this.#inAnyOrder(name, rows);
    return calls.flatMap((parameters, index) => {
      const own = rows.filter(({ ordinal }) => Number(ordinal) === index + 1);
      const isLost = this.#isLost(race.toKey(parameters), trip.requestedAt, own);
      return isLost ? race.lost(own) : own;
    });
  }

  /** The database defines no order here: draws one from the random sequence. */
  #inAnyOrder(name: string, rows: readonly Row[]): Row[] {
    const order = unordered[name];
    return order ? this.#scheduler.chance.shuffled(rows.toSorted(order)) : [...rows];
  }

  #isLost(key: string, requestedAt: number, [row]: readonly Row[]): boolean {
    if (row === undefined) return false;
    const isOwn = row['reserved'] === true || row['isNew'] === true;
    // A retry that finds its own row commits nothing: keep the step of the first commit.
    if (isOwn && !this.#committedAt.has(key)) this.#committedAt.set(key, this.#scheduler.taken);
    const isRace = !isOwn && (this.#committedAt.get(key) ?? 0) > requestedAt;
    const isLost = isRace && this.#isOnServer && this.#scheduler.chance.happens(0.5);
    if (isLost) this.#scheduler.count('races lost');
    return isLost;
  }
}

interface Racing {
  toKey(parameters: CallParameters): string;
  /** The response to the statement that lost the race. */
  lost(rows: readonly Row[]): Row[];
}

/** Statements that insert a row, or find the conflicting one. */
const racing: Readonly<Record<string, Racing>> = {
  'pix-reserve-send': {
    toKey: ({ userId, idempotencyKey }) => JSON.stringify([userId, idempotencyKey]),
    // The statement returns the payer, but no transaction.
    lost: withoutTransaction,
  },
  'pix-reserve-send-judged': {
    toKey: ({ userId, idempotencyKey }) => JSON.stringify([userId, idempotencyKey]),
    // The first statement has counted the user's row, too.
    lost: (rows) => withoutTransaction(rows.map((row) => ({ ...row, isCurrent: false }))),
  },
  'pix-reserve': {
    toKey: ({ userId, operation, idempotencyKey }) =>
      JSON.stringify([userId, operation, idempotencyKey]),
    lost: withoutTransaction,
  },
  'webhook-store': {
    toKey: ({ payloadHash }) => (payloadHash as Buffer).toString('hex'),
    lost: withoutEvent,
  },
};

/** The statement neither stored its event nor sees the other one. */
function withoutEvent([row]: readonly Row[]): Row[] {
  return [{ ...row, eventId: null }];
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

/** By the text of a column. */
const byText =
  (column: string): Comparison =>
  (one, other) =>
    String(one[column]) < String(other[column]) ? -1 : 1;

/** Statements without an order, or with ties, and the column that distinguishes their rows. */
const unordered: Readonly<Record<string, Comparison>> = {
  'jobs-claim': by('id'),
  'webhook-queue-take': byText('eventId'),
  'pix-candidates': by('createdAt'),
};
