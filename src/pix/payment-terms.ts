/** The payment that a request orders: by a Pix key, or by a static Pix code. */
import { decodeBrCode, recurringCode } from '../domain/br-code.ts';
import { centsFromNumber, maxAmountCents } from '../domain/money.ts';
import { isPixKey, normalisePixKey } from '../domain/pix-key.ts';
import { fieldRequired } from '../domain/validation-errors.ts';
import { invalidField, type Text } from '../errors.ts';
import { computeFingerprint } from './idempotency.ts';

/** The body of a request to send, which the contract has checked. */
export interface RequestedPayment {
  readonly pix_key?: string | undefined;
  readonly copy_paste?: string | undefined;
  /** In reais. */
  readonly amount?: number | undefined;
  readonly description?: string | undefined;
}

export interface ParsedPayment {
  /** In the format of DICT. */
  readonly pixKey: string;
  readonly amountCents: number;
  readonly description: string | null;
  /** The payee's id of the charge, from a code; at most 35 alphanumerics. */
  readonly txid: string | null;
  /** Of a dynamic code: the digest of its address. */
  readonly address?: string;
}

export const keyAndCode: Text = {
  en: 'Send either pix_key or copy_paste.',
  pt: 'Envie pix_key ou copy_paste, não os dois.',
};

const dynamicCode: Text = {
  en: 'A dynamic code cannot be paid at this bank. Ask the payee for a Pix key or a static code.',
  pt: 'Este banco não paga códigos dinâmicos. Peça uma chave Pix ou um código estático.',
};

const withdrawal: Text = {
  en: 'The code is for cash (Pix Saque). It cannot be paid as a transfer.',
  pt: 'O código é de Pix Saque. Ele não pode ser pago como transferência.',
};

export const otherAmount: Text = {
  en: 'The code has another amount. Omit the amount, or send the same.',
  pt: 'O código tem outro valor. Omita o valor ou envie o mesmo.',
};

const noKey: Text = {
  en: 'The code has no valid Pix key. Ask the payee for another code.',
  pt: 'O código não tem uma chave Pix válida. Peça outro código a quem vai receber.',
};

const tooMuch: Text = {
  en: 'The amount of the code is too large.',
  pt: 'O valor do código é grande demais.',
};

/**
 * Reads the terms of a payment.
 * @throws AppError VALIDATION_FAILED for both a key and a code, a dynamic code without its look-up,
 *   a recurring one, one for cash, a code whose key has no known format, and an amount that is
 *   missing or differs from the code's.
 */
export function parsePayment(body: RequestedPayment): ParsedPayment {
  const description = body.description ?? null;
  if (body.copy_paste !== undefined) return { ...codeTerms(body, body.copy_paste), description };
  return {
    pixKey: normalisePixKey(body.pix_key ?? '').key,
    amountCents: requestedCents(body) ?? 0,
    description,
    txid: null,
  };
}

/** The same for every request that orders the same payment. */
export function termsFingerprint(terms: ParsedPayment): Buffer {
  const { pixKey, amountCents, description, txid, address } = terms;
  // Payments to a key have no txid, and keep the fingerprints of the first release.
  const code = [txid, address].filter((part) => part !== null && part !== undefined);
  return computeFingerprint([pixKey, amountCents, description, ...code]);
}

/** @returns the amount of a request in centavos; null: it has none. */
export function requestedCents({ amount }: RequestedPayment): number | null {
  return amount === undefined ? null : centsFromNumber(amount);
}

function codeTerms(
  body: RequestedPayment,
  copyPaste: string,
): Pick<ParsedPayment, 'pixKey' | 'amountCents' | 'txid'> {
  if (body.pix_key !== undefined) throw invalidField('copy_paste', keyAndCode);
  const code = decodeBrCode(copyPaste);
  // A dynamic code that can be paid has its terms from its look-up (`code-payment.ts`).
  if (code.kind === 'dynamic') {
    throw invalidField('copy_paste', code.isRecurring ? recurringCode : dynamicCode);
  }
  if (code.isWithdrawal) throw invalidField('copy_paste', withdrawal);
  if (!isPixKey(code.key)) throw invalidField('copy_paste', noKey);
  const requested = requestedCents(body);
  const amountCents = code.amountCents ?? requested;
  if (amountCents === null) throw invalidField('amount', fieldRequired);
  if (amountCents > maxAmountCents) throw invalidField('copy_paste', tooMuch);
  if (requested !== null && requested !== amountCents) throw invalidField('amount', otherAmount);
  return { pixKey: normalisePixKey(code.key).key, amountCents, txid: code.txid };
}
