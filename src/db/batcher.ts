/**
 * The query batcher: concurrent calls of one statement share a round trip, a plan and, where the
 * statement writes, a commit.
 *
 * There is no timer. Each statement has one batch in flight, or two if it has a lane, and the calls
 * that arrive meanwhile form the next batch. When no batch is in flight, a call is sent at once;
 * only background work (`after`) waits for more calls. The higher the load, the larger the batches
 * ("natural group commit"). A batched statement takes arrays: `unnest` makes a row of each call,
 * `with ordinality` numbers the rows, and each result row has the number of its call in `ordinal`.
 * A batch of one call is a statement without arrays, from the same declaration.
 *
 * A call gets the result that it would get without batching:
 *
 * - It gets its result only after its batch is committed.
 * - PostgreSQL rolls back a batch that it refuses, so its calls are then run one by one, beside the
 *   batches that follow: the faulty call fails, and the others succeed. The same happens to a batch
 *   that waits too long for a locked row, so that only the calls that need the row wait for it.
 * - After a lost connection it is unknown whether the batch was committed. It is not repeated: each
 *   call fails, and its caller knows whether the call may be repeated.
 * - Two calls that must not be in one statement, such as two moves of one row, are in two batches.
 */
import { inNextTurn } from '../clock.ts';
import { isDatabaseUnavailable, isWaitTooLong } from './unavailable.ts';

/** How the calls of a statement are batched. */
export interface Batching<Name extends string = string> {
  /** The parameter in which the calls of a batch must differ, unless it is null. */
  readonly conflictKey?: Name;
  /**
   * The parameters that the calls of a batch are sorted by; `conflictKey` by default. A statement
   * locks rows and inserts keys in the order of its calls, unless its tables are very
   * small. With a common order, concurrent batches of two processes or of a lane rarely block each
   * other. If they do, their calls are run one by one.
   */
  readonly lockOrder?: readonly Name[];
  /**
   * The name of a queue that several statements share: those that one request runs in turn. A lane
   * has two batches in flight: one runs while the other waits for the disk or while this process
   * reads its results. Each takes at most half of the active calls; otherwise one batch would take
   * them all, and the two would alternate. The second starts when at least as many calls wait as
   * the first has: smaller batches would cost a send 8 % more CPU, and a read 14 %. More than two
   * batches would also be smaller. Use it only where batches may overtake each other.
   */
  readonly lane?: string;
  /**
   * The leading statement, whose calls cause the calls of this one. No request waits for this one.
   * While the leading statement is busy, a call waits until four of its batches have ended, and one
   * batch then does the work of all four. Fewer batches and commits save 9 % of the
   * CPU of a settled webhook; gathering two batches saves half of that, and eight save no more.
   * While the leading statement is idle, no call waits.
   */
  readonly after?: LeadingStatement;
}

/** A statement that others come after. */
export interface LeadingStatement {
  readonly name: string;
  readonly batching?: Batching;
}

/** What the server gets. Named texts are prepared once per connection. */
export interface Prepared {
  readonly name: string;
  readonly text: string;
}

/** A statement of `batchedStatement`. */
export interface BatchedStatement extends Prepared {
  /** The names of its parameters, in their order. */
  readonly names: readonly string[];
  readonly batching: Batching;
  /** Its form for a batch of one call; without it, such a batch has arrays of one value. */
  readonly alone?: Prepared;
}

/** The parameters of a call, by their names. */
export type CallParameters = Readonly<Record<string, unknown>>;

/** A row of a batch's result. */
export interface OrdinalRow {
  /** The number of its call, from 1, as text: the driver does not convert 64-bit integers. */
  readonly ordinal: string;
}

/**
 * Runs a statement once.
 * @param statement the batched form of one, or the form for one call.
 * @param values the parameters: for a batch, each as an array with the values of all calls.
 */
export type RunBatch = (
  statement: Prepared & Partial<Pick<BatchedStatement, 'names'>>,
  values: readonly unknown[],
) => Promise<OrdinalRow[]>;

export interface BatchRunners {
  /** For several calls: it waits for a lock only briefly. */
  readonly batched: RunBatch;
  /** For one call: it may wait. */
  readonly single: RunBatch;
}

