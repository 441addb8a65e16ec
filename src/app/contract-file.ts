/** Reads the contract's files and checks that they match the code. */
import { readFile } from 'node:fs/promises';
import { isDeepStrictEqual } from 'node:util';
import { compileValidators, loadContract, type Contract } from '../contract/contract.ts';
import { operationRoutes } from '../http/router.ts';
import { operations } from './operations.ts';

const contractFile = new URL('../../contract/openapi.yaml', import.meta.url);

/** Generated from the YAML: parsing JSON takes a hundredth of the time at start. */
const generatedFile = new URL('../../contract/openapi.generated.json', import.meta.url);

/** @returns the contract as YAML. */
export function readContract(): Promise<string> {
  return readFile(contractFile, 'utf8');
}

/** @returns the contract as a JSON value. */
export async function parseContract(): Promise<unknown> {
  return JSON.parse(await readFile(generatedFile, 'utf8')) as unknown;
}

/**
 * @returns the contract as the service uses it.
 * @throws Error when it uses a feature that the service does not support.
 */
export async function readServedContract(): Promise<Contract> {
  const [document, text] = await Promise.all([parseContract(), readContract()]);
  return loadContract(document, text, { closesReplies: true });
}

export interface ContractCheck {
  readonly valid: boolean;
  /** How many operations the contract has. */
  readonly operations: number;
  /** Why a service cannot run with it, in one sentence. */
  readonly problem: string | null;
}

/**
 * Reads the contract as the service does at start, compares it with the table of operations,
 * compiles every validator, and checks that the generated file is up to date.
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
  // Loaded on demand: the service does not need the YAML parser.
  const { parse } = await import('yaml');
  if (isDeepStrictEqual(parse(await readContract()), await parseContract())) return;
  throw new Error(
    "contract/openapi.generated.json is stale: run 'npm run contract:types' in the project",
  );
}
