/** Reads the provider's response to a payment: the response that decides about money. */
import type { PixStatus } from '../../domain/pix.ts';
import { isOtherPixKey } from '../../domain/pix-key.ts';
import { readWord, valueAt, Conflict } from '../dialect/fields.ts';
import type { Dialects } from '../dialect/dialects.ts';
import { ProviderError } from '../errors.ts';
import { says } from '../signs.ts';
import type { PaymentOrder, PaymentReceipt, RefundOrder } from '../provider.ts';
import {
  clientRequestIdNames,
  returnIdNames,
  endToEndNames,
  firstId,
  readFields,
  readId,
  isObject,
  readReais,
  findFilled,
  findValues,
  objectsInside,
  type Fields,
} from '../wire-reading.ts';
import {
  failedReceipt,
  paymentRefusal,
  readCodeAt,
  readRefusalCode,
  restrictCode,
  unreadableCode,
  withErrors,
  type PaymentResponse,
} from '../refusals.ts';
import type { HttpResponse } from './client.ts';
import { saysFailure } from './response-mapping.ts';
import { payloadPlaces } from './translate.ts';

/**
 * Reads the response to a payment. A receipt must identify the payment by an id of the order: the
 * provider's own id may belong to another payment with the same client request id. An id that
 * differs from the order is returned, and the caller refuses it. An unknown status settles nothing,
 * and neither does a success that contains an error. A receipt that reports a failure rejects the
 * payment only with a listed code. No code counts in a response that names another payment, that
 * also says that the payment was accepted, or that has a code beside it that is not listed. Nothing
 * counts in one that names another payee, a schedule, a test, another currency or a cancellation. A
 * refusal that is followed by more bytes is none: the gateway answers twice or counts wrongly.
 *
 * @param declared what the active dialects declare.
 * @throws ProviderError `rejected` when the payment was not executed; `unknown` when the response
 *   proves nothing, such as one without an id of the order, or with a code that is not listed.
 */
export function readPaymentResponse(
  response: HttpResponse,
  { endToEnd, clientRequestId, amountCents, key }: PaymentOrder,
  declared: Declared,
): PaymentReceipt {
  const order = { id: endToEnd, clientRequestId, amountCents, key, ...ofPayment };
  return readReceipt(response, order, declared);
}

/** What the active dialects declare, and the time. */
interface Declared {
  readonly dialects: Pick<Dialects, 'refusals' | 'signs' | 'completedWords'>;
  readonly now: Date;
}

/**
 * Reads the response to a return, as that to a payment. It names the return by its return id; an
 * end-to-end id in it is that of the returned payment.
 */
export function readRefundResponse(
  response: HttpResponse,
  { returnId, endToEnd, clientRequestId, amountCents }: RefundOrder,
  declared: Declared,
): PaymentReceipt {
  const order = { id: returnId, clientRequestId, amountCents, returned: endToEnd, ...ofReturn };
  const receipt = readReceipt(response, order, declared);
  const returned = findFilled(endToEndNames, objectsInside(response.json));
  if (!areAll(endToEnd, returned)) throw foreign(response);
  return receipt;
}

/** What a receipt must name, and how. */
interface Ordered {
  /** The end-to-end id, or of a return its return id. */
  readonly id: string;
  readonly clientRequestId: string;
  readonly amountCents: number;
  /** Of a return the end-to-end id of the returned payment. */
  readonly returned?: string;
  /** Of a payment the key of its payee. */
  readonly key?: string;
  /** The names of the field that has the id. */
  readonly idNames: readonly string[];
  readonly words: StatusWords;
}

function readReceipt(
  { status, json, retryAfterMs, hasSurplus = false }: HttpResponse,
  order: Ordered,
  declared: Declared,
): PaymentReceipt {
  const codes = declared.dialects.refusals;
  const places = payloadPlaces(json);
  const isForeign = isOfOther(json, places, { order, declared });
  if (status < 200 || status >= 300) {
    const code = readRefusalCode(json);
    const isDoubtful =
      hasSurplus || isForeign || contradictsRefusal(json, places, { order, declared });
    const refusal = { status, code: code && isDoubtful ? unreadableCode : code, retryAfterMs };
    throw paymentRefusal(refusal, codes);
  }
  const response = { status, code: readCodeAt(places) };
  const endToEnd = findFilled(order.idNames, places);
  const clientRequestId = findFilled(clientRequestIdNames, places);
  const providerTxid = readPaymentId(places, order);
  const { signs } = declared.dialects;
  const completed = { has: (word: string) => order.words.get(word) === 'COMPLETED' };
  const isDoubted = signs.doubtsSuccess(json, codes) || signs.saysOpen(json, completed);
  const payment = receiptStatus(places, order, isDoubted);
  if (payment === 'FAILED') {
    const isDoubtful =
      hasSurplus || isForeign || contradictsReceipt(json, places, { order, declared });
    if (isDoubtful) throw paymentRefusal({ ...response, code: unreadableCode }, codes);
    throw endToEnd.length > 0 ? failedReceipt(response, codes) : paymentRefusal(response, codes);
  }
  const ids = [...endToEnd, ...clientRequestId];
  if (ids.length === 0 && providerTxid !== null) throw paymentRefusal(response, codes);
  const isFailure =
    reportsFailure(places) ||
    hasListedCode(json, declared.dialects) ||
    isOnlyFailure(json, places, { order, declared });
  if (isForeign || ids.length === 0 || isFailure || ids.some((id) => readId(id) === null)) {
    throw unreadable(response);
  }
  const inside = objectsInside(json);
  return {
    endToEnd: findForeignId(order.id, findFilled(order.idNames, inside)),
    clientRequestId: findForeignId(order.clientRequestId, findFilled(clientRequestIdNames, inside)),
    providerTxid,
    status: payment,
    ...(payment === 'PROCESSING' && isHeld(places) && { isUnderAnalysis: true as const }),
    ...(endToEnd.length === 0 && { isByRequestAlone: true as const }),
  };
}

