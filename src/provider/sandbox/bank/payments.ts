/** The payments of the bank: look-ups in the directory of keys, payments, and their settlement. */
import { randomUUID } from 'node:crypto';
import { newEndToEndId } from '../../../domain/pix.ts';
import { maxAmountCents } from '../../../domain/money.ts';
import type {
  CodeCharge,
  CodeLookUp,
  KeyLookUp,
  KeyOwner,
  PaymentOrder,
  PaymentReceipt,
} from '../../provider.ts';
import {
  type BankResponse,
  brokenRule,
  done,
  type Faulty,
  faulty,
  type Refusal,
  refused,
  type Refused,
} from './response.ts';
import type { Codes } from './codes.ts';
import type { Directory } from './directory.ts';
import { payersIspb, type Receipts } from './receipts.ts';
import type { Payment, Receipt, Settlement } from './rows.ts';
import { blockedCents, lateWebhookMs, lookUpScript, paymentScript } from './scenarios.ts';
import type { Refunds } from './refunds.ts';
import type { BankParts } from './parts.ts';
import type { State } from './state.ts';
import { webhookTexts } from './webhooks.ts';

/** DICT gives a payer two look-ups back every minute. */
const lookUpRefillMs = 30_000;

interface PaymentsOptions extends BankParts {
  readonly refunds: Refunds;
  readonly codes: Codes;
  readonly directory: Directory;
  readonly receipts: Receipts;
}

/** Payments: each executed at most once, settled once. */
export class Payments {
  readonly #options: PaymentsOptions;
  readonly #state: State;
  /** The payers whose first look-up of `flaky@ponte.test` has already failed. */
  readonly #flaked = new Set<string>();
  /** By end-to-end id, the settlements that are posted before their payment is answered. */
  readonly #earlySettlements = new Map<string, Promise<void>>();

  constructor(options: PaymentsOptions) {
    this.#options = options;
    this.#state = options.state;
  }

  /** Schedules the settlement of the payments that an earlier process left unsettled. */
  resume(): void {
    for (const transfer of this.#state.transfers.values()) {
      if (transfer.row !== 'payment') continue;
      if (transfer.refusal === null && transfer.settlement === null) this.#schedule(transfer);
    }
  }

  lookUpKey(email: string, { key, payerId }: KeyLookUp): BankResponse<KeyOwner> {
    const failure = this.#lookUpFailure(email, key);
    if (failure !== null) return failure;
    const { ispb, clock, directory } = this.#options;
    const endToEnd = newEndToEndId(ispb, clock.now());
    this.#state.save({ row: 'look_up', endToEnd, email, payerId, key });
    return done({ endToEnd, ...directory.owner(key, email), ispb });
  }

