/** Determines what a provider's statement proves about one outgoing payment. */
import { readStatusWord } from '../domain/pix.ts';
import { stripAccents } from '../domain/text.ts';
import type { ProviderStatementItem } from './provider.ts';
import {
  clientRequestIdNames,
  endToEndNames,
  entryStatusNames,
  readFields,
  firstId,
  isObject,
  readId,
  readReais,
  findValues,
  type Fields,
} from './wire-reading.ts';

/** The payment to find. */
export interface SoughtPayment {
  readonly endToEnd: string;
  /** In centavos. */
  readonly amountCents: number;
}

/**
 * - `completed`: exactly one line has the end-to-end id, and it is a settled outgoing payment of
 *   the same amount.
 * - `pending`: exactly one line has the id, and the payment is in progress.
 * - `absent`: no line contains the end-to-end id.
 * - `unclear`: the lines with the id prove nothing: several lines, a hold, a reversal, another
 *   amount, an unreadable direction or status, a failure.
 */
export type StatementEvidence = 'completed' | 'pending' | 'absent' | 'unclear';

/**
 * Evidence is positive only: missing or unknown fields prove nothing, and a statement never proves
 * a failure.
 *
 * @param items the unchanged lines of the statement.
 * @param settledOnly whether the provider documents that its statement lists only settled lines: a
 *   line without a status then counts as settled.
 */
export function readEvidence(
  items: readonly ProviderStatementItem[],
  payment: SoughtPayment,
  settledOnly: boolean,
): StatementEvidence {
  const [line, ...others] = items.filter((item) => mentions(item, payment.endToEnd));
  if (line === undefined) return 'absent';
  const fields = readFields(line);
  const isThePayment =
    others.length === 0 &&
    isOnly(findValues(endToEndNames, [fields]), (id) => readId(id) === payment.endToEnd) &&
    isOutgoing(fields, payment.amountCents);
  if (!isThePayment) return 'unclear';
  return statusEvidence(fields, settledOnly);
}

/**
 * Finds a payment with the request id and the amount of a send, but another end-to-end id: the
 * record of a payment was lost, or another user has the same key.
 *
 * @returns the other end-to-end id, or null.
 */
export function findOtherPayment(
  items: readonly ProviderStatementItem[],
  payment: SoughtPayment & { readonly clientRequestId: string },
): string | null {
  for (const fields of items.map(readFields)) {
    const keys = findValues(clientRequestIdNames, [fields]);
    const amounts = findValues(amountNames, [fields]);
    const isAlike =
      isOnly(keys, (key) => readId(key) === payment.clientRequestId) &&
      isOnly(amounts, (amount) => readReais(withoutSign(amount)) === payment.amountCents);
    const endToEnd = isAlike ? firstId(findValues(endToEndNames, [fields])) : null;
    if (endToEnd !== null && endToEnd !== payment.endToEnd) return endToEnd;
  }
  return null;
}

/** The levels of a line to search for the id; providers use two. */
const searchDepth = 8;

/** Whether a line contains an id anywhere: a reversal may name its payment in any field. */
function mentions(value: unknown, id: string, depth = searchDepth): boolean {
  if (typeof value === 'string') return value.trim() === id;
  if (typeof value !== 'object' || value === null || depth === 0) return false;
  return Object.values(value).some((part) => mentions(part, id, depth - 1));
}

function isOnly(values: readonly unknown[], accept: (value: unknown) => boolean): boolean {
  return values.length > 0 && values.every(accept);
}

const amountNames = ['amount', 'value', 'valor'];

/** Whether a word or the sign marks the line as outgoing, and nothing contradicts it. */
function isOutgoing(fields: Fields, amountCents: number): boolean {
  const amounts = findValues(amountNames, [fields]);
  if (!isOnly(amounts, (amount) => readReais(withoutSign(amount)) === amountCents)) return false;
  const directions = new Set(findValues(directionNames, [fields]).flatMap(readDirections));
  if (directions.has('incoming') || directions.has('other')) return false;
  return directions.has('outgoing') || amounts.every(isNegative);
}

function isNegative(amount: unknown): boolean {
  return typeof amount === 'number' ? amount < 0 : /^\s*-/.test(String(amount));
}

function withoutSign(amount: unknown): unknown {
  if (typeof amount === 'number') return Math.abs(amount);
  return typeof amount === 'string' ? amount.trim().replace(/^-/, '') : amount;
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

/** `other`: a hold, a schedule or a fee, but no payment. */
type Direction = 'outgoing' | 'incoming' | 'other';

const outgoingWord = /^(?:D|DEBIT\w*|DR|OUT|OUTGOING|OUTBOUND|SENT|SEND|ENVI\w*|SAIDA|CASHOUT)$/;
const incomingWord = /^(?:C|CR|CREDIT\w*|IN|INCOMING|INBOUND|CASHIN|ENTRADA)$|RECEIV|RECEB/;
const returnWord = /REVERS|REVERT|REFUND|RETURN|DEVOL|ESTORN|CHARGEBACK/;
const otherWord =
  /^(?:FEE|TAX|TAXA)$|HOLD|HELD|BLOCK|BLOQUE|RESERV|AUTHORI|AUTORIZ|SCHEDUL|AGENDA|TARIFA|CANCEL/;

const longestWord = 128;

/** A value that is not a text, or is too long, is unreadable. */
function readDirections(word: unknown): Direction[] {
  if (typeof word !== 'string' || word.length > longestWord) return ['other'];
  const parts = stripAccents(word)
    .replace(/([a-z])([A-Z])/g, '$1 $2')
    .toUpperCase()
    .split(/[^A-Z0-9]+/);
  return parts.flatMap((part): Direction[] => {
    if (incomingWord.test(part) || returnWord.test(part)) return ['incoming'];
    if (otherWord.test(part)) return ['other'];
    return outgoingWord.test(part) ? ['outgoing'] : [];
  });
}

function statusEvidence(fields: Fields, settledOnly: boolean): StatementEvidence {
  const statuses = findValues(entryStatusNames, [fields]);
  if (statuses.length === 0) return settledOnly ? 'completed' : 'unclear';
  if (statuses.some(isObject)) return 'unclear';
  const read = new Set(statuses.map(readStatusWord));
  if (read.size > 1) return 'unclear';
  if (read.has('COMPLETED')) return 'completed';
  return read.has('PROCESSING') ? 'pending' : 'unclear';
}
