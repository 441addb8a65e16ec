/** The payment that a request orders: by a Pix key, or by a static Pix code. */
import { decodeBrCode, recurringCode, type BrCode } from '../domain/br-code.ts';
import { centsFromNumber, maxAmountCents } from '../domain/money.ts';
import { isPixKey, normalisePixKey } from '../domain/pix-key.ts';
import { fieldErrors, fieldRequired } from '../domain/validation-errors.ts';
import { AppError, invalidField, type Text } from '../errors.ts';
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
  const code = decodeBrCode(copyPaste);
  const codeError = body.pix_key === undefined ? findCodeError(code) : keyAndCode;
  // A dynamic code that can be paid has its terms from its look-up (`code-payment.ts`).
  if (code.kind === 'dynamic') throw invalidField('copy_paste', codeError ?? dynamicCode);
  const requested = requestedCents(body);
  const amountCents = code.amountCents ?? requested;
  const isOther = requested !== null && requested !== amountCents;
  const amountError = amountCents === null ? fieldRequired : null;
  const fields = fieldErrors({
    copy_paste: codeError,
    amount: isOther ? otherAmount : amountError,
  });
  if (fields) throw new AppError('VALIDATION_FAILED', { fields });
  return { pixKey: normalisePixKey(code.key).key, amountCents: amountCents ?? 0, txid: code.txid };
}

/** @returns why a code cannot be paid as it stands, or null. */
function findCodeError(code: BrCode): Text | null {
  if (code.kind === 'dynamic') return code.isRecurring ? recurringCode : dynamicCode;
  if (code.isWithdrawal) return withdrawal;
  if (!isPixKey(code.key)) return noKey;
  return (code.amountCents ?? 0) > maxAmountCents ? tooMuch : null;
}
