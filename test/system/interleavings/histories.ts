/**
 * Random interleavings: three or four operations on one state, each held before its commits, while
 * a lock on some row holds them in the middle. A seed determines which, and in which order.
 */
import { Chance } from '../../simulation/chance.ts';
import type { Catalogue } from './catalogue.ts';
import type { Course, Findings } from './explain.ts';
import { undone, type Operation, type Session } from './held.ts';
import { ifPossible, type Lane } from './lane.ts';
import { merged, type WritingMoment } from './moments.ts';
import type { Contents } from './stored.ts';

/** How likely an operation is rolled back in place of its first commit. */
const rollbacks = 0.1;
/** How likely an operation is about another order or refund of the same rows. */
const twins = 0.3;
/** How likely a row is locked for a while. */
const locks = 0.5;

/** After so many draws an operation is taken that changes no row of the others. */
const maxDraws = 20;

/** The tables whose rows are locked. */
const lockedTables = ['pix_transactions', 'webhook_events', 'webhook_queue', 'accounts', 'users'];

/** What a seed has drawn. */
interface History {
  readonly contents: Contents;
  readonly operations: readonly Operation[];
  readonly scenes: readonly string[];
}

/** Draws operations that change the same rows, mostly, and a state of their scenes. */
function drawHistory(catalogue: Catalogue, chance: Chance): History {
  const names = [...catalogue.keys()].toSorted();
  const draw = (): WritingMoment | undefined => {
    const some = catalogue.get(names[chance.below(names.length)] ?? '') ?? [];
    return some[chance.below(some.length)];
  };
  const drawn: WritingMoment[] = [];
  const count = chance.between(3, 4);
  for (let draws = 0; drawn.length < count; draws += 1) {
    const one = draw();
    const isApart = drawn.every(({ touched }) => one?.touched.isDisjointFrom(touched));
    if (one && (!isApart || draws % maxDraws === 0)) drawn.push(one);
  }
  return {
    contents: drawn.map(({ contents }) => contents).reduce((one, other) => merged(one, other)),
    operations: drawn.map(({ operation }) => {
      return chance.happens(twins) ? (operation.twin ?? operation) : operation;
    }),
    scenes: drawn.map(({ scene }) => scene),
  };
}

/** Runs the history of a seed. */
export async function tryHistory(
  lane: Lane,
  seed: number,
  { catalogue, findings }: { readonly catalogue: Catalogue; readonly findings: Findings },
): Promise<void> {
  const chance = new Chance(seed);
  const history = drawHistory(catalogue, chance);
  const run = new Run(lane, history, chance);
  const course = await ifPossible(run.course());
  if (course === null) return;
  const title = [`seed ${seed}: ${history.scenes.join(' + ')}`, ...run.steps].join('\n  ');
  await findings.judge(lane, title, course);
}

/** The operations of a history, started and ended in the order that the seed draws. */
class Run {
  readonly steps: string[] = [];
  readonly #lane: Lane;
  readonly #history: History;
  readonly #chance: Chance;
  readonly #answers: Promise<unknown>[] = [];
  readonly #committed: number[] = [];
  readonly #rolledBack = new Set<number>();

  constructor(lane: Lane, history: History, chance: Chance) {
    this.#lane = lane;
    this.#history = history;
    this.#chance = chance;
  }

  async course(): Promise<Course> {
    const { contents, operations } = this.#history;
    const lock = this.#chance.happens(locks) ? drawLock(contents, this.#chance) : null;
    const outcome = await this.#lane.outcome(contents, async (sessions) => {
      const [locking, ...others] = sessions;
      const locked = lock && locking?.start(lock, true);
      if (lock) {
        this.steps.push(lock.name);
        await locking?.paused;
      }
      while (this.#step(sessions, others)) await this.#lane.held.quiet();
      await locked;
      return Promise.all(this.#answers);
    });
    return { contents, operations, committed: this.#committed, outcome };
  }

  /**
   * Starts the next operation, or ends a transaction that is held; after a deadlock, an operation
   * goes on by itself. @returns false at the end.
   */
  #step(sessions: readonly Session[], others: readonly Session[]): boolean {
    const { operations } = this.#history;
    const next = this.#answers.length;
    const isLeft = next < operations.length;
    const held = sessions.filter(({ progress }) => progress === 'held');
    if (!isLeft && held.length === 0) return sessions.some(isRunning);
    const session = held[this.#chance.below(held.length + Number(isLeft))];
    if (session) this.#end(session, others.indexOf(session));
    else this.#start(others[next], next);
    return true;
  }

  #start(session: Session | undefined, place: number): void {
    const operation = this.#history.operations[place];
    if (!session || !operation) throw new Error('a lane has too few sessions');
    this.steps.push(`starts ${place}: ${operation.name}`);
    const answer = session.start(operation, true).finally(() => {
      if (!this.#rolledBack.has(place)) this.#committed.push(place);
    });
    this.#answers.push(answer);
  }

  /** An operation of several transactions is rolled back in its first one, or not at all. */
  #end(session: Session, place: number): void {
    const isUndone = place >= 0 && session.commits === 0 && this.#chance.happens(rollbacks);
    if (isUndone) this.#rolledBack.add(place);
    this.steps.push(`${isUndone ? 'rolls back' : 'commits'} ${place < 0 ? 'the lock' : place}`);
    session.release(isUndone ? undone : undefined);
  }
}

function isRunning({ progress }: Session): boolean {
  return progress === 'running';
}

/** A transaction that locks one row. */
function drawLock(contents: Contents, chance: Chance): Operation | null {
  const tables = lockedTables.filter((name) => contents[name]);
  const table = tables[chance.below(tables.length)];
  if (table === undefined) return null;
  const place = chance.below(contents[table]?.length ?? 0);
  const text = `select from ${table} order by ctid offset ${place} limit 1 for update`;
  const name = `locks row ${place} of ${table}`;
  return { name, key: name, run: (db) => db.query({ name: '', text }, []) };
}
