/** Whether an outcome is that of the operations one after the other, in some order. */
import { accepted, deadlock, repeated, type Excuse } from './excuses.ts';
import type { Operation } from './held.ts';
import { difference, type Lane } from './lane.ts';
import type { Contents, Outcome } from './stored.ts';

/** What has run on a state, and its outcome. */
export interface Course {
  readonly contents: Contents;
  readonly operations: readonly Operation[];
  /** The places of the operations that have committed, in the order of their ends. */
  readonly committed: readonly number[];
  readonly outcome: Outcome;
}

/** What was found; a problem is a text of several lines. */
export class Findings {
  readonly counts = { run: 0, excused: 0 };
  readonly problems: string[] = [];
  /** The excuses that were needed. */
  readonly excuses = new Set<Excuse>();

  /** Judges a course. @param title what shows how to run it again. */
  async judge(lane: Lane, title: string, course: Course): Promise<void> {
    this.counts.run += 1;
    const { excuses, differences } = await explain(lane, course);
    if (excuses === null) this.problems.push([title, ...differences].join('\n  '));
    if (!excuses || excuses.length === 0) return;
    this.counts.excused += 1;
    for (const one of excuses) this.excuses.add(one);
    const broken = await brokenBy(lane, course);
    if (broken.length > 0) this.problems.push([title, 'breaks', ...broken].join('\n  '));
  }
}

interface Explanation {
  /** The excuses of an outcome; none: it is that of an order. Null: nothing explains it. */
  readonly excuses: readonly Excuse[] | null;
  /** What differs from the order in which the operations have ended. */
  readonly differences: readonly string[];
}

async function explain(lane: Lane, course: Course): Promise<Explanation> {
  const { operations, committed } = course;
  const orders: (readonly string[])[] = [];
  for (const order of permutations(committed)) {
    const differences = await compare(lane, course, order);
    if (differences.length === 0) return { excuses: [], differences };
    orders.push(differences);
  }
  const ofPairs = accepted.filter(({ names }) =>
    pairsOf(operations).some((two) => names.test(two)),
  );
  for (const differences of orders) {
    const needed = excuse(differences, ofPairs);
    if (needed) return { excuses: needed, differences };
  }
  for (const left of subsets(repeatable(course))) {
    const places = left.map(({ place }) => place);
    const rest = committed.filter((place) => !places.includes(place));
    const ofLeft = left.map(({ one }) => one);
    for (const order of left.length === 0 ? [] : permutations(rest)) {
      const differences = await compare(lane, course, order);
      const needed = excuse(differences, [...ofLeft, ...ofPairs]);
      if (needed) return { excuses: [...ofLeft, ...needed], differences };
    }
  }
  const [differences = []] = orders;
  return { excuses: null, differences };
}

/**
 * Compares an outcome with that of an order. An operation that is not in it, because it was rolled
 * back or is run again, has answered nothing that matters.
 */
export async function compare(
  lane: Lane,
  { contents, operations, outcome }: Course,
  order: readonly number[],
): Promise<string[]> {
  const expected = await lane.inOrder(contents, operations, order);
  const of = ({ rows: { answers = [], ...tables } }: Outcome) => {
    const those = order
      .toSorted((one, other) => one - other)
      .map((place) => `${place} ${answers[place] ?? ''}`);
    return { ...tables, answers: those };
  };
  return difference(of(outcome), of(expected));
}

/** @returns the excuses that the differences need, or null when they do not suffice. */
function excuse(differences: readonly string[], excuses: readonly Excuse[]): Excuse[] | null {
  const needed = differences.map((line) => excuses.find(({ only }) => isCovered(line, only)));
  if (!needed.every((one) => one !== undefined)) return null;
  return needed.every(({ isEnough }) => isEnough?.(differences) ?? true)
    ? [...new Set(needed)]
    : null;
}

function isCovered(line: string, only: RegExp): boolean {
  return only.test(line) && (!line.includes(deadlock) || only.source.includes(deadlock));
}

/** The operations that say that they must be run again. */
function repeatable({ operations, committed, outcome: { rows } }: Course) {
  return committed.flatMap((place) => {
    const [name, answer] = [operations[place]?.name ?? '', rows['answers']?.[place] ?? ''];
    const one = repeated.find((some) => some.names.test(name) && some.answer.test(answer));
    return one ? [{ place, one }] : [];
  });
}

/** The names of each two of the operations, in both orders. */
function pairsOf(operations: readonly Operation[]): string[] {
  return operations.flatMap((one, place) =>
    operations.toSpliced(place, 1).map((other) => `${one.name} | ${other.name}`),
  );
}

/** The invariants of `ponte pix audit` that the outcome breaks, and that of no order does. */
async function brokenBy(lane: Lane, course: Course): Promise<string[]> {
  const { contents, operations, committed, outcome } = course;
  const before = new Set<string>();
  for (const order of [committed, committed.toReversed()]) {
    const one = await lane.inOrder(contents, operations, order);
    for (const name of await lane.broken(one.contents)) before.add(name);
  }
  return (await lane.broken(outcome.contents)).filter((name) => !before.has(name));
}

/** @returns all orders; the given one is the first. */
function permutations(places: readonly number[]): number[][] {
  if (places.length === 0) return [[]];
  return places.flatMap((place, index) =>
    permutations(places.toSpliced(index, 1)).map((rest) => [place].concat(rest)),
  );
}

function subsets<Item extends object>(items: readonly Item[]): Item[][] {
  const [first, ...others] = items;
  if (first === undefined) return [[]];
  const rest = subsets(others);
  return rest.concat(rest.map((one) => [first].concat(one)));
}