/** Whether a response names another payee, or is not about a payment that is made now. */
function isOfOther(
  json: unknown,
  places: readonly Fields[],
  { order: { key }, declared }: Judged,
): boolean {
  const { signs } = declared.dialects;
  if (signs.findForeign(json, declared.now) !== null) return true;
  if (key === undefined) return false;
  const objects = [json, ...findValues(['data', 'result'], places.slice(0, 1))];
  // The code of a refusal may stand in its errors, and so may what it is about.
  const errors = findValues(['error', 'errors'], objects.map(readFields)).flat();
  return [...objects, ...errors].some((value) => {
    const node = { value: isObject(value) ? value : undefined, around: null };
    return signs.payeeKeys.some((path) => {
      const named = valueAt(node, path);
      return named instanceof Conflict || isOtherPixKey(named, key);
    });
  });
}

interface Judged {
  readonly order: Ordered;
  readonly declared: Declared;
}

/** Whether a refusal names another order, or also says that the order was accepted. */
function contradictsRefusal(
  json: unknown,
  places: readonly Fields[],
  { order, declared: { dialects } }: Judged,
): boolean {
  return (
    namesOther(json, order) ||
    saysAccepted(withErrors(places), order) ||
    dialects.signs.saysSuccess(json, dialects.completedWords) ||
    dialects.signs.hasOtherCode(json, dialects.refusals)
  );
}

/** The same for a receipt that reports a failure; its status is judged already. */
function contradictsReceipt(
  json: unknown,
  places: readonly Fields[],
  { order, declared: { dialects } }: Judged,
): boolean {
  return (
    namesOther(json, order) ||
    dialects.signs.saysSuccess(json, dialects.completedWords) ||
    (readCodeAt(places) !== null && dialects.signs.hasOtherCode(json, dialects.refusals))
  );
}

/** Whether a code of a refusal stands at any place of a code. */
function hasListedCode(
  json: unknown,
  { signs, refusals }: Pick<Dialects, 'signs' | 'refusals'>,
): boolean {
  return signs.findCodes(json).some((code) => refusals.has(restrictCode(code)));
}

/** Whether a response names another order anywhere: its code is not that of this one. */
function namesOther(json: unknown, { id, idNames, clientRequestId, returned }: Ordered): boolean {
  const named = [
    [id, idNames],
    [clientRequestId, clientRequestIdNames],
    ...(returned === undefined ? [] : [[returned, endToEndNames] as const]),
  ] as const;
  const inside = objectsInside(json);
  return named.some(([ordered, names]) => !areAll(ordered, findFilled(names, inside)));
}

/** Whether a refusal also says that the order was accepted. */
function saysAccepted(places: readonly Fields[], { words }: Ordered): boolean {
  const statuses = findValues(['status'], places).map((value) => words.get(readWord(value) ?? ''));
  return statuses.some((status) => status !== undefined && status !== 'FAILED');
}

/** The flags of success: `true`, `"True"` and `1` are the same. */
function readFlags(places: readonly Fields[]): (string | null)[] {
  return findValues(['success'], places).map(readWord);
}

/** It proves nothing, and the circuit breaker counts it. */
function unreadable({ status, code }: PaymentResponse): ProviderError {
  return new ProviderError({
    outcome: 'unknown',
    code: 'PROVIDER_INVALID_RESPONSE',
    statusClass: 'invalid',
    httpStatus: status,
    refusalCode: code,
  });
}

/** A receipt of another payment proves nothing about the ordered one. */
function foreign({ status, json }: HttpResponse): ProviderError {
  return unreadable({ status, code: readCodeAt(payloadPlaces(json)) });
}

const paymentIdNames = ['id', 'transactionid', 'paymentid'];

/** Reads the provider's own id; one beside no id of the order may be that of the request. */
function readPaymentId(places: readonly Fields[], { idNames }: Ordered): string | null {
  const names = [...idNames, ...clientRequestIdNames];
  const named = places.filter((place) => findFilled(names, [place]).length > 0);
  return firstId(findValues(paymentIdNames, named)) ?? firstId(findValues(paymentIdNames, places));
}

