/**
 * The provider's words and ours, in one place (contract/provider.md says what is certain). Requests
 * are written exactly; answers are read tolerantly: names in any case, unknown fields passed over,
 * what must be there checked.
 */
import { centsFromDecimal, centsFromNumber, numberFromCents } from '../../domain/money.ts';
import { readStatusWord } from '../../domain/pix.ts';
import { taxIdKind } from '../../domain/tax-id.ts';
import type {
  ChargeCode,
  ChargeOrder,
  KeyOwner,
  NewPixKey,
  OwnPixKey,
  AccountRef,
  PaymentOrder,
  PaymentReceipt,
  ProviderAccount,
  ProviderLogin,
  ProviderPayload,
  ProviderStatement,
  ProviderStatementItem,
  StatementPayment,
} from '../provider.ts';
import {
  fieldsOf,
  firstId,
  inner,
  isObject,
  readReais,
  valuesOf,
  type Fields,
} from '../wire-reading.ts';
import { notUnderstood } from './verdict.ts';

/** The places where providers of this family put what was asked for. */
function placesOf(json: unknown): readonly Fields[] {
  const top = fieldsOf(json);
  return [top, inner(top, 'data'), inner(top, 'result')];
}

function textAt(places: readonly Fields[], names: readonly string[]): string | null {
  const text = valuesOf(names, places).find((value) => typeof value === 'string' && value !== '');
  return typeof text === 'string' ? text : null;
}

export function readLogin(json: unknown, now: Date): ProviderLogin {
  const places = placesOf(json);
  const token = textAt(places, ['accesstoken', 'token']);
  if (token === null) throw notUnderstood(new Error('a login answer without a token'));
  return { token, expiresAt: readExpiry(places, token, now), account: readAccount(places) };
}

/** `expires_in` (seconds), `expiresAt`, or the `exp` of a token that is a JWT. */
function readExpiry(places: readonly Fields[], token: string, now: Date): Date | null {
  const seconds = valuesOf(['expiresin'], places)
    .map(Number)
    .find((value) => value > 0);
  if (seconds !== undefined) return validDate(now.getTime() + seconds * 1_000);
  const at = textAt(places, ['expiresat', 'expiration']);
  if (at !== null) return validDate(Date.parse(at));
  const payload = fieldsOf(jwtPayload(token)).get('exp');
  return typeof payload === 'number' ? validDate(payload * 1_000) : null;
}

function validDate(epochMs: number): Date | null {
  const date = new Date(epochMs);
  return Number.isNaN(date.getTime()) ? null : date;
}

function jwtPayload(token: string): unknown {
  try {
    return JSON.parse(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString('utf8'));
  } catch {
    return null;
  }
}

function readAccount(places: readonly Fields[]): ProviderAccount {
  const all = [...places, ...places.map((fields) => inner(fields, 'account'))];
  const id = (...names: string[]): string | null => firstId(valuesOf(names, all));
  const number = id('accountnumber');
  const digit = id('digitaccount');
  return {
    agency: id('agency', 'agencynumber'),
    accountNumber: number === null ? null : number + (digit ?? ''),
    document: id('document', 'cpfcnpj')?.replace(/[.\-/\s]/g, '') ?? null,
    companyId: id('companyid'),
    clientToken: id('clienttoken'),
  };
}

/** @returns centavos; an account may be overdrawn. */
export function readBalance(json: unknown): number {
  const [value] = valuesOf(['balance', 'available'], placesOf(json));
  const cents = typeof value === 'number' ? signedCents(value) : centsFromDecimal(String(value));
  if (cents === null) throw notUnderstood(new Error('a balance that cannot be read'));
  return cents;
}

function signedCents(reais: number): number | null {
  const cents = centsFromNumber(Math.abs(reais));
  return cents !== null && reais < 0 ? -cents : cents;
}

export function readStatement(json: unknown): ProviderStatement {
  const items = listOf(json).filter(isObject);
  return { items, payments: items.flatMap(readExecutedPayment) };
}

function listOf(json: unknown): readonly unknown[] {
  if (Array.isArray(json)) return json;
  const places = placesOf(json);
  const list = valuesOf(['items', 'data', 'list'], places).find((value) => Array.isArray(value));
  if (list === undefined) throw notUnderstood(new Error('a statement without a list'));
  return list as readonly unknown[];
}

/**
 * Only what stands there as a payment that went out and is through proves that it was executed: an
 * item that says it came in, failed or is pending proves nothing.
 */
function readExecutedPayment(item: ProviderStatementItem): StatementPayment[] {
  const fields = [fieldsOf(item)];
  const endToEnd = firstId(valuesOf(['endtoend', 'endtoendid'], fields));
  const [amount] = valuesOf(['amount', 'value', 'valor'], fields);
  const amountCents = typeof amount === 'number' ? readReais(Math.abs(amount)) : readReais(amount);
  if (endToEnd === null || amountCents === null) return [];
  const [status] = valuesOf(['status'], fields);
  const isThrough = status === undefined || readStatusWord(status) === 'COMPLETED';
  return isThrough && !cameIn(fields) ? [{ endToEnd, amountCents }] : [];
}

