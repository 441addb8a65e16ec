/** Reads the provider's response to a payment: the response that decides about money. */
import { readStatusWord, type PixStatus } from '../../domain/pix.ts';
import { notUnderstood } from '../errors.ts';
import type { PaymentOrder, PaymentReceipt } from '../provider.ts';
import {
  clientRequestIdNames,
  endToEndNames,
  firstId,
  readId,
  findValues,
  type Fields,
} from '../wire-reading.ts';
import { reportsDuplicate } from '../wire-duplicates.ts';
import { payloadPlaces } from './translate.ts';
import { doubtful, readRefusalReason } from './response-mapping.ts';

/**
 * Reads a receipt. It must identify the payment by an id of the order: the provider's own id may
 * belong to another payment with the same client request id. An id that differs from the order is
 * returned, and the caller refuses it. An unknown status settles nothing, and neither does a
 * success that contains an error.
 *
 * @throws ProviderError `unknown` when the response proves nothing, such as one without an id of
 *   the order, or a failure because the payment already exists.
 */
export function readReceipt(json: unknown, order: PaymentOrder): PaymentReceipt {
  const places = payloadPlaces(json);
  const endToEnd = idsAt(places, endToEndNames);
  const clientRequestId = idsAt(places, clientRequestIdNames);
  const providerTxid = firstId(findValues(paymentIdNames, places));
  if (endToEnd.length + clientRequestId.length === 0) {
    if (providerTxid !== null) throw doubtful(readRefusalReason(json), '2xx');
    throw notUnderstood(new Error('a receipt without a payment id'));
  }
  const status = receiptStatus(places);
  if (status !== 'FAILED' && reportsFailure(places)) {
    throw notUnderstood(new Error('a receipt that reports a failure'));
  }
  if (status === 'FAILED' && reportsDuplicate(places))
    throw doubtful(readRefusalReason(json), '2xx');
  return {
    endToEnd: findForeignId(order.endToEnd, endToEnd),
    clientRequestId: findForeignId(order.clientRequestId, clientRequestId),
    providerTxid,
    status,
    ...(endToEnd.length === 0 && { isByRequestAlone: true as const }),
  };
}

const paymentIdNames = ['id', 'transactionid', 'paymentid'];

/**
 * Reads the status of the object that contains the payment's ids. An outer status may describe the
 * request only (`{status: "SUCCESS", data: {…}}`); if both disagree, the payment is still
 * processing. `SUCCESS` means no more than that the request was accepted.
 */
function receiptStatus(places: readonly Fields[]): PixStatus {
  const names = [...endToEndNames, ...clientRequestIdNames, ...paymentIdNames];
  const payments = places.filter((place) => findValues(names, [place]).length > 0);
  const inner = findValues(['status'], payments).map(readStatus);
  const all = findValues(['status'], places).map(readStatus);
  const status = inner.find((one) => one !== 'ACCEPTED') ?? null;
  const isCertain =
    inner.every((one) => one === status || one === 'ACCEPTED') &&
    all.every((one) => one === null || agree(one, status));
  return status && isCertain ? status : 'PROCESSING';
}

function readStatus(word: unknown): PixStatus | 'ACCEPTED' | null {
  const isSuccess = typeof word === 'string' && word.trim().toUpperCase() === 'SUCCESS';
  return isSuccess ? 'ACCEPTED' : readStatusWord(word);
}

function agree(outer: PixStatus | 'ACCEPTED', status: PixStatus | null): boolean {
  return outer === status || (outer === 'ACCEPTED' && status !== 'FAILED');
}

/** Whether a 2xx response contains an error. */
function reportsFailure(places: readonly Fields[]): boolean {
  const isRefused = findValues(['success'], places).some((value) => String(value) === 'false');
  return isRefused || findValues(['error', 'errors'], places).some(hasContent);
}

function hasContent(value: unknown): boolean {
  return typeof value === 'object' ? Object.keys(value ?? {}).length > 0 : Boolean(value);
}

/** @throws ProviderError for an id of another type, which could belong to any payment. */
function idsAt(places: readonly Fields[], names: readonly string[]): string[] {
  const values = findValues(names, places).filter((value) => value !== '');
  const ids = values.map(readId).filter((id) => id !== null);
  if (ids.length < values.length) throw notUnderstood(new Error('a receipt with an unreadable id'));
  return ids;
}

/** @returns an id that differs from the ordered one, if there is any. */
function findForeignId(ordered: string, ids: readonly string[]): string {
  return ids.find((id) => id !== ordered) ?? ordered;
}
