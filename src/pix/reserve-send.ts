/** The claim of the key of a send, and why none is reserved: its code, or a limit. */
import { forgetToken } from '../auth/banking-sessions.ts';
import type { Context, LocalContext } from '../context/context.ts';
import { classesOfKey } from '../domain/payee-limits.ts';
import { readReplay } from '../ledger/replay-repository.ts';
import {
  claimJudgedSend,
  claimSend,
  sendAsStored,
  type SendReservation,
} from '../ledger/reservation-repository.ts';
import { findTerms } from '../ledger/spending-limit-repository.ts';
import type { VerifiedToken } from '../process/access-tokens.ts';
import { refusePaidCode } from './block-refusals.ts';
import type { RequestedClaim, ReservedOrder } from './idempotency.ts';
import type { RefusedRequest } from './refuse-order.ts';
import type { OrderRefusal } from './rule-refusal.ts';
import { scheduleUnsentFailure } from './unstarted-order.ts';
import {
  limitOfPayees,
  limitsAreOn,
  refuseOverLimit,
  settingsDifferByPayee,
} from './spending-limits.ts';

/** The claim of the key of a send. */
export function claimOfSend(
  context: Context,
  token: VerifiedToken,
  order: SendReservation,
): RequestedClaim<ReservedSend> {
  let { paying = null } = order;
  // The claim that may be stored as PAYING, whatever the later ones of this request find.
  let begun: BegunClaim | null = null;
  return {
    operation: 'SEND',
    order,
    readReplay: () => readReplay(context, token, order),
    async reserve() {
      if (paying && !mayBegin(context, token, order)) paying = null;
      const now = context.clock.now();
      if (paying) begun ??= { endToEnd: paying.endToEnd, at: now };
      try {
        const requested = { reservation: { ...order, paying }, now };
        const reserved = await reserveSend(context, token, requested);
        // Another payment may have the end-to-end id: then this one gets an id of its own.
        if (reserved?.holder === null) paying = null;
        if (reserved) return { ...reserved, claimedAt: begun?.at ?? reserved.claimedAt };
        forgetToken(context, token.userId);
        // Its session may have ended after a claim that was not confirmed.
        if (begun) failUnconfirmed(context, token, { order, begun });
        return null;
      } catch (error) {
        if (begun) failUnconfirmed(context, token, { order, begun });
        throw error;
      }
    },
    asRefused: () => asRefused(order),
  };
}

/**
 * Whether a claim may be PAYING: not under a key that this process has seen, because its order may
 * be lost, and not without a free turn.
 */
function mayBegin(
  { claimedKeys, paymentTurns }: Context,
  { userId }: VerifiedToken,
  { idempotencyKey }: SendReservation,
): boolean {
  const isSeen = claimedKeys.seenAt(userId, { operation: 'SEND', idempotencyKey }) !== null;
  return !isSeen && paymentTurns.takeFree();
}

interface BegunClaim {
  readonly endToEnd: string;
  readonly at: Date;
}

/** Fails a send that an unconfirmed claim may have stored as PAYING: nothing was sent. */
function failUnconfirmed(
  context: Context,
  token: VerifiedToken,
  { order, begun }: { readonly order: SendReservation; readonly begun: BegunClaim },
): void {
  const unsent = sendAsStored(token, { ...order, paying: null });
  scheduleUnsentFailure(context, unsent, { ...begun, isClaim: true });
}

/** @returns the order of a send that is not made. */
export function asRefused(order: SendReservation): RefusedRequest {
  const { id, idempotencyKey, fingerprint, amountCents, pixKey, description } = order;
  const what = { amountCents, pixKey, description };
  return { id, operation: 'SEND', idempotencyKey, fingerprint, ...what };
}

/** The result of the reservation of a send; it is refused for its code, or for a limit. */
export interface ReservedSend extends ReservedOrder {
  /** Whether the send is judged again when it is known who is paid. */
  readonly isByPayee: boolean;
  /** When the claim was made, and until when it holds. */
  readonly claimedAt: Date;
  readonly claimedUntil: Date;
}

/**
 * Claims the idempotency key of a send for a payer whose account is ACTIVE and complete, or reads
 * the key's holder. Where limits may apply, or for a code, the send is judged first, in a read of
 * its own.
 * @returns null when the session of the token is not active.
 */
async function reserveSend(
  context: LocalContext,
  token: VerifiedToken,
  { reservation, now }: { readonly reservation: SendReservation; readonly now: Date },
): Promise<ReservedSend | null> {
  if (!limitsAreOn(context.config) && !reservation.code) {
    const claimed = await claimSend(context, token, { reservation, now });
    const isDone = claimed === null || !claimed.isLimited || claimed.holder !== null;
    if (isDone) return claimed && { ...claimed, isCurrent: true, refusal: null };
  }
  const judgement = await judgeReservation(context, token, { reservation, now });
  const { isByPayee, refusal, version, isBlocked } = judgement;
  const judged = { now, version, isByPayee, isAllowed: refusal === null && !isBlocked };
  const claimed = await claimJudgedSend(context, token, { reservation, judged });
  return (
    claimed && { ...claimed, isByPayee, refusal, isCurrent: claimed.isCurrent || refusal !== null }
  );
}

/** How a send was judged. */
interface Judgement {
  /** Of the limits that were read. */
  readonly version: number;
  readonly isByPayee: boolean;
  /** Null: it may be made, as far as is known who is paid. */
  readonly refusal: OrderRefusal | null;
  /** Whether a lost payment may be missing in what it was judged by: it is judged again. */
  readonly isBlocked: boolean;
}

/** Judges a send by its code, and by the limit of its payee, or the widest that it may have. */
async function judgeReservation(
  context: LocalContext,
  { userId }: VerifiedToken,
  { reservation, now }: { reservation: SendReservation; now: Date },
): Promise<Judgement> {
  const { amountCents, pixKey, payeeClass = null, code = null } = reservation;
  const terms = await findTerms(context, userId, { now, amountCents, code });
  const { limits, codeHolder, block } = terms;
  const { version } = limits;
  const isByPayee = limits.isByPayee || settingsDifferByPayee(context.config);
  if (block !== null) return { version, isByPayee, isBlocked: true, refusal: null };
  if (codeHolder !== null) {
    return { version, isByPayee, isBlocked: false, refusal: refusePaidCode(codeHolder) };
  }
  const payees = payeeClass === null ? classesOfKey(pixKey) : [payeeClass];
  const limit = limitOfPayees(limits, context.config, { payees, now });
  return { version, isByPayee, isBlocked: false, refusal: refuseOverLimit(limit, amountCents) };
}
