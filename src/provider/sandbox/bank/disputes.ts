/** The disputes of payments: the bank decides, and gives the money of an accepted one back. */
import { randomUUID } from 'node:crypto';
import type { ReportedDisputeStatus } from '../../../domain/dispute.ts';
import type { DisputeOrder } from '../../provider.ts';
import type { BankParts } from './parts.ts';
import type { Refunds } from './refunds.ts';
import { type BankResponse, brokenRule, done, faulty, refused } from './response.ts';
import type { Dispute } from './rows.ts';
import { disputeScript } from './scenarios.ts';

/** How a dispute ends by a decision of the bank. */
export type DisputeDecision = 'ACCEPTED' | 'REJECTED';

/** One dispute at most for each payment. */
export class Disputes {
  readonly #options: BankParts & { readonly refunds: Refunds };

  constructor(options: BankParts & { readonly refunds: Refunds }) {
    this.#options = options;
  }

  /** Schedules the decisions that an earlier process left. */
  resume(): void {
    for (const dispute of this.#options.state.disputes.values()) {
      if (dispute.status === 'OPEN') this.#schedule(dispute);
    }
  }

  /** Opens a dispute; a payment that has one keeps it. */
  open(
    email: string,
    { disputeId, endToEnd, situation }: Omit<DisputeOrder, 'details'>,
  ): BankResponse<Dispute> {
    const payment = this.#options.state.payment(endToEnd);
    if (payment?.email !== email) return refused({ kind: 'not_found', reason: 'PaymentNotFound' });
    const script = disputeScript(payment.key);
    if (payment.settlement?.status !== 'COMPLETED') return brokenRule('PaymentNotCompleted');
    if (script === 'refused') return brokenRule('DisputeRefused');
    const dispute =
      this.#options.state.disputes.get(endToEnd) ??
      this.#store({ email, endToEnd, disputeId, situation });
    return script === 'lost' ? faulty('internal_error') : done(dispute);
  }

  /** Opens a dispute as another channel of the bank does. @throws Error for an unknown payment. */
  async openElsewhere(endToEnd: string): Promise<void> {
    const payment = this.#options.state.payment(endToEnd);
    if (payment === null) throw new Error(`no payment has the end-to-end id ${endToEnd}`);
    this.#store({ email: payment.email, endToEnd, disputeId: null, situation: 'OTHER' });
    await this.#options.webhooks.post(noticeId(endToEnd, 'OPEN'));
  }

  /** Shows a dispute as it is now. */
  read(email: string, endToEnd: string): BankResponse<Dispute> {
    const dispute = this.#options.state.disputes.get(endToEnd);
    if (dispute?.email !== email) return refused({ kind: 'not_found', reason: 'DisputeNotFound' });
    return done(dispute);
  }

  /** Withdraws an open dispute; one that has ended stays as it is. */
  withdraw(email: string, endToEnd: string): BankResponse<Dispute> {
    const found = this.read(email, endToEnd);
    if (found.outcome !== 'done' || found.value.status !== 'OPEN') return found;
    const dispute = found.value;
    const withdrawn = this.#move(dispute, 'WITHDRAWN');
    void this.#options.webhooks.post(noticeId(endToEnd, 'WITHDRAWN'));
    return done(withdrawn);
  }

  /**
   * Decides an open dispute, posts its webhook, and returns the money of an accepted one.
   * @param decision by default that of the payment's key.
   * @throws Error when the payment has no open dispute.
   */
  async decide(endToEnd: string, decision?: DisputeDecision): Promise<void> {
    const { state, webhooks, refunds } = this.#options;
    const dispute = state.disputes.get(endToEnd);
    if (dispute?.status !== 'OPEN') throw new Error(`payment ${endToEnd} has no open dispute`);
    const key = state.payment(endToEnd)?.key ?? '';
    const script = disputeScript(key);
    const status = decision ?? (script === 'rejected' ? 'REJECTED' : 'ACCEPTED');
    this.#move(dispute, status);
    await webhooks.post(noticeId(endToEnd, status));
    if (status === 'REJECTED') return;
    const cents = state.payment(endToEnd)?.amountCents ?? 0;
    await refunds.refund(endToEnd, script === 'partial' ? Math.ceil(cents / 2) : undefined);
  }

  #store(opened: Pick<Dispute, 'email' | 'endToEnd' | 'disputeId' | 'situation'>): Dispute {
    const { state, clock, webhooks } = this.#options;
    const atMs = clock.now().getTime();
    const dispute = { row: 'dispute', id: randomUUID(), ...opened, status: 'OPEN', atMs } as const;
    state.save(dispute);
    this.#notify(dispute);
    webhooks.later(0, () => webhooks.post(noticeId(dispute.endToEnd, 'OPEN')));
    this.#schedule(dispute);
    return dispute;
  }

  #move(dispute: Dispute, status: ReportedDisputeStatus): Dispute {
    const moved = { ...dispute, status, atMs: this.#options.clock.now().getTime() };
    this.#options.state.save(moved);
    this.#notify(moved);
    return moved;
  }

  /** Saves the webhook that reports the status. */
  #notify({ id, email, endToEnd, disputeId, status, atMs }: Dispute): void {
    this.#options.state.save({
      row: 'dispute_notice',
      noticeId: noticeId(endToEnd, status),
      id,
      email,
      endToEnd,
      disputeId,
      status,
      atMs,
      webhooksLeft: 1,
    });
  }

  /** The bank decides after its usual settlement time. */
  #schedule({ endToEnd, atMs }: Dispute): void {
    const { state, clock, webhooks, settleMs } = this.#options;
    const script = disputeScript(state.payment(endToEnd)?.key ?? '');
    if (settleMs === 0 || script === 'pending') return;
    const sinceMs = clock.now().getTime() - atMs;
    webhooks.later(Math.max(0, settleMs - sinceMs), async () => {
      if (state.disputes.get(endToEnd)?.status === 'OPEN') await this.decide(endToEnd);
    });
  }
}

function noticeId(endToEnd: string, status: ReportedDisputeStatus): string {
  return `dispute:${endToEnd}:${status}`;
}
