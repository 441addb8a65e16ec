/** The webhooks of the bank: their content, and their delivery until they are received. */
import type { Clock } from '../../../clock.ts';
import { numberFromCents } from '../../../domain/money.ts';
import type {
  DisputeNotice,
  Expiry,
  Payment,
  Posting,
  Receipt,
  Refund,
  Settlement,
} from './rows.ts';
import { customerScript, paymentScript } from './scenarios.ts';
import type { State } from './state.ts';

/** Posts a webhook. A rejection means that it was not received: the bank posts it again. */
export type Notify = (payload: Buffer) => Promise<void>;

/** The attempts to post a webhook. */
const maxAttempts = 10;

const firstDelayMs = 1_000;
const maxDelayMs = 60_000;

/** The payee's bank refused the payment: the failure of the magic key, and of `settle`. */
const failureReason = 'DS04';
/** The instant payment system's time-out: the reason in a contradicting webhook. */
const contradictionReason = 'AB03';

export interface WebhooksOptions {
  readonly state: State;
  readonly clock: Clock;
  readonly notify: Notify;
  /** Receives the errors of background work. */
  readonly onFault: (fault: unknown) => void;
}

/** The delivery of webhooks: those of one transfer in order, those of several independently. */
export class Webhooks {
  readonly #options: WebhooksOptions;
  readonly #timers = new Set<() => void>();
  readonly #running = new Set<Promise<void>>();
  #isClosed = false;

  constructor(options: WebhooksOptions) {
    this.#options = options;
  }

  /** Posts the webhooks that an earlier process left, by the clock's next timers. */
  resume(): void {
    const { transfers, expiries, disputeNotices } = this.#options.state;
    for (const [id, { webhooksLeft }] of [...transfers, ...expiries, ...disputeNotices]) {
      if (webhooksLeft > 0) this.later(0, () => this.post(id));
    }
  }

  /**
   * Posts the remaining webhooks of a transfer, an expiry or a notice, each after the previous one
   * was received.
   *
   * @param id the bank's id of a transfer, a charge's identification, or a notice's id.
   * @returns resolved when all of them are received, or the next attempt at one is scheduled; it
   *   never rejects.
   */
  post(id: string): Promise<void> {
    return this.#run(this.#post(id, 1));
  }

