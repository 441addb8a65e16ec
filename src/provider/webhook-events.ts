/**
 * Reads a webhook payload, item by item. The provider does not publish its format, so every format
 * of this family of providers is accepted. Matching items with stored transactions is done
 * elsewhere.
 *
 * | format of the payload or of an item | event word | ids, amount |
 * |---|---|---|
 * | `[item, …]`, `[[item, …]]` | – | each item on its own |
 * | `{pix: [{endToEndId, txid, chave, valor, horario}]}` (BACEN) | – (received) | reais, a text |
 * | `{entity, status, body: {id, amount, clientCode, endToEndId, error}}` | `entity` | reais |
 * | `{RequestBody: {TransactionType, ClientCode, EndToEndId, Amount, StatusCode: {StatusId}}}` |
 *   `TransactionType` | reais |
 * | `{event, payment: {value, status, correlationID}, transaction: {endToEndId}}` (also `charge`) |
 *   `event` | **centavos** |
 * | `{id, amount, status, endToEndId, type: "pix", createdAt}` | – | reais |
 * | `{event or type, endToEnd, clientRequestId, transactionIdentification, status, amount}` |
 *   `event`, `type` | reais |
 * | `{event, data: item}` (also `payload`) | both | as in the item |
 * | `{event: "OPENPIX:…", pix: {value, endToEndId, charge: {…}}}` | `event` | `value` in
 *   **centavos**, `valor` in reais |
 *
 * Names are read in any case, with or without `_` and `-`; unknown fields are ignored. The unit of
 * an amount follows from its object: centavos in `payment`, `charge` and `transaction`, reais
 * elsewhere. A `value` in `pix` has no certain unit in another format, and is unreadable unless
 * another amount of the item says it. An item with two spellings of a name and different values
 * settles nothing.
 */
import type { PixStatus } from '../domain/pix.ts';
import { isRefusalCode, restrictCode } from './refusal-codes.ts';
import {
  clientRequestIdNames,
  endToEndNames,
  type Fields,
  firstId,
  firstRead,
  findObjects,
  hasConflictingSpellings,
  readId,
  readReason,
  findValues,
} from './wire-reading.ts';
import {
  readAmounts,
  readIdentifiers,
  type Item,
  splitItems,
  noPayee,
  objectNames,
  findParties,
  type Parts,
  splitParts,
  partyNames,
  payeeNames,
  readPayee,
  type WebhookItemPayee,
  readTime,
} from './webhook-items.ts';
import { parsePayload } from './webhook-payload.ts';
import { findRefundObjects, readRefund } from './webhook-refunds.ts';
import {
  ignoredByStatus,
  isPixStatus,
  readEventWord,
  readStatus,
  statusNames,
  type Word,
} from './webhook-words.ts';

/** Why an item settles nothing. */
export type IgnoredBecause =
  | 'not_json'
  | 'not_an_object'
  /** An object has two members with one name and different values. */
  | 'contradictory_member'
  | 'conta_criada'
  /** A reversal that cannot be tied to a payment; it never changes the original. */
  | 'reversal'
  | 'unknown_event'
  | 'unknown_status'
  /** The item reports both a success and a failure. */
  | 'contradictory_status'
  | 'no_id'
  /** A failure whose code is not listed (`refusal-codes.ts`): it proves nothing. */
  | 'unlisted_code'
  /** The item has two end-to-end ids, or two spellings of an id with different values. */
  | 'contradictory_id'
  /** An unreadable amount cannot match any transaction. */
  | 'unreadable_amount'
  /** The initial status of a transaction. */
  | 'processing'
  /** An expected PIX that was not received. */
  | 'not_received'
  /** A refund that was not made. */
  | 'not_refunded';

/**
 * `payment`: the result of a sent payment. `received`: a received PIX, or a paid charge. `expired`:
 * a charge that has expired unpaid. `refund`: a refund of a payment, whole or in part.
 */
export type WebhookItemKind = 'payment' | 'received' | 'expired' | 'refund' | 'ignored';

/** The ids of an item, printable, 1 to 255 characters; they may contradict each other. */
export interface WebhookItemIds {
  readonly endToEnd: string | null;
  readonly clientRequestId: string | null;
  readonly transactionIdentification: string | null;
  readonly providerTxid: string | null;
}

export interface WebhookItemRefund {
  /** `D…`: identifies the refund. */
  readonly returnId: string;
  /** `in`: the user gets the money back; null when the item does not say it. */
  readonly direction: 'in' | 'out' | null;
}

export interface WebhookItem {
  /** The position of the item in the payload, from 0. */
  readonly index: number;
  /** The provider's name of the event, printable and truncated. */
  readonly name: string;
  readonly kind: WebhookItemKind;
  /** COMPLETED or FAILED unless the item is ignored. */
  readonly status: PixStatus | null;
  readonly ids: WebhookItemIds;
  /** Set when the direction of a `received` item follows only from its position. */
  readonly isUndirected?: true;
  /** Null when the item has none; an item with an unreadable amount is ignored. */
  readonly amountCents: number | null;
  readonly payee: WebhookItemPayee;
  /** Set for a `refund`, whose end-to-end id is that of the refunded payment. */
  readonly refund?: WebhookItemRefund;
  /** When a PIX was received, if the item has the time with its offset from UTC. */
  readonly at?: Date;
  /** The failure's code, such as `BE17`. */
  readonly reason: string | null;
  /** Null unless the item is ignored. */
  readonly ignoredBecause: IgnoredBecause | null;
}

