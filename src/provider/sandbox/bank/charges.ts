/** The charges of the bank: their BR Codes, the images of these, and their payment. */
import { randomUUID } from 'node:crypto';
import { BrCodeError, encodeDynamicBrCode, encodeStaticBrCode } from './br-code.ts';
import { newEndToEndId } from '../../../domain/pix.ts';
import { maxAmountCents } from '../../../domain/money.ts';
import { isCnpj, isCpf } from '../../../domain/tax-id.ts';
import type { ChargeCode, ChargeOrder, CodeState } from '../../provider.ts';
import { qrCodePng } from '../../qr-code.ts';
import { type BankResponse, brokenRule, done, refused, type Refused } from './response.ts';
import type { Charge, ChargeKind } from './rows.ts';
import type { BankParts } from './parts.ts';
import { type Credit, payersIspb, type Receipts } from './receipts.ts';
import type { State } from './state.ts';

/** A payment to a customer by a payer at another bank. */
export interface ChargePayment {
  readonly endToEnd: string;
}

/** Where the payer's bank would read a dynamic charge; nothing listens there. */
const chargeUrl = 'pix.ponte.test/qr';

/** The service makes 26 characters for either kind; the central bank allows 35 at most. */
const identificationPattern = /^[A-Za-z0-9]{1,35}$/;

/** The charges of the bank, created by its customers, and paid as by a customer of another bank. */
export class Charges {
  readonly #options: BankParts & { readonly receipts: Receipts };
  readonly #state: State;

  constructor(options: BankParts & { readonly receipts: Receipts }) {
    this.#options = options;
    this.#state = options.state;
  }

  /** Schedules the expiry of the charges that an earlier process left open. */
  resume(): void {
    for (const charge of this.#state.charges.values()) this.#scheduleExpiry(charge);
  }

  /** Creates a charge; an order that repeats one gets the same charge. */
  create(email: string, type: ChargeKind, order: ChargeOrder): BankResponse<ChargeCode> {
    const known = this.#state.charges.get(order.transactionIdentification);
    if (known === undefined) {
      const created = this.#create(email, type, order);
      return 'outcome' in created ? created : done(chargeCode(created));
    }
    const isRepeat =
      known.email === email &&
      known.type === type &&
      known.order.amountCents === order.amountCents &&
      known.order.key === order.key;
    return isRepeat ? done(chargeCode(known)) : brokenRule('DuplicatedTransactionIdentification');
  }

  /** Pays a charge: its amount is credited, and the webhook of a received Pix is posted. */
  async pay(transactionIdentification: string): Promise<BankResponse<ChargePayment>> {
    const charge = this.#payable(transactionIdentification);
    if ('outcome' in charge) return charge;
    const { email, order } = charge;
    const { amountCents, key } = order;
    return this.#credit({ email, transactionIdentification, amountCents, key });
  }

  /** The state of a dynamic charge, as the bank of a payer reads it. */
  stateOf(transactionIdentification: string): CodeState {
    const found = this.#payable(transactionIdentification);
    if (!('outcome' in found)) return 'payable';
    return this.#state.paidCharges.has(transactionIdentification) ? 'paid' : 'expired';
  }

  /** Credits a customer with a Pix to the document, which pays no charge. */
  receive(email: string, amountCents: number): Promise<BankResponse<ChargePayment>> {
    const { document, isDocumentMadeUp } = this.#options.accounts.of(email);
    const key = isDocumentMadeUp ? null : document;
    return this.#credit({ email, transactionIdentification: null, amountCents, key });
  }

  async #credit(credit: Omit<Credit, 'endToEnd'>): Promise<BankResponse<ChargePayment>> {
    const { clock, receipts, webhooks } = this.#options;
    const endToEnd = newEndToEndId(payersIspb, clock.now());
    const { id } = receipts.credit({ ...credit, endToEnd });
    await webhooks.post(id);
    return done({ endToEnd });
  }

