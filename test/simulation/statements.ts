/**
 * The database as one process of a simulation sees it. The service's own code batches concurrent
 * calls of a statement; each round trip is a step, which the store executes alone and to its end.
 * Responses can get lost, and so can statements.
 */
import type { Database, Query } from '../../src/db/database.ts';
import {
  QueryBatcher,
  type CallParameters,
  type OrdinalRow,
  type RunBatch,
} from '../../src/db/batcher.ts';
import { bind, type Statement } from '../../src/db/statement.ts';
import type { ProcessedRow } from '../../src/ledger/pix-transaction-repository.ts';
import { isConstraintViolation } from '../../src/db/unavailable.ts';
import { repeatNotes } from '../../src/domain/pix.ts';
import { finishWebhookEvent } from '../../src/settlement/event-repository.ts';
import { bindSingle } from '../postgres-model/engines.ts';
import { DatabaseFault, DatabaseFaults, writes, type StatementFate } from './database-faults.ts';
import { Failover } from './failover.ts';
import type { Names } from './names.ts';
import type { ExecutedStatement } from './oracle/accounts.ts';
import type { Disputes } from './oracle/disputes.ts';
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
  /** `embedded`: the database stops with its only process. */
  readonly kind: Database['kind'];
  readonly evidence: Evidence;
  /** Called for every transaction that a statement returns, stores or moves. */
  readonly observed: (row: ProcessedRow) => void;
  /** Called for every executed statement, before any other one is executed. */
  readonly statementExecuted: (statement: ExecutedStatement) => Promise<void>;
  readonly oracle: Oracle;
  readonly disputes: Disputes;
  /** An operator resumes the sends after a failover. */
  readonly recover: () => void;
  /** Whether the service has begun. */
  readonly hasBegun: () => boolean;
}

/** How likely a server executes a statement that it has received from a process that died. */
const executedAfterDeath = 0.5;

/** One round trip of one process, on its way. */
interface StatementRequest {
  readonly owner: Owner;
  readonly statement: SentStatement;
  /** The parameters of each call. */
  readonly calls: readonly CallParameters[];
  /** The values on the wire: arrays with those of all calls, if it is batched. */
  readonly sent: readonly unknown[];
  /** The step at which it was sent. */
  readonly requestedAt: number;
  readonly response: PromiseWithResolvers<Row[]>;
}

/** A statement without the names of its parameters: its values are sent. */
type SentStatement = Pick<Statement, 'name' | 'text'>;

/** A transaction of several statements. */
interface Unit {
  readonly execute: Query;
  /** Reports of its statements, for when it is committed. */
  readonly observations: (() => Promise<void>)[];
}

interface Listener {
  readonly owner: Owner;
  readonly channel: string;
  readonly notify: (payload: string) => void;
}

export class Statements {
  readonly faults: DatabaseFaults;
  readonly failover: Failover;
  readonly #options: StatementsOptions;
  readonly #races: Races;
  readonly #server: Owner = { name: 'database' };
  readonly #listeners = new Set<Listener>();
  /** The step of the last failover: earlier statements never arrive. */
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

  getDatabase(owner: Owner): Database {
    const { store, kind, scheduler } = this.#options;
    const batch: RunBatch = (statement, values) => {
      const columns = values as Columns;
      const calls = toCalls(columns, statement.names ?? []);
      const rows = this.#request({ owner, statement: toSend(statement), calls, sent: columns });
      return rows as Promise<(Row & OrdinalRow)[]>;
    };
    const batches = new QueryBatcher({ batched: batch, single: batch });
    return {
      ...store.db,
      kind,
      query: (statement, parameters) => {
        const { name, text, names = [], batching } = statement;
        const call = parameters as CallParameters;
        // No lock order: it would sort by random ids, and the seed would not repeat its history.
        const inOrder = batching && { name, text, names, batching: { ...batching, lockOrder: [] } };
        if (inOrder) return batches.query(inOrder, call) as never;
        const sent = bind(statement, parameters);
        return this.#request({ owner, statement: toSend(statement), calls: [call], sent }) as never;
      },
      transaction: (work) => this.#transact(owner, work),
      notificationsUp: () => !this.faults.isCutOff(owner),
      listen: async (channel, notify) => {
        await scheduler.hop(owner, `${owner.name} db listen`);
        const listener = { owner, channel, notify };
        this.#listeners.add(listener);
        return async () => void this.#listeners.delete(listener);
      },
    };
  }