const noIds: WebhookItemIds = {
  endToEnd: null,
  clientRequestId: null,
  transactionIdentification: null,
  providerTxid: null,
};

/**
 * Reads a payload.
 *
 * @param payload any parsed JSON; it never throws.
 * @returns one event for each item that is not empty, in order.
 */
export function readWebhookEvents(payload: unknown): WebhookItem[] {
  return [...eachWebhookEvent(payload)];
}

/** Reads a payload lazily: 256 KiB may contain more than ten thousand events. */
export function* eachWebhookEvent(payload: unknown): Generator<WebhookItem> {
  for (const item of splitItems(payload)) {
    const read = readItem(item);
    yield item.isContradictory ? ignore(read, 'contradictory_member') : read;
  }
}

/** Reads a stored payload as `eachWebhookEvent` does; bytes that are not JSON are one event. */
export function* eachStoredEvent(payload: Buffer): Generator<WebhookItem> {
  const parsed = parsePayload(payload);
  if (parsed) yield* eachWebhookEvent(parsed.content);
  else yield ignore(notAnObject(0), 'not_json');
}

function ignore(item: WebhookItem, ignoredBecause: IgnoredBecause): WebhookItem {
  return { ...item, kind: 'ignored', ignoredBecause };
}

function readItem({ index, fields, isFromPixList, around }: Item): WebhookItem {
  if (fields === null) return notAnObject(index);
  const parts = splitParts(fields);
  const { meaning, name } = readEventWord([...parts.outer, ...around]);
  const stated = [...parts.all, ...around];
  const hasStatus = findValues(statusNames, stated).length > 0;
  const isIncoming =
    meaning.kind === 'undirected' && isIncomingItem(parts, isFromPixList, hasStatus);
  const word: Word = isIncoming ? { kind: 'received', otherwise: 'COMPLETED' } : meaning;
  if (word.kind === 'refund') return readRefundItem({ index, name, word, parts, stated });
  const kind = readKind(word, parts);
  const ids = readIds(parts, kind);
  const amounts = readAmounts(parts);
  const status = readStatus(stated, word);
  const ignoredBecause =
    ignoredByWord(word) ??
    ignoredByIds(ids, parts, kind) ??
    ignoredByStatus(status, kind) ??
    (status === 'FAILED' && kind === 'payment' ? ignoredByCode(parts, word) : null) ??
    // Only an unpaid charge expires, and it has no payment and thus no end-to-end id.
    (kind === 'expired' && ids.endToEnd !== null ? 'contradictory_status' : null) ??
    (amounts.size > 1 || amounts.has(null) ? 'unreadable_amount' : null);
  const [amountCents] = amounts;
  return {
    index,
    name: isIncoming && name === 'unnamed' ? 'pix' : name,
    kind: ignoredBecause === null ? kind : 'ignored',
    status: isPixStatus(status) ? status : null,
    ids,
    ...(isIncoming && { isUndirected: true as const }),
    amountCents: amounts.size === 1 ? (amountCents ?? null) : null,
    payee: mayBeReceived(kind, ids) ? readPayee(parts.all) : noPayee,
    ...(kind === 'received' && readTime(parts.all)),
    reason: readFailureReason(parts),
    ignoredBecause,
  };
}

interface RefundItem {
  readonly index: number;
  readonly name: string;
  readonly word: Word;
  readonly parts: Parts;
  readonly stated: readonly Fields[];
}

/** Only the return id and the end-to-end id of the payment identify a refund. */
function readRefundItem({ index, name, word, parts, stated }: RefundItem): WebhookItem {
  const ids = readIds(parts, 'payment');
  const reading = readRefund(parts);
  const status = readStatus([...stated, ...findRefundObjects(parts)], word);
  const byStatus = ignoredByStatus(status, 'refund');
  const rest = { index, name, payee: noPayee, ...readTime(parts.all) };
  if (typeof reading === 'string' || byStatus !== null) {
    return {
      ...rest,
      kind: 'ignored',
      status: isPixStatus(status) ? status : null,
      ids,
      amountCents: null,
      reason: readFailureReason(parts),
      ignoredBecause: typeof reading === 'string' ? reading : byStatus,
    };
  }
  const { endToEnd, returnId, amountCents } = reading;
  return {
    ...rest,
    kind: 'refund',
    status: 'COMPLETED',
    amountCents,
    ids: { ...noIds, endToEnd, providerTxid: ids.providerTxid },
    refund: { returnId, direction: word.direction ?? null },
    reason: null,
    ignoredBecause: null,
  };
}

/**
 * Without an event word, an item under `pix` is a received PIX, unless it has a status and no
 * payee: it may then be a sent one. Elsewhere, an item is a received PIX if it has the fields of
 * BACEN's format and no status.
 */
