/** A transaction as operators see it: ids, states and times, without personal data. */
import type { PixType, PixOutcome, PixPhase, PixStatus } from '../domain/pix.ts';
import { requestIdOf } from '../ledger/return-ids.ts';
import type { InspectedPix } from './pix-repository.ts';

/** Times are ISO 8601 texts, the amount is reais as a decimal text. */
export interface PixView {
  readonly id: string;
  readonly userId: number;
  readonly operation: PixType;
  readonly status: PixStatus;
  readonly phase: PixPhase;
  readonly outcome: PixOutcome | null;
  readonly failureCode: string | null;
  readonly amount: string;
  readonly endToEnd: string | null;
  /** By which the provider knows it: the app's Idempotency-Key, or of a return a digest of it. */
  readonly clientRequestId: string | null;
  readonly transactionIdentification: string | null;
  readonly providerTxid: string | null;
  /** When a charge expires. */
  readonly expiresAt: string | null;
  /** Of a refund, whose own end-to-end id is its return id: the transaction that it refunds. */
  readonly originalId: string | null;
  /** The sum of its refunds in reais, as a decimal text; null: there is none. */
  readonly refundedAmount: string | null;
  /** The sum of its returns that are PROCESSING; null: there is none. */
  readonly refundingAmount: string | null;
  /** Until then a process works on it. */
  readonly claimedUntil: string | null;
  readonly createdAt: string;
  readonly updatedAt: string;
  readonly settledAt: string | null;
  /** When the provider has reported that it holds the send for analysis. */
  readonly heldAt: string | null;
  /** When it became COMPLETED although it had been FAILED. */
  readonly correctedAt: string | null;
  readonly overruledAt: string | null;
  /** Of a send: whether a report says that its payee, another customer, has received it. */
  readonly reachedPayee: boolean;
  /** Of a corrected send: a later send of the same user, key and amount that has not failed. */
  readonly paidAgainBy: string | null;
}

/** @returns the view of a transaction. */
export function viewOfPix(pix: InspectedPix): PixView {
  const { id, userId, operation, status, phase, outcome, failureCode, amount, endToEnd } = pix;
  return {
    id,
    userId,
    operation,
    status,
    phase,
    outcome,
    failureCode,
    amount,
    endToEnd,
    clientRequestId: requestIdOf(pix),
    transactionIdentification: pix.transactionIdentification,
    providerTxid: pix.providerTxid,
    expiresAt: pix.expiresAt?.toISOString() ?? null,
    originalId: pix.originalId,
    refundedAmount: pix.refundedAmount,
    refundingAmount: pix.refundingAmount,
    claimedUntil: pix.claimedUntil?.toISOString() ?? null,
    createdAt: pix.createdAt.toISOString(),
    updatedAt: pix.updatedAt.toISOString(),
    settledAt: pix.settledAt?.toISOString() ?? null,
    heldAt: pix.heldAt?.toISOString() ?? null,
    correctedAt: pix.correctedAt?.toISOString() ?? null,
    overruledAt: pix.overruledAt?.toISOString() ?? null,
    reachedPayee: pix.reachedPayee === true,
    paidAgainBy: pix.paidAgainBy,
  };
}
