/** Checks replies against a contract. */
import type { OperationContract } from './contract.ts';
import { fieldPath } from './validation-errors.ts';

export interface CheckedReply {
  readonly status: number;
  /** The value of its JSON; undefined without a body. */
  readonly body: unknown;
}

/**
 * Compares a reply with the contract of its operation.
 * @returns the fields that violate it (`user.id (type)`), without values; empty if there are none.
 */
export function contractBreaches(
  contract: OperationContract,
  { status, body }: CheckedReply,
): string[] {
  if (!contract.statuses.has(status)) return [`status ${status} (not listed)`];
  const validate = contract.replyValidator(status);
  if (validate === null) return body === undefined ? [] : ['body (not listed)'];
  if (body === undefined) return ['body (missing)'];
  if (validate(body)) return [];
  return (validate.errors ?? []).map((error) => `${fieldPath(error)} (${error.keyword})`);
}
