/** The refunds of the bank: money that goes back to the payer of a transfer, whole or in part. */
import { randomUUID } from 'node:crypto';
import { newReturnId } from '../../../domain/pix.ts';
import type { PaymentReceipt, RefundOrder } from '../../provider.ts';
import { type BankResponse, brokenRule, done, faulty, type Refusal, refused } from './response.ts';
import type { OrderedReturn, Receipt, Refund, Settlement, Transfer } from './rows.ts';
import { blockedCents, returnScript } from './scenarios.ts';
import { isMade } from './state.ts';
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

  /** Schedules the end of the returns that an earlier process left open. */
  resume(): void {
    for (const transfer of this.#options.state.transfers.values()) {
      if (transfer.row === 'refund' && isOpen(transfer)) this.#schedule(transfer);
    }
  }

  /**
   * Returns a received PIX for the customer who has received it, once: an order that repeats one
   * gets the response of the first. The webhook reports how the return ends.
   */
  order(email: string, order: RefundOrder): BankResponse<PaymentReceipt> {
    const { state } = this.#options;
    const { returnId, endToEnd, amountCents, clientRequestId } = order;
    const first = state.refund(returnId);
    const requested = state.customer(email).requests.get(clientRequestId);
    if (requested !== undefined && requested !== returnId) {
      return brokenRule('DuplicatedClientRequestId');
    }
    if (first) {
      const isRepeat =
        requested !== undefined &&
        first.originalEndToEnd === endToEnd &&
        first.amountCents === amountCents;
      return isRepeat ? respond(first) : brokenRule('DuplicatedReturnId');
    }
    const received = state.transfers.get(endToEnd);
    if (received?.row !== 'receipt' || received.email !== email) {
      return refused({ kind: 'not_found', reason: 'TransferNotFound' });
    }
    const leftCents = received.amountCents - this.#refundedCents(endToEnd);
    if (!Number.isSafeInteger(amountCents) || amountCents < 1 || amountCents > leftCents) {
      return brokenRule('AM09');
    }
    return respond(this.#execute(received, order));
  }

  /** Ends a return and posts its webhook. A repeat does nothing. */
  async settle(returnId: string, outcome?: Settlement['status']): Promise<void> {
    const refund = this.#options.state.refund(returnId);
    if (!refund || !isOpen(refund) || !refund.ordered) return;
    const status = outcome ?? returnScript(refund.amountCents).settlement;
    const settlement = { status, atMs: this.#options.clock.now().getTime() };
    const ordered = { ...refund.ordered, settlement };
    this.#options.state.save({ ...refund, ordered, webhooksLeft: 1 });
    await this.#options.webhooks.post(returnId);
  }

  #execute({ email, endToEnd }: Receipt, order: RefundOrder): Refund {
    const { state, clock } = this.#options;
    const { returnId, clientRequestId, amountCents } = order;
    const refusal = this.#refusal(email, amountCents);
    const refund: Refund = {
      row: 'refund',
      endToEnd: returnId,
      email,
      id: randomUUID(),
      originalEndToEnd: endToEnd,
      direction: 'out',
      amountCents,
      atMs: clock.now().getTime(),
      webhooksLeft: 0,
      ordered: { clientRequestId, refusal, settlement: null },
    };
    state.save(refund);
    if (refusal === null) this.#schedule(refund);
    return refund;
  }

  #refusal(email: string, amountCents: number): Refusal | null {
    if (returnScript(amountCents).response === 'refused') return { kind: 'rule', reason: 'AG03' };
    const { balanceCents } = this.#options.state.customer(email);
    const freeCents = balanceCents - (blockedCents(email) ?? 0);
    if (amountCents <= freeCents) return null;
    return { kind: 'insufficient_funds', reason: 'NOT_ENOUGH_BALANCE' };
  }

  #schedule({ endToEnd: returnId, atMs, amountCents }: Refund): void {
    const { settleMs, webhooks, clock } = this.#options;
    if (settleMs === 0 || returnScript(amountCents).webhook === 'never') return;
    const sinceMs = clock.now().getTime() - atMs;
    webhooks.later(Math.max(0, settleMs - sinceMs), () => this.settle(returnId));
  }

  #refundedCents(endToEnd: string): number {
    return [...this.#options.state.transfers.values()].reduce((sum, transfer) => {
      const isOwn = transfer.row === 'refund' && transfer.originalEndToEnd === endToEnd;
      return isOwn && isMade(transfer) ? sum + transfer.amountCents : sum;
    }, 0);
  }
}

function isOpen({ ordered }: Refund): boolean {
  return ordered !== undefined && ordered.refusal === null && ordered.settlement === null;
}

/** A repeat gets the response of the first order. */
function respond({ ordered, ...refund }: Refund): BankResponse<PaymentReceipt> {
  if (ordered?.refusal) return refused(ordered.refusal);
  const { response } = returnScript(refund.amountCents);
  if (response === 'internal_error') return faulty(response);
  const { clientRequestId = '' }: Partial<OrderedReturn> = ordered ?? {};
  const { endToEnd, id: providerTxid } = refund;
  return done({ endToEnd, clientRequestId, providerTxid, status: 'PROCESSING' });
}

function isCompleted(transfer: Transfer): boolean {
  return transfer.row !== 'payment' || transfer.settlement?.status === 'COMPLETED';
}
