/** Reads the provider's response about a dynamic Pix code, which decides what may be paid. */
import { isPixKey, normalisePixKey } from '../../domain/pix-key.ts';
import { readWord } from '../dialect/fields.ts';
import { notUnderstood } from '../errors.ts';
import type { CodeAmounts, CodeCharge, CodeState } from '../provider.ts';
import {
  endToEndNames,
  findFilled,
  findValues,
  readId,
  readReais,
  type Fields,
} from '../wire-reading.ts';
import { payloadPlaces, readOwner, textAt, upTo } from './translate.ts';

/** The words of the central bank's Pix API, and those for an expired charge, which it lacks. */
const states: ReadonlyMap<string, CodeState> = new Map([
  ['ATIVA', 'payable'],
  ['CONCLUIDA', 'paid'],
  ['EXPIRADA', 'expired'],
  ['REMOVIDA_PELO_USUARIO_RECEBEDOR', 'removed'],
  ['REMOVIDA_PELO_PSP', 'removed'],
]);

/** The txid of the central bank's Pix API has 26 to 35 characters; older charges have fewer. */
const txidPattern = /^[A-Za-z0-9]{1,35}$/;

/** The longest text for the payer (`solicitacaoPagador`), in characters. */
const maxDescriptionLength = 140;

/**
 * Reads the charge of a dynamic code. A response that does not say whether, by whom or with which
 * amount the charge can be paid, or that says it in two ways, is not used: nothing of it is
 * guessed.
 *
 * @throws ProviderError `unknown` for such a response.
 */
export function readCodeCharge(json: unknown): CodeCharge {
  const places = payloadPlaces(json);
  const state = readState(places);
  const endToEnd = readOnly('end-to-end id', places, { names: endToEndNames, read: readId });
  if (state === 'payable' && endToEnd === null) throw unusable('an end-to-end id');
  const cents = (name: string): number | null => readCents(places, name);
  return {
    ...readOwner(places),
    state,
    endToEnd,
    key: readKey(places),
    txid: readTxid(places),
    amounts: readAmounts(places, state),
    originalCents: cents('originalamount'),
    discountCents: cents('discount'),
    interestCents: cents('interest'),
    fineCents: cents('fine'),
    dueDate: readDueDate(places),
    expiresAt: readTime(places),
    description: upTo(maxDescriptionLength, textAt(places, ['payerrequest'])),
  };
}

function unusable(what: string): Error {
  return notUnderstood(new Error(`the charge of a code without ${what}`));
}

/** Several words must agree: a charge that is paid somewhere is not payable. */
function readState(places: readonly Fields[]): CodeState {
  const found = findValues(['status'], places).map((value) => states.get(readWord(value) ?? ''));
  const [state] = found;
  if (state === undefined || found.some((one) => one !== state)) throw unusable('a known state');
  return state;
}

interface Field<Value> {
  readonly names: readonly string[];
  /** Returns null for a value that cannot be read. */
  readonly read: (value: unknown) => Value | null;
}

/**
 * Reads a field that may be in several places.
 *
 * @returns null when it is in none.
 * @throws ProviderError for a value that cannot be read, and for values that differ.
 */
function readOnly<Value>(
  what: string,
  places: readonly Fields[],
  { names, read }: Field<Value>,
): Value | null {
  const values = new Set(findFilled(names, places).map(read));
  if (values.has(null)) throw unusable(`a readable ${what}`);
  if (values.size > 1) throw unusable(`only one ${what}`);
  const [value = null] = values;
  return value;
}

function readKey(places: readonly Fields[]): string {
  const read = (value: unknown): string | null =>
    typeof value === 'string' && isPixKey(value) ? normalisePixKey(value).key : null;
  const key = readOnly('key', places, { names: ['key'], read });
  if (key === null) throw unusable('a key');
  return key;
}

function readTxid(places: readonly Fields[]): string {
  const read = (value: unknown): string | null =>
    typeof value === 'string' && txidPattern.test(value) ? value : null;
  const names = ['transactionidentification', 'txid'];
  const txid = readOnly('txid', places, { names, read });
  if (txid === null) throw unusable('a txid');
  return txid;
}

function readAmounts(places: readonly Fields[], state: CodeState): CodeAmounts {
  const amountCents = readCents(places, 'amount');
  const changeable = { names: ['amountchangeable'], read: (value: unknown) => value === true };
  const isChangeable = readOnly('changeable amount', places, changeable) === true;
  if (state === 'payable' && amountCents === null && !isChangeable) throw unusable('an amount');
  const [minCents, maxCents] = [
    readCents(places, 'minimumamount'),
    readCents(places, 'maximumamount'),
  ];
  if (minCents !== null && maxCents !== null && minCents > maxCents) {
    throw unusable('an amount between its bounds');
  }
  return { amountCents, isChangeable, minCents, maxCents };
}

/** @returns null for no amount, and for zero. @throws ProviderError for any other value. */
function readCents(places: readonly Fields[], name: string): number | null {
  const read = (value: unknown): number | null => (isZero(value) ? 0 : readReais(value));
  return readOnly(name, places, { names: [name], read }) || null;
}

function isZero(value: unknown): boolean {
  return (typeof value === 'number' || typeof value === 'string') && Number(value) === 0;
}

function readDueDate(places: readonly Fields[]): string | null {
  const text = textAt(places, ['duedate']);
  return text !== null && isDate(text) ? text : null;
}

function isDate(text: string): boolean {
  const time = new Date(/^\d{4}-\d{2}-\d{2}$/.test(text) ? `${text}T00:00:00Z` : Number.NaN);
  return !Number.isNaN(time.getTime()) && time.toISOString().startsWith(text);
}

/** From here on a time has no form in RFC 3339: a charge with such an end never expires. */
const endOfTimeMs = Date.UTC(10_000, 0);

/** A time of ISO 8601; without a zone it could be any of them. */
const timePattern = /^\d{4}-\d{2}-\d{2}T[\d:.]+(?:Z|[+-]\d{2}:\d{2})$/;

/** @returns when the charge expires. @throws ProviderError for a time that is none. */
function readTime(places: readonly Fields[]): Date | null {
  const atMs = readOnly('expiry', places, { names: ['expiresat'], read: readMs });
  return atMs !== null && atMs < endOfTimeMs ? new Date(atMs) : null;
}

function readMs(value: unknown): number | null {
  const isTime = typeof value === 'string' && timePattern.test(value);
  const atMs = isTime ? Date.parse(value) : Number.NaN;
  return atMs >= 0 ? atMs : null;
}
