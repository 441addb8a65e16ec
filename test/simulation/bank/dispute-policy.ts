/**
 * The disputes of a seed: most have none. They are drawn from a separate random sequence, so that
 * those seeds keep their histories.
 */
import { Chance } from '../chance.ts';

export interface DisputePolicy {
  /** The response to a request for a dispute that exists. */
  readonly repeat: 'returned' | 'refused';
  /** How likely a payment is disputed at another channel. */
  readonly elsewhere: number;
  /** How likely the bank never decides a dispute. */
  readonly undecided: number;
  /** How often each customer disputes a payment. */
  readonly times: readonly number[];
}

/** In how many histories customers dispute payments. */
const likelihood = 0.25;

/** With this sequence, the seeds that tests name have no disputes. */
const ownSequence = 2_077;

/**
 * Draws the disputes of a seed.
 * @param isForced whether there are some, whatever the seed draws.
 * @returns null: no customer disputes a payment.
 */
export function drawDisputePolicy(seed: number, isForced: boolean): DisputePolicy | null {
  const chance = new Chance(seed + ownSequence);
  if (!chance.happens(likelihood) && !isForced) return null;
  const times = [1, 2, 3].map(() => chance.pick([2, 3, 5]));
  return {
    repeat: chance.pick(['returned', 'refused']),
    elsewhere: chance.pick([0.1, 0.4]),
    undecided: chance.pick([0.2, 0.8]),
    times,
  };
}
