/** `ponte contract print` and `ponte contract check`. */
import { checkContract, parseContract, readContract } from '../../src/http/contract-file.ts';
import type { Desk } from '../desk.ts';
import { exitCodes, type ExitCode } from '../exit-codes.ts';

interface Options {
  readonly json?: boolean;
}

/** Prints the contract as it is served, or as JSON. */
export async function contractPrint({ terminal }: Desk, { json = false }: Options): Promise<void> {
  if (json) terminal.json(await parseContract());
  else terminal.print((await readContract()).trimEnd());
}

/** Checks the contract as a start does. */
export async function contractCheck(
  { terminal }: Desk,
  { json = false }: Options,
): Promise<ExitCode> {
  const check = await checkContract();
  if (json) terminal.json(check);
  else if (check.valid)
    terminal.print(`The contract and its ${check.operations} operations agree.`);
  else terminal.remark(`ponte: ${check.problem}`);
  return check.valid ? exitCodes.done : exitCodes.bad;
}
