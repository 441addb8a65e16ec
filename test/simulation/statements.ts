/**
 * The database as one process of a simulation has it. Concurrent calls of a statement are batched
 * by the service's own code; each round trip is a step, and is carried out alone, to its end, on
 * the store. Answers can get lost, and so can whole statements.
 */
import type { Database, Statement } from '../../src/db/database.ts';
import { QueryBatcher, type RunBatch, type OrdinalRow } from '../../src/db/batcher.ts';
import type { PixTransactionRow } from '../../src/pix/pix-transaction-repository.ts';
import { isConstraintViolation } from '../../src/db/unavailable.ts';
import { repeatNotes } from '../../src/domain/pix.ts';
import { finishWebhookEvent } from '../../src/settlement/event-repository.ts';
import { DatabaseFault, DatabaseFaults, writes, type StatementFate } from './database-faults.ts';
import { Failover } from './failover.ts';
import { movesPlace } from './moves.ts';
import type { Names } from './names.ts';
import type { CarriedOut } from './oracle/accounts.ts';
import type { Evidence } from './oracle/evidence.ts';
import type { Oracle } from './oracle/oracle.ts';
import { plainName, Races, type Row } from './races.ts';
import type { Owner, Scheduler } from './scheduler.ts';
import type { Store } from './store.ts';
import type { FaultProfile } from './fault-profile.ts';

export interface StatementsOptions {
  readonly store: Store;
  readonly names: Names;
  readonly scheduler: Scheduler;
  readonly profile: () => FaultProfile;
  /** `embedded`: the database dies with its one process. */
  readonly kind: Database['kind'];
  readonly evidence: Evidence;
  /** Told of every transaction that a statement answers, stores or moves. */
  readonly observed: (row: PixTransactionRow) => void;
  /** Told of every statement that was carried out. */
  readonly carriedOut: (statement: CarriedOut) => void;
  readonly oracle: Oracle;
  /** Whether the service has begun. */
  readonly hasBegun: () => boolean;
}

/** A statement of a dead process that a server has received already is carried out at times. */
const momentum = 0.5;

/** One round trip of one process, on its way. */
interface Asked {
  readonly owner: Owner;
  readonly statement: Statement;
  /** The parameters of each call. */
  readonly calls: readonly (readonly unknown[])[];
  /** As the server gets them: each an array with the values of all calls, if it is batched. */
  readonly sent: readonly unknown[];
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
  readonly faults: DatabaseFaults;
  readonly failover: Failover;
  readonly #options: StatementsOptions;
  readonly #races: Races;
  readonly #server: Owner = { name: 'database' };
  readonly #listeners = new Set<Listener>();
  /** The step of the last failover: what was asked before never arrives. */
  #failedOverAt = -1;

  constructor(options: StatementsOptions) {
    const { scheduler, profile, kind } = options;
    this.#options = options;
    this.#races = new Races(options);
    this.failover = new Failover({
      ...options,
      isOnServer: kind === 'postgresql',
      lost: options.evidence.lost,
      failedOver: () => this.#failOver(),
    });
    this.faults = new DatabaseFaults({
      scheduler,
      profile,
      isOnServer: kind === 'postgresql',
      reconnected: (process) => this.#reconnected(process),
    });
  }

