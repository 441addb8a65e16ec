/**
 * A dynamic code as the payee of a send: which look-up and which amount a request may pay it with,
 * and the look-up that replaces one that is no longer fresh.
 */
import { offers } from '../config/config.ts';
import type { Context, LocalContext } from '../context/context.ts';
import { cleanBrCode, decodeBrCode } from '../domain/br-code.ts';
import { formatReais, maxAmountCents, numberFromCents } from '../domain/money.ts';
import { fieldRequired } from '../domain/validation-errors.ts';
import { AppError, invalidField, type FieldErrors, type Text } from '../errors.ts';
import { ProviderError } from '../provider/errors.ts';
import type { CallOptions, CodeAmounts, ProviderSession } from '../provider/provider.ts';
import { computeFingerprint } from './idempotency.ts';
import { isSameOwner, type LookUp } from './confirmed-payee.ts';
import {
  openCode,
  readCodeLookUp,
  type CodeLookUp,
  type CodeTerms,
  type ConfirmedCode,
} from './confirmed-code.ts';
import { ruleRefusal, type OrderRefusal } from './rule-refusal.ts';
import {
  keyAndCode,
  otherAmount,
  parsePayment,
  requestedCents,
  type ParsedPayment,
  type RequestedPayment,
} from './payment-terms.ts';
import { failChangedCode, failLookUp, type ClaimedSend } from './unpaid-send.ts';

/** The body of a request to send, which the contract has checked. */
export interface RequestedCodePayment extends RequestedPayment {
  readonly lookup_id?: string | undefined;
}

const notRead: Text = {
  en: 'A dynamic code is paid with its look-up. Read the code, and confirm the payee first.',
  pt: 'Um código dinâmico é pago com a sua consulta. Leia o código e confirme quem recebe antes.',
};

const unusableLookUp: Text = {
  en: 'This look-up cannot be used for this code. Read the code again.',
  pt: 'Esta consulta não vale para este código. Leia o código de novo.',
};

const changedCode: Text = {
  en: 'The payee or the amount of the code has changed since. Read the code again, and pay with a new key.',
  pt: 'Quem recebe ou o valor do código mudou. Leia o código de novo e faça um novo pagamento.',
};

type EndedState = Exclude<CodeTerms['state'], 'payable'>;

const endedCode: Readonly<Record<EndedState, Text>> = {
  paid: {
    en: 'This code has been paid already.',
    pt: 'Este código já foi pago.',
  },
  expired: {
    en: 'This code has expired. Ask the payee for another one.',
    pt: 'Este código expirou. Peça outro a quem vai receber.',
  },
  removed: {
    en: 'The payee has cancelled this code. Ask for another one.',
    pt: 'Quem vai receber cancelou este código. Peça outro.',
  },
};

/**
 * Opens the look-up with which a request pays a dynamic code.
 * @returns null when the request names no dynamic code that this provider may read.
 * @throws AppError NOT_AVAILABLE when the provider reads no dynamic codes, and VALIDATION_FAILED
 *   for both a key and a code, and for a look-up that is missing.
 */
export function openRequestedCode(
  context: LocalContext,
  userId: number,
  body: RequestedCodePayment,
): ConfirmedCode | typeof unusable | null {
  if (body.copy_paste === undefined) return null;
  const code = decodeBrCode(body.copy_paste);
  if (code.kind === 'static' || code.isRecurring) return null;
  if (!offers(context.config, 'dynamic-codes')) {
    // Without a look-up the code is refused as a field, as in 1.1.0.
    if (body.lookup_id === undefined) return null;
    throw new AppError('NOT_AVAILABLE');
  }
  if (body.pix_key !== undefined) throw invalidField('copy_paste', keyAndCode);
  if (body.lookup_id === undefined) throw invalidField('copy_paste', notRead);
  const lookUp = openCode(context, { userId, url: code.url }, body.lookup_id);
  return lookUp === null ? unusable : { ...lookUp, text: cleanBrCode(body.copy_paste) };
}

/** What is valid of a request that the contract refuses; null where a field is not. */
type RefusedPayment = {
  readonly [Name in keyof RequestedCodePayment]: RequestedCodePayment[Name] | null;
};

/**
 * Checks the payee and the amount of a request that the contract refuses for any field.
 * @throws AppError as `openRequestedCode`, `parseCodePayment` and `parsePayment` do.
 */
export function checkRefusedPayment(
  context: LocalContext,
  userId: number,
  { pix_key: key, copy_paste: text, amount, lookup_id: lookUpId }: RefusedPayment,
): void {
  const body: RequestedCodePayment = {
    pix_key: key === null ? '' : key,
    copy_paste: text ?? undefined,
    amount: amount ?? undefined,
    lookup_id: lookUpId === null ? '' : lookUpId,
  };
  const code = openRequestedCode(context, userId, body);
  if (code !== unusable) parseTerms(code, body);
}

/** Reads the terms of a payment: of a dynamic code, or of what the request itself says. */
export function parseTerms(code: ConfirmedCode | null, body: RequestedPayment): ParsedPayment {
  return code ? parseCodePayment(code, body) : parsePayment(body);
}

