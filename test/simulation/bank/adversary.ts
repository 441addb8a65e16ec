/**
 * Behaviour of a provider, of the devices in front of it and of other people that nobody has
 * listed. Most seeds have none of it. It is drawn from a separate random sequence, so that those
 * seeds keep their histories.
 */
import { Chance } from '../chance.ts';
import type { Hazard, Hazards } from '../hazards.ts';

/** Probabilities from 0 to 1. */
export interface Adversary {
  /** A response to a payment, executed or not, has a form that is in no list. */
  readonly unlistedResponses: number;
  /** A 401 answers a payment that was executed. */
  readonly doubtfulTokens: number;
  /** A listed refusal answers a payment that was executed: the service has to correct it. */
  readonly falseRefusals: number;
  /** An ERROR event has a code that is in no table, whatever becomes of the payment. */
  readonly unlistedCodes: number;
  /** An event names a payment by the client id that another channel has used, too. */
  readonly otherChannels: number;
  /** A payer copies the identification of a charge into the code of another payee. */
  readonly copiedCodes: number;
  /** A PIX key gets another owner after its look-up, or after it was listed. */
  readonly movingKeys: number;
  /** How a statement shows that it has further pages; null: it is whole. */
  readonly furtherPages: PageSign | null;
  /** Whether the statement lists received PIX. */
  readonly listsReceipts: boolean;
}

/** The signs of a further page: see `pages.ts`. */
export const pageSigns = ['total', 'pages', 'next', 'more', 'cursor', 'links', 'size'] as const;

export type PageSign = (typeof pageSigns)[number];

/** A provider that does only what is listed. */
export const noAdversary: Adversary = {
  unlistedResponses: 0,
  doubtfulTokens: 0,
  falseRefusals: 0,
  unlistedCodes: 0,
  otherChannels: 0,
  copiedCodes: 0,
  movingKeys: 0,
  furtherPages: null,
  listsReceipts: false,
};

/** One seed in this many has an adversary. */
const share = 2;

/** Draws the adversary of a seed. */
export function drawAdversary(seed: number, hazards: Hazards): Adversary {
  const chance = new Chance(seed + 3);
  if (chance.below(share) > 0) return noAdversary;
  const some = (hazard: Hazard, ...levels: [number, ...number[]]): number => {
    const level = chance.pick([0, 0, 0, ...levels]);
    return hazards.has(hazard) ? level : 0;
  };
  const sign = chance.pick([null, null, ...pageSigns]);
  return {
    unlistedResponses: some('unlisted_responses', 0.2, 0.6),
    doubtfulTokens: some('doubtful_tokens', 0.5),
    falseRefusals: some('false_refusals', 0.15, 0.4),
    unlistedCodes: some('unlisted_codes', 0.5),
    otherChannels: some('other_channels', 0.3, 0.8),
    copiedCodes: some('copied_codes', 0.4),
    movingKeys: some('moving_keys', 0.3, 0.8),
    furtherPages: hazards.has('further_pages') ? sign : null,
    listsReceipts: chance.happens(0.5),
  };
}
