/** The refunds of the bank: money that goes back to the payer of a transfer, whole or in part. */
import { randomUUID } from 'node:crypto';
import { newReturnId } from '../../../domain/pix.ts';
import { type BankResponse, brokenRule, done, refused } from './response.ts';
import type { Transfer } from './rows.ts';
import type { BankParts } from './parts.ts';

/** A refund that was made. */
export interface RefundMade {
  readonly returnId: string;
  readonly amountCents: number;
}

/** The payees' bank refunds payments, and customers refund what they received. */
export class Refunds {
  readonly #options: BankParts;

  constructor(options: BankParts) {
    this.#options = options;
  }

  /**
   * Refunds a completed payment, or a received PIX, and posts the webhook.
   * @param amountCents by default everything that is left.
   */
  async refund(endToEnd: string, amountCents?: number): Promise<BankResponse<RefundMade>> {
    const { state, webhooks, clock, ispb } = this.#options;
    const transfer = state.transfers.get(endToEnd);
    if (transfer === undefined || transfer.row === 'refund') {
      return refused({ kind: 'not_found', reason: 'TransferNotFound' });
    }
    if (!isCompleted(transfer)) return brokenRule('TransferNotCompleted');
    const leftCents = transfer.amountCents - this.#refundedCents(endToEnd);
    const cents = amountCents ?? leftCents;
    // The reason of the instant payment system for a refund that exceeds the payment.
    if (!Number.isSafeInteger(cents) || cents < 1 || cents > leftCents) return brokenRule('AM09');
    const now = clock.now();
    const returnId = newReturnId(ispb, now);
    state.save({
      row: 'refund',
      endToEnd: returnId,
      email: transfer.email,
      id: randomUUID(),
      originalEndToEnd: endToEnd,
      direction: transfer.row === 'payment' ? 'in' : 'out',
      amountCents: cents,
      atMs: now.getTime(),
      webhooksLeft: 1,
    });
    await webhooks.post(returnId);
    return done({ returnId, amountCents: cents });
  }

  #refundedCents(endToEnd: string): number {
    return [...this.#options.state.transfers.values()].reduce((sum, transfer) => {
      const isOwn = transfer.row === 'refund' && transfer.originalEndToEnd === endToEnd;
      return isOwn ? sum + transfer.amountCents : sum;
    }, 0);
  }
}

function isCompleted(transfer: Transfer): boolean {
  return transfer.row !== 'payment' || transfer.settlement?.status === 'COMPLETED';
}
