/** Reads the words of a webhook item: the kind of event, and its status. */
import { type PixStatus, readStatusWord } from '../domain/pix.ts';
import {
  type Fields,
  readFields,
  firstRead,
  isObject,
  hasConflictingSpellings,
  readName,
  memoised,
  findValues,
} from './wire-reading.ts';

/** The meaning of an event word. */
export interface Word {
  /** `undirected`: a PIX without a direction. */
  readonly kind:
    | 'payment'
    | 'received'
    | 'expired'
    | 'refund'
    | 'undirected'
    | 'conta_criada'
    | 'reversal'
    | 'unknown';
  /** Of a refund, if the word says which way the money went. */
  readonly direction?: 'in' | 'out';
  /** The status that the word contains, as in MOVEMENT_FAILED. */
  readonly status?: PixStatus;
  /** The status of an item without one: a received PIX is completed. */
  readonly otherwise?: PixStatus;
}

const received: Word = { kind: 'received', otherwise: 'COMPLETED' };
/** An unpaid charge. */
const expired: Word = { kind: 'expired', status: 'FAILED' };
const refund: Word = { kind: 'refund', otherwise: 'COMPLETED' };
const refundIn: Word = { ...refund, direction: 'in' };
const refundOut: Word = { ...refund, direction: 'out' };

/** An event about a charge, whose status says what happened. */
const chargeWord: Word = { kind: 'received' };

/** Event words without prefix, in upper case, separated by `_`. */
const words: Readonly<Record<string, Word>> = {
  PAYMENT: { kind: 'payment' },
  PIX_PAYMENT: { kind: 'payment' },
  PIX_PAYMENT_OUT: { kind: 'payment' },
  PIX_OUT: { kind: 'payment' },
  PIX_SEND: { kind: 'payment' },
  MOVEMENT: { kind: 'payment' },
  RECEIVEPIX: received,
  PIX_RECEIVED: received,
  PIX_PAYMENT_IN: received,
  PIX_IN: received,
  TRANSACTION_RECEIVED: received,
  CHARGE: chargeWord,
  PIX_CHARGE: chargeWord,
  PIX: { kind: 'undirected' },
  CONTA_CRIADA: { kind: 'conta_criada' },
  CHARGE_EXPIRED: expired,
  PIX_CHARGE_EXPIRED: expired,
  PIX_REVERSAL_IN: refundIn,
  PIX_REFUND_IN: refundIn,
  REFUND_IN: refundIn,
  PIX_TRANSACTION_REFUND_RECEIVED: refundIn,
  PIX_REVERSAL_OUT: refundOut,
  PIX_REFUND_OUT: refundOut,
  REFUND_OUT: refundOut,
  PIX_TRANSACTION_REFUND_SENT: refundOut,
  PIX_REVERSAL: refund,
  REVERSAL: refund,
  REVERTED: refund,
  PIX_REFUND: refund,
  REFUND: refund,
  REFUNDED: refund,
  TRANSACTION_REFUND_RECEIVED: refund,
  DEVOLUCAO: refund,
  PIX_DEVOLUCAO: refund,
  MED: refund,
  PIX_MED: refund,
  MED_REFUND: refund,
};

/** Endings that count after any prefix. */
const endings = [
  'MOVEMENT_CONFIRMED',
  'MOVEMENT_FAILED',
  'CHARGE_COMPLETED',
  'TRANSACTION_RECEIVED',
  'CONTA_CRIADA',
  'CHARGE_EXPIRED',
];

const reversalWord = /REVERS|REVERT|REFUND|DEVOL|ESTORN|CHARGEBACK/i;

const eventNames = ['event', 'eventtype', 'entity', 'transactiontype', 'type'];

/** The longest text that is read as a word. */
const MAX_WORD_LENGTH = 128;

/**
 * Reads the event word of an item.
 *
 * @param outer the objects with event words, the item itself first.
 * @returns its meaning, and the word to display (`unnamed` without one).
 */
export function readEventWord(outer: readonly Fields[]): { meaning: Word; name: string } {
  const spoken = findValues(eventNames, outer);
  const named = spoken.filter((word) => typeof word === 'string');
  const name = firstRead(named, readName) ?? 'unnamed';
  const meanings = named.map(readWord);
  const statuses = findValues(['status'], outer).filter((word) => readStatusWord(word) === null);
  const isRefund = meanings.some(({ kind }) => kind === 'refund');
  if (!isRefund && statuses.some(isReversalWord)) meanings.unshift({ kind: 'reversal' });
  const isCharge = meanings.some((meaning) => meaning === chargeWord);
  if (isCharge && statuses.some(isExpiredWord)) meanings.unshift(expired);
  const meaning = strongest(meanings);
  const isReversal = meaning.kind === 'reversal' || meaning.kind === 'refund';
  const isClear = isReversal || !hasConflictingSpellings(eventNames, outer, readAnyWord);
  return { meaning: isClear ? meaning : { kind: 'unknown' }, name };
}

