/** A database of its own, on which operations run one after the other or interleaved. */
import { auditPix } from '../../../src/operator/pix-audit.ts';
import type { LocalContext } from '../../../src/context/context.ts';
import { isConstraintViolation } from '../../../src/db/unavailable.ts';
import { moment } from '../../simulation/strength/stage.ts';
import { createTestDatabase } from '../../support/db.ts';
import { HeldDatabase, type Operation, type Session } from './held.ts';
import {
  idsIn,
  makeOutcome,
  Stored,
  type Comparable,
  type Contents,
  type Outcome,
} from './stored.ts';

/** How many states are restored between two vacuums: deleted rows take space until then. */
const restoresBetweenVacuums = 400;

/** The rows of two scenes cannot be stored together. */
class ImpossibleState extends Error {}

/** @returns null when the state of the work is impossible. */
export async function ifPossible<Result>(work: Promise<Result>): Promise<Result | null> {
  try {
    return await work;
  } catch (error) {
    if (error instanceof ImpossibleState) return null;
    throw error;
  }
}

export class Lane {
  readonly held: HeldDatabase;
  readonly stored: Stored;
  readonly #drop: () => Promise<void>;
  #restores = 0;

  private constructor(held: HeldDatabase, stored: Stored, drop: () => Promise<void>) {
    this.held = held;
    this.stored = stored;
    this.#drop = drop;
  }

  static async open(sessions: number): Promise<Lane> {
    const database = await createTestDatabase({ isOwn: true });
    const held = await HeldDatabase.open(database.ownerUrl ?? '', sessions);
    const stored = await Stored.open((sql) => held.rows(sql));
    return new Lane(held, stored, () => database.drop());
  }

  async close(): Promise<void> {
    await this.held.close();
    await this.#drop();
  }

  /** Restores a state, and runs what is given. @returns the rows afterwards, and the answers. */
  async outcome(
    contents: Contents,
    work: (sessions: readonly Session[]) => Promise<readonly unknown[]>,
  ): Promise<Outcome> {
    this.#restores += 1;
    if (this.#restores % restoresBetweenVacuums === 0) await this.held.rows('vacuum');
    await this.#restore(contents);
    const answers = await work(this.held.sessions);
    return makeOutcome(await this.stored.read(), answers, idsIn(contents));
  }

  async #restore(contents: Contents): Promise<void> {
    try {
      await this.stored.restore(contents);
    } catch (error) {
      throw isConstraintViolation(error) ? new ImpossibleState() : error;
    }
  }

  /** Runs operations one after the other, in the order of their places. */
  inOrder(
    contents: Contents,
    operations: readonly Operation[],
    order: readonly number[] = operations.map((_, place) => place),
  ): Promise<Outcome> {
    return this.outcome(contents, async ([session]) => {
      const answers: unknown[] = operations.map(() => 'not run');
      for (const place of order) {
        const [operation] = operations.slice(place);
        if (operation) answers[place] = await session?.start(operation, false);
      }
      return answers;
    });
  }

  /** The invariants of `ponte pix audit` that rows break. */
  async broken(contents: Contents): Promise<string[]> {
    await this.stored.restore(contents);
    const [session] = this.held.sessions;
    const parts = { db: session?.database(), clock: { now: () => moment.later } };
    const context = { ...parts, stopping: AbortSignal.any([]) } as unknown as LocalContext;
    const { invariants } = await auditPix.run(context, {}, { progress: () => undefined } as never);
    return invariants.filter(({ broken }) => broken > 0).map(({ name }) => name);
  }
}

/** @returns the rows and the answers that two outcomes do not share, a line each. */
export function difference(found: Comparable, expected: Comparable): string[] {
  const tables = Object.keys({ ...found, ...expected });
  return tables.flatMap((table) => {
    const [here, there] = [count(found[table]), count(expected[table])];
    const texts = [...new Set([...here.keys(), ...there.keys()])];
    const changed = texts.filter((text) => here.get(text) !== there.get(text));
    return changed.map((text) => {
      const isMore = (here.get(text) ?? 0) > (there.get(text) ?? 0);
      return `${isMore ? '+' : '-'} ${table} ${text}`;
    });
  });
}

function count(texts: readonly string[] = []): Map<string, number> {
  const counts = new Map<string, number>();
  for (const text of texts) counts.set(text, (counts.get(text) ?? 0) + 1);
  return counts;
}
