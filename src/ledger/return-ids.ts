/**
 * The ids of a return. Both derive from the user and the idempotency key, the return id also from
 * the payment that it returns; only its minute does not. If the row of a return is lost, its repeat
 * has the same ids, and an event about it still shows whose key it has (`isSameReturn`).
 */
import { alphanumericDigest } from '../domain/text.ts';
import { newReturnId, uniqueLength, type PixType } from '../domain/pix.ts';
import { sha256 } from '../security/digests.ts';

/** The digits of a client request id: no other return has it, of any user. */
const requestIdLength = 32;

interface KeyOfUser {
  readonly userId: number;
  readonly idempotencyKey: string;
}

interface KeyOfTransaction {
  readonly operation: PixType;
  readonly userId: number;
  readonly idempotencyKey: string | null;
}

/** The key of a return, and the payment that it returns. */
interface RequestedReturn extends KeyOfUser {
  readonly transactionId: string;
}

/**
 * @returns the id that a new return gets: `D…`, with the present minute. A key that is used for
 *   another payment has another id there: the first one may be taken by a refund that was reported.
 */
export function newReturnIdFor(requested: RequestedReturn, ispb: string, now: Date): string {
  const { transactionId, ...key } = requested;
  const digest = digestKey(`id ${transactionId.toLowerCase()}`, key);
  return newReturnId(ispb, now, alphanumericDigest(digest, uniqueLength));
}

/** @returns the id by which the provider recognises a repeat. */
export function returnRequestId(key: KeyOfUser): string {
  return digestKey('request', key).toString('hex').slice(0, requestIdLength);
}

/** @returns the id by which the provider knows a transaction; null: it knows none. */
export function requestIdOf({
  operation,
  userId,
  idempotencyKey,
}: KeyOfTransaction): string | null {
  if (operation !== 'REFUND_OUT' || idempotencyKey === null) return idempotencyKey;
  return returnRequestId({ userId, idempotencyKey });
}

function digestKey(what: string, { userId, idempotencyKey }: KeyOfUser): Buffer {
  return sha256(JSON.stringify(['return', what, userId, idempotencyKey]));
}
