/** Finds the items of a webhook payload and their objects; `webhook-events.ts` reads the fields. */
import { normalisePixKey } from '../domain/pix-key.ts';
import { isContradictory } from './webhook-payload.ts';
import {
  endToEndNames,
  type Fields,
  readFields,
  findObjects,
  isObject,
  readCentavos,
  readCode,
  readId,
  readInner,
  readReais,
  findValues,
} from './wire-reading.ts';

/** One item of a payload. */
export interface Item {
  /** The position in the payload, from 0. */
  readonly index: number;
  /** Null when the item is not an object. */
  readonly fields: Fields | null;
  /** Whether it is in BACEN's `pix` list. */
  readonly isFromPixList: boolean;
  /** The objects around its list, whose fields apply to each item. */
  readonly around: readonly Fields[];
  /** Whether the item, or an object around it, has one name twice with different values. */
  readonly isContradictory: boolean;
}

/**
 * The largest number of empty items that are returned. All non-empty items are returned: their
 * number is limited by the size of a payload, at most 256 KiB.
 */
const mostEmptyItems = 100;

/** Splits a payload into its items, in order. */
export function* splitItems(payload: unknown): Generator<Item> {
  const contents: readonly unknown[] = Array.isArray(payload) ? payload.flat() : [payload];
  let index = 0;
  let emptyItems = 0;
  for (const content of contents) {
    for (const item of itemsIn(content)) {
      if (!item.fields?.size) emptyItems += 1;
      if (item.fields?.size || emptyItems <= mostEmptyItems) yield { ...item, index };
      index += 1;
    }
  }
}

/** Yields items one by one, because a list may contain tens of thousands. */
function* itemsIn(content: unknown): Generator<Omit<Item, 'index'>> {
  const fields = isObject(content) ? readFields(content) : null;
  const alone = {
    fields,
    isFromPixList: false,
    around: [],
    isContradictory: isContradictory(content),
  };
  if (fields === null) {
    yield alone;
    return;
  }
  const around = [fields, ...findObjects(fields, ...wrappers)];
  const lists = findValues(['pix'], around);
  if (!lists.some(Array.isArray)) {
    yield alone;
    return;
  }
  // `lists` may contain nested lists, and values under other spellings of the list's name.
  const listed = lists.flat(2);
  if (listed.length === 0 && fields.size > 1) yield alone;
  const isAround = isContradictory(content, lists);
  for (const one of listed) {
    const read = { fields: isObject(one) ? readFields(one) : null, isFromPixList: true, around };
    yield { ...read, isContradictory: isAround || isContradictory(one) };
  }
  for (const one of listed) yield* refundsOf(readFields(one), isAround || isContradictory(one));
}

/** The refunds of a received PIX in BACEN's format, each as an item of its own. */
function* refundsOf(pix: Fields, contradicts: boolean): Generator<Omit<Item, 'index'>> {
  const [endToEndId] = findValues(endToEndNames, [pix]);
  for (const refund of findValues(['devolucoes'], [pix]).flat()) {
    const fields = readFields(refund);
    const [rtrId, valor, status] = ['rtrid', 'valor', 'status'].map((name) => fields.get(name));
    const horario = readInner(fields, 'horario').get('liquidacao');
    const item = { event: 'PIX_REFUND_OUT', endToEndId, rtrId, valor, status, horario };
    yield {
      fields: readFields(item),
      isFromPixList: false,
      around: [],
      isContradictory: contradicts,
    };
  }
}

/** The names of objects that contain a whole item. */
const wrappers = ['data', 'payload'] as const;

const requestBody = 'requestbody';

/** The names of objects whose amounts are in centavos. */
const ofCentavos = ['payment', 'charge', 'transaction'] as const;

/** The names of all objects that are read. */
export const objectNames = [...wrappers, ...ofCentavos, requestBody, 'body', 'pix'];

/** The objects of an item by role; the innermost first. */
export interface Parts {
  readonly all: readonly Fields[];
  readonly inCentavos: readonly Fields[];
  readonly inReais: readonly Fields[];
  /** Objects under `pix`: `value` is in centavos, `valor` in reais. */
  readonly pix: readonly Fields[];
  /** The objects with event words. */
  readonly outer: readonly Fields[];
}

/** Splits an item into its objects that are not empty. */
export function splitParts(item: Fields): Parts {
  const wrapped = findObjects(item, ...wrappers);
  const whole = [...wrapped, item];
  const pix = nonEmpty(innersIn(whole, 'pix'));
  const inCentavos = nonEmpty(innersIn([...pix, ...whole], ...ofCentavos));
  const requestBodies = innersIn(whole, requestBody);
  const inReais = nonEmpty([...innersIn(whole, 'body'), ...requestBodies, ...whole]);
  const outer = nonEmpty([item, ...requestBodies, ...wrapped]);
  return { all: [...pix, ...inCentavos, ...inReais], inCentavos, inReais, pix, outer };
}

