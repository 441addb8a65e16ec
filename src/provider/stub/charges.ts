/** The bank's charges: BR Codes, their pictures, and who may still pay them. */
import { BrCodeError, encodeDynamicBrCode, encodeStaticBrCode } from '../../domain/br-code.ts';
import { MAX_AMOUNT_CENTS } from '../../domain/money.ts';
import type { ChargeOrder } from '../provider.ts';
import type { Refusal } from './answer.ts';
import type { ChargeEntry, ChargeKind, ReceivedEntry } from './entries.ts';

interface Charge {
  readonly entry: ChargeEntry;
  isPaid: boolean;
}

/** Where the payer's bank would read a dynamic charge; nothing listens there. */
const CHARGE_URL = 'pix.ponte.test/qr';

/** The service makes 26 characters for either kind; the central bank allows 35 at most. */
const TRANSACTION_IDENTIFICATION = /^[A-Za-z0-9]{1,35}$/;

const TAX_ID = /^(?:\d{11}|[0-9A-Z]{12}\d{2})$/;

/** The charges that were made, by their identification. */
export class Charges {
  readonly #charges = new Map<string, Charge>();

  /**
   * Holds a charge order against the charge of the same `transactionIdentification`.
   *
   * @returns that charge when the order repeats it, a refusal, or null for a new charge.
   */
  examine(email: string, type: ChargeKind, order: ChargeOrder): ChargeEntry | Refusal | null {
    const known = this.#charges.get(order.transactionIdentification)?.entry;
    if (known === undefined) return refusalOf(type, order);
    const isRepeat =
      known.email === email &&
      known.type === type &&
      known.order.amountCents === order.amountCents &&
      known.order.key === order.key;
    return isRepeat ? known : rule('DuplicatedTransactionIdentification');
  }

  /**
   * The charge that somebody wants to pay now, or why it cannot be paid: a dynamic one ends with
   * its expiration and, unless it is reusable, with its first payment. A static one never ends.
   */
  payable(transactionIdentification: string, now: Date): ChargeEntry | Refusal {
    const charge = this.#charges.get(transactionIdentification);
    if (charge === undefined) return { kind: 'not_found', reason: 'ChargeNotFound' };
    const { type, atMs, order } = charge.entry;
    if (type === 'static') return charge.entry;
    if (charge.isPaid && !order.reusable) return rule('ChargeAlreadyPaid');
    const endsMs = atMs + order.expirationSeconds * 1_000;
    return now.getTime() > endsMs ? rule('ChargeExpired') : charge.entry;
  }

  applyCharge(entry: ChargeEntry): void {
    this.#charges.set(entry.order.transactionIdentification, { entry, isPaid: false });
  }

  applyReceived(entry: ReceivedEntry): void {
    const charge = this.#charges.get(entry.transactionIdentification);
    if (charge !== undefined) charge.isPaid = true;
  }
}

/**
 * Writes the BR Code of a charge.
 *
 * @param id the bank's id of the charge, which the address of a dynamic one ends with.
 * @returns the copy-and-paste text, or the refusal of what a BR Code cannot carry.
 */
export function brCode(id: string, type: ChargeKind, order: ChargeOrder): string | Refusal {
  const common = {
    amountCents: order.amountCents,
    receiverName: order.receiverName,
    city: order.city,
    zipcode: order.zipcode ?? undefined,
    categoryCode: order.categoryCode ?? undefined,
  };
  try {
    if (type === 'dynamic') {
      const url = `${CHARGE_URL}/${id}`;
      return encodeDynamicBrCode({ ...common, url, oneTime: !order.reusable });
    }
    return encodeStaticBrCode({
      ...common,
      key: order.key,
      txid: order.transactionIdentification,
      description: order.description ?? undefined,
    });
  } catch (error) {
    if (error instanceof BrCodeError) return rule('InvalidQrCode');
    throw error;
  }
}

/** Draws a text as a QR code. @returns a PNG in base64, without a `data:` prefix. */
export async function qrCodePng(text: string): Promise<string> {
  // The lowest error correction and a fast deflate: it is looked at on a screen, at once.
  const { default: QRCode } = await import('qrcode');
  const image = await QRCode.toBuffer(text, {
    errorCorrectionLevel: 'L',
    scale: 4,
    rendererOpts: { deflateLevel: 3 },
  });
  return image.toString('base64');
}

function refusalOf(type: ChargeKind, order: ChargeOrder): Refusal | null {
  const { transactionIdentification, amountCents, payerDocument } = order;
  if (!TRANSACTION_IDENTIFICATION.test(transactionIdentification)) {
    return rule('InvalidTransactionIdentification');
  }
  if (!Number.isSafeInteger(amountCents) || amountCents < 1 || amountCents > MAX_AMOUNT_CENTS) {
    return rule('InvalidAmount');
  }
  if (payerDocument !== null && !TAX_ID.test(payerDocument)) return rule('InvalidPayerDocument');
  if (type === 'dynamic' && !(order.expirationSeconds > 0)) return rule('InvalidExpiration');
  return null;
}

function rule(reason: string): Refusal {
  return { kind: 'rule', reason };
}