function isIncomingItem(parts: Parts, isFromPixList: boolean, hasStatus: boolean): boolean {
  const { all, outer, pix } = parts;
  if (!isFromPixList && pix.length === 0) {
    return !hasStatus && outer.some((fields) => fields.has('valor') && fields.has('horario'));
  }
  const hasPayee =
    findValues(transactionIdentificationNames, all).length > 0 ||
    Object.values(readIdentifiers(parts.all)).some((values) => values.length > 0);
  return !hasStatus || hasPayee;
}

type ReadKind = 'payment' | 'received' | 'expired';

/** Without a direction, an item with a transaction identification is a charge. */
function readKind(word: Word, parts: Parts): ReadKind {
  const { kind } = word;
  if (kind === 'payment' || kind === 'received' || kind === 'expired') return kind;
  const ids = readIds(parts, 'payment');
  const isCharge = ids.transactionIdentification !== null && ids.clientRequestId === null;
  return isCharge ? 'received' : 'payment';
}

const transactionIdentificationNames = ['transactionidentification', 'txid'];
const innerNames = [...objectNames, ...partyNames];
const providerTxidNames = ['transactionid', 'paymentid', 'id'];
const idNames = [
  ...endToEndNames,
  ...clientRequestIdNames,
  ...transactionIdentificationNames,
  ...providerTxidNames,
];

/**
 * When an id has several names, the first one present counts. A received PIX has no idempotency
 * key, so its correlation id can only be the charge's identification.
 */
function readIds({ all }: Parts, kind: ReadKind): WebhookItemIds {
  const ofCharge =
    kind !== 'payment'
      ? [...transactionIdentificationNames, 'correlationid']
      : transactionIdentificationNames;
  return {
    endToEnd: firstId(findValues(endToEndNames, all)),
    clientRequestId: firstId(findValues(clientRequestIdNames, all)),
    transactionIdentification: firstId(findValues(ofCharge, all)),
    providerTxid: firstId(findValues(providerTxidNames, all)),
  };
}

function readFailureReason({ all }: Parts): string | null {
  const errors = all.flatMap((fields) => findObjects(fields, 'error'));
  const codes = findValues(['code'], errors);
  const others = findValues(['errorcode', 'reasoncode', 'reason', 'error'], all);
  return firstRead([...codes, ...others], readReason);
}

/** A payment that names a charge may have paid it. */
function mayBeReceived(kind: ReadKind, ids: WebhookItemIds): boolean {
  return kind === 'received' || (kind === 'payment' && ids.transactionIdentification !== null);
}

/**
 * A failure counts beside a listed code. An event word that contains the failure, and the number of
 * `StatusCode.StatusId`, count without a code, too.
 */
function ignoredByCode({ all }: Parts, word: Word): IgnoredBecause | null {
  const errors = all.flatMap((fields) => findObjects(fields, 'error'));
  const codes = [...findValues(['code'], errors), ...findValues(failureCodeNames, all)];
  const plain = codes.filter((code) => typeof code !== 'object').map(restrictCode);
  const ids = findValues(
    ['statusid'],
    all.flatMap((fields) => findObjects(fields, 'statuscode')),
  );
  if (plain.length === 0 && (word.status === 'FAILED' || ids.length > 0)) return null;
  return plain.length > 0 && plain.every(isRefusalCode) ? null : 'unlisted_code';
}

/** Every name under which providers of this family report the cause of a failure. */
const failureCodeNames = [
  'code',
  'errorcode',
  'reasoncode',
  'returncode',
  'reason',
  'statusreason',
  'failurereason',
  'rejectreason',
  'rejectionreason',
  'motivo',
  'motivorejeicao',
  'error',
];

function ignoredByWord({ kind }: Word): IgnoredBecause | null {
  if (kind === 'conta_criada' || kind === 'reversal') return kind;
  return kind === 'unknown' ? 'unknown_event' : null;
}

function ignoredByIds(ids: WebhookItemIds, { all }: Parts, kind: ReadKind): IgnoredBecause | null {
  if (Object.values(ids).every((id) => id === null)) return 'no_id';
  const isOther = (value: unknown): boolean => ![null, ids.endToEnd].includes(readId(value));
  const isContradictory =
    findValues(endToEndNames, all).some(isOther) ||
    isAmbiguous(all, idNames) ||
    (mayBeReceived(kind, ids) && isAmbiguous([...findParties(all), ...all], payeeNames));
  return isContradictory ? 'contradictory_id' : null;
}

/** Whether two spellings of a name have different values. */
function isAmbiguous(objects: readonly Fields[], names: readonly string[]): boolean {
  return (
    hasConflictingSpellings(names, objects, readId) ||
    hasConflictingSpellings(innerNames, objects, (value) => value)
  );
}

function notAnObject(index: number): WebhookItem {
  return {
    index,
    name: 'unnamed',
    kind: 'ignored',
    status: null,
    ids: noIds,
    amountCents: null,
    payee: noPayee,
    reason: null,
    ignoredBecause: 'not_an_object',
  };
}