const incoming = /CREDIT|RECEIV|REVERS|REFUND|DEVOL|(?:^|_)IN$/i;

function cameIn(fields: readonly Fields[]): boolean {
  const words = valuesOf(['direction', 'type', 'transactiontype', 'operation'], fields);
  return words.some((word) => typeof word === 'string' && (word === 'C' || incoming.test(word)));
}

export function readKeyOwner(json: unknown): KeyOwner {
  const endToEnd = firstId(valuesOf(['endtoend', 'endtoendid'], placesOf(json)));
  if (endToEnd === null) throw notUnderstood(new Error('a look-up without an end-to-end id'));
  return { endToEnd };
}

export function paymentBody(order: PaymentOrder): unknown {
  const { endToEnd, clientRequestId, key, amountCents, description, payer } = order;
  return {
    initiationType: 'DICT',
    endToEnd,
    clientRequestId,
    key,
    amount: numberFromCents(amountCents),
    ...(description !== null && { description }),
    debitParty: { agency: payer.agency, account: payer.accountNumber, document: payer.document },
  };
}

/**
 * An id that the answer leaves out is taken as ours, because the answer came to our request; one
 * that it carries must be ours, which the caller checks. A status that is not known moves nothing.
 */
export function readReceipt(json: unknown, order: PaymentOrder): PaymentReceipt {
  if (!isObject(json)) throw notUnderstood(new Error('a receipt that is no object'));
  const places = placesOf(json);
  const id = (...names: string[]): string | null => firstId(valuesOf(names, places));
  const endToEnd = id('endtoend', 'endtoendid');
  const clientRequestId = id('clientrequestid', 'clientcode', 'correlationid');
  const providerTxid = id('id', 'transactionid', 'paymentid');
  if (endToEnd === null && clientRequestId === null && providerTxid === null) {
    throw notUnderstood(new Error('a receipt that names no payment'));
  }
  const [status] = valuesOf(['status'], places);
  return {
    endToEnd: endToEnd ?? order.endToEnd,
    clientRequestId: clientRequestId ?? order.clientRequestId,
    providerTxid,
    status: readStatusWord(status) ?? 'PROCESSING',
  };
}

export function dynamicChargeBody(order: ChargeOrder): unknown {
  const payerKind = order.payerDocument === null ? null : taxIdKind(order.payerDocument);
  return {
    key: order.key,
    receiverName: order.receiverName,
    city: order.city,
    initialAmount: numberFromCents(order.amountCents),
    expirationQR: String(order.expirationSeconds),
    transactionIdentification: order.transactionIdentification,
    reusable: order.reusable,
    ...(order.categoryCode !== null && { codeCategory: order.categoryCode }),
    ...(order.description !== null && { payerRequest: order.description }),
    ...(payerKind === 'CNPJ'
      ? { payerCNPJ: order.payerDocument }
      : order.payerDocument !== null && { payerCPF: order.payerDocument }),
    ...(order.payerName !== null && { payerName: order.payerName }),
    ...(order.zipcode !== null && { zipcode: order.zipcode }),
    ...(order.additionalData.length > 0 && { additionalData: order.additionalData }),
  };
}

export function staticChargeBody(order: ChargeOrder): unknown {
  return {
    key: order.key,
    amount: numberFromCents(order.amountCents),
    transactionIdentification: order.transactionIdentification,
    receiverName: order.receiverName,
    city: order.city,
    ...(order.description !== null && { additionalInformation: order.description }),
    ...(order.zipcode !== null && { zipcode: order.zipcode }),
    ...(order.categoryCode !== null && { codeCategory: order.categoryCode }),
  };
}

/** `qrcode` is an image from some providers and the text from others: a code begins `000201`. */
export function readChargeCode(json: unknown): ChargeCode {
  const places = placesOf(json);
  const image = textAt(places, ['qrcode', 'qrcodeimage', 'image']);
  const named = textAt(places, ['copypaste', 'pixcopiaecola', 'emv', 'emvqrcps', 'payload']);
  const copyPaste = named ?? (image?.startsWith('000201') ? image : null);
  if (image === null && copyPaste === null) {
    throw notUnderstood(new Error('a charge without a code'));
  }
  const providerTxid = firstId(valuesOf(['id', 'transactionid'], places));
  return { qrCode: image ?? copyPaste, copyPaste, providerTxid };
}

export function keyListBody(ispb: string, account: AccountRef): unknown {
  return { ispb, ...accountBody(account) };
}

export function newKeyBody({ keyType, key, account }: NewPixKey): unknown {
  return { keyType, ...(key !== null && { key }), ...accountBody(account) };
}

export function ownKeyBody(ispb: string, { key, account }: OwnPixKey): unknown {
  return { key, ispb, ...accountBody(account) };
}

function accountBody({ agency, accountNumber, document }: AccountRef) {
  return { agency, account: accountNumber, document };
}

/** A payload that is passed on to the app as an object: a bare list is put under a name. */
export function readPayload(json: unknown): ProviderPayload {
  if (isObject(json)) return json;
  if (Array.isArray(json)) return { items: json };
  throw notUnderstood(new Error('a payload that is neither an object nor a list'));
}
