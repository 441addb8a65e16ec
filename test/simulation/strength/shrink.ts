/** Makes a failing seed smaller: what it brings is switched off, as far as it still fails alike. */
import { Chance } from '../chance.ts';
import { defaultHazards, type Hazard } from '../hazards.ts';
import { simulate, type SimulateOptions, type Verdict } from '../simulate.ts';
import type { Store } from '../store.ts';
import { drawWeather, fairWeather, type Weather } from '../weather.ts';

/**
 * Takes parts away one by one, again and again, until each that is left is needed.
 * @param holds whether it still fails with these parts alone.
 */
export async function smallest<Part>(
  parts: readonly Part[],
  holds: (left: readonly Part[]) => Promise<boolean>,
): Promise<readonly Part[]> {
  let left = parts;
  for (const part of parts) {
    const fewer = left.filter((one) => one !== part);
    if (await holds(fewer)) left = fewer;
  }
  return left.length === parts.length ? left : smallest(left, holds);
}

/** A violation without what is counted and named anew in each history. */
export function kindOf(violation: string): string {
  return violation.replaceAll(/\S*\d\S*/g, '#').replaceAll(/"[^"]*"|\{.*/g, '#');
}

export interface Shrunk {
  /** The troubles that the failure needs. */
  readonly weather: readonly (keyof Weather)[];
  readonly hazards: readonly Hazard[];
  readonly verdict: Verdict;
}

/**
 * Shrinks a seed that fails: first its troubles, then the hazards.
 * @returns null when the seed holds.
 */
export async function shrink(
  store: Store,
  seed: number,
  { hazards = defaultHazards, deviation = {} }: SimulateOptions = {},
): Promise<Shrunk | null> {
  const drawn = { ...drawWeather(new Chance(seed)), ...deviation.weather };
  const names = Object.keys(drawn) as (keyof Weather)[];
  const troubles = names.filter((name) => drawn[name] !== fairWeather[name]);
  const run = (left: readonly (keyof Weather)[], some: Iterable<Hazard>): Promise<Verdict> => {
    const calm = troubles.filter((name) => !left.includes(name));
    const fair = Object.fromEntries(calm.map((name) => [name, fairWeather[name]]));
    const weather = { ...deviation.weather, ...fair };
    return simulate(store, seed, { hazards: new Set(some), deviation: { ...deviation, weather } });
  };
  let verdict = await run(troubles, hazards);
  const [violation] = verdict.violations;
  if (violation === undefined) return null;
  const failsAlike = async (trial: Promise<Verdict>): Promise<boolean> => {
    const tried = await trial;
    const isAlike = tried.violations.some((one) => kindOf(one) === kindOf(violation));
    if (isAlike) verdict = tried;
    return isAlike;
  };
  const weather = await smallest(troubles, (left) => failsAlike(run(left, hazards)));
  const needed = await smallest([...hazards], (left) => failsAlike(run(weather, left)));
  return { weather, hazards: needed, verdict };
}

/** The smallest set with its trace, for the command line. */
export function shrunkText({ weather, hazards, verdict }: Shrunk): string {
  return [
    ...verdict.trace,
    ...verdict.violations.map((violation) => `seed ${verdict.seed}: ${violation}`),
    `needed of its troubles: ${weather.join(', ') || 'none'}`,
    `needed of the hazards: ${hazards.join(', ') || 'none'}`,
  ].join('\n');
}
