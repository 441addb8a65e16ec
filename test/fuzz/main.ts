/**
 * `npm run fuzz`: sends requests that a seed mutates from the contract to a real service. Each
 * request must get a response of the contract, at once, and a refused request must move no money.
 *
 *     npm run fuzz -- --requests 200000      with the seed 1
 *     npm run fuzz -- --seed random          with a different seed in each run
 *     npm run fuzz -- --seed 42 --only 1234  one request of a seed, with its bytes
 *     npm run fuzz -- --released FILE        as a client of the released contract in this file
 *
 * It creates its own database on the server that DATABASE_URL names. Without DATABASE_URL it uses
 * the embedded one, whose work blocks the event loop, so that stalls are not checked. It exits with
 * 1 when a request fails, and prints how to repeat it.
 */
import { randomInt } from 'node:crypto';
import { parseArgs } from 'node:util';
import { fuzz } from './run.ts';

const { values } = parseArgs({
  options: {
    requests: { type: 'string', default: '20000' },
    seed: { type: 'string', default: '1' },
    only: { type: 'string' },
    released: { type: 'string' },
  },
});

const wholeNumber = (name: string, text: string): number => {
  if (!/^\d{1,9}$/.test(text)) throw new Error(`--${name} takes a whole number`);
  return Number(text);
};

const print = (line: string): void => void process.stdout.write(`${line}\n`);

const seed = values.seed === 'random' ? randomInt(1_000_000_000) : wholeNumber('seed', values.seed);
const only = values.only === undefined ? null : wholeNumber('only', values.only);
print(`seed ${seed}`);
const findings = await fuzz({
  seed,
  only,
  released: values.released,
  requests: wholeNumber('requests', values.requests),
  print,
});
const of = values.released === undefined ? '' : ` --released ${values.released}`;
for (const { request, what } of findings.slice(0, 100)) {
  const again = request === null ? '' : ` (npm run fuzz -- --seed ${seed}${of} --only ${request})`;
  print(`FAILED: ${what}${again}`);
}
print(`${findings.length} findings`);
if (findings.length > 0) process.exitCode = 1;
