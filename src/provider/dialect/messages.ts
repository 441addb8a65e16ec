/** Converts the messages that a dialect reads to the port's events and statement lines. */
import { reportedDisputeStatuses, type ReportedDisputeStatus } from '../../domain/dispute.ts';
import { isReturnId, type PixStatus } from '../../domain/pix.ts';
import type { StatementLine } from '../provider.ts';
import { isObject } from '../wire-reading.ts';
import type {
  IgnoredBecause,
  WebhookItem,
  WebhookItemDispute,
  WebhookItemKind,
} from '../webhook-events.ts';
import {
  blocked,
  Conflict,
  foldedFields,
  formatPath,
  readWord,
  valueAt,
  type Node,
  type Path,
} from './fields.ts';
import type { Reading } from './read-shape.ts';
import type { Shape, ValueKind } from './shape.ts';

/** A message, read by a shape or by none. */
export interface Message extends Reading {
  /** Null: no shape reads it, and it has a fault. */
  readonly shape: Shape | null;
  /** The provider's name of the event, printable and truncated. */
  readonly name: string;
  /** Whether it has no field at all. */
  readonly isEmpty: boolean;
}

/** The fields of a message that no shape reads. */
export const unread = {
  shape: null,
  ids: {},
  amountCents: null,
  payee: {},
  at: null,
  code: null,
  direction: null,
  status: null,
} as const satisfies Partial<Message>;

/** Whether a message meets the conditions of a shape. */
export function meets(node: Node, { when }: Shape): boolean {
  for (const { path, kinds, words } of when) {
    const value = valueAt(node, path);
    if (value instanceof Conflict || !kinds.has(valueKind(value))) return false;
    const isWord = words !== null && value !== undefined && value !== blocked;
    if (isWord && !words.has(readWord(value) ?? '')) return false;
  }
  return true;
}

function valueKind(value: unknown): ValueKind {
  if (value === undefined || value === blocked) return 'absent';
  if (Array.isArray(value)) return 'list';
  return typeof value === 'object' ? 'object' : 'word';
}

/** Converts a message to an event. */
export function toItem(message: Message, index: number): WebhookItem {
  const { shape, name, ids, status, amountCents, payee, at, code, fault } = message;
  const ignoredBecause = movesNothing(message);
  const item: { -readonly [Name in keyof WebhookItem]: WebhookItem[Name] } = {
    index,
    name,
    shape: shape?.name ?? null,
    kind: ignoredBecause === null ? itemKind(message) : 'ignored',
    status: toStatus(status),
    ids: {
      endToEnd: ids.endToEnd ?? null,
      clientRequestId: ids.clientRequestId ?? null,
      transactionIdentification: ids.txid ?? null,
      providerTxid: ids.providerId ?? null,
    },
    amountCents,
    payee: toPayee(payee),
    reason: code,
    ignoredBecause,
    word: ignoredBecause === fault?.because ? fault.word : null,
  };
  if (shape?.isNamedAlone && ids.providerId !== undefined) item.isNamedAlone = true;
  if (shape?.flow === 'EITHER') item.isUndirected = true;
  if (at && status !== 'EXPIRED' && shape?.kind !== 'payment') item.at = at;
  if (ignoredBecause === null && shape?.kind === 'refund') item.refund = toRefund(message);
  const dispute = shape?.kind === 'dispute' ? toDispute(message) : null;
  if (ignoredBecause === null && dispute) item.dispute = dispute;
  return item;
}

function toPayee(payee: Message['payee']): WebhookItem['payee'] {
  const named = {
    key: payee.key ?? null,
    document: payee.document ?? null,
    agency: payee.agency ?? null,
    accountNumber: payee.account ?? null,
  };
  if (payee.isContradictory) return { isContradictory: true, ...named };
  const { maskedDocument } = payee;
  return maskedDocument === undefined ? named : { ...named, maskedDocument };
}

function toStatus(status: Message['status']): PixStatus | null {
  if (status === null || toDisputeStatus(status) !== null) return null;
  if (status === 'EXPIRED') return 'FAILED';
  return status === 'UNDER_ANALYSIS' ? 'PROCESSING' : (status as PixStatus);
}

function toDisputeStatus(status: Message['status']): ReportedDisputeStatus | null {
  return reportedDisputeStatuses.find((one) => one === status) ?? null;
}

function toDispute({ ids, status: word }: Message): WebhookItemDispute | null {
  const status = toDisputeStatus(word);
  return status && { disputeId: ids.disputeId ?? null, status };
}

function itemKind({ shape, status }: Message): WebhookItemKind {
  if (status === 'EXPIRED') return 'expired';
  if (status === 'UNDER_ANALYSIS') return 'held';
  const kind = shape?.kind;
  return itemKinds.find((one) => one === kind) ?? 'ignored';
}

const itemKinds = ['payment', 'received', 'refund', 'dispute'] as const;

const refundDirections = { IN: 'in', OUT: 'out', OTHER: null } as const;

function toRefund({ ids, direction }: Message): NonNullable<WebhookItem['refund']> {
  return { returnId: ids.returnId ?? '', direction: direction && refundDirections[direction] };
}

