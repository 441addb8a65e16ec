/**
 * The look-up of a payee that the payer has confirmed, as an opaque id that the app sends back. The
 * id contains the end-to-end id that the directory has issued for one payment, and the owner of the
 * key. It is sealed for the user and stored nowhere; the database refuses a second payment with the
 * same end-to-end id.
 */
import { minuteMs } from '../auth/throttle.ts';
import type { LocalContext } from '../context/context.ts';
import { ownerIdentity, maskedOwner, type ShownOwner } from '../domain/key-owner.ts';
import { classifyPayee, type PayeeClass } from '../domain/payee-limits.ts';
import type { KeyOwner } from '../provider/provider.ts';
import { SealError } from '../security/sealing.ts';

/** How long a payment may use a look-up: the directory expects the payment soon after it. */
export const freshForMs = 5 * minuteMs;

/** A user, and a Pix key in the format of DICT. */
interface Payee {
  readonly userId: number;
  readonly key: string;
}

/** The result of a look-up. */
export interface LookUp {
  /** The id that the payment must carry. */
  readonly endToEnd: string;
  readonly owner: ShownOwner;
  /** Equal for two look-ups that found the same owner; null: the owner cannot be compared. */
  readonly identity: string | null;
  /** Who is paid, as the limits distinguish payees. */
  readonly payeeClass: PayeeClass;
}

/** A look-up that the payer has confirmed. */
export interface ConfirmedLookUp extends LookUp {
  /** False: the payment needs a new look-up, which must find the same owner. */
  readonly isFresh: boolean;
}

/** The sealed content; version 1.1.0 has no identity, and version 1.2.0 no class of the payee. */
interface Sealed
  extends
    Omit<LookUp, 'identity' | 'payeeClass'>,
    Partial<Pick<LookUp, 'identity' | 'payeeClass'>> {
  readonly key: string;
  readonly expiresAtMs: number;
}

/**
 * @param payerDocument of the paying account.
 * @returns the result of a look-up, from the response of the directory.
 */
export function readLookUp(owner: KeyOwner, payerDocument: string): LookUp {
  return {
    endToEnd: owner.endToEnd,
    owner: maskedOwner(owner),
    identity: ownerIdentity(owner),
    payeeClass: classifyPayee(owner.document, payerDocument),
  };
}

/** Whether two look-ups found the same owner; owners that cannot be compared are not the same. */
export function isSameOwner(
  one: Pick<LookUp, 'identity'>,
  other: Pick<LookUp, 'identity'>,
): boolean {
  return one.identity !== null && one.identity === other.identity;
}

/** @returns the id of a look-up, and the time until which a payment can use it. */
export function sealLookUp(
  { sealer, clock }: LocalContext,
  { userId, key }: Payee,
  lookUp: LookUp,
): { readonly lookupId: string; readonly expiresAt: Date } {
  const expiresAt = new Date(clock.now().getTime() + freshForMs);
  const content: Sealed = { key, ...lookUp, expiresAtMs: expiresAt.getTime() };
  const sealed = sealer.seal(JSON.stringify(content), sealingOwner(userId));
  return { lookupId: sealed.toString('base64url'), expiresAt };
}

/** @returns null when the id belongs to another user or key, or is invalid. */
export function openLookUp(
  { sealer, clock }: LocalContext,
  { userId, key }: Payee,
  lookupId: string,
): ConfirmedLookUp | null {
  const content = openSealed(sealer, lookupId, sealingOwner(userId)) as Sealed | null;
  if (content?.key !== key) return null;
  const { endToEnd, owner, identity = null, payeeClass = 'person', expiresAtMs } = content;
  return { endToEnd, owner, identity, payeeClass, isFresh: clock.now().getTime() < expiresAtMs };
}

/** @returns the sealed content of an id; null: it was sealed for another owner, or is invalid. */
export function openSealed(
  sealer: LocalContext['sealer'],
  lookupId: string,
  owner: string,
): unknown {
  try {
    const opened = sealer.open(Buffer.from(lookupId, 'base64url'), owner);
    return JSON.parse(opened.toString('utf8'));
  } catch (error) {
    if (error instanceof SealError) return null;
    throw error;
  }
}

function sealingOwner(userId: number): string {
  return `look-up:${userId}`;
}
