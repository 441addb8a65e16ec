/** Reads a provider's statement: its lines, and whether it has them all. */
import { isReturnId, readStatusWord, type PixStatus } from '../domain/pix.ts';
import { stripAccents } from '../domain/text.ts';
import type { ProviderStatement, ProviderStatementItem, StatementLine } from './provider.ts';
import { findReturnObjects, originalNames, returnIdNames } from './webhook-refunds.ts';
import {
  clientRequestIdNames,
  endToEndNames,
  entryStatusNames,
  findObjects,
  findValues,
  isObject,
  readFields,
  readId,
  readReais,
  type Fields,
} from './wire-reading.ts';

export interface StatementReading {
  /** The objects around the lines, the outermost first; empty when there is none. */
  readonly around: readonly Fields[];
  /**
   * Whether the provider documents that its statement lists only settled lines: a line without a
   * status is then COMPLETED.
   */
  readonly settledOnly: boolean;
}

/** Reads the lines of a statement, which stay beside the unchanged items. */
export function readLines(
  items: readonly ProviderStatementItem[],
  { around, settledOnly }: StatementReading,
): ProviderStatement {
  const lines = items.map((item) => readLine(readFields(item), settledOnly));
  return { items, lines, isWhole: isWhole(around, items.length) };
}

function readLine(fields: Fields, settledOnly: boolean): StatementLine {
  const [originals, returns] = [
    findObjects(fields, 'original', 'originaltransaction'),
    findReturnObjects(fields),
  ];
  const named = [
    ...findValues([...endToEndNames, ...originalNames], [fields, ...originals]),
    ...findValues(endToEndNames, returns),
  ].map(readId);
  const returnIds = [...named, ...findValues(returnIdNames, [fields, ...returns]).map(readId)];
  const amounts = findValues(amountNames, [fields]);
  const amountCents = only(amounts.map((amount) => readReais(withoutSign(amount))));
  return {
    ids: {
      endToEnd: only(named.filter((id) => !isReturnId(id))),
      clientRequestId: onlyId(fields, clientRequestIdNames),
      transactionIdentification: onlyId(fields, ['transactionidentification', 'txid']),
      providerTxid: onlyId(fields, ['id', 'transactionid', 'paymentid']),
      returnId: only(returnIds.filter(isReturnId)),
    },
    amountCents,
    direction: readDirection(fields, amounts),
    status: readLineStatus(fields, settledOnly),
  };
}

/** @returns the value that all of them have; null when there is none, or they differ. */
function only<Value>(values: readonly (Value | null)[]): Value | null {
  return new Set(values).size === 1 ? (values[0] ?? null) : null;
}

function onlyId(fields: Fields, names: readonly string[]): string | null {
  return only(findValues(names, [fields]).map(readId));
}

const amountNames = ['amount', 'value', 'valor'];

function withoutSign(amount: unknown): unknown {
  if (typeof amount === 'number') return Math.abs(amount);
  return typeof amount === 'string' ? amount.trim().replace(/^-/, '') : amount;
}

function isNegative(amount: unknown): boolean {
  return typeof amount === 'number' ? amount < 0 : /^\s*-/.test(String(amount));
}

/** The plain names of the fields with the direction and the kind of a line. */
const directionNames = [
  'direction',
  'type',
  'transactiontype',
  'operation',
  'operationtype',
  'movementtype',
  'tipo',
  'tipooperacao',
  'tipotransacao',
  'natureza',
  'nature',
  'creditdebit',
  'debitcredit',
  'category',
  'subtype',
  'entity',
  'event',
];

type Direction = NonNullable<StatementLine['direction']>;

/** A word or the sign gives the direction of a line, unless another word contradicts it. */
function readDirection(fields: Fields, amounts: readonly unknown[]): Direction | null {
  const words = new Set(findValues(directionNames, [fields]).flatMap(readDirectionWord));
  if (words.has('other') || words.size > 1) return 'other';
  const [direction] = words;
  if (direction !== undefined) return direction;
  return amounts.length > 0 && amounts.every(isNegative) ? 'out' : null;
}

const outgoingWord = /^(?:D|DEBIT\w*|DR|OUT|OUTGOING|OUTBOUND|SENT|SEND|ENVI\w*|SAIDA|CASHOUT)$/;
const incomingWord =
  /^(?:C|CR|CREDIT\w*|IN|INCOMING|INBOUND|CASHIN|ENTRADA)$|RECEIV|RECEB|REVERS|REVERT|REFUND|RETURN|DEVOL|ESTORN|CHARGEBACK/;