/** The largest batch: a larger one would delay its first calls without saving CPU. */
const maxCalls = 256;

/** How many batches of the leading statement ({@link Batching.after}) a call waits for. */
const gatheredBatches = 4;

interface Call {
  readonly statement: BatchedStatement;
  readonly parameters: CallParameters;
  resolve(rows: OrdinalRow[]): void;
  reject(error: unknown): void;
}

/** Calls of one statement that are run together, sorted by its `lockOrder`. */
interface Batch {
  readonly statement: BatchedStatement;
  readonly calls: readonly Call[];
}

/** The batches of one database. */
export class QueryBatcher {
  readonly #runners: BatchRunners;
  readonly #queues = new Map<string, Queue>();

  constructor(runners: BatchRunners) {
    this.#runners = runners;
  }

  /** @returns the rows of this call. */
  query(statement: BatchedStatement, parameters: CallParameters): Promise<OrdinalRow[]> {
    const { after } = statement.batching;
    const queue = this.#queueOf(statement);
    if (after !== undefined) queue.follow(this.#queueOf(after));
    return queue.add(statement, parameters);
  }

  #queueOf({ name, batching: { lane } = {} }: LeadingStatement): Queue {
    const known = this.#queues.get(lane ?? name);
    if (known) return known;
    const queue = new Queue(this.#runners, lane === undefined ? 1 : 2);
    this.#queues.set(lane ?? name, queue);
    return queue;
  }
}

/** The calls of one statement, or of those of a lane. */
class Queue {
  readonly #runners: BatchRunners;
  readonly #maxBatches: number;
  /** In order of arrival. */
  #waiting: Call[] = [];
  #isStarting = false;
  /** The batches in flight, and their calls. */
  #batches = 0;
  #calls = 0;
  /** How many calls the last finished batch had; 0 after an idle period. */
  #finished = 0;
  /** How many batches have ended. */
  #ended = 0;
  /** The queue that this one follows, and the `#ended` of that queue to wait for. */
  #leader: Queue | null = null;
  #leaderEnded = 0;
  readonly #followers = new Set<Queue>();

  constructor(runners: BatchRunners, maxBatches: number) {
    this.#runners = runners;
    this.#maxBatches = maxBatches;
  }

  /** See {@link Batching.after}. */
  follow(leader: Queue): void {
    this.#leader = leader;
    leader.#followers.add(this);
  }

  add(statement: BatchedStatement, parameters: CallParameters): Promise<OrdinalRow[]> {
    if (this.#leader && this.#waiting.length === 0) {
      this.#leaderEnded = this.#leader.#ended + gatheredBatches;
    }
    const { promise, resolve, reject } = Promise.withResolvers<OrdinalRow[]>();
    this.#waiting.push({ statement, parameters, resolve, reject });
    this.#startAfterThisTurn();
    return promise;
  }

  /** Requests that are read from their sockets in one turn of the event loop share a batch. */
  #startAfterThisTurn(): void {
    if (this.#isStarting || this.#batches === this.#maxBatches) return;
    this.#isStarting = true;
    inNextTurn(() => {
      this.#isStarting = false;
      this.#start();
    });
  }

  /** Starts batches: each has the statement of the call that has waited longest. */
  #start(): void {
    for (;;) {
      const [first] = this.#waiting;
      if (!first || this.#batches === this.#maxBatches) break;
      if (this.#isGathering() || !this.#isWorthBatch(first)) break;
      this.#run(this.#takeBatch(first.statement));
    }
    if (this.#batches === 0) this.#finished = 0;
    for (const follower of this.#followers) follower.#start();
  }

  /** Whether at least as many calls of the statement wait as are in flight. */
  #isWorthBatch({ statement: { name } }: Call): boolean {
    if (this.#batches === 0) return true;
    const sameCalls = this.#waiting.filter(({ statement }) => statement.name === name);
    return sameCalls.length >= this.#calls;
  }

  /** Whether to wait for more calls; the leader calls `#start` when its own state changes. */
  #isGathering(): boolean {
    if (!this.#leader) return false;
    const isIdle = this.#leader.#batches === 0 && this.#leader.#waiting.length === 0;
    return !isIdle && this.#leader.#ended < this.#leaderEnded;
  }

  #run(batch: Batch): void {
    this.#batches += 1;
    this.#calls += batch.calls.length;
    this.#send('batched', batch).then(
      (rows) => {
        resolveCalls(batch, rows);
        this.#end(batch);
      },
      (error: unknown) => {
        this.#fail(batch, error);
        this.#end(batch);
      },
    );
  }

  #end({ calls: { length } }: Batch): void {
    this.#batches -= 1;
    this.#calls -= length;
    this.#finished = length;
    this.#ended += 1;
    this.#startAfterThisTurn();
  }