/** The code of a request cannot be read with the look-up that it names. */
export const unusable = 'unusable';

/**
 * The order of a request whose look-up cannot be used. What the code asks for is not known: the key
 * belongs to what the request has written.
 */
export function unreadCodeOrder(body: RequestedCodePayment) {
  const { copy_paste: text = '' } = body;
  const description = body.description ?? null;
  const amountCents = requestedCents(body);
  const fingerprint = computeFingerprint([cleanBrCode(text), amountCents, description]);
  return { fingerprint, amountCents, description } as const;
}

/** The refusal of a request whose look-up of a code cannot be used. */
export const refuseUnreadCode: OrderRefusal = ruleRefusal(
  'LOOK_UP_UNUSABLE',
  'lookup_id',
  unusableLookUp,
);

/**
 * Reads the terms of a payment of a dynamic code.
 * @throws AppError VALIDATION_FAILED for an amount that does not pay the code, and for a missing
 *   one where the code leaves it to the payer.
 */
function parseCodePayment(
  { address, terms }: ConfirmedCode,
  body: RequestedPayment,
): ParsedPayment {
  const { key: pixKey, txid, amounts } = terms;
  const amountCents = requestedCents(body) ?? amounts.amountCents;
  const isOver = terms.state !== 'payable';
  if (amountCents === null) throw invalidField('amount', fieldRequired);
  const error = isOver ? null : findAmountError(amounts, amountCents);
  if (error !== null) throw invalidField('amount', error);
  return { pixKey, amountCents, description: body.description ?? null, txid, address };
}

/** @returns the refusal of a code that is paid, removed or expired by now, or null. */
export function refuseEndedCode({ terms }: ConfirmedCode, now: Date): OrderRefusal | null {
  const state = findEnd(terms, now);
  return state && ruleRefusal(failureOfEnd[state], 'copy_paste', endedCode[state]);
}

/** The failure codes of sends of a code that has ended. */
const failureOfEnd: Readonly<Record<EndedState, string>> = {
  paid: 'CODE_PAID',
  expired: 'CODE_EXPIRED',
  removed: 'CODE_REMOVED',
};

/** What a send of a dynamic code needs to look it up again. */
export interface CodeSend extends ClaimedSend {
  readonly order: { readonly amountCents: number; readonly payer: { readonly document: string } };
  readonly session: ProviderSession;
  readonly request: { readonly callOptions: CallOptions };
}

/**
 * Looks a dynamic code up again, because the confirmed look-up is no longer fresh. The payment goes
 * on only if it is the same charge, the payee has the same document at the same institution, and
 * the amount still pays it today; otherwise the transaction fails.
 * @returns null when another process has moved the transaction.
 * @throws AppError the refusal: nothing was sent.
 */
export async function findCodePayee(
  context: Context,
  send: CodeSend,
  code: ConfirmedCode,
): Promise<LookUp | null> {
  const { order, session, request } = send;
  const call = { session, payerId: order.payer.document, text: code.text, ...request.callOptions };
  try {
    const found = readCodeLookUp(await context.provider.readCode(call), order.payer.document);
    const { endToEnd } = found;
    const ended = findEnd(found.terms, context.clock.now());
    const fields = ended
      ? { copy_paste: [endedCode[ended]] }
      : findChange(code, found, order.amountCents);
    if (fields === null && endToEnd !== null) return { ...found, endToEnd };
    return await failChangedCode(context, send, fields ?? { lookup_id: [changedCode] });
  } catch (error) {
    if (!(error instanceof ProviderError)) throw error;
    return failLookUp(context, send, error);
  }
}

/** @returns how a charge has ended that cannot be paid now, or null. */
function findEnd({ state, endsMs }: CodeTerms, now: Date): EndedState | null {
  if (state !== 'payable') return state;
  return endsMs !== null && endsMs <= now.getTime() ? 'expired' : null;
}

function findChange(
  confirmed: ConfirmedCode,
  found: CodeLookUp,
  amountCents: number,
): FieldErrors | null {
  const isSame =
    isSameOwner(confirmed, found) &&
    confirmed.terms.txid === found.terms.txid &&
    confirmed.terms.key === found.terms.key &&
    findAmountError(found.terms.amounts, amountCents) === null;
  return isSame ? null : { lookup_id: [changedCode] };
}

/** @returns why an amount does not pay a charge, or null. */
function findAmountError(amounts: CodeAmounts, cents: number): Text | null {
  const { amountCents, isChangeable, minCents, maxCents } = amounts;
  if (!isChangeable) return cents === amountCents ? null : otherAmount;
  const [least, most] = [minCents ?? 1, maxCents ?? maxAmountCents];
  if (cents >= least && cents <= most) return null;
  const write = (locale: 'en-US' | 'pt-BR'): [string, string] => [
    formatReais(numberFromCents(least), locale),
    formatReais(numberFromCents(most), locale),
  ];
  const [fromEn, toEn] = write('en-US');
  const [fromPt, toPt] = write('pt-BR');
  return {
    en: `The code accepts amounts from ${fromEn} to ${toEn}.`,
    pt: `O código aceita valores de ${fromPt} a ${toPt}.`,
  };
}
