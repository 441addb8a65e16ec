/** What an item of a webhook says of a PIX that came in: whom it is for, and when it came. */
import { normalisePixKey } from '../domain/pix-key.ts';
import { innersOf, readCode, readId, valuesOf, type Fields } from './wire-reading.ts';

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
export function payeeOf(objects: readonly Fields[]): ProviderEventPayee {
  const { key, document, agency, accountNumber } = identifiersOf(objects);
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
export function identifiersOf(objects: readonly Fields[]) {
  const party = partiesIn(objects);
  const codes = (names: readonly string[]): string[] => readAll(valuesOf(names, party), readCode);
  return {
    key: readAll(valuesOf(keyNames, [...party, ...objects]), readId),
    document: codes(documentNames),
    agency: codes(agencyNames),
    accountNumber: codes(accountNames),
  };
}

function readAll(values: readonly unknown[], read: (value: unknown) => string | null): string[] {
  return values.map(read).filter((value) => value !== null);
}

/** The objects that tell the party that receives. */
export function partiesIn(objects: readonly Fields[]): Fields[] {
  return objects.flatMap((fields) => innersOf(fields, ...partyNames));
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
export function timeOf(objects: readonly Fields[]): { readonly at: Date } | null {
  for (const text of valuesOf(timeNames, objects)) {
    if (typeof text !== 'string' || text.length > longestTime || !offset.test(text)) continue;
    const at = new Date(text);
    if (!Number.isNaN(at.getTime())) return { at };
  }
  return null;
}
