/**
 * The database as one process of a simulation has it: each statement is a step, and is carried out
 * alone, to its end, on the real database. Answers can get lost, and so can whole statements.
 */
import type { Database, Statement } from '../../src/db/database.ts';
import type { PixTransactionRow } from '../../src/db/queries/pix-row.ts';
import type { Names } from './names.ts';
import type { CarriedOut } from './oracle/accounts.ts';
import type { Evidence } from './oracle/evidence.ts';
import type { Owner, Scheduler } from './scheduler.ts';
import type { Store } from './store.ts';
import type { Weather } from './weather.ts';

/** The connection to the database is lost; nothing tells whether the statement was carried out. */
export class ConnectionLost extends Error {
  readonly code = 'ECONNRESET';

  constructor() {
    super('the simulated connection is lost');
    this.name = 'ConnectionLost';
  }
}

export interface StatementsOptions {
  readonly store: Store;
  readonly names: Names;
  readonly scheduler: Scheduler;
  readonly weather: () => Weather;
  /** `embedded`: the database dies with its one process. */
  readonly kind: Database['kind'];
  readonly evidence: Evidence;
  /** Told of every transaction that a statement answers, stores or moves. */
  readonly observed: (row: PixTransactionRow) => void;
  /** Told of every statement that was carried out. */
  readonly carriedOut: (statement: CarriedOut) => void;
}

/** A statement of a dead process that a server has received already is carried out at times. */
const momentum = 0.5;

type Row = Record<string, unknown>;

/** One statement of one process, on its way. */
interface Asked {
  readonly owner: Owner;
  readonly statement: Statement;
  readonly parameters: readonly unknown[];
  /** The step that it was asked at. */
  readonly askedAt: number;
  readonly answer: PromiseWithResolvers<Row[]>;
}

interface Listener {
  readonly owner: Owner;
  readonly channel: string;
  readonly tell: (payload: string) => void;
}

export class Statements {
  readonly #options: StatementsOptions;
  readonly #races: Races;
  readonly #listeners = new Set<Listener>();

  constructor(options: StatementsOptions) {
    this.#options = options;
    this.#races = new Races(options);
  }

  databaseOf(owner: Owner): Database {
    const { store, kind, scheduler } = this.#options;
    return {
      ...store.db,
      kind,
      query: (statement, parameters) => {
        const answer = Promise.withResolvers<Row[]>();
        this.#ask({ owner, statement, parameters, askedAt: scheduler.taken, answer });
        return answer.promise as Promise<never>;
      },
      listen: async (channel, tell) => {
        await scheduler.hop(owner, `${owner.name} db listen`);
        const listener = { owner, channel, tell };
        this.#listeners.add(listener);
        return async () => void this.#listeners.delete(listener);
      },
    };
  }

  /** The database has notified; each process hears of it in its own time. */
  notified(channel: string, payload: string): void {
    const { scheduler, weather, kind } = this.#options;
    for (const { owner, tell } of [...this.#listeners].filter((one) => one.channel === channel)) {
      const isLost = kind === 'postgresql' && scheduler.chance.happens(weather().lostNotifications);
      const label = `${owner.name} is notified`;
      if (!isLost) scheduler.submit({ owner, label, run: () => tell(payload) });
      // The connection comes back after a second, and says that something may have been missed.
      else scheduler.after(owner, 1_000, () => tell(''));
    }
  }

  /** The process has died. */
  forget(process: Owner): void {
    for (const one of this.#listeners) if (one.owner === process) this.#listeners.delete(one);
  }

  #ask(asked: Asked): void {
    const { scheduler, kind } = this.#options;
    scheduler.submit({
      owner: asked.owner,
      label: `${asked.owner.name} db ${asked.statement.name}`,
      run: () => this.#carryOut(asked),
      outlives: () => kind === 'postgresql' && scheduler.chance.happens(momentum),
    });
  }

  async #carryOut(asked: Asked): Promise<string> {
    const { scheduler, weather } = this.#options;
    const isCut = scheduler.chance.happens(weather().databaseFaults);
    const isLost = isCut && scheduler.chance.happens(0.5);
    if (isCut) this.#options.evidence.databaseFailed(asked.owner);
    const { rows, word } = isLost ? { rows: [], word: 'not done' } : await this.#run(asked);
    // Nobody waits for the answer when the process has died meanwhile.
    if (scheduler.isBuried(asked.owner)) return `${word}, nobody waits`;
    if (isCut) asked.answer.reject(new ConnectionLost());
    else asked.answer.resolve(rows);
    return isCut ? `${word}, connection lost` : word;
  }