  /** The database sends a notification; each process receives it in a separate step. */
  notified(channel: string, payload: string): void {
    const { scheduler, profile, kind } = this.#options;
    for (const { owner, notify } of [...this.#listeners].filter((one) => one.channel === channel)) {
      if (this.faults.isCutOff(owner)) continue;
      const isLost = kind === 'postgresql' && scheduler.chance.happens(profile().lostNotifications);
      const label = `${owner.name} is notified`;
      if (!isLost) scheduler.submit({ owner, label, run: () => notify(payload) });
      // The connection is restored after a second, and reports a possible gap.
      else scheduler.after(owner, 1_000, () => notify(''));
    }
  }

  /** The process has died. */
  forget(process: Owner): void {
    for (const one of this.#listeners) if (one.owner === process) this.#listeners.delete(one);
  }

  /** Another server has taken over after the restore: all connections break. */
  #failOver(): void {
    this.#failedOverAt = this.#options.scheduler.taken;
    this.#races.forget();
    this.faults.open('outage', null);
  }

  #reconnected(process: Owner | null): void {
    const { scheduler } = this.#options;
    for (const { owner, notify } of this.#listeners) {
      if (process !== null && process !== owner) continue;
      scheduler.submit({ owner, label: `${owner.name} listens again`, run: () => notify('') });
    }
  }