  #takeBatch(statement: BatchedStatement): Batch {
    if (this.#waiting.length === 1) return { statement, calls: this.#waiting.splice(0) };
    const { conflictKey, lockOrder = conflictKey === undefined ? [] : [conflictKey] } =
      statement.batching;
    const limit = this.#batchLimit();
    const calls: Call[] = [];
    const remaining: Call[] = [];
    const keys = new Set<unknown>();
    for (const call of this.#waiting) {
      const isSame = call.statement.name === statement.name;
      const key = conflictKey === undefined ? null : (call.parameters[conflictKey] ?? null);
      if (isSame && calls.length < limit && !keys.has(key)) calls.push(call);
      else remaining.push(call);
      if (isSame && key !== null) keys.add(key);
    }
    this.#waiting = remaining;
    if (lockOrder.length > 0) calls.sort(compareBy(lockOrder));
    return { statement, calls };
  }

  /** In a lane, about half of the calls that wait, are in flight, or have just finished. */
  #batchLimit(): number {
    if (this.#maxBatches === 1 || this.#finished === 0) return maxCalls;
    const calls = this.#waiting.length + this.#calls + this.#finished;
    return Math.min(maxCalls, Math.ceil(calls / 2));
  }

  async #send(runner: keyof BatchRunners, { statement, calls }: Batch): Promise<OrdinalRow[]> {
    const { names, alone } = statement;
    const [only] = calls;
    if (alone && only && calls.length === 1) {
      const values = names.map((name) => toDriver(only.parameters[name]));
      return this.#runners[runner](alone, values);
    }
    const columns = names.map((name) => calls.map(({ parameters }) => toDriver(parameters[name])));
    return this.#runners[runner](statement, columns);
  }

  #fail({ statement, calls }: Batch, error: unknown): void {
    const isFinal = isDatabaseUnavailable(error) || (calls.length === 1 && !isWaitTooLong(error));
    for (const call of calls) {
      if (isFinal) call.reject(error);
      else this.#send('single', { statement, calls: [call] }).then(call.resolve, call.reject);
    }
  }
}

/** Formats dates here: the driver's own formatting, field by field in local time, is slower. */
function toDriver(value: unknown): unknown {
  if (!(value instanceof Date)) return value;
  const atMs = value.getTime();
  if (atMs !== lastInstant.atMs) lastInstant = { atMs, text: value.toISOString() };
  return lastInstant.text;
}

/** The calls of a batch arrive within a millisecond or two: most dates of a column are equal. */
let lastInstant = { atMs: Number.NaN, text: '' };

function compareBy(lockOrder: readonly string[]): (one: Call, other: Call) => number {
  return (one, other) => {
    for (const parameter of lockOrder) {
      const left = String(one.parameters[parameter]);
      const right = String(other.parameters[parameter]);
      // Numbers are compared as digits: a shorter one is less.
      if (left !== right) return left.length - right.length || (left < right ? -1 : 1);
    }
    return 0;
  };
}

function resolveCalls({ calls }: Batch, rows: OrdinalRow[]): void {
  const [only] = calls;
  if (only && calls.length === 1) return only.resolve(rows);
  const results = calls.map((): OrdinalRow[] => []);
  for (const row of rows) results[Number(row.ordinal) - 1]?.push(row);
  for (const [index, call] of calls.entries()) call.resolve(results[index] ?? []);
}
