/** `npm run bench`: compares the service with a plain reference on one PostgreSQL. */
import { runTool } from '../support/tool.ts';
import { compare } from './compare.ts';
import { grow } from './grow.ts';
import { help, readOptions, type Options } from './options.ts';
import { profile } from './profile.ts';
import { findFaults, reportJson, reportText } from './report.ts';

function print(line: string): void {
  process.stderr.write(`${line}\n`);
}

/** @returns whether all responses and rows were correct. */
async function run(options: Options): Promise<boolean> {
  switch (options.mode) {
    case 'profile':
      console.log(await profile(options, print));
      return true;
    case 'grow': {
      const { text, faults } = await grow(options, print);
      console.log(text);
      for (const fault of faults) console.log(`WRONG: ${fault}`);
      return faults.length === 0;
    }
    case 'compare': {
      const report = await compare(options, print);
      console.log(options.json ? reportJson(report) : reportText(report));
      return findFaults(report.results).length === 0;
    }
  }
}

await runTool({ name: 'bench', help, readOptions, run });
