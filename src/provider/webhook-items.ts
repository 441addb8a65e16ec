/**
 * The items of a webhook payload, and the objects that each is made of. What stands in them is read
 * in `webhook-events.ts`.
 */
import { normalisePixKey } from '../domain/pix-key.ts';
import {
  type Fields,
  readFields,
  findObjects,
  isObject,
  readCode,
  readId,
  findValues,
} from './wire-reading.ts';

/** One item of a payload. */
export interface Item {
  /** Its place in the payload, from 0. */
  readonly index: number;
  /** None where the item is no object. */
  readonly fields: Fields | null;
  /** It stood in BACEN's `pix` list. */
  readonly isFromPixList: boolean;
  /** The objects around its list: what they say of themselves holds for each of its items. */
  readonly around: readonly Fields[];
}

/**
 * So many items that hold nothing are told, each at its place; further ones are passed over. What
 * holds something is never passed over: a payload has 256 KiB at most.
 */
const mostEmptyItems = 100;

/** Gives the items of a payload in order; none for an empty list. */
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

/** One at a time: a list may hold tens of thousands. */
function* itemsIn(content: unknown): Generator<Omit<Item, 'index'>> {
  const fields = isObject(content) ? readFields(content) : null;
  const alone = { fields, isFromPixList: false, around: [] };
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
  // Lists of lists are read too, and what stands beside a list under another spelling of its name.
  const listed = lists.flat(2);
  if (listed.length === 0 && fields.size > 1) yield alone;
  for (const one of listed) {
    yield { fields: isObject(one) ? readFields(one) : null, isFromPixList: true, around };
  }
}

/** The names of objects that hold a whole item. */
const wrappers = ['data', 'payload'] as const;

const requestBody = 'requestbody';

/** The names of objects whose amounts are in centavos. */
const ofCentavos = ['payment', 'charge', 'transaction'] as const;

/** The names of all objects that are looked into. */
export const objectNames = [...wrappers, ...ofCentavos, requestBody, 'body', 'pix'];

/** An item's objects, by the role that their place gives them; the innermost first. */
export interface Parts {
  readonly all: readonly Fields[];
  readonly inCentavos: readonly Fields[];
  readonly inReais: readonly Fields[];
  /** Objects that stand where BACEN has its list: `value` is in centavos, `valor` in reais. */
  readonly pix: readonly Fields[];
  /** Where event words stand. */
  readonly outer: readonly Fields[];
}

/** Takes an item apart; objects that say nothing are left out. */
export function splitParts(item: Fields): Parts {
  const wrapped = findObjects(item, ...wrappers);
  const whole = [...wrapped, item];
  const pix = said(innersIn(whole, 'pix'));
  const inCentavos = said(innersIn([...pix, ...whole], ...ofCentavos));
  const requestBodies = innersIn(whole, requestBody);
  const inReais = said([...innersIn(whole, 'body'), ...requestBodies, ...whole]);
  const outer = said([item, ...requestBodies, ...wrapped]);
  return { all: [...pix, ...inCentavos, ...inReais], inCentavos, inReais, pix, outer };
}

function innersIn(objects: readonly Fields[], ...names: readonly string[]): Fields[] {
  return objects.flatMap((fields) => findObjects(fields, ...names));
}

/** Those that say something: most items have one of the objects that an item may have. */
function said(objects: readonly Fields[]): Fields[] {
  return objects.filter(({ size }) => size > 0);
}

/**
 * Whom a received PIX is for; agency, account number and document without punctuation. All are null
 * when the item gives one of them in two ways.
 */
export interface ProviderEventPayee {
  readonly key: string | null;
  readonly document: string | null;
  readonly agency: string | null;
  readonly accountNumber: string | null;
}

export const noPayee: ProviderEventPayee = {
  key: null,
  document: null,
  agency: null,
  accountNumber: null,
};

/** The names of objects that tell the party that receives. */
export const partyNames = ['creditparty', 'payee', 'receiver', 'recebedor'];
const keyNames = ['chave', 'key', 'pixkey'];
const documentNames = ['document', 'taxid', 'taxidnumber', 'cpfcnpj', 'cpf', 'cnpj'];
const agencyNames = ['agency', 'agencynumber', 'branch', 'agencia'];
const accountNames = ['account', 'accountnumber', 'conta'];
/** All names that an identifier stands under. */
export const payeeNames = [...keyNames, ...documentNames, ...agencyNames, ...accountNames];

/**
 * Reads whom a received PIX is for.
 * @param objects the item's objects.
 */
export function readPayee(objects: readonly Fields[]): ProviderEventPayee {
  const { key, document, agency, accountNumber } = readIdentifiers(objects);
  const spelled = [key.map((one) => normalisePixKey(one).key), document, agency, accountNumber];
  if (spelled.some((values) => new Set(values).size > 1)) return noPayee;
  return {
    key: key[0] ?? null,
    document: document[0] ?? null,
    agency: agency[0] ?? null,
    accountNumber: accountNumber[0] ?? null,
  };
}

/**
 * Every identifier of the payee, by its kind. A document or an account outside a named party may be
 * the payer's: it is not read.
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

/** The objects that tell the party that receives. */
export function findParties(objects: readonly Fields[]): Fields[] {
  return objects.flatMap((fields) => findObjects(fields, ...partyNames));
}

/** Names for the time of the payment first, then for the time of the event. */
const timeNames = [
  ...['horario', 'datahora', 'paidat', 'completedat', 'confirmedat', 'settledat'],
  ...['transactiondate', 'datetime', 'timestamp', 'createdat'],
];

/** A time without its offset from UTC could be hours off. */
const offset = /T.*(?:Z|[+-]\d\d:?\d\d)$/i;
const longestTime = 40;

/** Reads when a received PIX came in; null when the item does not say. */
export function readTime(objects: readonly Fields[]): { readonly at: Date } | null {
  for (const text of findValues(timeNames, objects)) {
    if (typeof text !== 'string' || text.length > longestTime || !offset.test(text)) continue;
    const at = new Date(text);
    if (!Number.isNaN(at.getTime())) return { at };
  }
  return null;
}
