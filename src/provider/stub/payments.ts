/** The bank's payment desk: look-ups, payments, and their ends. */
import { randomUUID } from 'node:crypto';
import type { Clock } from '../../clock.ts';
import { newEndToEndId } from '../../domain/end-to-end-id.ts';
import type { KeyLookUp, KeyOwner, PaymentOrder, PaymentReceipt } from '../provider.ts';
import { type BankAnswer, done, type Faulty, faulty, refused, type Refused } from './answer.ts';
import type { Books } from './books.ts';
import type { Payment } from './ledger.ts';
import { settlementNotices } from './notices.ts';
import { LATE_NOTICE_MS, lookUpScript } from './scenarios.ts';
import { afterwards, type Soon } from './soon.ts';

export interface PaymentsOptions {
  readonly books: Books;
  readonly clock: Clock;
  readonly ispb: string;
  readonly settleMs: number;
}

/** DICT gives a payer two look-ups back every minute. */
const LOOK_UP_REFILL_MS = 30_000;

/** Payments: each executed at most once, settled once. */
export class Payments {
  readonly #options: PaymentsOptions;
  readonly #books: Books;
  /** The payers whose first look-up of `flaky@ponte.test` has already failed. */
  readonly #flaked = new Set<string>();
  /** The payments that are being made: their repeats are answered after them. */
  readonly #underWay = new Map<string, Promise<void>>();

  constructor(options: PaymentsOptions) {
    this.#options = options;
    this.#books = options.books;
  }

  lookUpKey(email: string, { key, payerId }: KeyLookUp): Soon<BankAnswer<KeyOwner>> {
    const failure = this.#lookUpFailure(email, key);
    if (failure !== null) return failure;
    const endToEnd = newEndToEndId(this.#options.ispb, this.#options.clock.now());
    const entry = { entry: 'look_up', ...this.#books.fact(email), endToEnd, payerId, key } as const;
    return afterwards(this.#books.record(entry), () => done({ endToEnd }));
  }

  pay(email: string, order: PaymentOrder): Soon<BankAnswer<PaymentReceipt>> {
    const known = this.#books.ledger.examine(email, order);
    if (known !== null && 'kind' in known) return refused(known);
    const making = known === null ? this.#make(email, order) : this.#underWay.get(order.endToEnd);
    return afterwards(making, () => answerTo(this.#paymentOf(order.endToEnd)));
  }

  async settle(endToEnd: string, outcome?: 'COMPLETED' | 'FAILED'): Promise<void> {
    const payment = this.#paymentOf(endToEnd);
    if (payment.entry.refusal !== null) throw new Error(`payment ${endToEnd} was refused`);
    const status = outcome ?? payment.script.settlement;
    if (payment.isSettled) {
      if (outcome === undefined || outcome === payment.status) return;
      throw new Error(`payment ${endToEnd} has ended as ${payment.status}`);
    }
    const notices = settlementNotices(payment, status, this.#options.clock.now());
    const fact = this.#books.fact(payment.entry.email);
    await this.#books.record({ entry: 'settlement', ...fact, endToEnd, status, notices });
    await this.#books.outbox.post(endToEnd);
  }

  /** Takes up what the end of the last process has left: payments to settle, notices to post. */
  resume(): void {
    const { ledger, outbox } = this.#books;
    for (const payment of ledger.unsettled()) this.#schedule(payment);
    for (const endToEnd of outbox.transfers()) outbox.later(0, () => outbox.post(endToEnd));
  }

  /** Makes a payment; while that takes its time, the repeats wait for its end. */
  #make(email: string, order: PaymentOrder): Soon<void> {
    const { endToEnd } = order;
    const making = afterwards(this.#execute(email, order), () => this.#arrangeEnd(endToEnd));
    if (!(making instanceof Promise)) return;
    const made = making.then(() => {
      // One that could not be written stays: its repeats must not be answered as if it were.
      this.#underWay.delete(endToEnd);
    });
    this.#underWay.set(endToEnd, made);
    return made;
  }

  #execute(email: string, order: PaymentOrder): Soon<void> {
    const { endToEnd, clientRequestId, amountCents, description } = order;
    const fact = { ...this.#books.fact(email), id: randomUUID() };
    const refusal = this.#books.ledger.refusalOf(email, order);
    const terms = { endToEnd, clientRequestId, amountCents, description };
    return this.#books.record({ entry: 'payment', ...fact, ...terms, refusal });
  }

  /** How a payment ends is decided by its key, and when it is told too. */
  #arrangeEnd(endToEnd: string): Soon<void> {
    const payment = this.#paymentOf(endToEnd);
    if (payment.entry.refusal !== null) return;
    const isEarly = payment.script.notice === 'early' && this.#options.settleMs > 0;
    if (isEarly) return this.settle(endToEnd);
    this.#schedule(payment);
  }

  /** Settles a payment when its time comes, which after a restart may be past. */
  #schedule(payment: Payment): void {
    const delayMs = this.#settlementDelayMs(payment);
    if (delayMs === null) return;
    const { endToEnd, atMs } = payment.entry;
    const sinceMs = this.#options.clock.now().getTime() - atMs;
    this.#books.outbox.later(Math.max(0, delayMs - sinceMs), () => this.settle(endToEnd));
  }

  /** Null: never by itself. */
  #settlementDelayMs({ script }: Payment): number | null {
    if (this.#options.settleMs === 0 || script.notice === 'never') return null;
    if (script.notice === 'early') return 0;
    return script.notice === 'late' ? LATE_NOTICE_MS : this.#options.settleMs;
  }

  #lookUpFailure(email: string, key: string): Refused | Faulty | null {
    switch (lookUpScript(key)) {
      case 'found':
        return null;
      case 'not_found':
        return refused({ kind: 'not_found', reason: 'NotFound' });
      case 'rate_limited': {
        const retryAfterMs = LOOK_UP_REFILL_MS;
        return refused({ kind: 'rate_limited', reason: 'RateLimited', retryAfterMs });
      }
      case 'unavailable':
        return faulty('unavailable');
      case 'unavailable_once':
        if (this.#flaked.has(email)) return null;
        this.#flaked.add(email);
        return faulty('unavailable');
    }
  }

  #paymentOf(endToEnd: string): Payment {
    const payment = this.#books.ledger.payment(endToEnd);
    if (payment === null) throw new Error(`no payment has the end-to-end id ${endToEnd}`);
    return payment;
  }
}

function answerTo({ entry, script }: Payment): BankAnswer<PaymentReceipt> {
  if (entry.refusal !== null) return refused(entry.refusal);
  const { answer } = script;
  if (answer === 'hang' || answer === 'internal_error' || answer === 'garbled') {
    return faulty(answer);
  }
  const { endToEnd, clientRequestId, id } = entry;
  return done({ endToEnd, clientRequestId, providerTxid: id, status: 'PROCESSING' });
}
