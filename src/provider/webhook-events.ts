/**
 * What a webhook payload says, item by item. The provider's shape is not published, so every shape
 * that providers of this family use is read; nothing here touches the database or decides whether
 * an item is about a transaction of ours.
 *
 * | shape of the payload or of an item | event word | ids, amount |
 * |---|---|---|
 * | `[item, …]` | – | each item on its own |
 * | `{pix: [{endToEndId, txid, chave, valor, horario}]}` (BACEN) | – (received) | reais, a text |
 * | `{entity, status, body: {id, amount, clientCode, endToEndId, error}}` | `entity` | reais |
 * | `{RequestBody: {TransactionType, ClientCode, EndToEndId, Amount, StatusCode: {StatusId}}}` |
 *   `TransactionType` | reais |
 * | `{event, payment: {value, status, correlationID}, transaction: {endToEndId}}` (also `charge`) |
 *   `event` | **centavos** |
 * | `{id, amount, status, endToEndId, type: "pix", createdAt}` | – | reais |
 * | `{event or type, endToEnd, clientRequestId, transactionIdentification, status, amount}` |
 *   `event`, `type` | reais |
 *
 * Names are read in any case, with or without `_` and `-`; unknown fields are passed over. An
 * amount without a word of its own is told by where it stands: in centavos inside `payment`,
 * `charge` and `transaction`, in reais elsewhere.
 */
import type { PixStatus } from '../domain/pix.ts';
import {
  type Fields,
  fieldsOf,
  firstId,
  firstRead,
  inner,
  isObject,
  readCentavos,
  readCode,
  readId,
  readReais,
  readReason,
  valuesOf,
} from './wire-reading.ts';
import { readEventWord, readStatus, type StatusReading, type Word } from './webhook-words.ts';

/** Why an item moves nothing. */
export type IgnoredBecause =
  | 'not_an_object'
  /** Items from this one on were not read: a payload holds a bounded number. */
  | 'too_many_items'
  | 'conta_criada'
  /** A reversal is an event of its own and never changes the original. */
  | 'reversal'
  | 'unknown_event'
  | 'unknown_status'
  /** The item says both that it went through and that it did not. */
  | 'contradictory_status'
  | 'no_id'
  /** The item names two end-to-end ids. */
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

/** Whom a received PIX is for; document and account number without punctuation. */
export interface ProviderEventPayee {
  readonly key: string | null;
  readonly document: string | null;
  readonly accountNumber: string | null;
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
  /** Null when the item carries none; one that cannot be read makes the item ignored. */
  readonly amountCents: number | null;
  readonly payee: ProviderEventPayee;
  /** The failure's code, such as `BE17`. */
  readonly reason: string | null;
  /** Null for what is not ignored. */
  readonly ignoredBecause: IgnoredBecause | null;
}

/**
 * A payload may have 256 KiB, and an item that says anything useful has more than 128 bytes: no
 * honest payload holds more items than this.
 */
const MAX_ITEMS = 2048;

const noIds: ProviderEventIds = {
  endToEnd: null,
  clientRequestId: null,
  transactionIdentification: null,
  providerTxid: null,
};

const noPayee: ProviderEventPayee = { key: null, document: null, accountNumber: null };

/**
 * Reads a payload.
 *
 * @param payload parsed JSON of any form; it never throws.
 * @returns one event for each item, in order; none for an empty array.
 */
export function readWebhookEvents(payload: unknown): ProviderEvent[] {
  const items = itemsOf(payload);
  const events = items.slice(0, MAX_ITEMS).map(readItem);
  if (items.length > MAX_ITEMS) events.push(ignored(MAX_ITEMS, 'unnamed', 'too_many_items'));
  return events;
}

interface Item {
  /** None where the item is no object. */
  readonly fields: Fields | null;
  /** It stood in BACEN's `pix` list: without a word of its own, it is a PIX that came in. */
  readonly isFromPixList: boolean;
}

function itemsOf(payload: unknown): Item[] {
  const contents: readonly unknown[] = Array.isArray(payload) ? payload : [payload];
  return contents.flatMap((content): Item | Item[] => {
    const item = itemOf(content, false);
    const list = item.fields?.get('pix');
    return Array.isArray(list) ? list.map((one: unknown) => itemOf(one, true)) : item;
  });
}

function itemOf(content: unknown, isFromPixList: boolean): Item {
  return { fields: isObject(content) ? fieldsOf(content) : null, isFromPixList };
}

/** An item's objects, by the role that their place gives them; the innermost first. */
interface Parts {
  readonly all: readonly Fields[];
  readonly inCentavos: readonly Fields[];
  readonly inReais: readonly Fields[];
  /** Where event words stand. */
  readonly outer: readonly Fields[];
}

function partsOf(item: Fields): Parts {
  const requestBody = inner(item, 'requestbody');
  const inCentavos = said(
    inner(item, 'payment'),
    inner(item, 'charge'),
    inner(item, 'transaction'),
  );
  const inReais = said(inner(item, 'body'), requestBody, item);
  return { all: [...inCentavos, ...inReais], inCentavos, inReais, outer: said(item, requestBody) };
}

/** Those that say something: most items have one of the objects that an item may have. */
function said(...objects: readonly Fields[]): Fields[] {
  return objects.filter(({ size }) => size > 0);
}