  #request(request: Omit<StatementRequest, 'requestedAt' | 'response'>): Promise<Row[]> {
    const { scheduler, kind } = this.#options;
    const response = Promise.withResolvers<Row[]>();
    const whole: StatementRequest = { ...request, requestedAt: scheduler.taken, response };
    const { length } = request.calls;
    if (length > 1) scheduler.count(`batches of ${sizeClass(length)} calls`);
    scheduler.submit({
      owner: request.owner,
      label: toLabel(whole),
      isOutside: kind === 'postgresql',
      run: () => this.#arrive(whole),
      outlives: () => kind === 'postgresql' && scheduler.chance.happens(executedAfterDeath),
    });
    return response.promise;
  }

  async #arrive(request: StatementRequest): Promise<string> {
    const { scheduler } = this.#options;
    const isOfOldServer = request.requestedAt <= this.#failedOverAt;
    const fate: StatementFate = isOfOldServer
      ? { isDone: false, error: new DatabaseFault('ECONNRESET') }
      : this.faults.chooseFate({ ...request, text: request.statement.text });
    const { error, isDone, late } = fate;
    if (error) this.#options.evidence.databaseFailed(request.owner);
    if (error && request.calls.length > 1) scheduler.count('batches that failed');
    if (late) return this.#giveUp(request, { ...late, error });
    const result = isDone ? await this.#runOrRefuse(request) : { rows: [], summary: 'not done' };
    const { rows, summary } = result;
    // A process that has died meanwhile does not receive the response.
    if (scheduler.isBuried(request.owner)) return `${summary}, its process has died`;
    this.#sendBack(request, error ?? rows);
    return error ? `${summary}, ${error.message}` : summary;
  }

  /** One step: no other statement is executed between the statements of a transaction. */
  #transact<Result>(
    owner: Owner,
    work: (transaction: Database) => Promise<Result>,
  ): Promise<Result> {
    const { scheduler, kind, store, evidence } = this.#options;
    const requestedAt = scheduler.taken;
    const ended = Promise.withResolvers<Result>();
    const observed = (inStore: Database, observations: Unit['observations']): Database => {
      const unit = { execute: inStore.query, observations };
      const query = async (statement: Statement, parameters: unknown): Promise<Row[]> => {
        const sent = bindSingle(statement, parameters);
        const calls = listCalls(statement, parameters);
        const request = { owner, statement: toSend(statement), calls, sent, requestedAt };
        const response = Promise.withResolvers<Row[]>();
        return (await this.#run({ ...request, response }, unit)).rows;
      };
      const transaction: Database = {
        ...inStore,
        query: query as Query,
        transaction: (inner) => inner(transaction),
      };
      return transaction;
    };
    const commit = async (): Promise<Result> => {
      const observations: Unit['observations'] = [];
      const result = await store.db.transaction((inStore) => work(observed(inStore, observations)));
      for (const observe of observations) await observe();
      return result;
    };
    const run = async (): Promise<string> => {
      const fate = this.faults.chooseFate({ owner, requestedAt, text: 'insert into' });
      if (fate.error) evidence.databaseFailed(owner);
      const isDone = fate.isDone && !fate.late && requestedAt > this.#failedOverAt;
      const error = fate.error ?? (isDone ? null : new DatabaseFault('ECONNRESET'));
      const result = isDone
        ? await commit().then(
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

  /** The store itself refuses a statement that violates a constraint. */
  async #runOrRefuse(request: StatementRequest): Promise<{ rows: Row[] | Error; summary: string }> {
    try {
      return await this.#run(request);
    } catch (error) {
      if (!isConstraintViolation(error)) throw error;
      this.#options.scheduler.count('statements: a constraint refuses');
      return { rows: error as Error, summary: 'refused by a constraint' };
    }
  }

  /** The process stops waiting; the server executes the statement when it arrives. */
  #giveUp(
    request: StatementRequest,
    {
      error,
      givenUpAfterMs,
      lateMs,
    }: NonNullable<StatementFate['late']> & Pick<StatementFate, 'error'>,
  ): string {
    const { scheduler } = this.#options;
    scheduler.after(request.owner, givenUpAfterMs, () => request.response.reject(error));
    const run = async (): Promise<string> =>
      request.requestedAt <= this.#failedOverAt
        ? 'not done'
        : (await this.#runOrRefuse(request)).summary;
    scheduler.after(this.#server, givenUpAfterMs + lateMs, () => {
      scheduler.submit({ owner: this.#server, label: `late: ${toLabel(request)}`, run });
    });
    return 'on its way';
  }

  /** A frozen process reads the response when it wakes up. */
  #sendBack({ owner, response }: StatementRequest, result: Row[] | Error): void {
    const { scheduler } = this.#options;
    const run = (): void => {
      if (result instanceof Error) response.reject(result);
      else response.resolve(result);
    };
    if (!scheduler.isFrozen(owner)) return run();
    scheduler.submit({ owner, label: `${owner.name} reads a response of the database`, run });
  }

  /**
   * @param unit the transaction that the statement belongs to; none: it is committed alone.
   * @returns the rows for the process, and their description for the trace.
   */
  async #run(request: StatementRequest, unit?: Unit): Promise<{ rows: Row[]; summary: string }> {
    const execute = unit?.execute ?? this.#options.store.db.query;
    const rows = await execute<Row>(request.statement, request.sent);
    const written = await this.#writtenBy(request, rows, execute);
    const observe = (): Promise<void> => this.#observe(request, rows, written);
    if (unit) unit.observations.push(observe);
    else await observe();
    const answered = this.#races.respond(request, rows);
    return { rows: answered, summary: this.#describe(written.length > 0 ? written : answered) };
  }

  /** Reports a statement that is committed. */
  async #observe(request: StatementRequest, rows: Row[], written: Row[]): Promise<void> {
    const { observed, statementExecuted, evidence } = this.#options;
    for (const row of [...rows, ...written].flatMap(readTransaction)) observed(row);
    if (plainName(request.statement) === 'pix-step') {
      const paying = request.calls.filter(({ toPhase }) => toPhase === 'PAYING');
      const begun = new Set(paying.map(({ id }) => id));
      for (const { id, end_to_end: endToEnd } of written) {
        if (begun.has(id)) evidence.beganPaying(request.owner, String(endToEnd));
      }
    }
    const { statement, calls } = request;
    const name = plainName(statement);
    await statementExecuted({ name, calls, rows, written });
    if (name === 'pix-repeat' && calls[0]?.['note'] === repeatNotes.unknown) {
      for (const { end_to_end: endToEnd } of written) evidence.noted(String(endToEnd));
    }
    if (writes(statement.text)) this.failover.committed();
  }

  /** The transactions that a statement may have stored or moved and does not return. */
  async #writtenBy(
    { statement, calls }: StatementRequest,
    rows: readonly Row[],
    execute: Query,
  ): Promise<Row[]> {
    const read = (text: string, ids: readonly unknown[]): Promise<Row[]> =>
      execute<Row>({ name: '', text }, [ids]);
    if (plainName(statement) === finishWebhookEvent.name) {
      return read(
        `select * from pix_transactions where id = any($1::uuid[]) order by created_at, id`,
        rows.flatMap((row) => movedBy(row, calls[Number(row['ordinal']) - 1] ?? {})),
      );
    }
    if (!silentlyWriting.has(plainName(statement)) || rows.length === 0) return [];
    return read(
      `select * from pix_transactions
        where operation in ('SEND', 'REFUND_OUT') and id::text = any($1::text[])
        order by created_at, id`,
      calls.map(({ id }) => id),
    );
  }

  #describe(rows: readonly Row[]): string {
    const { names } = this.#options;
    const words = rows.map((row) => {
      const [found] = readTransaction(row);
      if (!found) return 'row';
      const endToEnd = found.endToEnd === null ? [] : [names.of('E', found.endToEnd)];
      return [names.of('tx', found.id), ...endToEnd, found.phase, found.status].join(' ');
    });
    return words.join(', ') || 'nothing';
  }
}

