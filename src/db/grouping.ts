/**
 * Concurrent calls of one statement share a round trip, a plan and, where it writes, a commit.
 *
 * There is no timer: of each statement one group is under way at a time, or two of statements that
 * are a pair, and the calls that come meanwhile are the next group. A call that comes alone goes at
 * once, so nobody waits for company; the more is asked for, the larger the groups get ("natural
 * group commit"). A statement that takes part is written for arrays: `unnest` makes a row of each
 * call, `with ordinality` numbers them, and each row of the answer says in `place` which call it
 * belongs to.
 *
 * A call gets the answer that it would have got alone:
 *
 * - Nothing is answered before the commit that it is part of.
 * - What PostgreSQL refuses it has rolled back, so the calls of a refused group are carried out one
 *   by one, beside the groups that follow: the one at fault fails, and the others do not. The same
 *   is done when a group waits too long for a row that somebody else has locked, so that only
 *   those wait on who want that row.
 * - A lost connection tells nothing about the commit. Nothing is repeated here then: each call
 *   fails, and its caller knows whether it may be done again.
 * - Two calls that must not be in one statement, such as two moves of one row, are put into two.
 */
import { nextTurn } from '../clock.ts';
import { isDatabaseUnavailable, isWaitTooLong } from './unavailable.ts';

/** How the calls of a statement may be grouped. */
export interface Grouping {
  /** The parameter, from 1, in which the calls of a group have to differ, unless it is null. */
  readonly apartBy?: number;
  /**
   * The parameters by which the calls of a group are put in order; `apartBy` unless they are given.
   * A statement locks rows and takes keys in the order of its calls, unless its tables are very
   * small. In one order, the groups of two processes or of a pair hardly ever block each other.
   * Where they do, their calls are carried out one by one.
   */
  readonly inOrderOf?: readonly number[];
  /**
   * The name that the statement shares with others that one request asks one after the other. Two
   * groups of a pair run at a time, so that one is carried out while the other waits for the disk
   * or is answered here. Each takes at most half of the active callers: without the limit one group
   * would absorb them all, and the two would take turns. More than two would be smaller, and cost
   * more. Only for statements whose groups may overtake each other.
   */
  readonly pair?: string;
}

/** A statement as far as grouping needs to know it. */
interface GroupedStatement {
  readonly name: string;
  readonly text: string;
  readonly grouping: Grouping;
}

/** A row of a group's answer, and the call that it belongs to, from 1. */
export interface Placed {
  /** Counted by PostgreSQL in 64 bits, which the driver gives as text. */
  readonly place: string;
}

/**
 * Carries a statement out once.
 * @param columns the parameters: of each an array with the values of all calls.
 */
export type CarryOut = (
  statement: GroupedStatement,
  columns: readonly unknown[][],
) => Promise<Placed[]>;

/** The ways to carry a statement out. */
export interface Ways {
  /** For many calls: it does not wait long for a lock. */
  readonly together: CarryOut;
  /** For one call: it may wait. */
  readonly alone: CarryOut;
}

/** More would make those wait who come first, and gain nothing. */
const mostCalls = 256;

interface Call {
  readonly statement: GroupedStatement;
  readonly parameters: readonly unknown[];
  resolve(rows: Placed[]): void;
  reject(error: unknown): void;
}

/** Calls of one statement that are carried out together, in the order in which it gets them. */
interface Group {
  readonly statement: GroupedStatement;
  readonly calls: readonly Call[];
}

/** The groups of one database. */
export class GroupedCalls {
  readonly #ways: Ways;
  readonly #queues = new Map<string, Queue>();

  constructor(ways: Ways) {
    this.#ways = ways;
  }

  /** @returns the rows of this call alone. */
  query(statement: GroupedStatement, parameters: readonly unknown[]): Promise<Placed[]> {
    const { pair } = statement.grouping;
    const name = pair ?? statement.name;
    let queue = this.#queues.get(name);
    if (!queue) {
      queue = new Queue(this.#ways, pair === undefined ? 1 : 2);
      this.#queues.set(name, queue);
    }
    return queue.add(statement, parameters);
  }
}

/** The calls of one statement, or of those of a pair. */
class Queue {
  readonly #ways: Ways;
  readonly #mostGroups: number;
  /** In the order in which they came. */
  #waiting: Call[] = [];
  #isBeginning = false;
  /** The groups that are under way, and the calls in them. */
  #groups = 0;
  #calls = 0;
  /** How many calls the group had that was answered last; 0 after a rest. */
  #answered = 0;