/** A reversal takes precedence, then a refund, then a directed word, then an unknown word. */
function strongest(meanings: readonly Word[]): Word {
  const isDirected = ({ kind }: Word): boolean => kind !== 'undirected' && kind !== 'unknown';
  return (
    meanings.find(({ kind }) => kind === 'reversal') ??
    meanings.find(({ kind }) => kind === 'refund') ??
    meanings.find(isDirected) ??
    meanings.find(({ kind }) => kind === 'unknown') ?? { kind: 'undirected' }
  );
}

const readWord = memoised((text): Word => {
  if (text.length > MAX_WORD_LENGTH) return { kind: 'unknown' };
  const word = text
    .slice(text.lastIndexOf(':') + 1)
    .toUpperCase()
    .replace(/[^A-Z0-9]+/g, '_')
    .replace(/^_|_$/g, '');
  const ending = endings.find((one) => word.endsWith(`_${one}`));
  const meaning = readPlainWord(ending ?? word);
  if (isReversalWord(text) && meaning?.kind !== 'refund') return { kind: 'reversal' };
  return meaning ?? { kind: 'unknown' };
});

function readAnyWord(word: unknown): Word | null {
  return typeof word === 'string' ? readWord(word) : null;
}

/** The meaning in the table, or that of a word with a status: CHARGE_COMPLETED, PAYMENT_FAILED. */
function readPlainWord(word: string): Word | null {
  const known = Object.hasOwn(words, word) ? words[word] : undefined;
  if (known !== undefined) return known;
  const cut = word.lastIndexOf('_');
  const base = word.slice(0, Math.max(0, cut));
  const status = readStatusWord(word.slice(cut + 1));
  const before = Object.hasOwn(words, base) ? words[base] : undefined;
  if (status === null || before === undefined || !mayBeStated.has(before.kind)) return null;
  const { kind, direction } = before;
  return { kind, status, ...(direction !== undefined && { direction }) };
}

/** The kinds of events whose word may end with a status. */
const mayBeStated: ReadonlySet<Word['kind']> = new Set(['payment', 'received', 'refund']);

const expiredWord = /^\s*(?:EXPIRED|EXPIRAD[AO])\s*$/i;

function isExpiredWord(word: unknown): boolean {
  return typeof word === 'string' && word.length <= MAX_WORD_LENGTH && expiredWord.test(word);
}

function isReversalWord(word: unknown): boolean {
  return typeof word === 'string' && reversalWord.test(word.slice(0, MAX_WORD_LENGTH));
}

/** The status of an item, or why there is none. */
export type StatusReading = PixStatus | 'unknown_status' | 'contradictory_status';

/** Whether an item has a status. */
export function isPixStatus(status: StatusReading): status is PixStatus {
  return status !== 'unknown_status' && status !== 'contradictory_status';
}

type IgnoredByStatus =
  Exclude<StatusReading, PixStatus> | 'processing' | 'not_received' | 'not_refunded';

/** Why a status settles nothing; null when it does. */
export function ignoredByStatus(
  status: StatusReading,
  kind: 'payment' | 'received' | 'expired' | 'refund',
): IgnoredByStatus | null {
  if (!isPixStatus(status)) return status;
  if (status === 'PROCESSING') return 'processing';
  if (status !== 'FAILED') return null;
  if (kind === 'received') return 'not_received';
  return kind === 'refund' ? 'not_refunded' : null;
}

/** The status words that only refunds have, among them the central bank's. */
const refundStatuses: Readonly<Record<string, PixStatus>> = {
  DEVOLVIDO: 'COMPLETED',
  REFUNDED: 'COMPLETED',
  RETURNED: 'COMPLETED',
  REVERSED: 'COMPLETED',
  EM_PROCESSAMENTO: 'PROCESSING',
  NAO_REALIZADO: 'FAILED',
};

