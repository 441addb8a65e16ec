/** The claim of the key of a send, and why none is reserved: its code, or a limit. */
import type { Context, LocalContext } from '../context/context.ts';
import { classesOfKey } from '../domain/payee-limits.ts';
import { readReplay } from '../ledger/replay-repository.ts';
import { claimSend, type SendReservation } from '../ledger/reservation-repository.ts';
import { findLimits } from '../ledger/spending-limit-repository.ts';
import type { VerifiedToken } from '../process/access-tokens.ts';
import { refusePaidCode } from './holds.ts';
import type { RequestedClaim, ReservedOrder } from './idempotency.ts';
import type { RefusedRequest } from './refuse-order.ts';
import type { OrderRefusal } from './rule-refusal.ts';
import {
  limitOfPayees,
  refuseOverLimit,
  remainingLimit,
  settingsDifferByPayee,
} from './spending-limits.ts';

/** The claim of the key of a send. */
export function claimOfSend(
  context: Context,
  token: VerifiedToken,
  order: SendReservation,
): RequestedClaim<ReservedSend> {
  return {
    operation: 'SEND',
    order,
    readReplay: () => readReplay(context, token, order),
    reserve: () => reserveSend(context, token, order),
    asRefused: () => asRefused(order),
  };
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
}

/**
 * Claims the idempotency key of a send for a payer whose account is ACTIVE and complete, or reads
 * the key's holder. Where limits differ by payee, the send is judged first, in a read of its own.
 * @returns null when the session of the token is not active.
 */
async function reserveSend(
  context: LocalContext,
  token: VerifiedToken,
  reservation: SendReservation,
): Promise<ReservedSend | null> {
  const isByPayee = settingsDifferByPayee(context.config);
  const judged = isByPayee ? await judgeSend(context, token, reservation) : null;
  const claimed = await claim(context, token, { reservation, judged });
  if (claimed === null || judged !== null || !claimed.isByPayee) return claimed;
  return claim(context, token, {
    reservation,
    judged: await judgeSend(context, token, reservation),
  });
}

/** How a send was judged where limits differ by payee. */
interface Judgement {
  /** Of the limits that were read. */
  readonly version: number;
  /** Null: a payee of the send may get it. */
  readonly refusal: OrderRefusal | null;
}

/** Judges a send by its payee, or by the widest limit of the payees that it may have. */
async function judgeSend(
  context: LocalContext,
  { userId }: VerifiedToken,
  { amountCents, pixKey, payeeClass = null }: SendReservation,
): Promise<Judgement> {
  const limits = await findLimits(context, userId);
  const payees = payeeClass === null ? classesOfKey(pixKey) : [payeeClass];
  const limit = limitOfPayees(limits, context.config, { payees, now: context.clock.now() });
  return { version: limits.version, refusal: refuseOverLimit(limit, amountCents) };
}

async function claim(
  context: LocalContext,
  token: VerifiedToken,
  { reservation, judged }: { reservation: SendReservation; judged: Judgement | null },
): Promise<ReservedSend | null> {
  const now = context.clock.now();
  const claimed = await claimSend(context, token, {
    reservation,
    judged: judged && { version: judged.version, isWithinLimits: judged.refusal === null },
    now,
  });
  if (!claimed) return null;
  const { payer, hold, holder, codeHolder, limit } = claimed;
  const overLimit = judged
    ? judged.refusal
    : refuseOverLimit(remainingLimit(limit, now), reservation.amountCents);
  return {
    payer,
    isByPayee: judged !== null || limit.is_by_payee,
    hold,
    holder,
    isCurrent: codeHolder !== null || (judged?.refusal ?? null) !== null || limit.is_current,
    refusal: codeHolder === null ? overLimit : refusePaidCode(codeHolder),
  };
}
