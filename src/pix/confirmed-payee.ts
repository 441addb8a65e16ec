/**
 * The look-up of a payee that the payer has confirmed, as an opaque id that the app sends back. The
 * id contains the end-to-end id that the directory has issued for one payment. It is sealed for the
 * user and stored nowhere; the database refuses a second payment with the same end-to-end id.
 */
import { minuteMs } from '../auth/throttle.ts';
import type { LocalContext } from '../context.ts';
import { SealError } from '../security/sealing.ts';
import type { ShownOwner } from '../domain/key-owner.ts';

/** How long a payment may use a look-up: the directory expects the payment soon after it. */
const freshForMs = 5 * minuteMs;

/** A user, and a PIX key in the format of DICT. */
interface Payee {
  readonly userId: number;
  readonly key: string;
}

/** The result of a look-up. */
export interface LookUp {
  /** The id that the payment must carry. */
  readonly endToEnd: string;
  readonly owner: ShownOwner;
}

/** The sealed content. */
interface Confirmed extends LookUp {
  readonly key: string;
  readonly expiresAtMs: number;
}

/** @returns the id of a look-up, and the time until which a payment can use it. */
export function sealLookUp(
  { sealer, clock }: LocalContext,
  { userId, key }: Payee,
  { endToEnd, owner }: LookUp,
): { readonly lookupId: string; readonly expiresAt: Date } {
  const expiresAt = new Date(clock.now().getTime() + freshForMs);
  const confirmed: Confirmed = { key, endToEnd, owner, expiresAtMs: expiresAt.getTime() };
  const sealed = sealer.seal(JSON.stringify(confirmed), sealingOwner(userId));
  return { lookupId: sealed.toString('base64url'), expiresAt };
}

/**
 * @returns the result of the look-up, or null when the id is too old, belongs to another user or
 *   key, or is invalid: the key is then looked up again.
 */
export function openLookUp(
  { sealer, clock }: LocalContext,
  { userId, key }: Payee,
  lookupId: string,
): LookUp | null {
  try {
    const opened = sealer.open(Buffer.from(lookupId, 'base64url'), sealingOwner(userId));
    const confirmed = JSON.parse(opened.toString('utf8')) as Confirmed;
    const isFresh = clock.now().getTime() < confirmed.expiresAtMs;
    return isFresh && confirmed.key === key ? confirmed : null;
  } catch (error) {
    if (error instanceof SealError) return null;
    throw error;
  }
}

function sealingOwner(userId: number): string {
  return `look-up:${userId}`;
}
