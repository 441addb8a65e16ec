/** The bank's notices (webhooks): their words, and their delivery until somebody has them. */
import type { Clock } from '../../clock.ts';
import { numberFromCents } from '../../domain/money.ts';
import type { BankAccount } from './accounts.ts';
import type { NoticeClosedEntry } from './entries.ts';
import type { Payment } from './ledger.ts';

/** Delivers a notice; a rejection means that it was not received and is to be posted again. */
export type Notify = (payload: Buffer) => Promise<void>;

/** A payment's end, as it is told. */
type Settled = 'COMPLETED' | 'FAILED';

/** How often a notice is posted before the bank gives it up. */
const MAX_TRIES = 10;

const FIRST_DELAY_MS = 1_000;
const MAX_DELAY_MS = 60_000;

/** The receiver's bank refused the QR Code: how the magic key fails, and a failure made by hand. */
const FAILURE_REASON = 'BE17';
/** The instant payment system's time-out: what a contradicting notice claims. */
const CONTRADICTION_REASON = 'AB03';

export interface OutboxOptions {
  readonly clock: Clock;
  readonly notify: Notify;
  /** Records that the first waiting notice of a transfer is dealt with. */
  readonly close: (notice: Pick<NoticeClosedEntry, 'endToEnd' | 'isDelivered'>) => Promise<void>;
  /** Is told of what goes wrong where nobody waits for an answer. */
  readonly onFault: (fault: unknown) => void;
}

/** The notices that are still to be posted, in order for each transfer. */
export class Outbox {
  readonly #options: OutboxOptions;
  readonly #waiting = new Map<string, string[]>();
  readonly #timers = new Set<() => void>();
  readonly #underWay = new Set<Promise<void>>();
  #isClosed = false;

  constructor(options: OutboxOptions) {
    this.#options = options;
  }

  add(endToEnd: string, notices: readonly string[]): void {
    if (notices.length > 0) this.#waiting.set(endToEnd, [...notices]);
  }

  removeFirst(endToEnd: string): void {
    const notices = this.#waiting.get(endToEnd);
    notices?.shift();
    if (notices?.length === 0) this.#waiting.delete(endToEnd);
  }

  /** The transfers that have notices waiting. */
  transfers(): string[] {
    return [...this.#waiting.keys()];
  }

  /**
   * Posts what waits for a transfer. The next notice goes out once the one before is received.
   *
   * @returns resolved when all of them are received, or one was not and its next try is set; it
   *   never rejects.
   */
  post(endToEnd: string): Promise<void> {
    const posting = this.#post(endToEnd, 1)
      .catch((fault: unknown) => this.#report(fault))
      .finally(() => this.#underWay.delete(posting));
    this.#underWay.add(posting);
    return posting;
  }

  /** Calls `work` after `delayMs`, unless the bank is closed before. */
  later(delayMs: number, work: () => Promise<void>): void {
    if (this.#isClosed) return;
    const cancel = this.#options.clock.after(delayMs, () => {
      this.#timers.delete(cancel);
      const running = work()
        .catch((fault: unknown) => this.#report(fault))
        .finally(() => this.#underWay.delete(running));
      this.#underWay.add(running);
    });
    this.#timers.add(cancel);
  }

  /** Resolves when nothing is being posted; what waits for its time does not count. */
  async idle(): Promise<void> {
    while (this.#underWay.size > 0) await Promise.all(this.#underWay);
  }

  /** Posts nothing more; what is waiting stays in the journal. */
  close(): void {
    this.#isClosed = true;
    for (const cancel of this.#timers) cancel();
    this.#timers.clear();
  }

  async #post(endToEnd: string, nth: number): Promise<void> {
    const notice = this.#waiting.get(endToEnd)?.[0];
    if (notice === undefined || this.#isClosed) return;
    const isDelivered = await this.#isReceived(notice);
    if (this.#isClosed) return;
    if (!isDelivered && nth < MAX_TRIES) {
      const delayMs = Math.min(FIRST_DELAY_MS * 2 ** (nth - 1), MAX_DELAY_MS);
      this.later(delayMs, () => this.#post(endToEnd, nth + 1));
      return;
    }
    if (!isDelivered) this.#report(new Error(`a notice was given up after ${MAX_TRIES} tries`));
    await this.#options.close({ endToEnd, isDelivered });
    await this.#post(endToEnd, 1);
  }

  async #isReceived(notice: string): Promise<boolean> {
    try {
      await this.#options.notify(Buffer.from(notice, 'utf8'));
      return true;
    } catch {
      // Whatever kept it from being received, the answer is to post it again.
      return false;
    }
  }

  /** Once closed, the journal refuses what comes late: that is no fault. */
  #report(fault: unknown): void {
    if (!this.#isClosed) this.#options.onFault(fault);
  }
}

/** The notices of a payment's end, in the order in which they are to be posted. */
export function settlementNotices(payment: Payment, status: Settled, at: Date): string[] {
  const notice = paymentNotice(payment, at, status === 'FAILED' ? FAILURE_REASON : null);
  if (payment.script.notice !== 'contradicted') return [notice];
  const opposite = paymentNotice(payment, at, status === 'FAILED' ? null : CONTRADICTION_REASON);
  return [notice, notice, opposite];
}

function paymentNotice(payment: Payment, at: Date, errorCode: string | null): string {
  const { id, endToEnd, clientRequestId, amountCents } = payment.entry;
  return JSON.stringify({
    event: 'PIX_PAYMENT_OUT',
    id,
    endToEnd,
    clientRequestId,
    status: errorCode === null ? 'CONFIRMED' : 'ERROR',
    amount: numberFromCents(amountCents),
    ...(errorCode === null ? {} : { error: { code: errorCode } }),
    createdAt: at.toISOString(),
  });
}

export interface ReceivedPix {
  readonly id: string;
  readonly endToEnd: string;
  readonly transactionIdentification: string;
  readonly amountCents: number;
  readonly key: string;
  readonly receiver: BankAccount;
  readonly at: Date;
}

/** The notice of a payment that has come in. */
export function receivedNotice(received: ReceivedPix): string {
  const { agency, accountNumber, document } = received.receiver;
  return JSON.stringify({
    event: 'PIX_RECEIVED',
    id: received.id,
    endToEnd: received.endToEnd,
    transactionIdentification: received.transactionIdentification,
    status: 'CONFIRMED',
    amount: numberFromCents(received.amountCents),
    key: received.key,
    account: { agency, accountNumber, document },
    payer: { name: 'Pagador de Teste', document: '12345678909' },
    createdAt: received.at.toISOString(),
  });
}
