/**
 * The provider's words and ours, in one place (contract/provider.md says what is certain). Requests
 * are written exactly; answers are read tolerantly: names in any case, unknown fields passed over,
 * what must be there checked.
 */
import type * as wire from '../../../contract/provider-types.ts';
import { centsFromDecimal, numberFromCents } from '../../domain/money.ts';
import { normalisePixKey } from '../../domain/pix-key.ts';
import { taxIdKind } from '../../domain/tax-id.ts';
import { notUnderstood } from '../errors.ts';
import type {
  ChargeCode,
  ChargeOrder,
  KeyOwner,
  NewPixKey,
  OwnPixKey,
  AccountRef,
  PaymentOrder,
  ProviderPayload,
  ProviderStatement,
} from '../provider.ts';
import {
  endToEndNames,
  fieldsOf,
  firstId,
  inner,
  isObject,
  valuesOf,
  type Fields,
} from '../wire-reading.ts';

/** The places where providers of this family put what was asked for. */
export function placesOf(json: unknown): readonly Fields[] {
  const top = fieldsOf(json);
  return [top, inner(top, 'data'), inner(top, 'result')];
}

/** The first text that is not empty under one of the names. */
export function textAt(places: readonly Fields[], names: readonly string[]): string | null {
  const text = valuesOf(names, places).find((value) => typeof value === 'string' && value !== '');
  return typeof text === 'string' ? text : null;
}

/**
 * Reads a balance. It is shown and decides about nothing, so the noise of a sum in floating point
 * (`10.299999999999999`) is rounded off.
 * @returns centavos; an account may be overdrawn.
 */
export function readBalance(json: unknown): number {
  const [value] = valuesOf(['balance', 'available'], placesOf(json));
  const cents = signedCents(value);
  if (cents === null) throw notUnderstood(new Error('a balance that cannot be read'));
  return cents;
}

function signedCents(reais: unknown): number | null {
  if (typeof reais === 'string') return centsFromDecimal(reais.trim());
  if (typeof reais !== 'number') return null;
  const rounded = reais.toFixed(2);
  return Math.abs(Number(rounded) - reais) < noise ? centsFromDecimal(rounded) : null;
}

/** In reais: far less than a tenth of a centavo, far more than what floating point adds. */
const noise = 1e-6;

/** Reads a statement: its lines as they are. */
export function readStatement(json: unknown): ProviderStatement {
  return { items: listOf(json).filter(isObject) };
}

function listOf(json: unknown): readonly unknown[] {
  if (Array.isArray(json)) return json;
  const places = placesOf(json);
  const list = valuesOf(['items', 'data', 'list'], places).find((value) => Array.isArray(value));
  if (list === undefined) throw notUnderstood(new Error('a statement without a list'));
  return list as readonly unknown[];
}

/**
 * Reads the answer to a look-up of a key. One that names another key is the answer to another
 * look-up, and whoever is paid with its end-to-end id may be somebody else.
 */
export function readKeyOwner(json: unknown, asked: string): KeyOwner {
  const places = placesOf(json);
  const endToEnd = firstId(valuesOf(endToEndNames, places));
  if (endToEnd === null) throw notUnderstood(new Error('a look-up without an end-to-end id'));
  if (valuesOf(['key'], places).some((key) => isOtherKey(key, asked))) {
    throw notUnderstood(new Error('a look-up of another key'));
  }
  return { endToEnd };
}

/**
 * Only of two whole keys of known forms can it be told; a masked one (`m***@x.com`) is none. Eleven
 * digits may be the phone number that was asked for, although they make a CPF too.
 */
function isOtherKey(answered: unknown, asked: string): boolean {
  if (typeof answered !== 'string' || answered.includes('*')) return false;
  if (asked === `+55${answered}`) return false;
  const keys = [normalisePixKey(answered), normalisePixKey(asked)] as const;
  return keys.every(({ kind }) => kind !== 'UNKNOWN') && keys[0].key !== keys[1].key;
}

/** Writes a payment order. */
export function paymentBody(order: PaymentOrder): wire.Payment {
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

/** Writes an order of a dynamic charge. */
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

/** Writes an order of a static charge. */
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
 * Reads a charge. `qrcode` is an image from some providers and the text from others: a code begins
 * with `000201`. A static code has no room for our id, so the provider may have made another.
 */
export function readChargeCode(
  json: unknown,
  order: ChargeOrder,
  kind: 'dynamic' | 'static',
): ChargeCode {
  const places = placesOf(json);
  const named = valuesOf(['transactionidentification'], places);
  if (kind === 'dynamic' && named.some((id) => id !== order.transactionIdentification)) {
    throw notUnderstood(new Error('a charge that is not ours'));
  }
  const image = textAt(places, ['qrcode', 'qrcodeimage', 'image']);
  const text = textAt(places, ['copypaste', 'pixcopiaecola', 'emv', 'emvqrcps', 'payload']);
  const copyPaste = text ?? (image?.startsWith('000201') ? image : null);
  if (image === null && copyPaste === null) {
    throw notUnderstood(new Error('a charge without a code'));
  }
  const providerTxid = firstId(valuesOf(['id', 'transactionid'], places));
  return { qrCode: image ?? copyPaste, copyPaste, providerTxid };
}

/** Writes what the keys of an account are asked for with. */
export function keyListBody(ispb: string, account: AccountRef): wire.KeyList {
  return { ispb, ...accountBody(account) };
}

/** Writes a key to register; the directory draws a random one itself. */
export function newKeyBody({ keyType, key, account }: NewPixKey): wire.NewKey {
  return { keyType, ...(key !== null && { key }), ...accountBody(account) };
}

/** Writes a key to delete. */
export function ownKeyBody(ispb: string, { key, account }: OwnPixKey): wire.OwnKey {
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
