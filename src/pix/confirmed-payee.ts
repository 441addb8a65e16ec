/**
 * The look-up of a payee that the payer has confirmed, as an opaque id in the hands of the app: it
 * carries the end-to-end id that the directory has issued for one payment. The id is sealed for the
 * user and stored nowhere; the database refuses a second payment under one end-to-end id.
 */
import { minuteMs } from '../auth/throttle.ts';
import type { LocalContext } from '../context.ts';
import { SealError } from '../security/sealing.ts';
import type { ShownOwner } from '../domain/key-owner.ts';

/** How long a look-up may be paid: the directory expects a payment soon after it. */
const freshForMs = 5 * minuteMs;

/** A user, and a PIX key in the format of DICT. */
interface Payee {
  readonly userId: number;
  readonly key: string;
}

/** What a look-up has found. */
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

/** @returns the id of a look-up, and until when it can be paid. */
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
 * @returns what a look-up has found, or null when it is too old, of another user or key, or no
 *   look-up at all: then the key is looked up again.
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
