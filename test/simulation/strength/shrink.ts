/** Shrinks a failing seed: disables its parts while it still fails in the same way. */
import { Chance } from '../chance.ts';
import { defaultHazards, type Hazard } from '../hazards.ts';
import { simulate, type SimulateOptions, type Verdict } from '../simulate.ts';
import type { Store } from '../store.ts';
import { drawFaultProfile, noFaults, type FaultProfile } from '../fault-profile.ts';

/**
 * Removes parts one by one, repeatedly, until each remaining part is needed.
 * @param stillFails whether the seed fails with these parts alone.
 */
export async function smallest<Part>(
  parts: readonly Part[],
  stillFails: (left: readonly Part[]) => Promise<boolean>,
): Promise<readonly Part[]> {
  let left = parts;
  for (const part of parts) {
    const fewer = left.filter((one) => one !== part);
    if (await stillFails(fewer)) left = fewer;
  }
  return left.length === parts.length ? left : smallest(left, stillFails);
}

/** A violation without the numbers and names that differ between histories. */
export function getKind(violation: string): string {
  return violation.replaceAll(/\S*\d\S*/g, '#').replaceAll(/"[^"]*"|\{.*/g, '#');
}

export interface Shrunk {
  /** The clients that the failure needs; `wishes` are their requests. */
  readonly clients: readonly string[];
  readonly wishes: readonly string[];
  /** The faults that the failure needs. */
  readonly profile: readonly (keyof FaultProfile)[];
  readonly hazards: readonly Hazard[];
  readonly verdict: Verdict;
}

/** The parts of a seed that a trial keeps. */
type Kept = Omit<Shrunk, 'verdict'>;

/**
 * Shrinks a seed that fails: first its clients, then their requests, its faults and the hazards.
 * @returns null when the seed does not fail.
 */
export async function shrink(
  store: Store,
  seed: number,
  options: SimulateOptions = {},
): Promise<Shrunk | null> {
  const { hazards = defaultHazards, deviation = {} } = options;
  const drawn = { ...drawFaultProfile(new Chance(seed)), ...deviation.profile };
  const names = Object.keys(drawn) as (keyof FaultProfile)[];
  const faults = names.filter((name) => drawn[name] !== noFaults[name]);
  let verdict = await simulate(store, seed, options);
  const [violation] = verdict.violations;
  if (violation === undefined) return null;
  const clients = verdict.clients.map(({ name }) => name);
  const wishes = verdict.clients.flatMap(({ wished }) => wished);
  const all = new Set([...clients, ...wishes]);
  let kept: Kept = { clients, wishes, profile: faults, hazards: [...hazards] };
  const failsAlike = async (trial: Kept): Promise<boolean> => {
    const calm = faults.filter((name) => !trial.profile.includes(name));
    const fair = Object.fromEntries(calm.map((name) => [name, noFaults[name]]));
    const profile = { ...deviation.profile, ...fair };
    const leftOut = all.difference(new Set([...trial.clients, ...trial.wishes]));
    const tried = await simulate(store, seed, {
      ...options,
      hazards: new Set(trial.hazards),
      deviation: { ...deviation, profile, leftOut },
    });
    const isAlike = tried.violations.some((one) => getKind(one) === getKind(violation));
    if (isAlike) [verdict, kept] = [tried, trial];
    return isAlike;
  };
  await smallest(clients, (left) => failsAlike({ ...kept, clients: left }));
  const remaining = verdict.clients.filter(({ name }) => kept.clients.includes(name));
  kept = { ...kept, wishes: remaining.flatMap(({ wished }) => wished) };
  for (const wish of kept.wishes) all.add(wish);
  await smallest(kept.wishes, (left) => failsAlike({ ...kept, wishes: left }));
  await smallest(faults, (left) => failsAlike({ ...kept, profile: left }));
  await smallest([...hazards], (left) => failsAlike({ ...kept, hazards: left }));
  return { ...kept, verdict };
}

/** The smallest set with its trace, for the command line. */
export function shrunkText({ clients, wishes, profile, hazards, verdict }: Shrunk): string {
  return [
    ...verdict.trace,
    ...verdict.violations.map((violation) => `seed ${verdict.seed}: ${violation}`),
    `needed of its clients: ${clients.join(', ') || 'none'}`,
    `needed of what they want: ${wishes.join(', ') || 'none'}`,
    `needed of its faults: ${profile.join(', ') || 'none'}`,
    `needed of the hazards: ${hazards.join(', ') || 'none'}`,
  ].join('\n');
}