  /** Reads the charge of a dynamic code; the end-to-end id is valid for one payment of it. */
  readCode(email: string, { text, payerId }: CodeLookUp): BankResponse<CodeCharge> {
    const charge = this.#options.codes.find(text);
    if (charge === null) return refused({ kind: 'not_found', reason: 'CodeNotFound' });
    const failure = this.#lookUpFailure(email, charge.key);
    if (failure !== null) return failure;
    if (charge.state !== 'payable') return done({ ...charge, endToEnd: null });
    const { key, txid } = charge;
    const endToEnd = newEndToEndId(this.#options.ispb, this.#options.clock.now());
    this.#state.save({ row: 'look_up', endToEnd, email, payerId, key, txid });
    return done({ ...charge, endToEnd });
  }

  /** @returns at once, unless the webhook of the payment is posted before its response. */
  pay(
    email: string,
    order: PaymentOrder,
  ): BankResponse<PaymentReceipt> | Promise<BankResponse<PaymentReceipt>> {
    const { endToEnd } = order;
    const first = this.#state.payment(endToEnd);
    const conflict = this.#conflict(email, order, first);
    if (conflict !== null) return brokenRule(conflict);
    const payment = first ?? this.#execute(email, order);
    const settling = this.#earlySettlements.get(endToEnd);
    return settling === undefined ? respond(payment) : settling.then(() => respond(payment));
  }

  /** Ends a payment. Where a customer is paid, both sides have the same end-to-end id. */
  async settle(endToEnd: string, outcome?: Settlement['status']): Promise<void> {
    const payment = this.#state.payment(endToEnd);
    if (payment === null) throw new Error(`no payment has the end-to-end id ${endToEnd}`);
    if (payment.refusal !== null) throw new Error(`payment ${endToEnd} was refused`);
    if (payment.settlement !== null) {
      const { status } = payment.settlement;
      if (outcome === undefined || outcome === status) return;
      throw new Error(`payment ${endToEnd} has ended as ${status}`);
    }
    const status = outcome ?? paymentScript(payment.key).settlement;
    const atMs = this.#options.clock.now().getTime();
    const settled = { ...payment, settlement: { status, atMs } };
    // Before the payment: a crash between the two leaves it open, and the next end credits once.
    const receipt = status === 'COMPLETED' ? this.#credit(payment) : null;
    this.#state.save({ ...settled, webhooksLeft: webhookTexts(settled).length });
    const { webhooks, refunds, codes } = this.#options;
    if (status === 'COMPLETED' && payment.txid !== undefined) codes.end(payment.txid, 'paid');
    await webhooks.post(payment.id);
    if (receipt !== null) await webhooks.post(receipt.id);
    if (status !== 'COMPLETED' || !paymentScript(payment.key).isRefunded) return;
    await refunds.refund(endToEnd, Math.ceil(payment.amountCents / 2));
  }

  /**
   * Credits the customer who is paid. What a customer pays to the own account arrives as from
   * another bank, with an id of its own: one id for both would say that the payment was reversed.
   *
   * @returns null: the payee is at another bank.
   */
  #credit(payment: Payment): Receipt | null {
    const { endToEnd, email, payee, key, amountCents, txid, staticTxid } = payment;
    if (payee === undefined) return null;
    const { accounts, directory, receipts } = this.#options;
    const named = staticTxid === undefined ? null : directory.chargeOf(payee, staticTxid, key);
    const transactionIdentification = txid ?? named;
    const isOfPayee = transactionIdentification !== null || directory.has(payee, key);
    const isOwn = payee === email;
    return receipts.credit({
      endToEnd: isOwn ? `E${payersIspb}${endToEnd.slice(1 + payersIspb.length)}` : endToEnd,
      email: payee,
      transactionIdentification,
      amountCents,
      key: isOfPayee ? key : null,
      ...(!isOwn && { payer: accounts.party(email) }),
    });
  }