  databaseOf(owner: Owner): Database {
    const { store, kind, scheduler } = this.#options;
    const batch: RunBatch = (statement, columns) => {
      const calls = (columns[0] ?? []).map((_, call) => columns.map((column) => column[call]));
      const rows = this.#ask({ owner, statement: unbatched(statement), calls, sent: columns });
      return rows as Promise<(Row & OrdinalRow)[]>;
    };
    const batches = new QueryBatcher({ batched: batch, single: batch });
    return {
      ...store.db,
      kind,
      query: (statement, parameters) => {
        const { batching } = statement;
        // In the order of random ids a seed would not give the same history again.
        const inOrder = batching && { ...statement, batching: { ...batching, lockOrder: [] } };
        if (inOrder) return batches.query(inOrder, parameters) as never;
        return this.#ask({ owner, statement, calls: [parameters], sent: parameters }) as never;
      },
      transaction: (work) => this.#transact(owner, work),
      notificationsUp: () => !this.faults.isCutOff(owner),
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
    const { scheduler, profile, kind } = this.#options;
    for (const { owner, tell } of [...this.#listeners].filter((one) => one.channel === channel)) {
      if (this.faults.isCutOff(owner)) continue;
      const isLost = kind === 'postgresql' && scheduler.chance.happens(profile().lostNotifications);
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

  /** Another server has taken over, after the restore: all connections are broken. */
  #failOver(): void {
    this.#failedOverAt = this.#options.scheduler.taken;
    this.#races.forget();
    this.faults.open('outage', null);
  }

  #reconnected(process: Owner | null): void {
    const { scheduler } = this.#options;
    for (const { owner, tell } of this.#listeners) {
      if (process !== null && process !== owner) continue;
      scheduler.submit({ owner, label: `${owner.name} listens again`, run: () => tell('') });
    }
  }

  #ask(asked: Omit<Asked, 'askedAt' | 'answer'>): Promise<Row[]> {
    const { scheduler, kind } = this.#options;
    const answer = Promise.withResolvers<Row[]>();
    const whole: Asked = { ...asked, askedAt: scheduler.taken, answer };
    const { length } = asked.calls;
    if (length > 1) scheduler.count(`batches of ${sizeClass(length)} calls`);
    scheduler.submit({
      owner: asked.owner,
      label: labelOf(whole),
      isOutside: kind === 'postgresql',
      run: () => this.#arrive(whole),
      outlives: () => kind === 'postgresql' && scheduler.chance.happens(momentum),
    });
    return answer.promise;
  }

  async #arrive(asked: Asked): Promise<string> {
    const { scheduler } = this.#options;
    const isOfOldServer = asked.askedAt <= this.#failedOverAt;
    const fate: StatementFate = isOfOldServer
      ? { isDone: false, error: new DatabaseFault('ECONNRESET') }
      : this.faults.fateOf({ ...asked, text: asked.statement.text });
    const { error, isDone, late } = fate;
    if (error) this.#options.evidence.databaseFailed(asked.owner);
    if (error && asked.calls.length > 1) scheduler.count('batches that failed');
    if (late) return this.#giveUp(asked, { ...late, error });
    const result = isDone ? await this.#runOrRefuse(asked) : { rows: [], word: 'not done' };
    const { rows, word } = result;
    // Nobody waits for the answer when the process has died meanwhile.
    if (scheduler.isBuried(asked.owner)) return `${word}, nobody waits`;
    this.#reply(asked, error ?? rows);
    return error ? `${word}, ${error.message}` : word;
  }

