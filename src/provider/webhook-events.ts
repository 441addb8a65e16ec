/**
 * What a webhook payload says, item by item. The provider's shape is not published, so every shape
 * that providers of this family use is read; nothing here touches the database or decides whether
 * an item is about a transaction of ours.
 *
 * | shape of the payload or of an item | event word | ids, amount |
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
 * | `{event, pix: {value, endToEndId, charge: {…}}}` | `event` | `value` in **centavos**, `valor`
 *   in reais |
 *
 * Names are read in any case, with or without `_` and `-`; unknown fields are passed over. An
 * amount without a word of its own is told by where it stands: in centavos inside `payment`,
 * `charge` and `transaction`, in reais elsewhere. An item that spells a name twice and says two
 * things with it moves nothing.
 */
import type { PixStatus } from '../domain/pix.ts';
import {
  clientRequestIdNames,
  endToEndNames,
  type Fields,
  firstId,
  firstRead,
  findObjects,
  isSpelledApart,
  readCentavos,
  readId,
  readReais,
  readReason,
  findValues,
} from './wire-reading.ts';
import {
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
  type ProviderEventPayee,
  readTime,
} from './webhook-items.ts';
import {
  ignoredByStatus,
  isPixStatus,
  readEventWord,
  readStatus,
  statusNames,
  type Word,
} from './webhook-words.ts';

/** Why an item moves nothing. */
export type IgnoredBecause =
  | 'not_an_object'
  | 'conta_criada'
  /** A reversal is an event of its own and never changes the original. */
  | 'reversal'
  | 'unknown_event'
  | 'unknown_status'
  /** The item says both that it went through and that it did not. */
  | 'contradictory_status'
  | 'no_id'
  /** It has failed because the provider has it already: it may be this very payment. */
  | 'duplicate'
  /** The item names two end-to-end ids, or spells one id twice in two ways. */
  | 'contradictory_id'
  /** An amount is there and cannot be read, so it can match nothing. */
  | 'unreadable_amount'
  /** The status is the one that a transaction begins with. */
  | 'processing'
  /** A PIX that was to come in and did not. */
  | 'not_received';

/** `payment`: how a payment of ours ended. `received`: a PIX that came in, or a charge paid. */
export type ProviderEventKind = 'payment' | 'received' | 'ignored';

/** As the item carries them: printable, 1 to 255 characters. They need not agree. */
export interface ProviderEventIds {
  readonly endToEnd: string | null;
  readonly clientRequestId: string | null;
  readonly transactionIdentification: string | null;
  readonly providerTxid: string | null;
}

export interface ProviderEvent {
  /** The item's place in the payload, from 0. */
  readonly index: number;
  /** The provider's word for the event, to show; printable and cut. */
  readonly name: string;
  readonly kind: ProviderEventKind;
  /** COMPLETED or FAILED for what is not ignored. */
  readonly status: PixStatus | null;
  readonly ids: ProviderEventIds;
  /** There where a `received` item tells its direction by nothing but where it stands. */
  readonly isUndirected?: true;
  /** Null when the item carries none; one that cannot be read makes the item ignored. */
  readonly amountCents: number | null;
  readonly payee: ProviderEventPayee;
  /** When a `received` one came in, where the item says so with its offset from UTC. */
  readonly at?: Date;
  /** The failure's code, such as `BE17`. */
  readonly reason: string | null;
  /** Null for what is not ignored. */
  readonly ignoredBecause: IgnoredBecause | null;
}

const noIds: ProviderEventIds = {
  endToEnd: null,
  clientRequestId: null,
  transactionIdentification: null,
  providerTxid: null,
};

/**
 * Reads a payload.
 *
 * @param payload parsed JSON of any form; it never throws.
 * @returns one event for each item that holds something, in order; none for an empty array.
 */
export function readWebhookEvents(payload: unknown): ProviderEvent[] {
  return [...eachWebhookEvent(payload)];
}

/** Reads a payload, an event at a time: one of 256 KiB may hold more than ten thousand. */
export function* eachWebhookEvent(payload: unknown): Generator<ProviderEvent> {
  for (const item of splitItems(payload)) yield readItem(item);
}