function readItem({ fields, isFromPixList }: Item, index: number): ProviderEvent {
  if (fields === null) return ignored(index, 'unnamed', 'not_an_object');
  const parts = partsOf(fields);
  const { meaning, name } = readEventWord(parts.outer);
  const isIncoming = meaning.kind === 'undirected' && (isFromPixList || isBacenItem(parts));
  const word: Word = isIncoming ? { kind: 'received', otherwise: 'COMPLETED' } : meaning;
  const kind = kindOf(word, parts);
  const ids = idsOf(parts, kind);
  const amounts = amountsOf(parts);
  const status = readStatus(parts.all, word);
  const ignoredBecause =
    faultOfWord(word) ??
    faultOfIds(ids, parts) ??
    faultOfStatus(status, kind) ??
    (amounts.size > 1 || amounts.has(null) ? 'unreadable_amount' : null);
  const [amountCents] = amounts;
  return {
    index,
    name: isIncoming && name === 'unnamed' ? 'pix' : name,
    kind: ignoredBecause === null ? kind : 'ignored',
    status: isPixStatus(status) ? status : null,
    ids,
    amountCents: amounts.size === 1 ? (amountCents ?? null) : null,
    payee: kind === 'received' ? payeeOf(parts) : noPayee,
    reason: reasonOf(parts),
    ignoredBecause,
  };
}

/** BACEN's item outside its list: no words, but the fields that only such an item has. */
function isBacenItem({ all, outer }: Parts): boolean {
  const hasStatus = valuesOf(['status', 'statuscode', 'statusid'], all).length > 0;
  return !hasStatus && outer.some((fields) => fields.has('valor') && fields.has('horario'));
}

/** Without a direction, only a charge is known to the provider by a transaction identification. */
function kindOf(word: Word, parts: Parts): 'payment' | 'received' {
  if (word.kind === 'payment' || word.kind === 'received') return word.kind;
  const ids = idsOf(parts, 'payment');
  const isCharge = ids.transactionIdentification !== null && ids.clientRequestId === null;
  return isCharge ? 'received' : 'payment';
}

const endToEndNames = ['endtoend', 'endtoendid'];
const transactionIdentificationNames = ['transactionidentification', 'txid'];

/**
 * Of several names of one id the first that is there counts. What is received carries no
 * idempotency key of ours, so there a correlation id can only be the charge's identification.
 */
function idsOf({ all }: Parts, kind: 'payment' | 'received'): ProviderEventIds {
  const ofCharge =
    kind === 'received'
      ? [...transactionIdentificationNames, 'correlationid']
      : transactionIdentificationNames;
  return {
    endToEnd: firstId(valuesOf(endToEndNames, all)),
    clientRequestId: firstId(valuesOf(['clientrequestid', 'clientcode', 'correlationid'], all)),
    transactionIdentification: firstId(valuesOf(ofCharge, all)),
    providerTxid: firstId(valuesOf(['transactionid', 'paymentid', 'id'], all)),
  };
}

/** Every amount in the item, each once, in centavos; null for one that cannot be read. */
function amountsOf({ inCentavos, inReais }: Parts): ReadonlySet<number | null> {
  const names = ['amount', 'valor', 'value'];
  return new Set([
    ...valuesOf(names, inCentavos).map(readCentavos),
    ...valuesOf(names, inReais).map(readReais),
  ]);
}

const parties = ['creditparty', 'payee', 'receiver', 'recebedor'];

/** A document or an account outside a named party may be the payer's: it is not read. */
function payeeOf({ all }: Parts): ProviderEventPayee {
  const party = parties.flatMap((name) => all.map((fields) => inner(fields, name)));
  const documents = ['document', 'taxid', 'taxidnumber', 'cpfcnpj', 'cpf', 'cnpj'];
  const accounts = ['account', 'accountnumber', 'conta'];
  return {
    key: firstId(valuesOf(['chave', 'key', 'pixkey'], [...party, ...all])),
    document: firstRead(valuesOf(documents, party), readCode),
    accountNumber: firstRead(valuesOf(accounts, party), readCode),
  };
}

function reasonOf({ all }: Parts): string | null {
  const errors = all.map((fields) => inner(fields, 'error'));
  const codes = valuesOf(['code'], errors);
  const others = valuesOf(['errorcode', 'reasoncode', 'reason', 'error'], all);
  return firstRead([...codes, ...others], readReason);
}

function faultOfWord({ kind }: Word): IgnoredBecause | null {
  if (kind === 'conta_criada' || kind === 'reversal') return kind;
  return kind === 'unknown' ? 'unknown_event' : null;
}

function faultOfIds(ids: ProviderEventIds, { all }: Parts): IgnoredBecause | null {
  if (Object.values(ids).every((id) => id === null)) return 'no_id';
  const isOther = (value: unknown): boolean => ![null, ids.endToEnd].includes(readId(value));
  return valuesOf(endToEndNames, all).some(isOther) ? 'contradictory_id' : null;
}

function faultOfStatus(status: StatusReading, kind: 'payment' | 'received'): IgnoredBecause | null {
  if (!isPixStatus(status)) return status;
  if (status === 'PROCESSING') return 'processing';
  return kind === 'received' && status === 'FAILED' ? 'not_received' : null;
}

function isPixStatus(status: StatusReading): status is PixStatus {
  return status !== 'unknown_status' && status !== 'contradictory_status';
}

function ignored(index: number, name: string, because: IgnoredBecause): ProviderEvent {
  return {
    index,
    name,
    kind: 'ignored',
    status: null,
    ids: noIds,
    amountCents: null,
    payee: noPayee,
    reason: null,
    ignoredBecause: because,
  };
}