type Columns = readonly (readonly unknown[])[];

/** Whether the values are those of a batch: each has the values of all calls. */
function isColumns(values: readonly unknown[]): values is Columns {
  return values.length > 0 && values.every((one) => Array.isArray(one));
}

/** The parameters of the calls of a statement, whose values may be bound already. */
function listCalls({ names = [] }: Statement, parameters: unknown): CallParameters[] {
  if (!Array.isArray(parameters)) return [parameters as CallParameters];
  if (isColumns(parameters)) return toCalls(parameters, names);
  return [Object.fromEntries(names.map((name, place) => [name, parameters[place]]))];
}

function toCalls(columns: Columns, names: readonly string[]): CallParameters[] {
  return (columns[0] ?? []).map((_, call) =>
    Object.fromEntries(names.map((name, place) => [name, columns[place]?.[call]])),
  );
}

/** Without batching, too: the store's own batcher must not change a round trip. */
function toSend({ name, text }: SentStatement): SentStatement {
  return { name, text };
}

function toLabel({ owner, statement, calls }: StatementRequest): string {
  const times = calls.length > 1 ? ` ×${calls.length}` : '';
  return `${owner.name} db ${statement.name}${times}`;
}

function sizeClass(calls: number): string {
  if (calls > 20) return 'over 20';
  return calls > 5 ? '6 to 20' : '2 to 5';
}

/** The transactions that `webhook-finish` has moved, by its row and its parameters. */
function movedBy(row: Row, parameters: CallParameters): readonly unknown[] {
  const { isFinished, movedIds: ids } = row;
  if (!isFinished) return typeof ids === 'string' ? ids.split(' ') : [];
  const moves = JSON.parse(String(parameters['moves'])) as { readonly id: string }[];
  return moves.map(({ id }) => id);
}

/** Statements that store or move the transaction of their parameter `id` without returning it. */
const silentlyWriting: ReadonlySet<string> = new Set([
  'pix-reserve-send',
  'pix-reserve-send-judged',
  'pix-reserve-return',
  'pix-step',
  'pix-repeat',
  'pix-correct',
]);

/** The transaction of a row, if it has one; some rows have the names of the database. */
function readTransaction(row: Row): readonly ProcessedRow[] {
  const isWhole = 'qrCode' in row || 'qr_code' in row;
  if (!isWhole || !('phase' in row) || row['phase'] === null) return [];
  const columns = Object.entries(row).map(([name, value]) => {
    return [name.replaceAll(/_(\w)/g, (_, letter: string) => letter.toUpperCase()), value];
  });
  return [Object.fromEntries(columns) as ProcessedRow];
}
