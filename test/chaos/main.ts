/** `npm run chaos`: payments while everything fails (see `npm run chaos -- --help`). */
import { runTool, UsageError } from '../support/tool.ts';
import { serverPrograms } from './cluster.ts';
import { help, readOptions, type Options } from './options.ts';
import { chaos } from './run.ts';

const print = (line: string): void => void process.stdout.write(`${line}\n`);

/** @returns whether the stored and reported payments are the executed ones. */
async function run({ minutes, seed }: Options): Promise<boolean> {
  const programs = serverPrograms();
  if (programs === null)
    throw new UsageError('There is no PostgreSQL server on this machine: install one.');
  print(`seed ${seed}`);
  const findings = await chaos({ programs, seed, minutes, print });
  for (const finding of findings) print(`FAILED: ${finding}`);
  print(findings.length === 0 ? 'no findings' : `${findings.length} findings`);
  return findings.length === 0;
}

await runTool({ name: 'chaos', help, readOptions, run });
