/** Whether an answer is one that a contract promises. */
import type { OperationContract } from './contract.ts';
import { fieldOf } from './faults.ts';

export interface Answer {
  readonly status: number;
  /** The value of its JSON; undefined without a body. */
  readonly body: unknown;
}

/**
 * Compares an answer with the contract of its operation.
 * @returns where it breaks it (`user.id (type)`), never with a value; empty when it does not.
 */
export function contractBreaches(contract: OperationContract, { status, body }: Answer): string[] {
  if (!contract.statuses.has(status)) return [`status ${status} (not listed)`];
  const validate = contract.replyValidator(status);
  if (validate === null) return body === undefined ? [] : ['body (not listed)'];
  if (body === undefined) return ['body (missing)'];
  if (validate(body)) return [];
  return (validate.errors ?? []).map((error) => `${fieldOf(error)} (${error.keyword})`);
}
