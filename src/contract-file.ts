/** The contract's file, and whether the code and it agree. */
import { readFile } from 'node:fs/promises';
import { parse } from 'yaml';
import { loadContract } from './http/contract.ts';
import { operationRoutes } from './http/router.ts';
import { operations } from './operations/index.ts';

const contractFile = new URL('../contract/openapi.yaml', import.meta.url);

/** @returns the contract as YAML. */
export function readContract(): Promise<string> {
  return readFile(contractFile, 'utf8');
}

/** @returns the contract as a value that is JSON. */
export async function parseContract(): Promise<unknown> {
  return parse(await readContract()) as unknown;
}

export interface ContractCheck {
  readonly valid: boolean;
  /** How many operations the contract has. */
  readonly operations: number;
  /** What keeps a service from starting with it, in one sentence. */
  readonly problem: string | null;
}

/** Reads the contract as a start does, and matches it with the table of operations. */
export async function checkContract(): Promise<ContractCheck> {
  try {
    const routes = operationRoutes(operations, loadContract(await readContract()));
    return { valid: true, operations: routes.length, problem: null };
  } catch (error) {
    const problem = error instanceof Error ? error.message : String(error);
    return { valid: false, operations: 0, problem };
  }
}
