/** `npm run fuzz`: mutated requests to a real service (see `npm run fuzz -- --help`). */
import { runTool } from '../support/tool.ts';
import { help, readOptions, type Options } from './options.ts';
import { fuzz } from './run.ts';

/** The findings that are printed. */
const maxPrinted = 100;

const print = (line: string): void => void process.stdout.write(`${line}\n`);

/** @returns whether no request has failed. */
async function run(options: Options): Promise<boolean> {
  const { seed, released } = options;
  print(`seed ${seed}`);
  const findings = await fuzz({ ...options, print });
  const of = released === undefined ? '' : ` --released ${released}`;
  for (const { request, what } of findings.slice(0, maxPrinted)) {
    const again =
      request === null ? '' : ` (npm run fuzz -- --seed ${seed}${of} --only ${request})`;
    print(`FAILED: ${what}${again}`);
  }
  print(`${findings.length} findings`);
  return findings.length === 0;
}

await runTool({ name: 'fuzz', help, readOptions, run });