  /** @returns what the process is answered, and what the trace says of it. */
  async #run(asked: Asked): Promise<{ rows: Row[]; word: string }> {
    const { store, observed, carriedOut, evidence } = this.#options;
    const rows = await store.db.query<Row>(asked.statement, asked.parameters);
    const written = await this.#writtenBy(asked, rows);
    for (const row of [...rows, ...written]) if (isTransaction(row)) observed(row);
    if (asked.statement.name === 'pix-step' && asked.parameters[1] === 'PAYING') {
      for (const { end_to_end: id } of written) evidence.beganPaying(asked.owner, String(id));
    }
    const { statement, parameters } = asked;
    carriedOut({ name: statement.name, parameters, rows, written });
    const answered = this.#answerOf(asked, rows);
    return { rows: answered, word: this.#describe(written.length > 0 ? written : answered) };
  }

  #answerOf(asked: Asked, rows: Row[]): Row[] {
    const { name } = asked.statement;
    if (this.#races.isLostBy(asked, rows)) return racing[name]?.lost(rows) ?? [];
    // The database promises no order here: it is left to chance, and to ours alone.
    const order = unordered[name];
    return order ? this.#options.scheduler.chance.shuffled(rows.toSorted(order)) : rows;
  }

  /** The transactions that a statement may have stored or moved and does not answer. */
  async #writtenBy({ statement, parameters }: Asked, rows: readonly Row[]): Promise<Row[]> {
    const writing = silentlyWriting[statement.name];
    if (!writing || rows.length === 0) return [];
    return this.#options.store.rows<Row>(
      `select * from pix_transactions where operation = 'SEND' and ${writing.column} = $1`,
      [parameters[writing.place]],
    );
  }

  #describe(rows: readonly Row[]): string {
    const { names } = this.#options;
    const words = rows.map((row) =>
      isTransaction(row) ? `${names.of('tx', row.id)} ${row.phase} ${row.status}` : 'row',
    );
    return words.join(', ') || 'nothing';
  }
}

/** Statements that store or move a transaction without answering it, and what it would have. */
const silentlyWriting: Readonly<Record<string, { column: string; place: number }>> = {
  'pix-reserve-send': { column: 'id', place: 3 },
  'pix-step': { column: 'id', place: 0 },
  'webhook-store': { column: 'end_to_end', place: 6 },
};

const notFound = { id: null, phase: null, status: null, reserved: null } as const;

/** Statements that insert, or find the row that stands in their way. */
const racing: Readonly<Record<string, Racing>> = {
  'pix-reserve-send': {
    keyOf: ([, userId, , , key]) => JSON.stringify([userId, key]),
    // The payer is found, and no transaction.
    lost: (rows) => rows.map((row) => ({ ...row, ...notFound })),
  },
  'pix-reserve': {
    keyOf: ([, userId, operation, key]) => JSON.stringify([userId, operation, key]),
    lost: (rows) => rows.map((row) => ({ ...row, ...notFound })),
  },
  'webhook-store': { keyOf: ([, hash]) => (hash as Buffer).toString('hex'), lost: () => [] },
};

interface Racing {
  keyOf(parameters: readonly unknown[]): string;
  /** What is answered to the one who came second. */
  lost(rows: readonly Row[]): Row[];
}

/**
 * On a server a statement sees the rows that were there when it began. One that runs into a row
 * that was committed since then neither inserts its own nor finds the other one.
 */
class Races {
  readonly #scheduler: Scheduler;
  readonly #isOnServer: boolean;
  readonly #committedAt = new Map<string, number>();

  constructor({ scheduler, kind }: StatementsOptions) {
    this.#scheduler = scheduler;
    this.#isOnServer = kind === 'postgresql';
  }

  isLostBy({ statement, parameters, askedAt }: Asked, [row]: readonly Row[]): boolean {
    const key = racing[statement.name]?.keyOf(parameters);
    if (key === undefined || row === undefined) return false;
    const isOwn = row['reserved'] === true || row['duplicate'] === false;
    // A second try that finds its own row commits nothing anew.
    if (isOwn && !this.#committedAt.has(key)) this.#committedAt.set(key, this.#scheduler.taken);
    const isRace = !isOwn && (this.#committedAt.get(key) ?? 0) > askedAt;
    const isLost = isRace && this.#isOnServer && this.#scheduler.chance.happens(0.5);
    if (isLost) this.#scheduler.count('races lost');
    return isLost;
  }
}

function isTransaction(row: Row): row is Row & PixTransactionRow {
  return 'phase' in row && row['phase'] !== null && 'idempotency_key' in row;
}

type Comparison = (one: Row, other: Row) => number;

const by =
  (column: string): Comparison =>
  (one, other) =>
    Number(one[column]) - Number(other[column]);

/** Statements whose rows come in no order or with ties, and what tells their rows apart. */
const unordered: Readonly<Record<string, Comparison>> = {
  'jobs-claim': by('id'),
  'pix-unknown': by('created_at'),
  'pix-candidates': by('created_at'),
};
