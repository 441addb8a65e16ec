/**
 * Translates between the port and the provider's wire format (contract/provider.md states what is
 * certain). Requests are written exactly. Responses are read tolerantly: names in any case, unknown
 * fields ignored, required fields checked.
 */
import type * as wire from '../../../contract/provider-types.ts';
import { centsFromDecimal, numberFromCents } from '../../domain/money.ts';
import { isOtherPixKey } from '../../domain/pix-key.ts';
import { taxIdKind } from '../../domain/tax-id.ts';
import { notUnderstood } from '../errors.ts';
import { qrCodePng } from '../qr-code.ts';
import type {
  AccountBalance,
  ChargeCode,
  ChargeOrder,
  KeyOwner,
  NewPixKey,
  OwnPixKey,
  AccountRef,
  PaymentOrder,
  ProviderPayload,
  RefundOrder,
} from '../provider.ts';
import {
  endToEndNames,
  findFilled,
  readFields,
  readId,
  firstId,
  readInner,
  isObject,
  findValues,
  type Fields,
} from '../wire-reading.ts';

/** The objects of a response that may contain the requested data. */
export function payloadPlaces(json: unknown): readonly Fields[] {
  const top = readFields(json);
  return [top, ...readInner(top, 'data'), ...readInner(top, 'result')];
}

/** Returns the first non-empty text under one of the names that the database can store. */
export function textAt(places: readonly Fields[], names: readonly string[]): string | null {
  const text = findValues(names, places).find(
    (value) => typeof value === 'string' && isText(value),
  );
  return typeof text === 'string' ? text : null;
}

/** PostgreSQL refuses NUL in a text, and half of a surrogate pair in JSON. */
function isText(value: string): boolean {
  return value !== '' && value.isWellFormed() && !value.includes('\0');
}

/**
 * Reads a balance. It is for display only, so the noise of floating point (`10.299999999999999`) is
 * rounded off. A blocked part that cannot be read counts as not reported.
 */
export function readBalance(json: unknown): AccountBalance {
  const places = payloadPlaces(json);
  const [balance] = findValues(['balance', 'available'], places);
  const cents = signedCents(balance);
  if (cents === null) throw notUnderstood(new Error('a balance that cannot be read'));
  const [blocked] = findValues(['blocked'], places);
  const blockedCents = signedCents(blocked);
  return { cents, blockedCents: blockedCents !== null && blockedCents >= 0 ? blockedCents : null };
}

function signedCents(reais: unknown): number | null {
  if (typeof reais === 'string') return centsFromDecimal(reais.trim());
  if (typeof reais !== 'number') return null;
  const rounded = reais.toFixed(2);
  return Math.abs(Number(rounded) - reais) < noise ? centsFromDecimal(rounded) : null;
}

/** The tolerance in reais: far below a tenth of a centavo, far above floating point errors. */
const noise = 1e-6;

/**
 * Reads the response to a look-up of a key. A response with another key belongs to another look-up,
 * and a payment with its end-to-end id could reach another person.
 */
export function readKeyOwner(json: unknown, requested: string): KeyOwner {
  const places = payloadPlaces(json);
  const ids = new Set(findFilled(endToEndNames, places).map(readId));
  const [endToEnd = null] = ids;
  if (endToEnd === null || ids.size > 1) {
    throw notUnderstood(new Error('a look-up without one end-to-end id'));
  }
  if (findValues(['key'], places).some((key) => isOtherPixKey(key, requested))) {
    throw notUnderstood(new Error('a look-up of another key'));
  }
  return { endToEnd, ...readOwner(places) };
}

/** Reads the owner of a key, as far as a response says it. */
export function readOwner(places: readonly Fields[]): Omit<KeyOwner, 'endToEnd'> {
  const of = (name: string) => places.flatMap((place) => readInner(place, name));
  const ispb = textAt(of('account'), ['participant', 'ispb']);
  return {
    name: upTo(maxNameLength, textAt(of('owner'), ['name'])),
    document: upTo(maxDocumentLength, textAt(of('owner'), ['taxidnumber', 'document'])),
    ispb: ispb !== null && /^[0-9A-Z]{8}$/.test(ispb) ? ispb : null,
  };
}

/** The longest name, and the longest document with punctuation; longer texts are ignored. */
const maxNameLength = 140;
const maxDocumentLength = 20;

/** @returns null for a text that is longer, or has control characters. */
export function upTo(limit: number, text: string | null): string | null {
  return text !== null && text.length <= limit && !/\p{Cc}/u.test(text) ? text : null;
}