  /** Ends an unpaid dynamic charge now, even before its time, and posts the webhook. */
  async expire(transactionIdentification: string): Promise<BankResponse<null>> {
    const charge = this.#state.charges.get(transactionIdentification);
    if (charge === undefined) return refused({ kind: 'not_found', reason: 'ChargeNotFound' });
    if (charge.type === 'static') return brokenRule('ChargeDoesNotExpire');
    if (this.#state.expiries.has(transactionIdentification)) return brokenRule('ChargeExpired');
    if (this.#state.paidCharges.has(transactionIdentification)) {
      return brokenRule('ChargeAlreadyPaid');
    }
    const { amountCents } = charge.order;
    const atMs = this.#options.clock.now().getTime();
    const expiry = { row: 'expiry', transactionIdentification, amountCents, atMs } as const;
    this.#state.save({ ...expiry, webhooksLeft: 1 });
    await this.#options.webhooks.post(transactionIdentification);
    return done(null);
  }

  /** Schedules the expiry of a charge, which has no effect if the charge is paid before. */
  #scheduleExpiry({ type, atMs, order }: Charge): void {
    const { settleMs, webhooks, clock } = this.#options;
    const { transactionIdentification, expirationSeconds } = order;
    const isEnded = this.#state.expiries.has(transactionIdentification);
    if (settleMs === 0 || type === 'static' || isEnded) return;
    const delayMs = atMs + expirationSeconds * 1_000 - clock.now().getTime();
    webhooks.later(Math.max(0, delayMs), async () => {
      await this.expire(transactionIdentification);
    });
  }

  #create(email: string, type: ChargeKind, order: ChargeOrder): Charge | Refused {
    const rule = findBrokenRule(type, order);
    if (rule !== null) return brokenRule(rule);
    const id = randomUUID();
    const copyPaste = brCode(id, type, order);
    if (copyPaste === null) return brokenRule('InvalidQrCode');
    const atMs = this.#options.clock.now().getTime();
    const charge: Charge = { row: 'charge', email, id, type, order, copyPaste, atMs };
    this.#state.save(charge);
    this.#scheduleExpiry(charge);
    return charge;
  }

  /**
   * A dynamic charge ends with its expiration and, unless it is reusable, with its first payment. A
   * static one never ends.
   */
  #payable(transactionIdentification: string): Charge | Refused {
    const charge = this.#state.charges.get(transactionIdentification);
    if (charge === undefined) return refused({ kind: 'not_found', reason: 'ChargeNotFound' });
    const { type, atMs, order } = charge;
    if (type === 'static') return charge;
    if (this.#state.expiries.has(transactionIdentification)) return brokenRule('ChargeExpired');
    const isPaid = this.#state.paidCharges.has(transactionIdentification);
    if (isPaid && !order.reusable) return brokenRule('ChargeAlreadyPaid');
    const endsMs = atMs + order.expirationSeconds * 1_000;
    return this.#options.clock.now().getTime() > endsMs ? brokenRule('ChargeExpired') : charge;
  }
}

function chargeCode({ id, copyPaste }: Charge): ChargeCode {
  return { qrCode: qrCodePng(copyPaste), copyPaste, providerTxid: id };
}

/**
 * Writes the BR Code of a charge.
 *
 * @param id the bank's id of the charge, which the address of a dynamic one ends with.
 * @returns the copy-and-paste text, or null when a BR Code cannot carry the order.
 */
function brCode(id: string, type: ChargeKind, order: ChargeOrder): string | null {
  const common = {
    amountCents: order.amountCents,
    receiverName: order.receiverName,
    city: order.city,
    zipcode: order.zipcode ?? undefined,
    categoryCode: order.categoryCode ?? undefined,
  };
  try {
    if (type === 'dynamic') {
      const url = `${chargeUrl}/${id}`;
      return encodeDynamicBrCode({ ...common, url, oneTime: !order.reusable });
    }
    return encodeStaticBrCode({
      ...common,
      key: order.key,
      txid: order.transactionIdentification,
      description: order.description ?? undefined,
    });
  } catch (error) {
    if (error instanceof BrCodeError) return null;
    throw error;
  }
}

/** The rule that a new order breaks, or null. */
function findBrokenRule(type: ChargeKind, order: ChargeOrder): string | null {
  const { transactionIdentification, amountCents } = order;
  if (!identificationPattern.test(transactionIdentification)) {
    return 'InvalidTransactionIdentification';
  }
  if (!Number.isSafeInteger(amountCents) || amountCents < 1 || amountCents > maxAmountCents) {
    return 'InvalidAmount';
  }
  return type === 'dynamic' ? findBrokenDynamicRule(order) : null;
}

/** A static charge is for any payer, and lasts. */
function findBrokenDynamicRule({ payerDocument, expirationSeconds }: ChargeOrder): string | null {
  const isTaxId = payerDocument === null || isCpf(payerDocument) || isCnpj(payerDocument);
  if (!isTaxId) return 'InvalidPayerDocument';
  return expirationSeconds > 0 ? null : 'InvalidExpiration';
}
