/**
 * Concurrent calls of one statement share a round trip, a plan and, where it writes, a commit.
 *
 * There is no timer: of each statement one group is under way at a time, and the calls that come
 * meanwhile are the next group. A call that comes alone goes at once, so nobody waits for company;
 * the more is asked for, the larger the groups get ("natural group commit"). A statement that takes
 * part is written for arrays: `unnest` makes a row of each call, `with ordinality` numbers them,
 * and each row of the answer says in `place` which call it belongs to.
 *
 * A call gets the answer that it would have got alone:
 *
 * - Nothing is answered before the commit that it is part of.
 * - What PostgreSQL refuses it has rolled back, so a refused group is halved until the call that is
 *   at fault stands alone: it fails, and the others do not.
 * - A lost connection tells nothing about the commit. Nothing is repeated here then: each call
 *   fails, and its caller knows whether it may be done again.
 * - Two calls that must not be in one statement, such as two moves of one row, are put into two.
 */
import { nextTurn } from '../clock.ts';
import { isDatabaseUnavailable } from './unavailable.ts';

/** How the calls of a statement may be grouped. */
export interface Grouping {
  /** The parameter, from 1, in which the calls of a group have to differ. */
  readonly apartBy?: number;
}

/** A statement as far as grouping needs to know it. */
interface GroupedStatement {
  readonly name: string;
  readonly text: string;
  readonly grouping: Grouping;
}

/** A row of a group's answer, and the call that it belongs to, from 1. */
export interface Placed {
  readonly place: number;
}

/**
 * Carries a statement out once.
 * @param columns the parameters: of each an array with the values of all calls.
 */
export type CarryOut = (
  statement: GroupedStatement,
  columns: readonly unknown[][],
) => Promise<Placed[]>;

/** More would make those wait who come first, and gain nothing. */
const mostCalls = 256;

interface Call {
  readonly parameters: readonly unknown[];
  resolve(rows: Placed[]): void;
  reject(error: unknown): void;
}

/** The groups of one database. */
export class GroupedCalls {
  readonly #carryOut: CarryOut;
  readonly #lanes = new Map<string, Lane>();

  constructor(carryOut: CarryOut) {
    this.#carryOut = carryOut;
  }

  /** @returns the rows of this call alone. */
  query(statement: GroupedStatement, parameters: readonly unknown[]): Promise<Placed[]> {
    let lane = this.#lanes.get(statement.name);
    if (!lane) {
      lane = new Lane(statement, this.#carryOut);
      this.#lanes.set(statement.name, lane);
    }
    return lane.add(parameters);
  }
}

/** The calls of one statement. */
class Lane {
  readonly #statement: GroupedStatement;
  readonly #carryOut: CarryOut;
  #waiting: Call[] = [];
  #isUnderWay = false;

  constructor(statement: GroupedStatement, carryOut: CarryOut) {
    this.#statement = statement;
    this.#carryOut = carryOut;
  }

  add(parameters: readonly unknown[]): Promise<Placed[]> {
    const { promise, resolve, reject } = Promise.withResolvers<Placed[]>();
    this.#waiting.push({ parameters, resolve, reject });
    if (!this.#isUnderWay) {
      this.#isUnderWay = true;
      // The requests that were read from their sockets in this turn of the event loop go together.
      void nextTurn().then(() => this.#next());
    }
    return promise;
  }

  #next(): void {
    const group = this.#take();
    this.#isUnderWay = group.length > 0;
    if (!this.#isUnderWay) return;
    this.#ask(group).then(
      (rows) => {
        // First the next group, so that the database works while this one is answered.
        this.#next();
        answer(group, rows);
      },
      (error: unknown) => void this.#fail(group, error).finally(() => this.#next()),
    );
  }

  #take(): Call[] {
    const { apartBy } = this.#statement.grouping;
    if (apartBy === undefined) return this.#waiting.splice(0, mostCalls);
    const group = new Map<unknown, Call>();
    const left: Call[] = [];
    for (const call of this.#waiting) {
      const value = call.parameters[apartBy - 1];
      if (group.size < mostCalls && !group.has(value)) group.set(value, call);
      else left.push(call);
    }
    this.#waiting = left;
    // Rows are locked in one order, so that the groups of two processes do not block each other.
    return [...group].sort(([one], [other]) => (String(one) < String(other) ? -1 : 1)).map(ofEntry);
  }

  async #ask(group: readonly Call[]): Promise<Placed[]> {
    const columns = (group[0]?.parameters ?? []).map((_, column) =>
      group.map(({ parameters }) => parameters[column]),
    );
    return this.#carryOut(this.#statement, columns);
  }

  async #fail(group: readonly Call[], error: unknown): Promise<void> {
    if (group.length === 1 || isDatabaseUnavailable(error)) {
      for (const call of group) call.reject(error);
      return;
    }
    const middle = Math.ceil(group.length / 2);
    for (const half of [group.slice(0, middle), group.slice(middle)]) {
      try {
        answer(half, await this.#ask(half));
      } catch (cause) {
        await this.#fail(half, cause);
      }
    }
  }
}

function ofEntry([, call]: readonly [unknown, Call]): Call {
  return call;
}

function answer(group: readonly Call[], rows: readonly Placed[]): void {
  const answers = group.map((): Placed[] => []);
  for (const row of rows) answers[Number(row.place) - 1]?.push(row);
  for (const [index, call] of group.entries()) call.resolve(answers[index] ?? []);
}
