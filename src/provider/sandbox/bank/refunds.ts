/** The refunds of the bank: money that goes back to the payer of a transfer, whole or in part. */
import { randomUUID } from 'node:crypto';
import { newReturnId } from '../../../domain/pix.ts';
import type { PaymentReceipt, RefundOrder } from '../../provider.ts';
import { type BankResponse, brokenRule, done, faulty, type Refusal, refused } from './response.ts';
import type { OrderedReturn, Receipt, Refund, Settlement } from './rows.ts';
import { blockedCents, returnScript } from './scenarios.ts';
import { isMade } from './state.ts';
import type { BankParts } from './parts.ts';

/** A refund that was made. */
export interface RefundMade {
  readonly returnId: string;
  readonly amountCents: number;
}

/** What the two sides of a refund have in common. */
type MadeRefund = Pick<Refund, 'endToEnd' | 'originalEndToEnd' | 'amountCents'>;

/** The payees' bank refunds payments, and customers refund what they received. */
export class Refunds {
  readonly #options: BankParts;

  constructor(options: BankParts) {
    this.#options = options;
  }

  /**
   * Refunds a completed payment, or a received Pix, and posts the webhook.
   * @param amountCents by default everything that is left.
   */
  async refund(endToEnd: string, amountCents?: number): Promise<BankResponse<RefundMade>> {
    const { state, clock, ispb } = this.#options;
    const payment = state.payment(endToEnd);
    const transfer = payment ?? state.receipt(endToEnd);
    if (transfer === null) return refused({ kind: 'not_found', reason: 'TransferNotFound' });
    if (payment !== null && payment.settlement?.status !== 'COMPLETED') {
      return brokenRule('TransferNotCompleted');
    }
    const leftCents = transfer.amountCents - this.#refundedCents(endToEnd);
    const cents = amountCents ?? leftCents;
    // The reason of the instant payment system for a refund that exceeds the payment.
    if (!Number.isSafeInteger(cents) || cents < 1 || cents > leftCents) return brokenRule('AM09');
    const returnId = newReturnId(ispb, clock.now());
    const made = { endToEnd: returnId, originalEndToEnd: endToEnd, amountCents: cents };
    await this.#post([this.#give(made), this.#take(made)]);
    return done({ returnId, amountCents: cents });
  }

  /** Credits the customer who gets the money back. @returns null: a payer at another bank. */
  #give(made: MadeRefund): Refund | null {
    const email = this.#options.state.payment(made.originalEndToEnd)?.email;
    return email === undefined ? null : this.#save({ ...made, email, direction: 'in' });
  }

  /** Debits the customer who gives the money back. @returns null: a payee at another bank. */
  #take(made: MadeRefund): Refund | null {
    const email = this.#options.state.receipt(made.originalEndToEnd)?.email;
    return email === undefined ? null : this.#save({ ...made, email, direction: 'out' });
  }

  #save(side: MadeRefund & Pick<Refund, 'email' | 'direction'>): Refund {
    const { state, clock } = this.#options;
    const id = randomUUID();
    const atMs = clock.now().getTime();
    const refund: Refund = { row: 'refund', id, ...side, atMs, webhooksLeft: 1 };
    state.save(refund);
    return refund;
  }

  async #post(sides: readonly (Refund | null)[]): Promise<void> {
    for (const side of sides) if (side !== null) await this.#options.webhooks.post(side.id);
  }

  /** Schedules the end of the returns that an earlier process left open. */
  resume(): void {
    for (const transfer of this.#options.state.transfers.values()) {
      if (transfer.row === 'refund' && isOpen(transfer)) this.#schedule(transfer);
    }
  }

  /**
   * Returns a received Pix for the customer who has received it, once: an order that repeats one
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
    const received = state.receipt(endToEnd);
    if (received?.email !== email) {
      return refused({ kind: 'not_found', reason: 'TransferNotFound' });
    }
    const leftCents = received.amountCents - this.#refundedCents(endToEnd);
    if (!Number.isSafeInteger(amountCents) || amountCents < 1 || amountCents > leftCents) {
      return brokenRule('AM09');
    }
    return respond(this.#execute(received, order));
  }

  /** Ends a return and posts its webhooks. A repeat does nothing. */
  async settle(returnId: string, outcome?: Settlement['status']): Promise<void> {
    const refund = this.#options.state.refund(returnId);
    if (!refund || !isOpen(refund) || !refund.ordered) return;
    const { originalEndToEnd, amountCents } = refund;
    const status = outcome ?? returnScript(amountCents).settlement;
    const settlement = { status, atMs: this.#options.clock.now().getTime() };
    const made = { endToEnd: returnId, originalEndToEnd, amountCents };
    const given = status === 'COMPLETED' ? this.#give(made) : null;
    const ended = { ...refund, ordered: { ...refund.ordered, settlement }, webhooksLeft: 1 };
    this.#options.state.save(ended);
    await this.#post([ended, given]);
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

  /** Of the two sides, the one that gives the money back has the returns in progress, too. */
  #refundedCents(endToEnd: string): number {
    const { state } = this.#options;
    const direction = state.receipt(endToEnd) === null ? 'in' : 'out';
    return [...state.transfers.values()].reduce((sum, transfer) => {
      const isOwn =
        transfer.row === 'refund' &&
        transfer.originalEndToEnd === endToEnd &&
        transfer.direction === direction;
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
