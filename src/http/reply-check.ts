/** Whether an answer is one that the contract promises: looked at in development and tests only. */
import type { OperationContract } from './contract.ts';
import { fieldOf } from './faults.ts';
import type { Reply } from './reply.ts';

/**
 * Compares an answer, as it will be read from the wire, with the contract.
 * @returns where it breaks it (`user.id (type)`), never with a value; empty when it does not.
 */
export function contractBreaches(contract: OperationContract, reply: Reply): string[] {
  const { status, content } = reply;
  if (!contract.statuses.has(status)) return [`status ${status} (not listed)`];
  const validate = contract.replyValidator(status);
  if (validate === null) return content === null ? [] : ['body (not listed)'];
  if (content === null) return ['body (missing)'];
  if (validate(JSON.parse(content.bytes.toString()))) return [];
  return (validate.errors ?? []).map((error) => `${fieldOf(error)} (${error.keyword})`);
}
