/** What a seed draws for the customers who pay by the client of the contract. */
import { Chance } from '../chance.ts';

/** Probabilities from 0 to 1. */
export interface AppFaults {
  /** The app is killed before one of its steps, and started again. */
  readonly deaths: number;
  /** The storage of the device fails to keep a value. */
  readonly fullDisks: number;
  /** The app has a second tab. */
  readonly tabs: number;
  /** The customer does not log in when the app asks. */
  readonly refusedLogins: number;
  /** A proxy answers in place of the service. */
  readonly proxies: number;
}

export const noAppFaults: AppFaults = {
  deaths: 0,
  fullDisks: 0,
  tabs: 0,
  refusedLogins: 0,
  proxies: 0,
};

export interface Apps {
  /** How likely a customer pays by the client. */
  readonly share: number;
  readonly faults: AppFaults;
}

/** Draws the apps of a seed, from a separate random sequence. */
export function drawApps(seed: number): Apps {
  const chance = new Chance(seed + 3);
  return {
    share: chance.pick([0, 0, 0.5, 1]),
    faults: {
      deaths: chance.pick([0, 0.01, 0.05]),
      fullDisks: chance.pick([0, 0, 0.05]),
      tabs: chance.pick([0, 0, 0.5]),
      refusedLogins: chance.pick([0, 0.3]),
      proxies: chance.pick([0, 0.05, 0.2]),
    },
  };
}