  constructor(ways: Ways, mostGroups: number) {
    this.#ways = ways;
    this.#mostGroups = mostGroups;
  }

  add(statement: GroupedStatement, parameters: readonly unknown[]): Promise<Placed[]> {
    const { promise, resolve, reject } = Promise.withResolvers<Placed[]>();
    this.#waiting.push({ statement, parameters, resolve, reject });
    this.#beginWithThisTurn();
    return promise;
  }

  /** The requests that are read from their sockets in this turn of the event loop go together. */
  #beginWithThisTurn(): void {
    if (this.#isBeginning || this.#groups === this.#mostGroups) return;
    this.#isBeginning = true;
    void nextTurn().then(() => {
      this.#isBeginning = false;
      this.#begin();
    });
  }

  /** Who has waited longest goes first, with those who wait for the same statement. */
  #begin(): void {
    for (;;) {
      const [first] = this.#waiting;
      if (!first || this.#groups === this.#mostGroups) break;
      void this.#carryOut(this.#take(first.statement));
    }
    if (this.#groups === 0) this.#answered = 0;
  }

  async #carryOut(group: Group): Promise<void> {
    const { length } = group.calls;
    this.#groups += 1;
    this.#calls += length;
    await this.#ask('together', group).then(
      (rows) => answer(group, rows),
      (error: unknown) => this.#fail(group, error),
    );
    this.#groups -= 1;
    this.#calls -= length;
    this.#answered = length;
    this.#beginWithThisTurn();
  }

  #take(statement: GroupedStatement): Group {
    const { apartBy, inOrderOf = apartBy === undefined ? [] : [apartBy] } = statement.grouping;
    const most = this.#most();
    const calls: Call[] = [];
    const left: Call[] = [];
    const values = new Set<unknown>();
    for (const call of this.#waiting) {
      const isAsked = call.statement.name === statement.name;
      const value = apartBy === undefined ? null : (call.parameters[apartBy - 1] ?? null);
      if (isAsked && calls.length < most && !values.has(value)) calls.push(call);
      else left.push(call);
      if (isAsked && value !== null) values.add(value);
    }
    this.#waiting = left;
    if (inOrderOf.length > 0) calls.sort(byValuesOf(inOrderOf));
    return { statement, calls };
  }

  /** About half of those who wait, who are under way, and who have just been answered. */
  #most(): number {
    if (this.#mostGroups === 1 || this.#answered === 0) return mostCalls;
    const calls = this.#waiting.length + this.#calls + this.#answered;
    return Math.min(mostCalls, Math.ceil(calls / 2));
  }

  async #ask(way: keyof Ways, { statement, calls }: Group): Promise<Placed[]> {
    const columns = (calls[0]?.parameters ?? []).map((_, column) =>
      calls.map(({ parameters }) => asSent(parameters[column])),
    );
    return this.#ways[way](statement, columns);
  }

  #fail({ statement, calls }: Group, error: unknown): void {
    const isOver = isDatabaseUnavailable(error) || (calls.length === 1 && !isWaitTooLong(error));
    for (const call of calls) {
      if (isOver) call.reject(error);
      else this.#ask('alone', { statement, calls: [call] }).then(call.resolve, call.reject);
    }
  }
}

/** The driver writes points in time part by part, in the zone of the process. */
function asSent(value: unknown): unknown {
  if (!(value instanceof Date)) return value;
  const atMs = value.getTime();
  if (atMs !== lastInstant.atMs) lastInstant = { atMs, text: value.toISOString() };
  return lastInstant.text;
}

/** The calls of a group come within a millisecond or two: most of a column is one point in time. */
let lastInstant = { atMs: Number.NaN, text: '' };

function byValuesOf(places: readonly number[]): (one: Call, other: Call) => number {
  return (one, other) => {
    for (const place of places) {
      const left = String(one.parameters[place - 1]);
      const right = String(other.parameters[place - 1]);
      // Numbers come as digits: a shorter one is less.
      if (left !== right) return left.length - right.length || (left < right ? -1 : 1);
    }
    return 0;
  };
}

function answer({ calls }: Group, rows: readonly Placed[]): void {
  const answers = calls.map((): Placed[] => []);
  for (const row of rows) answers[Number(row.place) - 1]?.push(row);
  for (const [index, call] of calls.entries()) call.resolve(answers[index] ?? []);
}
