/** The contract's files, and whether the code and they agree. */
import { readFile } from 'node:fs/promises';
import { isDeepStrictEqual } from 'node:util';
import { compileValidators, loadContract, type Contract } from '../contract/contract.ts';
import { operationRoutes } from './router.ts';
import { operations } from './operations.ts';

const contractFile = new URL('../../contract/openapi.yaml', import.meta.url);

/** Made from the other: a start reads JSON in a hundredth of the time that YAML takes. */
const generatedFile = new URL('../../contract/openapi.generated.json', import.meta.url);

/** @returns the contract as YAML. */
export function readContract(): Promise<string> {
  return readFile(contractFile, 'utf8');
}

/** @returns the contract as a value that is JSON. */
export async function parseContract(): Promise<unknown> {
  return JSON.parse(await readFile(generatedFile, 'utf8')) as unknown;
}

/**
 * @returns the contract as a service runs it.
 * @throws Error when it uses what the service does not do.
 */
export async function readServedContract(): Promise<Contract> {
  const [document, text] = await Promise.all([parseContract(), readContract()]);
  return loadContract(document, text);
}

export interface ContractCheck {
  readonly valid: boolean;
  /** How many operations the contract has. */
  readonly operations: number;
  /** What keeps a service from running with it, in one sentence. */
  readonly problem: string | null;
}

/**
 * Reads the contract as a start does, matches it with the table of operations, compiles every
 * validator, and compares the generated file with the one that it is made from.
 */
export async function checkContract(): Promise<ContractCheck> {
  try {
    const contract = await readServedContract();
    const routes = operationRoutes(operations, contract);
    compileValidators(contract);
    await requireFresh();
    return { valid: true, operations: routes.length, problem: null };
  } catch (error) {
    const problem = error instanceof Error ? error.message : String(error);
    return { valid: false, operations: 0, problem };
  }
}

async function requireFresh(): Promise<void> {
  // Loaded only here: it is what a start does without.
  const { parse } = await import('yaml');
  if (isDeepStrictEqual(parse(await readContract()), await parseContract())) return;
  throw new Error(
    "contract/openapi.generated.json is stale: run 'npm run contract:types' in the project",
  );
}
