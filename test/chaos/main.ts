/**
 * `npm run chaos`: three servers and a worker pay on a PostgreSQL of their own, while a seed draws
 * what happens to them, and a provider that fails keeps the ledger.
 *
 *     npm run chaos -- --minutes 5
 *     npm run chaos -- --minutes 60 --seed random
 *
 * It needs PostgreSQL's server programs on this machine. The seed draws the order and the lengths;
 * what they meet is left to the machine. Clocks that jump are left to the simulation.
 * It exits with 1 when what is stored or was told is not what the provider has executed.
 */
import { randomInt } from 'node:crypto';
import { parseArgs } from 'node:util';
import { serverPrograms } from './cluster.ts';
import { chaos } from './run.ts';

const { values } = parseArgs({
  options: {
    minutes: { type: 'string', default: '1' },
    seed: { type: 'string', default: '1' },
  },
});

const tell = (line: string): void => void process.stdout.write(`${line}\n`);

const [minutes, given] = [Number(values.minutes), Number(values.seed)];
if (!(minutes > 0)) throw new Error('--minutes takes a number over 0');
if (values.seed !== 'random' && !Number.isInteger(given)) throw new Error('--seed takes a number');
const seed = values.seed === 'random' ? randomInt(1_000_000_000) : given;
const programs = serverPrograms();
if (programs === null)
  throw new Error('there is no PostgreSQL server on this machine: install one');
tell(`seed ${seed}`);
const findings = await chaos({ programs, seed, minutes, tell });
for (const finding of findings) tell(`FAILED: ${finding}`);
tell(findings.length === 0 ? 'all holds' : `${findings.length} findings`);
if (findings.length > 0) process.exitCode = 1;