  /** Calls `work` after `delayMs`, unless the bank is closed before. */
  later(delayMs: number, work: () => Promise<void>): void {
    if (this.#isClosed) return;
    const cancel = this.#options.clock.after(delayMs, () => {
      this.#timers.delete(cancel);
      void this.#run(work());
    });
    this.#timers.add(cancel);
  }

  /** Resolves when no webhook is being posted; those that wait for their time do not count. */
  async idle(): Promise<void> {
    while (this.#running.size > 0) await Promise.all(this.#running);
  }

  /** Posts nothing more. The state file keeps how many webhooks are left. */
  close(): void {
    this.#isClosed = true;
    for (const cancel of this.#timers) cancel();
    this.#timers.clear();
  }

  #run(work: Promise<void>): Promise<void> {
    const running = work
      .catch((fault: unknown) => this.#report(fault))
      .finally(() => this.#running.delete(running));
    this.#running.add(running);
    return running;
  }

  async #post(id: string, nth: number): Promise<void> {
    const posting = this.#options.state.posting(id);
    if (posting === undefined || posting.webhooksLeft === 0 || this.#isClosed) return;
    const { webhooksLeft } = posting;
    const isReceived =
      this.#isLost(posting) ||
      (await this.#isReceived(webhookTexts(posting).at(-webhooksLeft) ?? ''));
    if (this.#isClosed) return;
    if (!isReceived && nth < maxAttempts) {
      const delayMs = Math.min(firstDelayMs * 2 ** (nth - 1), maxDelayMs);
      this.later(delayMs, () => this.#post(id, nth + 1));
      return;
    }
    if (!isReceived)
      this.#report(new Error(`a webhook was given up after ${maxAttempts} attempts`));
    this.#options.state.save({ ...posting, webhooksLeft: webhooksLeft - 1 });
    await this.#post(id, 1);
  }

  /** Whether the webhooks of its customer get lost, although the bank counts them as received. */
  #isLost(posting: Posting): boolean {
    const { charges } = this.#options.state;
    const { email } =
      posting.row === 'expiry' ? (charges.get(posting.transactionIdentification) ?? {}) : posting;
    return email !== undefined && customerScript(email) === 'webhooks_lost';
  }

  async #isReceived(text: string): Promise<boolean> {
    try {
      await this.#options.notify(Buffer.from(text, 'utf8'));
      return true;
    } catch {
      // The webhook is posted again after any error.
      return false;
    }
  }

  /** Ignores errors after closing: the closed state file then refuses rows as intended. */
  #report(fault: unknown): void {
    if (!this.#isClosed) this.#options.onFault(fault);
  }
}

/**
 * The webhooks of a transfer, an expiry or a notice as JSON texts, in the order in which they are
 * posted.
 */
export function webhookTexts(transfer: Posting): string[] {
  if (transfer.row === 'receipt') return [receiptWebhook(transfer)];
  if (transfer.row === 'refund') return [refundWebhook(transfer)];
  if (transfer.row === 'expiry') return [expiryWebhook(transfer)];
  if (transfer.row === 'dispute_notice') return [disputeWebhook(transfer)];
  const { settlement } = transfer;
  if (settlement === null) return [];
  const isFailed = settlement.status === 'FAILED';
  const webhook = (errorCode: string | null): string =>
    paymentWebhook(transfer, settlement, errorCode);
  const final = webhook(isFailed ? failureReason : null);
  if (paymentScript(transfer.key).webhook !== 'contradicted') return [final];
  return [final, final, webhook(isFailed ? null : contradictionReason)];
}

function paymentWebhook(
  payment: Payment,
  settlement: Settlement,
  errorCode: string | null,
): string {
  const { id, endToEnd, clientRequestId, amountCents } = payment;
  return JSON.stringify({
    event: 'PIX_PAYMENT_OUT',
    id,
    endToEnd,
    clientRequestId,
    status: errorCode === null ? 'CONFIRMED' : 'ERROR',
    amount: numberFromCents(amountCents),
    ...(errorCode === null ? {} : { error: { code: errorCode } }),
    createdAt: new Date(settlement.atMs).toISOString(),
  });
}

/** A payer at another bank. */
const foreignPayer = { name: 'Pagador de Teste', document: '12345678909' } as const;

function receiptWebhook(receipt: Receipt): string {
  const { id, endToEnd, transactionIdentification, amountCents, key, receiver, atMs } = receipt;
  return JSON.stringify({
    event: 'PIX_RECEIVED',
    id,
    endToEnd,
    ...(transactionIdentification !== null && { transactionIdentification }),
    status: 'CONFIRMED',
    amount: numberFromCents(amountCents),
    ...(key !== null && { key }),
    account: receiver,
    payer: receipt.payer ?? foreignPayer,
    createdAt: new Date(atMs).toISOString(),
  });
}

function refundWebhook(refund: Refund): string {
  const { id, endToEnd, originalEndToEnd, direction, amountCents, atMs, ordered } = refund;
  const isFailed = ordered?.settlement?.status === 'FAILED';
  return JSON.stringify({
    event: direction === 'in' ? 'PIX_REFUND_IN' : 'PIX_REFUND_OUT',
    id,
    endToEnd: originalEndToEnd,
    returnId: endToEnd,
    ...(ordered && { clientRequestId: ordered.clientRequestId }),
    status: isFailed ? 'ERROR' : 'CONFIRMED',
    amount: numberFromCents(amountCents),
    ...(isFailed && { error: { code: failureReason } }),
    createdAt: new Date(atMs).toISOString(),
  });
}

function disputeWebhook({ id, disputeId, endToEnd, status, atMs }: DisputeNotice): string {
  return JSON.stringify({
    event: 'PIX_DISPUTE',
    id,
    ...(disputeId !== null && { disputeId }),
    endToEnd,
    status,
    createdAt: new Date(atMs).toISOString(),
  });
}

function expiryWebhook({ transactionIdentification, amountCents, atMs }: Expiry): string {
  return JSON.stringify({
    event: 'CHARGE_EXPIRED',
    transactionIdentification,
    amount: numberFromCents(amountCents),
    createdAt: new Date(atMs).toISOString(),
  });
}