function readItem({ index, fields, isFromPixList, around }: Item): ProviderEvent {
  if (fields === null) return notAnObject(index);
  const parts = splitParts(fields);
  const { meaning, name } = readEventWord([...parts.outer, ...around]);
  const stated = [...parts.all, ...around];
  const hasStatus = findValues(statusNames, stated).length > 0;
  const isIncoming = meaning.kind === 'undirected' && saysItCameIn(parts, isFromPixList, hasStatus);
  const word: Word = isIncoming ? { kind: 'received', otherwise: 'COMPLETED' } : meaning;
  const kind = readKind(word, parts);
  const ids = readIds(parts, kind);
  const amounts = readAmounts(parts);
  const status = readStatus(stated, word);
  const ignoredBecause =
    ignoredByWord(word) ??
    ignoredByIds(ids, parts, kind) ??
    ignoredByStatus(status, kind, stated) ??
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
    payee: kind === 'received' ? readPayee(parts.all) : noPayee,
    ...(kind === 'received' && readTime(parts.all)),
    reason: readFailureReason(parts),
    ignoredBecause,
  };
}

/**
 * Without a word of its own, what stands under `pix` is a PIX that came in, unless it tells a
 * status and nobody whom it is for: that may as well be one that went out. Elsewhere it has no
 * status, but the fields that only BACEN's item has.
 */
function saysItCameIn(parts: Parts, isFromPixList: boolean, hasStatus: boolean): boolean {
  const { all, outer, pix } = parts;
  if (!isFromPixList && pix.length === 0) {
    return !hasStatus && outer.some((fields) => fields.has('valor') && fields.has('horario'));
  }
  const isForSomebody =
    findValues(transactionIdentificationNames, all).length > 0 ||
    Object.values(readIdentifiers(parts.all)).some((values) => values.length > 0);
  return !hasStatus || isForSomebody;
}

/** Without a direction, only a charge is known to the provider by a transaction identification. */
function readKind(word: Word, parts: Parts): 'payment' | 'received' {
  if (word.kind === 'payment' || word.kind === 'received') return word.kind;
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
 * Of several names of one id the first that is there counts. What is received carries no
 * idempotency key of ours, so there a correlation id can only be the charge's identification.
 */
function readIds({ all }: Parts, kind: 'payment' | 'received'): ProviderEventIds {
  const ofCharge =
    kind === 'received'
      ? [...transactionIdentificationNames, 'correlationid']
      : transactionIdentificationNames;
  return {
    endToEnd: firstId(findValues(endToEndNames, all)),
    clientRequestId: firstId(findValues(clientRequestIdNames, all)),
    transactionIdentification: firstId(findValues(ofCharge, all)),
    providerTxid: firstId(findValues(providerTxidNames, all)),
  };
}

/** Every amount in the item, each once, in centavos; null for one that cannot be read. */
function readAmounts({ inCentavos, inReais, pix }: Parts): ReadonlySet<number | null> {
  const names = ['amount', 'valor', 'value'];
  const amounts = new Set([
    ...findValues(names, inCentavos).map(readCentavos),
    ...[...findValues(names, inReais), ...findValues(['amount', 'valor'], pix)].map(readReais),
  ]);
  // In centavos, unless it says in reais what the item says elsewhere.
  for (const value of findValues(['value'], pix)) {
    if (!amounts.has(readReais(value))) amounts.add(readCentavos(value));
  }
  return amounts;
}

function readFailureReason({ all }: Parts): string | null {
  const errors = all.flatMap((fields) => findObjects(fields, 'error'));
  const codes = findValues(['code'], errors);
  const others = findValues(['errorcode', 'reasoncode', 'reason', 'error'], all);
  return firstRead([...codes, ...others], readReason);
}

function ignoredByWord({ kind }: Word): IgnoredBecause | null {
  if (kind === 'conta_criada' || kind === 'reversal') return kind;
  return kind === 'unknown' ? 'unknown_event' : null;
}

function ignoredByIds(
  ids: ProviderEventIds,
  { all }: Parts,
  kind: 'payment' | 'received',
): IgnoredBecause | null {
  if (Object.values(ids).every((id) => id === null)) return 'no_id';
  const isOther = (value: unknown): boolean => ![null, ids.endToEnd].includes(readId(value));
  const isContradictory =
    findValues(endToEndNames, all).some(isOther) ||
    namesTwo(all, idNames) ||
    (kind === 'received' && namesTwo([...findParties(all), ...all], payeeNames));
  return isContradictory ? 'contradictory_id' : null;
}

/** A name in two spellings, with two things under it: nobody can say which of them is meant. */
function namesTwo(objects: readonly Fields[], names: readonly string[]): boolean {
  return (
    isSpelledApart(names, objects, readId) || isSpelledApart(innerNames, objects, (value) => value)
  );
}

function notAnObject(index: number): ProviderEvent {
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