/**
 * Reads the status of the object that contains the payment's ids. An outer status may describe the
 * request only (`{status: "SUCCESS", data: {…}}`); if both disagree, the payment is still
 * processing. `SUCCESS` means no more than that the request was accepted. Another amount or an
 * outer word that is not listed completes nothing.
 *
 * @param isDoubted whether it says somewhere that something has failed or is open: it completes
 *   nothing.
 */
function receiptStatus(
  places: readonly Fields[],
  { idNames, words, amountCents }: Ordered,
  isDoubted: boolean,
): PixStatus {
  const names = [...idNames, ...clientRequestIdNames, ...paymentIdNames];
  const payments = places.filter((place) => findValues(names, [place]).length > 0);
  const readStatus = (value: unknown) => words.get(readWord(value) ?? '') ?? null;
  const inner = findValues(['status'], payments).map(readStatus);
  const all = findValues(['status'], places).map(readStatus);
  const status = inner.find((one) => one !== 'ACCEPTED') ?? null;
  const mayComplete =
    !isDoubted &&
    !all.includes(null) &&
    findValues(['amount', 'valor', 'value'], places).every(
      (value) => readReais(value) === amountCents,
    );
  const isCertain =
    inner.every((one) => one === status || one === 'ACCEPTED') &&
    all.every((one) => one === null || agree(one, status)) &&
    (status !== 'COMPLETED' || mayComplete);
  return status && isCertain ? status : 'PROCESSING';
}

/** Assumed: the word for a payment that the provider holds to analyse it. */
const heldWord = 'UNDER_ANALYSIS';

function isHeld(places: readonly Fields[]): boolean {
  return findValues(['status'], places).some((value) => readWord(value) === heldWord);
}

/**
 * The status words of a response. An unlisted word decides nothing. Numbers but those of HTTP are
 * unlisted because providers give them different meanings.
 */
const paymentWords: StatusWords = new Map<string, PixStatus | 'ACCEPTED'>([
  [heldWord, 'PROCESSING'],
  ['PROCESSING', 'PROCESSING'],
  ['PENDING', 'PROCESSING'],
  ['CREATED', 'PROCESSING'],
  ['INITIATED', 'PROCESSING'],
  ['APPROVED', 'PROCESSING'],
  ['CONFIRMED', 'COMPLETED'],
  ['COMPLETED', 'COMPLETED'],
  ['SETTLED', 'COMPLETED'],
  ['PAID', 'COMPLETED'],
  ...['SUCCESS', 'OK', '200', '201', '202'].map((word) => [word, 'ACCEPTED'] as const),
  ['ERROR', 'FAILED'],
  ['FAILED', 'FAILED'],
  ['REJECTED', 'FAILED'],
  ['CANCELLED', 'FAILED'],
]);

/** Assumed: the words of a return besides those of a payment (the central bank's Pix API). */
const returnWords: StatusWords = new Map<string, PixStatus | 'ACCEPTED'>([
  ...paymentWords,
  ['EM_PROCESSAMENTO', 'PROCESSING'],
  ['DEVOLVIDO', 'COMPLETED'],
  ['RETURNED', 'COMPLETED'],
  ['REFUNDED', 'COMPLETED'],
  ['NAO_REALIZADO', 'FAILED'],
]);

type StatusWords = ReadonlyMap<string, PixStatus | 'ACCEPTED'>;

const ofPayment = { idNames: endToEndNames, words: paymentWords };
const ofReturn = { idNames: returnIdNames, words: returnWords };

function agree(outer: PixStatus | 'ACCEPTED', status: PixStatus | null): boolean {
  return outer === status || (outer === 'ACCEPTED' && status !== 'FAILED');
}

/** Whether a 2xx response says that it failed, and no status word says that it was accepted. */
function isOnlyFailure(
  json: unknown,
  places: readonly Fields[],
  { order: { words }, declared: { dialects } }: Judged,
): boolean {
  const statuses = findValues(['status'], places).map((value) => words.get(readWord(value) ?? ''));
  const isAccepted = statuses.some((one) => one === 'COMPLETED' || one === 'ACCEPTED');
  return !isAccepted && saysFailure(json, dialects);
}

/** Whether a 2xx response contains an error. */
function reportsFailure(places: readonly Fields[]): boolean {
  const isRefused = readFlags(places).some((word) => word === 'FALSE' || word === '0');
  return isRefused || findValues(['error', 'errors'], places).some(says);
}

function areAll(ordered: string, ids: readonly unknown[]): boolean {
  return ids.every((id) => readId(id) === ordered);
}

/** @returns an id that differs from the ordered one, if there is any. */
function findForeignId(ordered: string, ids: readonly unknown[]): string {
  return ids.map(readId).find((id) => id !== null && id !== ordered) ?? ordered;
}
