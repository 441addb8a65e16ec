/** Checks replies against the contract, in development and tests only. */
import type { OperationContract } from './contract.ts';
import { fieldPath } from './validation-errors.ts';
import type { Reply } from './reply.ts';

/**
 * Compares a serialised reply with the contract.
 * @returns the fields that violate it (`user.id (type)`), without values; empty for a valid reply.
 */
export function contractBreaches(contract: OperationContract, reply: Reply): string[] {
  const { status, content } = reply;
  if (!contract.statuses.has(status)) return [`status ${status} (not listed)`];
  const validate = contract.replyValidator(status);
  if (validate === null) return content === null ? [] : ['body (not listed)'];
  if (content === null) return ['body (missing)'];
  if (validate(JSON.parse(content.bytes.toString()))) return [];
  return (validate.errors ?? []).map((error) => `${fieldPath(error)} (${error.keyword})`);
}