/** Why a message moves nothing; null when it does. Only a return of this service can fail. */
function movesNothing({ shape, status, ids, fault }: Message): IgnoredBecause | null {
  if (shape?.kind === 'nothing') return 'moves_nothing';
  if (fault) return fault.because;
  if (status === null) return 'unknown_status';
  if (shape?.kind === 'dispute') return null;
  const isHeld = status === 'UNDER_ANALYSIS' && shape?.kind === 'payment';
  if (toStatus(status) === 'PROCESSING') return isHeld ? null : 'processing';
  if (status !== 'FAILED' || shape?.kind === 'payment') return null;
  if (shape?.kind !== 'refund') return 'not_received';
  return isReturnId(ids.returnId ?? null) ? null : 'not_refunded';
}

/**
 * Converts a message of a statement to a line. A line that is not understood proves nothing, and
 * keeps its ids unless they contradict each other.
 * @param settledOnly whether a line without a status is completed.
 */
export function toLine(message: Message, settledOnly: boolean): StatementLine {
  const { amountCents, direction, status, fault } = message;
  const ids = fault?.because === 'contradictory_id' ? {} : withReturnId(message.ids);
  const settled = status ?? (settledOnly ? 'COMPLETED' : null);
  const isRead = fault === null;
  return {
    ids: {
      endToEnd: ids.endToEnd ?? null,
      clientRequestId: ids.clientRequestId ?? null,
      transactionIdentification: ids.txid ?? null,
      providerTxid: ids.providerId ?? null,
      returnId: ids.returnId ?? null,
    },
    amountCents,
    direction: isRead ? direction && lineDirections[direction] : null,
    status: isRead && settled !== 'EXPIRED' ? toStatus(settled) : null,
  };
}

/** A return id that stands as the end-to-end id of a line is its return id. */
function withReturnId(ids: Message['ids']): Message['ids'] {
  const { endToEnd = null, ...others } = ids;
  return isReturnId(endToEnd) ? { returnId: endToEnd, ...others } : ids;
}

/** Faults of a line that may be about any movement. */
const namesNothing: ReadonlySet<IgnoredBecause | undefined> = new Set<IgnoredBecause>([
  'unreadable_id',
  'contradictory_id',
  // Its ids may be in fields that no shape of a line reads.
  'unknown_shape',
  'unknown_event',
  'ambiguous_shape',
]);

/** Whether it is certain which movement a line is about: otherwise it may be any. */
export function hasReadableIds({ fault }: Message): boolean {
  return !namesNothing.has(fault?.because);
}

const lineDirections = { OUT: 'out', IN: 'in', OTHER: 'other' } as const;

/** The words around a list for a request that has succeeded. */
const successes: ReadonlySet<string> = new Set(['SUCCESS', 'OK', 'TRUE', '0', '00', '200']);

/** Whether nothing around a list says that the request has failed. */
export function isAnswered({ envelope }: Shape, node: Node): boolean {
  const said = envelope.answer.map((path) => valueAt(node, path));
  return said.every((value) => value === undefined || successes.has(readWord(value) ?? ''));
}

/**
 * Whether a list is the whole statement. Any sign of a further page speaks against it, and so does
 * any field that may be such a sign. The list of a request that has failed is none.
 */
export function isWhole(shape: Shape, node: Node, count: number): boolean {
  const { envelope } = shape;
  const filled = (paths: readonly Path[], ...empty: readonly unknown[]): unknown[] =>
    paths
      .map((path) => valueAt(node, path))
      .filter((value) => ![undefined, ...empty].includes(value));
  const numbers = (paths: readonly Path[]): number[] =>
    filled(paths).map((value) => Number(readWord(value) ?? Number.NaN));
  const [page, pages] = [numbers(envelope.page), numbers(envelope.pages)];
  const [size, total] = [numbers(envelope.size), numbers(envelope.total)];
  const isOnlyPage =
    [...page, ...pages].every((number) => number === 0 || number === 1) &&
    total.every((number) => number === count) &&
    filled(envelope.next, '').length + filled(envelope.more, false).length === 0;
  if (!isOnlyPage || !isAnswered(shape, node) || !isKnown(node, envelope.known)) return false;
  if (pages.length + total.length > 0) return true;
  if (size.length > 0) return size.every((number) => count < number);
  return page.length === 0 && !envelope.full.has(count);
}

/** Whether the objects around the lines have declared fields only. */
function isKnown(node: Node, known: readonly Path[]): boolean {
  const objects = known.flatMap((path) => path.map((_, depth) => path.slice(0, depth)));
  const places = new Map(objects.map((place) => [formatPath(place), place]));
  return [...places.values()].every((place) => {
    const value = valueAt(node, place);
    if (value === undefined || (place.length === 0 && Array.isArray(value))) return true;
    if (!isObject(value)) return false;
    const inside = known.filter((path) => isBelow(path, place));
    const names = new Set(inside.map((path) => path[place.length]));
    return [...foldedFields(value).keys()].every((name) => names.has(name));
  });
}

function isBelow(path: Path, place: Path): boolean {
  return path.length > place.length && place.every((name, depth) => path[depth] === name);
}
