/** Pairs of operations: the second one runs while the first one is held before its commit. */
import type { Catalogue } from './catalogue.ts';
import { compare, type Course, type Findings } from './explain.ts';
import { undone, type Operation } from './held.ts';
import { ifPossible, type Lane } from './lane.ts';
import { merged } from './moments.ts';
import type { Contents } from './stored.ts';

/**
 * In how many states a pair is tried: in some in which both change the same rows, until they have
 * met in two, and in one in which they do not.
 */
const maxSharing = 4;
const maxTwins = 4;
const maxApart = 1;
const maxMeetings = 2;

/** The names of two operations: of the one that is held, and of the other. */
export type Names = readonly [string, string];

interface Pair {
  readonly operations: readonly [Operation, Operation];
  readonly contents: Contents;
  readonly title: string;
}

/** How many states were tried, in how many one waited, and how many pairs of names have met. */
export interface PairCounts {
  tried: number;
  waited: number;
  met: number;
}

/** The names of all pairs. */
export function pairsOf(catalogue: Catalogue): Names[] {
  const names = [...catalogue.keys()].toSorted();
  return names.flatMap((first) => names.map((second): Names => [first, second]));
}

/**
 * Both operations in states that have the rows of the one, and what they lack of the other's: where
 * both change the same rows, also with the twin of the second one, and where they do not.
 */
function statesOf(catalogue: Catalogue, [first, second]: Names): Pair[][] {
  const both = (catalogue.get(first) ?? []).flatMap((one) =>
    (catalogue.get(second) ?? []).map((other) => ({
      operations: [one.operation, other.operation] as const,
      contents: [one.contents, other.contents] as const,
      title: `${first} | ${second} in ${one.scene} + ${other.scene}`,
      isApart: one.touched.isDisjointFrom(other.touched),
    })),
  );
  const sharing = both.filter(({ isApart }) => !isApart);
  const twins = sharing.flatMap(({ operations: [one, { twin }], title, ...rest }) =>
    twin ? [{ ...rest, operations: [one, twin] as const, title: `${title}, its twin` }] : [],
  );
  const apart = both.filter(({ isApart }) => isApart);
  const chosen = [spread(sharing, maxSharing), spread(twins, maxTwins), spread(apart, maxApart)];
  return chosen.map((some) =>
    some.map((pair) => ({ ...pair, contents: merged(...pair.contents) })),
  );
}

/** @returns so many of the items, from the whole list. */
function spread<Item>(items: readonly Item[], count: number): Item[] {
  const step = Math.max(1, Math.ceil(items.length / count));
  return items.filter((_, place) => place % step === 0);
}

/** Tries a pair of names in some states of each kind, until its operations have met in enough. */
export async function tryPair(lane: Lane, names: Names, request: PairRequest): Promise<void> {
  let met = 0;
  for (const pairs of statesOf(request.catalogue, names)) {
    let meetings = 0;
    for (const pair of pairs) {
      if (meetings === maxMeetings) break;
      if (await ifPossible(tryState(lane, pair, request))) meetings += 1;
    }
    met += meetings;
  }
  if (met > 0) request.counts.met += 1;
}

/** @returns whether the second operation has waited for the first one. */
async function tryState(
  lane: Lane,
  pair: Pair,
  { findings, counts }: PairRequest,
): Promise<boolean> {
  const held = await hold(lane, pair);
  counts.tried += 1;
  await findings.judge(lane, pair.title, held);
  if (!held.isWaiting) return false;
  counts.waited += 1;
  // What the second one does when the first one rolls back is what it does alone.
  const differences = await compare(lane, await hold(lane, pair, undone), [1]);
  if (differences.length > 0) {
    findings.problems.push([`${pair.title}, rolled back`, ...differences].join('\n  '));
  }
  return true;
}

interface PairRequest {
  readonly catalogue: Catalogue;
  readonly findings: Findings;
  readonly counts: PairCounts;
}

/**
 * Runs the second one while the first one is held, and then ends the first one.
 * @returns what has happened, and whether the second one has waited for the first one.
 */
async function hold(
  lane: Lane,
  { contents, operations }: Pair,
  end?: Error,
): Promise<Course & { readonly isWaiting: boolean }> {
  let isWaiting = false;
  const outcome = await lane.outcome(contents, async ([one, other]) => {
    const first = one?.start(operations[0], true);
    await one?.paused;
    const second = other?.start(operations[1], false);
    await lane.held.quiet();
    isWaiting = other?.progress === 'running';
    while (one?.progress === 'held') {
      one.release(end);
      await lane.held.quiet();
    }
    return [await first, await second];
  });
  return { contents, operations, committed: isWaiting ? [0, 1] : [1, 0], outcome, isWaiting };
}
