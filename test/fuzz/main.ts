/**
 * `npm run fuzz`: requests that a seed mutates from the contract, against a real service. Whatever
 * comes, it is answered as the contract says, at once, and no refusal moves money.
 *
 *     npm run fuzz -- --requests 200000      with the seed 1
 *     npm run fuzz -- --seed random          with another seed at every run
 *     npm run fuzz -- --seed 42 --only 1234  one request of a seed, with what goes over the wire
 *     npm run fuzz -- --released FILE        as a client of the released contract in this file
 *
 * It makes a database of its own on the server that DATABASE_URL names; without it the embedded one
 * is used, whose work holds the event loop, so that no stall is looked for. It exits with 1 when a
 * request fails, and says how to repeat it.
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

const tell = (line: string): void => void process.stdout.write(`${line}\n`);

const seed = values.seed === 'random' ? randomInt(1_000_000_000) : wholeNumber('seed', values.seed);
const only = values.only === undefined ? null : wholeNumber('only', values.only);
tell(`seed ${seed}`);
const findings = await fuzz({
  seed,
  only,
  released: values.released,
  requests: wholeNumber('requests', values.requests),
  tell,
});
const of = values.released === undefined ? '' : ` --released ${values.released}`;
for (const { request, what } of findings.slice(0, 100)) {
  const again = request === null ? '' : ` (npm run fuzz -- --seed ${seed}${of} --only ${request})`;
  tell(`FAILED: ${what}${again}`);
}
tell(`${findings.length} findings`);
if (findings.length > 0) process.exitCode = 1;