function innersIn(objects: readonly Fields[], ...names: readonly string[]): Fields[] {
  return objects.flatMap((fields) => findObjects(fields, ...names));
}

/** Most items have only some of the possible objects. */
function nonEmpty(objects: readonly Fields[]): Fields[] {
  return objects.filter(({ size }) => size > 0);
}

/** The event words of the one published format that states the unit of `pix.value`: centavos. */
const wooviEvent = /^(?:OPENPIX|WOOVI):/i;

/** The distinct amounts of the item, in centavos; null for an unreadable one. */
export function readAmounts(parts: Parts): ReadonlySet<number | null> {
  const { inCentavos, inReais, pix, outer } = parts;
  const names = ['amount', 'valor', 'value'];
  const amounts = new Set([
    ...findValues(names, inCentavos).map(readCentavos),
    ...[...findValues(names, inReais), ...findValues(['amount', 'valor'], pix)].map(readReais),
  ]);
  // Another amount of the item may say which unit it has; it is never guessed.
  const isWoovi = findValues(['event'], outer).some(
    (word) => typeof word === 'string' && wooviEvent.test(word),
  );
  for (const value of findValues(['value'], pix)) {
    const cents = readCentavos(value);
    const isStated = [readReais(value), cents].some((one) => one !== null && amounts.has(one));
    if (!isStated) amounts.add(isWoovi ? cents : null);
  }
  return amounts;
}

/** The payee of a received PIX; agency, account number and document without punctuation. */
export interface WebhookItemPayee {
  /** The item has two values for an identifier: all of them are null. */
  readonly isContradictory?: true;
  readonly key: string | null;
  readonly document: string | null;
  readonly agency: string | null;
  readonly accountNumber: string | null;
}

export const noPayee: WebhookItemPayee = {
  key: null,
  document: null,
  agency: null,
  accountNumber: null,
};

/** The names of objects that describe the receiving party. */
export const partyNames = ['creditparty', 'payee', 'receiver', 'recebedor'];
const keyNames = ['chave', 'key', 'pixkey'];
const documentNames = ['document', 'taxid', 'taxidnumber', 'cpfcnpj', 'cpf', 'cnpj'];
const agencyNames = ['agency', 'agencynumber', 'branch', 'agencia'];
const accountNames = ['account', 'accountnumber', 'conta'];
/** All names of identifiers. */
export const payeeNames = [...keyNames, ...documentNames, ...agencyNames, ...accountNames];

/** Reads the payee of a received PIX. */
export function readPayee(objects: readonly Fields[]): WebhookItemPayee {
  const { key, document, agency, accountNumber } = readIdentifiers(objects);
  const spelled = [key.map((one) => normalisePixKey(one).key), document, agency, accountNumber];
  if (spelled.some((values) => new Set(values).size > 1)) {
    return { ...noPayee, isContradictory: true };
  }
  return {
    key: key[0] ?? null,
    document: document[0] ?? null,
    agency: agency[0] ?? null,
    accountNumber: accountNumber[0] ?? null,
  };
}

/**
 * Reads every identifier of the payee, by kind. A document or an account outside a named party is
 * ignored, because it may be the payer's.
 */
export function readIdentifiers(objects: readonly Fields[]) {
  const party = findParties(objects);
  const codes = (names: readonly string[]): string[] => readAll(findValues(names, party), readCode);
  return {
    key: readAll(findValues(keyNames, [...party, ...objects]), readId),
    document: codes(documentNames),
    agency: codes(agencyNames),
    accountNumber: codes(accountNames),
  };
}

function readAll(values: readonly unknown[], read: (value: unknown) => string | null): string[] {
  return values.map(read).filter((value) => value !== null);
}

/** The objects that describe the receiving party. */
export function findParties(objects: readonly Fields[]): Fields[] {
  return objects.flatMap((fields) => findObjects(fields, ...partyNames));
}

/** The names of the payment's time, then those of the event's time. */
const timeNames = [
  'horario',
  'datahora',
  'paidat',
  'completedat',
  'confirmedat',
  'settledat',
  'transactiondate',
  'datetime',
  'timestamp',
  'createdat',
];

/** A time without its offset from UTC could be hours off. */
const offset = /T.*(?:Z|[+-]\d\d:?\d\d)$/i;
const longestTime = 40;

/** Reads when a PIX was received; null when the item does not contain it. */
export function readTime(objects: readonly Fields[]): { readonly at: Date } | null {
  for (const text of findValues(timeNames, objects)) {
    if (typeof text !== 'string' || text.length > longestTime || !offset.test(text)) continue;
    const at = new Date(text);
    if (!Number.isNaN(at.getTime())) return { at };
  }
  return null;
}