  /**
   * Compares the ids of an order, both of which are valid for one payment.
   *
   * @param first the payment that has the end-to-end id, or null.
   * @returns the rule that the order breaks; null for a new payment, and for a repeat of `first`.
   */
  #conflict(email: string, order: PaymentOrder, first: Payment | null): string | null {
    const issued = first ?? this.#state.lookUps.get(order.endToEnd);
    // The directory issued the id to this customer and payer, for a payment to this key.
    const isIssued =
      issued?.email === email &&
      issued.payerId === order.payer.document &&
      issued.key === order.key &&
      issued.txid === codeTxid(order);
    if (!isIssued) return 'EndToEndIdNotIssued';
    const requested = this.#state.customer(email).requests.get(order.clientRequestId);
    if (requested !== undefined && requested !== first?.endToEnd) {
      return 'DuplicatedClientRequestId';
    }
    if (first === null) return null;
    const isRepeat = requested !== undefined && first.amountCents === order.amountCents;
    return isRepeat ? null : 'DuplicatedEndToEndId';
  }

  #execute(email: string, order: PaymentOrder): Payment {
    const { endToEnd, clientRequestId, key, amountCents, description, payer } = order;
    const txid = codeTxid(order);
    const payee = this.#payee(email, order);
    const payment: Payment = {
      row: 'payment',
      endToEnd,
      email,
      payerId: payer.document,
      key,
      ...(payee !== null && { payee }),
      ...(txid === undefined ? order.txid !== null && { staticTxid: order.txid } : { txid }),
      id: randomUUID(),
      clientRequestId,
      amountCents,
      description,
      atMs: this.#options.clock.now().getTime(),
      refusal: this.#refusal(email, order),
      settlement: null,
      webhooksLeft: 0,
    };
    this.#state.save(payment);
    if (payment.refusal === null) this.#arrangeSettlement(payment);
    return payment;
  }

  #refusal(email: string, order: PaymentOrder): Refusal | null {
    const { key, amountCents } = order;
    const txid = codeTxid(order);
    if (!Number.isSafeInteger(amountCents) || amountCents < 1 || amountCents > maxAmountCents) {
      return { kind: 'rule', reason: 'AM12' };
    }
    if (paymentScript(key).response === 'refused') return { kind: 'rule', reason: 'AC03' };
    if (txid !== undefined && !this.#isPayable(txid, amountCents)) {
      return { kind: 'rule', reason: 'BE17' };
    }
    const freeCents = this.#state.customer(email).balanceCents - (blockedCents(email) ?? 0);
    if (amountCents > freeCents) {
      return { kind: 'insufficient_funds', reason: 'NOT_ENOUGH_BALANCE' };
    }
    return null;
  }

  /** @returns the customer who is paid; null: a payee at another bank. */
  #payee(email: string, order: PaymentOrder): string | null {
    const { codes, directory } = this.#options;
    const txid = codeTxid(order);
    return txid === undefined ? directory.customer(order.key, email) : codes.customer(txid);
  }

  /** One payment at most pays a charge: one that is under way, too. */
  #isPayable(txid: string, amountCents: number): boolean {
    const isUnderWay = [...this.#state.transfers.values()].some(
      (one) =>
        one.row === 'payment' &&
        one.txid === txid &&
        one.refusal === null &&
        one.settlement?.status !== 'FAILED',
    );
    return !isUnderWay && this.#options.codes.accepts(txid, amountCents);
  }

  /** The key of a payment decides its final status, and when its webhook is posted. */
  #arrangeSettlement(payment: Payment): void {
    const { endToEnd, key } = payment;
    if (paymentScript(key).webhook !== 'early' || this.#options.settleMs === 0) {
      return this.#schedule(payment);
    }
    const settling = this.settle(endToEnd).finally(() => this.#earlySettlements.delete(endToEnd));
    this.#earlySettlements.set(endToEnd, settling);
  }

  /** Settles a payment at its time, which may be past after a restart. */
  #schedule({ endToEnd, key, atMs }: Payment): void {
    const delayMs = this.#settlementDelayMs(key);
    if (delayMs === null) return;
    const { clock, webhooks } = this.#options;
    const sinceMs = clock.now().getTime() - atMs;
    webhooks.later(Math.max(0, delayMs - sinceMs), () => this.settle(endToEnd));
  }

  /** @returns milliseconds, or null: never by itself. */
  #settlementDelayMs(key: string): number | null {
    const { settleMs } = this.#options;
    const { webhook } = paymentScript(key);
    if (settleMs === 0 || webhook === 'never') return null;
    if (webhook === 'early') return 0;
    return webhook === 'late' ? lateWebhookMs : settleMs;
  }

  #lookUpFailure(email: string, key: string): Refused | Faulty | null {
    switch (lookUpScript(key)) {
      case 'found':
        return null;
      case 'not_found':
        return refused({ kind: 'not_found', reason: 'NotFound' });
      case 'rate_limited': {
        const retryAfterMs = lookUpRefillMs;
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
}

/** The charge of the dynamic code that an order pays; undefined: it pays none. */
function codeTxid({ txid, isByDynamicCode }: PaymentOrder): string | undefined {
  return isByDynamicCode && txid !== null ? txid : undefined;
}

/** A repeat gets the response of the first order. The webhook reports the final status. */
function respond({ refusal, key, ...payment }: Payment): BankResponse<PaymentReceipt> {
  if (refusal !== null) return refused(refusal);
  const { response: script, isHeld } = paymentScript(key);
  if (script === 'hang' || script === 'internal_error' || script === 'garbled') {
    return faulty(script);
  }
  const { endToEnd, clientRequestId, id } = payment;
  const receipt = { endToEnd, clientRequestId, providerTxid: id, status: 'PROCESSING' } as const;
  return done({ ...receipt, ...(isHeld && { isUnderAnalysis: true }) });
}
