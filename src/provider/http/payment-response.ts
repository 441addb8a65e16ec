/** What the provider answers to a payment: the one answer that says whether money has moved. */
import { readStatusWord, type PixStatus } from '../../domain/pix.ts';
import { notUnderstood } from '../errors.ts';
import type { PaymentOrder, PaymentReceipt } from '../provider.ts';
import {
  clientRequestIdNames,
  endToEndNames,
  firstId,
  readId,
  valuesOf,
  type Fields,
} from '../wire-reading.ts';
import { saysDuplicate } from '../wire-duplicates.ts';
import { placesOf } from './translate.ts';
import { doubtful, reasonOf } from './response-mapping.ts';

/**
 * Reads a receipt. It has to name the payment by an id of ours: the provider's own id may be that
 * of another payment, which was made with the same client request id. Of the ids that it carries
 * one that is not ours is handed on, and the caller refuses it. A status that is not known moves
 * nothing, and neither does success that speaks of an error.
 *
 * @throws ProviderError `unknown` where the answer proves nothing; a failure that says that the
 *   payment is there already is such an answer, and so is one without an id of ours.
 */
export function readReceipt(json: unknown, order: PaymentOrder): PaymentReceipt {
  const places = placesOf(json);
  const endToEnd = idsAt(places, endToEndNames);
  const clientRequestId = idsAt(places, clientRequestIdNames);
  const providerTxid = firstId(valuesOf(paymentIdNames, places));
  if (endToEnd.length + clientRequestId.length === 0) {
    if (providerTxid !== null) throw doubtful(reasonOf(json), '2xx');
    throw notUnderstood(new Error('a receipt that names no payment'));
  }
  const status = receiptStatus(places);
  if (status !== 'FAILED' && speaksOfFailure(places)) {
    throw notUnderstood(new Error('a receipt that speaks of a failure'));
  }
  if (status === 'FAILED' && saysDuplicate(places)) throw doubtful(reasonOf(json), '2xx');
  return {
    endToEnd: foreignOr(order.endToEnd, endToEnd),
    clientRequestId: foreignOr(order.clientRequestId, clientRequestId),
    providerTxid,
    status,
    ...(endToEnd.length === 0 && { isByRequestAlone: true as const }),
  };
}

const paymentIdNames = ['id', 'transactionid', 'paymentid'];

/**
 * The status of the object that names the payment. What stands around it may speak of the request
 * alone (`{status: "SUCCESS", data: {…}}`); where the two disagree nothing is certain yet. Success
 * never says more than that the request was accepted, wherever it stands.
 */
function receiptStatus(places: readonly Fields[]): PixStatus {
  const names = [...endToEndNames, ...clientRequestIdNames, ...paymentIdNames];
  const payments = places.filter((place) => valuesOf(names, [place]).length > 0);
  const told = valuesOf(['status'], payments).map(readAnswered);
  const around = valuesOf(['status'], places).map(readAnswered);
  const status = told.find((one) => one !== 'ACCEPTED') ?? null;
  const isCertain =
    told.every((one) => one === status || one === 'ACCEPTED') &&
    around.every((one) => one === null || agree(one, status));
  return status && isCertain ? status : 'PROCESSING';
}

function readAnswered(word: unknown): PixStatus | 'ACCEPTED' | null {
  const isSuccess = typeof word === 'string' && word.trim().toUpperCase() === 'SUCCESS';
  return isSuccess ? 'ACCEPTED' : readStatusWord(word);
}

function agree(answered: PixStatus | 'ACCEPTED', status: PixStatus | null): boolean {
  return answered === status || (answered === 'ACCEPTED' && status !== 'FAILED');
}

/** Whether a 2xx answer says of itself that something went wrong. */
function speaksOfFailure(places: readonly Fields[]): boolean {
  const isRefused = valuesOf(['success'], places).some((value) => String(value) === 'false');
  return isRefused || valuesOf(['error', 'errors'], places).some(saysSomething);
}

function saysSomething(value: unknown): boolean {
  return typeof value === 'object' ? Object.keys(value ?? {}).length > 0 : Boolean(value);
}

/** All ids under these names: an id of another type could be anybody's. */
function idsAt(places: readonly Fields[], names: readonly string[]): string[] {
  const given = valuesOf(names, places).filter((value) => value !== '');
  const ids = given.map(readId).filter((id) => id !== null);
  if (ids.length < given.length) throw notUnderstood(new Error('a receipt with an unreadable id'));
  return ids;
}

function foreignOr(ours: string, ids: readonly string[]): string {
  return ids.find((id) => id !== ours) ?? ours;
}