  /** One step: nothing else is carried out between the statements of a transaction. */
  #transact<Result>(
    owner: Owner,
    work: (query: Database['query']) => Promise<Result>,
  ): Promise<Result> {
    const { scheduler, kind, store, evidence } = this.#options;
    const askedAt = scheduler.taken;
    const ended = Promise.withResolvers<Result>();
    const query =
      (carryOut: Database['query']) => (statement: Statement, parameters: readonly unknown[]) => {
        const asked = { owner, statement, calls: [parameters], sent: parameters, askedAt };
        return this.#run({ ...asked, answer: Promise.withResolvers() }, carryOut).then(
          ({ rows }) => rows,
        );
      };
    const run = async (): Promise<string> => {
      const fate = this.faults.fateOf({ owner, askedAt, text: 'insert into' });
      if (fate.error) evidence.databaseFailed(owner);
      const isDone = fate.isDone && !fate.late && askedAt > this.#failedOverAt;
      const error = fate.error ?? (isDone ? null : new DatabaseFault('ECONNRESET'));
      const result = isDone
        ? await store.db
            .transaction((carryOut) => work(query(carryOut) as Database['query']))
            .then(
              (value) => () => ended.resolve(value),
              (thrown: unknown) => () => ended.reject(thrown),
            )
        : null;
      if (error || !result) ended.reject(error);
      else result();
      return isDone ? 'done' : 'not done';
    };
    scheduler.submit({
      owner,
      label: `${owner.name} db transaction`,
      isOutside: kind === 'postgresql',
      run,
    });
    return ended.promise;
  }

  /** What breaks a constraint is refused by the store itself. */
  async #runOrRefuse(asked: Asked): Promise<{ rows: Row[] | Error; word: string }> {
    try {
      return await this.#run(asked);
    } catch (error) {
      if (!isConstraintViolation(error)) throw error;
      this.#options.scheduler.count('statements: a constraint refuses');
      return { rows: error as Error, word: 'refused by a constraint' };
    }
  }

  /** The process waits no longer; the server carries the statement out when it gets it. */
  #giveUp(
    asked: Asked,
    {
      error,
      givenUpAfterMs,
      lateMs,
    }: NonNullable<StatementFate['late']> & Pick<StatementFate, 'error'>,
  ): string {
    const { scheduler } = this.#options;
    scheduler.after(asked.owner, givenUpAfterMs, () => asked.answer.reject(error));
    const run = async (): Promise<string> =>
      asked.askedAt <= this.#failedOverAt ? 'not done' : (await this.#runOrRefuse(asked)).word;
    scheduler.after(this.#server, givenUpAfterMs + lateMs, () => {
      scheduler.submit({ owner: this.#server, label: `late: ${labelOf(asked)}`, run });
    });
    return 'on its way';
  }

  /** A process that is frozen reads the answer when it wakes up. */
  #reply({ owner, answer }: Asked, result: Row[] | Error): void {
    const { scheduler } = this.#options;
    const run = (): void => {
      if (result instanceof Error) answer.reject(result);
      else answer.resolve(result);
    };
    if (!scheduler.isFrozen(owner)) return run();
    scheduler.submit({ owner, label: `${owner.name} reads an answer of the database`, run });
  }

  /** @returns what the process is answered, and what the trace says of it. */
  async #run(
    asked: Asked,
    carryOut: Database['query'] = this.#options.store.db.query,
  ): Promise<{ rows: Row[]; word: string }> {
    const { observed, carriedOut, evidence } = this.#options;
    const rows = await carryOut<Row>(asked.statement, asked.sent);
    const written = await this.#writtenBy(asked, rows);
    for (const row of [...rows, ...written]) if (isTransaction(row)) observed(row);
    if (plainName(asked.statement) === 'pix-step') {
      const begun = new Set(asked.calls.filter(([, to]) => to === 'PAYING').map(([id]) => id));
      for (const { id, end_to_end: endToEnd } of written) {
        if (begun.has(id)) evidence.beganPaying(asked.owner, String(endToEnd));
      }
    }
    const { statement, calls } = asked;
    const name = plainName(statement);
    carriedOut({ name, calls, rows, written });
    if (name === 'pix-repeat' && calls[0]?.[5] === repeatNotes.unknown) {
      for (const { end_to_end: endToEnd } of written) evidence.noted(String(endToEnd));
    }
    const answered = this.#races.answer(asked, rows);
    if (writes(statement.text)) this.failover.committed();
    return { rows: answered, word: this.#describe(written.length > 0 ? written : answered) };
  }

  /** The transactions that a statement may have stored or moved and does not answer. */
  async #writtenBy({ statement, calls }: Asked, rows: readonly Row[]): Promise<Row[]> {
    const { store } = this.#options;
    if (plainName(statement) === finishWebhookEvent.name) {
      return store.rows<Row>(
        `select * from pix_transactions where id = any($1::uuid[]) order by created_at, id`,
        [rows.flatMap((row) => movedBy(row, calls[Number(row['ordinal']) - 1] ?? []))],
      );
    }
    const writing = silentlyWriting[plainName(statement)];
    if (!writing || rows.length === 0) return [];
    return store.rows<Row>(
      `select * from pix_transactions
        where operation = 'SEND' and ${writing.column}::text = any($1::text[])
        order by created_at, id`,
      [calls.map((parameters) => parameters[writing.place])],
    );
  }

  #describe(rows: readonly Row[]): string {
    const { names } = this.#options;
    const words = rows.map((row) => {
      if (!isTransaction(row)) return 'row';
      const endToEnd = row.end_to_end === null ? [] : [names.of('E', row.end_to_end)];
      return [names.of('tx', row.id), ...endToEnd, row.phase, row.status].join(' ');
    });
    return words.join(', ') || 'nothing';
  }
}

/** The store's own batcher must not take part: this is one round trip. */
function unbatched({ name, text }: Pick<Statement, 'name' | 'text'>): Statement {
  return { name, text };
}

function labelOf({ owner, statement, calls }: Asked): string {
  const times = calls.length > 1 ? ` ×${calls.length}` : '';
  return `${owner.name} db ${statement.name}${times}`;
}

function sizeClass(calls: number): string {
  if (calls > 20) return 'over 20';
  return calls > 5 ? '6 to 20' : '2 to 5';
}

/** The transactions that the end of an event has moved, by what it answers and its parameters. */
function movedBy(row: Row, parameters: readonly unknown[]): readonly unknown[] {
  const { is_finished: isFinished, moved_ids: ids } = row;
  if (!isFinished) return typeof ids === 'string' ? ids.split(' ') : [];
  const moves = JSON.parse(String(parameters[movesPlace])) as { readonly id: string }[];
  return moves.map(({ id }) => id);
}

/** Statements that store or move a transaction without answering it, and what it would have. */
const silentlyWriting: Readonly<Record<string, { column: string; place: number }>> = {
  'pix-reserve-send': { column: 'id', place: 3 },
  'pix-reserve-send-limited': { column: 'id', place: 3 },
  'pix-step': { column: 'id', place: 0 },
  'pix-repeat': { column: 'id', place: 0 },
};

function isTransaction(row: Row): row is Row & PixTransactionRow {
  return 'phase' in row && row['phase'] !== null && 'idempotency_key' in row;
}