function readRefundStatus(word: unknown): PixStatus | null {
  const name = typeof word === 'string' ? word.slice(0, MAX_WORD_LENGTH).trim().toUpperCase() : '';
  const ofRefund = Object.hasOwn(refundStatuses, name) ? refundStatuses[name] : undefined;
  return ofRefund ?? readStatusWord(word);
}

const plainStatusNames = ['status', 'statusid'];
const statusCodeName = 'statuscode';

/** The names of a status. */
export const statusNames = [...plainStatusNames, statusCodeName];

/**
 * Reads the status of an item from its event word and its status words.
 *
 * Unknown words are ignored beside known ones. Two different statuses are contradictory, except
 * that the final status of an event word overrides a status PROCESSING, which is older than the
 * event.
 */
export function readStatus(objects: readonly Fields[], word: Word): StatusReading {
  if (hasConflictingSpellings(statusNames, objects, readStatuses)) return 'contradictory_status';
  const spoken = [
    ...findValues(plainStatusNames, objects).flatMap(readStatusWords),
    ...findValues([statusCodeName], objects).flatMap(readStatusCodeWords),
  ];
  const read = word.kind === 'refund' ? readRefundStatus : readStatusWord;
  const said = new Set(spoken.map(read).filter((status) => status !== null));
  if (word.status !== undefined) {
    const others = [...said].filter((status) => status !== word.status);
    return others.some((status) => status !== 'PROCESSING') ? 'contradictory_status' : word.status;
  }
  if (said.size > 1) return 'contradictory_status';
  const [status] = said;
  if (status !== undefined) return status;
  return (spoken.length === 0 ? word.otherwise : undefined) ?? 'unknown_status';
}

/** A status may be an object with a description. Its numbers are ambiguous and ignored. */
function readStatusWords(status: unknown): unknown[] {
  return isObject(status) ? findValues(['description'], [readStatusFields(status)]) : [status];
}

/** The numbers of `StatusCode: {StatusId, Description}`, the only format that defines them. */
const statusIds: Readonly<Record<string, PixStatus>> = {
  '0': 'PROCESSING',
  '1': 'PROCESSING',
  '2': 'COMPLETED',
  '3': 'FAILED',
};

const failedWords =
  'n[aã]o|not|err|fail|falh|rej|cancel|recus|deni|neg|refund|devol|estorn|rever|un|in[cv]|insuf';
const openWords = 'process(?!ed|ad)|pend|creat|criad|inici|initia|schedul|agend|aguard|wait';
const doneWords = 'confirm|complet|conclu|suc+es|paid|pag[ao]|liquid|settl|transfer|execut|efetiv';

/** The statuses of descriptions beside a number, by the beginnings of words. */
const descriptions: readonly (readonly [RegExp, PixStatus])[] = [
  [new RegExp(`(?<!\\p{L})(?:${failedWords})`, 'iu'), 'FAILED'],
  [new RegExp(`(?<!\\p{L})(?:${openWords})`, 'iu'), 'PROCESSING'],
  [new RegExp(`(?<!\\p{L})(?:${doneWords})`, 'iu'), 'COMPLETED'],
];

/** A number and a description that contradict each other are two words. */
function readStatusCodeWords(code: unknown): unknown[] {
  if (!isObject(code)) return [code];
  const fields = [readStatusFields(code)];
  const ids = findValues(['statusid'], fields);
  const described = findValues(['description'], fields);
  if (ids.length === 0) return described;
  const meant = ids.map(readStatusId);
  return meant.includes(null) ? ids : [...meant, ...described.map(readDescription)];
}

function readStatusId(id: unknown): PixStatus | null {
  const digits = typeof id === 'number' ? String(id) : id;
  if (typeof digits !== 'string') return null;
  const name = digits.trim();
  return Object.hasOwn(statusIds, name) ? (statusIds[name] ?? null) : readStatusWord(name);
}

function readDescription(description: unknown): PixStatus | null {
  if (typeof description !== 'string') return null;
  const text = description.slice(0, MAX_WORD_LENGTH);
  return readStatusWord(text) ?? descriptions.find(([pattern]) => pattern.test(text))?.[1] ?? null;
}

/** Caches a status around a list, which is read for each item. */
const statusFields = new WeakMap<object, Fields>();

function readStatusFields(status: object): Fields {
  let fields = statusFields.get(status);
  if (fields === undefined) statusFields.set(status, (fields = readFields(status)));
  return fields;
}

function readStatuses(status: unknown): unknown {
  return (isObject(status) ? readStatusCodeWords(status) : [status]).map(readStatusWord);
}
