/** contract/provider.yaml as the sandbox serves it: its operations, and their router. */
import { readFileSync } from 'node:fs';
import type { OperationId } from '../../../contract/provider-types.ts';
import { loadContract, type OperationContract } from '../../contract/contract.ts';
import { createPathTree, type PathTree } from '../../contract/path-tree.ts';

/** An operation of the provider. */
export interface ProviderOperation {
  readonly id: OperationId;
  /** Its path below the prefix of the API, such as `payments`. Fault rules name calls by it. */
  readonly name: string;
  readonly contract: OperationContract;
}

const prefix = /^\/(?:internal\/api\/v1|core\/v2)\//;

/** Every operation, in the order of the contract. */
const operations: readonly ProviderOperation[] = readContract().map((contract) => ({
  id: contract.id as OperationId,
  name: contract.path.replace(prefix, ''),
  contract,
}));

/** The names that fault rules may use. */
export const operationNames: ReadonlySet<string> = new Set(operations.map(({ name }) => name));

/**
 * Creates the router from a path to its operations, which differ by their method.
 *
 * @param hasOnboarding whether the host serves the onboarding paths: tested hosts do not.
 */
export function createRouter(hasOnboarding: boolean): PathTree<readonly ProviderOperation[]> {
  const served = operations.filter(({ name }) => hasOnboarding || !name.startsWith('onboarding/'));
  return createPathTree(Map.groupBy(served, ({ contract }) => contract.path));
}

function readContract(): readonly OperationContract[] {
  const file = new URL('../../../contract/provider.generated.json', import.meta.url);
  const text = readFileSync(file, 'utf8');
  return loadContract(JSON.parse(text), text).operations;
}
