/** The options of `npm run fuzz`. */
import { parseOptions, seedNumber, wholeNumber } from '../support/tool.ts';

export const help = `Usage: npm run fuzz -- [options]

Sends requests that a seed mutates from the contract to a real service. Each request must get a
response of the contract, at once, and a refused request must move no money.

  --requests N     how many requests (default: 20000)
  --seed N         the seed (default: 1); random: one that is drawn
  --only K         one request of the seed, with its bytes
  --released FILE  as a client of the released contract in this file
  --help           this text

It creates its own database on the server that DATABASE_URL names. Without DATABASE_URL it uses the
embedded one, whose work blocks the event loop, so that stalls are not checked.

Exit codes: 0 no finding; 1 a request has failed, and how to repeat it is printed; 2 wrong usage.
`;

export interface Options {
  readonly seed: number;
  readonly requests: number;
  /** The only request to send, printed in full. */
  readonly only: number | null;
  /** The file of a released contract, whose clients send the requests; else the served one. */
  readonly released: string | undefined;
}

/** @returns the options, or null when help is requested. @throws UsageError */
export function readOptions(args: readonly string[]): Options | null {
  const { help: isHelp, seed, requests, only, released } = parseOptions(args, accepted);
  if (isHelp) return null;
  return {
    seed: seedNumber('seed', seed),
    requests: wholeNumber('requests', requests, 1),
    only: only === undefined ? null : wholeNumber('only', only),
    released,
  };
}

const accepted = {
  requests: { type: 'string', default: '20000' },
  seed: { type: 'string', default: '1' },
  only: { type: 'string' },
  released: { type: 'string' },
  help: { type: 'boolean', default: false },
} as const;