const otherWord =
  /^(?:FEE|TAX|TAXA)$|HOLD|HELD|BLOCK|BLOQUE|RESERV|AUTHORI|AUTORIZ|SCHEDUL|AGENDA|TARIFA|CANCEL/;

const longestWord = 128;

/** A value that is not a text, or is too long, is unreadable. */
function readDirectionWord(word: unknown): Direction[] {
  if (typeof word !== 'string' || word.length > longestWord) return ['other'];
  const parts = stripAccents(word)
    .replace(/([a-z])([A-Z])/g, '$1 $2')
    .toUpperCase()
    .split(/[^A-Z0-9]+/);
  return parts.flatMap((part): Direction[] => {
    if (incomingWord.test(part)) return ['in'];
    if (otherWord.test(part)) return ['other'];
    return outgoingWord.test(part) ? ['out'] : [];
  });
}

function readLineStatus(fields: Fields, settledOnly: boolean): PixStatus | null {
  const statuses = findValues(entryStatusNames, [fields]);
  if (statuses.length === 0) return settledOnly ? 'COMPLETED' : null;
  return statuses.some(isObject) ? null : only(statuses.map(readStatusWord));
}

/** Fields around the lines that say nothing about further pages. */
const harmlessNames: ReadonlySet<string> = new Set(
  [
    ['items', 'data', 'list', 'result'],
    ['startdate', 'enddate', 'status', 'statuscode', 'code', 'success', 'message'],
    ['requestid', 'timestamp', 'currency'],
    ['balance', 'account', 'accountnumber', 'agency', 'document'],
  ].flat(),
);

const pageObjects = ['pagination', 'paging', 'paginacao', 'meta', 'metadata'];
const totalNames = ['total', 'totalitems', 'totalcount', 'totalelements', 'totalrecords', 'count'];
const pageCountNames = ['totalpages', 'pages', 'pagecount', 'lastpage'];
const pageNames = ['page', 'currentpage', 'pagenumber'];
const sizeNames = ['limit', 'pagesize', 'perpage', 'itemsperpage', 'size'];
const signNames: ReadonlySet<string> = new Set(
  [totalNames, pageCountNames, pageNames, sizeNames].flat(),
);

/** The usual sizes of a page: a list of that length that says nothing of its end may be one. */
const usualPageSizes: ReadonlySet<number> = new Set([50, 100, 200, 250, 500, 1_000, 2_000, 5_000]);

/**
 * Whether a list is the whole statement. Any sign of a further page speaks against it, and so does
 * any field that may be such a sign: a cursor, a link, a flag.
 */
function isWhole(around: readonly Fields[], count: number): boolean {
  const objects = around.flatMap((fields) => [fields, ...findObjects(fields, ...pageObjects)]);
  if (objects.some(hasUnknownField)) return false;
  const numbers = (names: readonly string[]): number[] => findValues(names, objects).map(Number);
  const totals = numbers(totalNames);
  const pageCounts = numbers(pageCountNames);
  const sizes = numbers(sizeNames);
  const isOnlyPage =
    totals.every((total) => total === count) &&
    pageCounts.every((pages) => pages === 0 || pages === 1) &&
    numbers(pageNames).every((page) => page === 0 || page === 1);
  if (!isOnlyPage) return false;
  if (totals.length > 0 || pageCounts.length > 0) return true;
  if (sizes.length > 0) return sizes.every((size) => count < size);
  return numbers(pageNames).length === 0 && !usualPageSizes.has(count);
}

/** Whether an object has a field that may be the sign of a further page. */
function hasUnknownField(fields: Fields): boolean {
  const others = [...fields.keys()].filter(
    (name) => !harmlessNames.has(name) && !signNames.has(name) && !pageObjects.includes(name),
  );
  const odd = findValues(pageObjects, [fields]).filter((value) => !isObject(value));
  return [...findValues(others, [fields]), ...odd].some(isFilled);
}

/** A field that is empty, zero or false says nothing. */
function isFilled(value: unknown): boolean {
  if (typeof value === 'object' && value !== null) return Object.keys(value).length > 0;
  return value !== false && value !== '' && value !== 0;
}
