/**
 * `npm run chaos`: three servers and a worker pay on a separate PostgreSQL, while a seed draws the
 * faults and a failing provider keeps the ledger.
 *
 *     npm run chaos -- --minutes 5
 *     npm run chaos -- --minutes 60 --seed random
 *
 * It needs PostgreSQL's server programs on this machine. The seed draws the order and the durations
 * of the faults; the machine determines the work that they hit. The simulation tests clock jumps.
 * It exits with 1 when the stored or reported payments differ from the executed ones.
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

const print = (line: string): void => void process.stdout.write(`${line}\n`);

const [minutes, chosen] = [Number(values.minutes), Number(values.seed)];
if (!(minutes > 0)) throw new Error('--minutes takes a number above 0');
if (values.seed !== 'random' && !Number.isInteger(chosen)) throw new Error('--seed takes a number');
const seed = values.seed === 'random' ? randomInt(1_000_000_000) : chosen;
const programs = serverPrograms();
if (programs === null)
  throw new Error('there is no PostgreSQL server on this machine: install one');
print(`seed ${seed}`);
const findings = await chaos({ programs, seed, minutes, print });
for (const finding of findings) print(`FAILED: ${finding}`);
print(findings.length === 0 ? 'no findings' : `${findings.length} findings`);
if (findings.length > 0) process.exitCode = 1;
