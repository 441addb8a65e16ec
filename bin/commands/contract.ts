/** `ponte contract`: the OpenAPI contract. */
import type { Context, Declare } from '../context.ts';
import { exitCodes } from '../exit-codes.ts';
import { examples, withJson, type JsonOption } from '../options.ts';

export const declare: Declare = (noun, run) => {
  noun.addHelpText('after', examples('ponte contract print > openapi.yaml'));

  noun
    .command('print')
    .description('print the contract as YAML')
    .option('--json', 'print it as JSON')
    .addHelpText('after', examples('ponte contract print --json'))
    .action(run(printContract));

  withJson(noun.command('check'))
    .description('check that the contract is readable and complete; exit 1 when it is not')
    .addHelpText('after', examples('ponte contract check'))
    .action(run(checkContract));
};

async function printContract({ terminal }: Context, { json }: JsonOption) {
  const { parseContract, readContract } = await import('../../src/app/contract-file.ts');
  if (json) terminal.json(await parseContract());
  else terminal.print((await readContract()).trimEnd());
}

async function checkContract({ terminal }: Context, { json }: JsonOption) {
  const contract = await import('../../src/app/contract-file.ts');
  const check = await contract.checkContract();
  if (json) terminal.json(check);
  else if (check.valid) terminal.print(`The contract matches its ${check.operations} operations.`);
  else terminal.note(`ponte: ${check.problem}`);
  return check.valid ? exitCodes.ok : exitCodes.failed;
}