/** Builds the body of a payment. */
export function paymentBody(order: PaymentOrder): wire.Payment {
  const { endToEnd, clientRequestId, key, amountCents, description, txid, payer } = order;
  return {
    initiationType: order.isByDynamicCode ? 'DYNAMIC_QRCODE' : 'DICT',
    endToEnd,
    clientRequestId,
    key,
    amount: numberFromCents(amountCents),
    ...(description !== null && { description }),
    ...(txid !== null && { transactionIdentification: txid }),
    debitParty: { agency: payer.agency, account: payer.accountNumber, document: payer.document },
  };
}

/** Builds the body of a return. */
export function refundBody(order: RefundOrder): wire.Refund {
  const { endToEnd, returnId, clientRequestId, amountCents, account } = order;
  return {
    endToEnd,
    returnId,
    clientRequestId,
    amount: numberFromCents(amountCents),
    reason: 'MD06',
    debitParty: accountBody(account),
  };
}

/** Builds the body of a dynamic charge. */
export function dynamicChargeBody(order: ChargeOrder): wire.DynamicCharge {
  const { payerDocument } = order;
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
    ...(payerDocument !== null &&
      (taxIdKind(payerDocument) === 'CNPJ'
        ? { payerCNPJ: payerDocument }
        : { payerCPF: payerDocument })),
    ...(order.payerName !== null && { payerName: order.payerName }),
    ...(order.zipcode !== null && { zipcode: order.zipcode }),
    ...(order.additionalData.length > 0 && { additionalData: [...order.additionalData] }),
  };
}

/** Builds the body of a static charge. */
export function staticChargeBody(order: ChargeOrder): wire.StaticCharge {
  return {
    key: order.key,
    amount: numberFromCents(order.amountCents),
    transactionIdentification: order.transactionIdentification,
    receiverName: order.receiverName,
    city: order.city,
    ...(order.description !== null && { additionalInformation: order.description }),
    ...(order.additionalData.length > 0 && { additionalData: [...order.additionalData] }),
    ...(order.zipcode !== null && { zipcode: order.zipcode }),
    ...(order.categoryCode !== null && { codeCategory: order.categoryCode }),
  };
}

/**
 * Reads a charge. `qrcode` is an image at some providers and the BR Code text at others, which
 * begins with `000201`: then the image is drawn. A static code has no room for the whole id, so the
 * provider may have replaced it.
 */
export function readChargeCode(
  json: unknown,
  order: ChargeOrder,
  kind: 'dynamic' | 'static',
): ChargeCode {
  const places = payloadPlaces(json);
  const named = findValues(['transactionidentification'], places);
  if (kind === 'dynamic' && named.some((id) => id !== order.transactionIdentification)) {
    throw notUnderstood(new Error('a charge with another identification'));
  }
  const code = textAt(places, ['qrcode', 'qrcodeimage', 'image']);
  const isPayload = code?.startsWith('000201') ?? false;
  const text = textAt(places, ['copypaste', 'pixcopiaecola', 'emv', 'emvqrcps', 'payload']);
  const copyPaste = text ?? (isPayload ? code : null);
  const image = isPayload ? null : (code?.replace(/^data:image\/png;base64,/, '') ?? null);
  const qrCode = image ?? (copyPaste && qrCodePng(copyPaste));
  if (qrCode === null) throw notUnderstood(new Error('a charge without a code'));
  const providerTxid = firstId(findValues(['id', 'transactionid'], places));
  return { qrCode, copyPaste, providerTxid };
}

/** Builds the body of a list of keys. */
export function keyListBody(ispb: string, account: AccountRef): wire.KeyList {
  return { ispb, ...accountBody(account) };
}

/** Builds the body of a new key; the directory itself generates random keys. */
export function newKeyBody({ keyType, key, account }: NewPixKey): wire.NewKey {
  return { keyType, ...(key !== null && { key }), ...accountBody(account) };
}

/** Builds the body of the deletion of a key. */
export function ownKeyBody(ispb: string, { key, account }: OwnPixKey): wire.OwnKey {
  return { key, ispb, ...accountBody(account) };
}

function accountBody({ agency, accountNumber, document }: AccountRef) {
  return { agency, account: accountNumber, document };
}

/** Reads a payload for the app; a bare list becomes `{ items }`. */
export function readPayload(json: unknown): ProviderPayload {
  if (isObject(json)) return json;
  if (Array.isArray(json)) return { items: json };
  throw notUnderstood(new Error('a payload that is neither an object nor a list'));
}
