/**
 * The ids of a return. Both derive from the user and the idempotency key, apart from the minute of
 * the return id: if the row of a return is lost, its repeat has the same ids, and an event about it
 * still shows whose key it has (`isSameReturn`).
 */
import { alphanumericDigest } from '../domain/text.ts';
import { newReturnId, uniqueLength } from '../domain/pix.ts';
import { sha256 } from '../security/digests.ts';

/** The digits of a client request id: no other return has it, of any user. */
const requestIdLength = 32;

interface KeyOfUser {
  readonly userId: number;
  readonly idempotencyKey: string;
}

/** @returns the id that a new return gets: `D…`, with the present minute. */
export function newReturnIdFor(key: KeyOfUser, ispb: string, now: Date): string {
  return newReturnId(ispb, now, alphanumericDigest(digestKey('id', key), uniqueLength));
}

/** @returns the id by which the provider recognises a repeat. */
export function returnRequestId(key: KeyOfUser): string {
  return digestKey('request', key).toString('hex').slice(0, requestIdLength);
}

function digestKey(what: string, { userId, idempotencyKey }: KeyOfUser): Buffer {
  return sha256(JSON.stringify(['return', what, userId, idempotencyKey]));
}
