/** The options of `npm run chaos`. */
import { parseOptions, seedNumber, UsageError } from '../support/tool.ts';

export const help = `Usage: npm run chaos -- [options]

Three servers and a worker pay on a PostgreSQL of their own, while a seed draws the faults and a
failing provider keeps the ledger. It needs PostgreSQL's server programs on this machine. The seed
draws the order and the durations of the faults; the machine determines the work that they hit.
npm run simulate covers clocks that jump.

  --minutes N  how long, above 0 (default: 1)
  --seed N     the seed (default: 1); random: one that is drawn
  --help       this text

Exit codes: 0 the stored and reported payments are the executed ones; 1 they differ; 2 wrong usage,
or no PostgreSQL.
`;

export interface Options {
  readonly minutes: number;
  readonly seed: number;
}

/** @returns the options, or null when help is requested. @throws UsageError */
export function readOptions(args: readonly string[]): Options | null {
  const { help: isHelp, minutes: text, seed } = parseOptions(args, accepted);
  if (isHelp) return null;
  const minutes = Number(text);
  if (!(minutes > 0 && minutes < Infinity)) {
    throw new UsageError('--minutes takes a number above 0');
  }
  return { minutes, seed: seedNumber('seed', seed) };
}

const accepted = {
  minutes: { type: 'string', default: '1' },
  seed: { type: 'string', default: '1' },
  help: { type: 'boolean', default: false },
} as const;
