/**
 * A report: what the bank says about a payment, in an event or in a line of its statement, and what
 * becomes of it. The functions are pure.
 */
import { centsFromDecimal } from '../domain/money.ts';
import type { PixOutcome, PixPhase, PixStatus, PixType, Source } from '../domain/pix.ts';
import {
  unreadReasons,
  type IgnoredBecause,
  type WebhookItem,
  type WebhookItemPayee,
} from '../provider/webhook-events.ts';
import type { Move } from './move-repository.ts';
import type { Refund } from './refund-repository.ts';
import {
  maxCandidates,
  type CandidateRow,
  type Candidates,
  type ReceivedPix,
} from './transaction-repository.ts';
import type { PayeeRow } from './payee-repository.ts';

/** What a report is about; `nothing`: it moves nothing, or it was not understood. */
type Subject = 'payment' | 'received' | 'expiry' | 'refund' | 'analysis' | 'nothing';

/** The ids of a report; they may contradict each other. */
export interface ReportIds {
  readonly endToEnd: string | null;
  readonly requestId: string | null;
  readonly txid: string | null;
  readonly providerTxid: string | null;
  /** Of a refund. */
  readonly returnId: string | null;
}

/** A report about one payment. */
export interface Report {
  readonly source: Source;
  /** When the event was received, or the statement was read. */
  readonly receivedAt: Date;
  readonly about: Subject;
  readonly status: PixStatus | null;
  readonly ids: ReportIds;
  /** Whether the provider's id names a payment without a second id. */
  readonly isNamedAlone: boolean;
  /** Null: it names no amount. */
  readonly amountCents: number | null;
  readonly payee: WebhookItemPayee;
  /** Of a refund: which way its money goes; null: the report does not say it. */
  readonly direction: 'in' | 'out' | null;
  /** It is in a list of received payments, and does not say itself which way the money went. */
  readonly isUndirected: boolean;
  /** Another item of the same event says the opposite. */
  readonly isContradicted: boolean;
  /** The transaction that an earlier judgement of the report has settled or recorded. */
  readonly settledId: string | null;
  /** Why a payment failed, in the provider's words. */
  readonly failureCode: string | null;
  /** Why it moves nothing; null: for its status. */
  readonly ignoredBecause: IgnoredBecause | null;
  readonly bookedAt: Date | null;
}

/** A report of the end of a payment, a charge or a refund. */
export type FinalReport = Report & { readonly status: 'COMPLETED' | 'FAILED' };

/** An item of an event, or a line of a statement as one. */
export interface ReportedItem {
  readonly source: Source;
  readonly item: WebhookItem;
  readonly receivedAt: Date;
  readonly isContradicted?: boolean;
  readonly settledId?: string | undefined;
}

const subjects: Readonly<Record<WebhookItem['kind'], Subject>> = {
  payment: 'payment',
  received: 'received',
  expired: 'expiry',
  refund: 'refund',
  held: 'analysis',
  dispute: 'nothing',
  ignored: 'nothing',
};

/** @returns the report of an item; that of a dispute moves nothing. */
export function toReport(reported: ReportedItem): Report {
  const { source, item, receivedAt, isContradicted = false, settledId = null } = reported;
  const { endToEnd, clientRequestId, transactionIdentification, providerTxid } = item.ids;
  const returnId = item.refund?.returnId ?? null;
  return {
    source,
    receivedAt,
    about: subjects[item.kind],
    status: item.status,
    ids: {
      endToEnd,
      requestId: clientRequestId,
      txid: transactionIdentification,
      providerTxid,
      returnId,
    },
    isNamedAlone: item.isNamedAlone ?? false,
    amountCents: item.amountCents,
    payee: item.payee,
    direction: item.refund?.direction ?? null,
    isUndirected: item.isUndirected ?? false,
    isContradicted,
    settledId,
    failureCode: item.reason,
    ignoredBecause: item.ignoredBecause,
    bookedAt: item.at ?? null,
  };
}

/** Reasons for which a report is not understood although it may end an open transaction. */
const notUnderstood: ReadonlySet<IgnoredBecause> = new Set(unreadReasons);

/** Whether what moves nothing for a reason may contradict or concern a stored transaction. */
export function mayConcernStored(reason: IgnoredBecause): boolean {
  return reason === 'not_received' || notUnderstood.has(reason);
}

/** Whether the verdict on an item depends on stored rows: that on most ignored items does not. */
export function needsFacts({ kind, status, ids, ignoredBecause }: WebhookItem): boolean {
  const isIgnored = kind === 'ignored' || status === null || status === 'PROCESSING';
  if (!isIgnored || kind === 'held') return true;
  const hasId = Object.values(ids).some((id) => id !== null);
  return hasId && mayConcernStored(ignoredBecause ?? 'processing');
}

/** A stored transaction, with what its history says. */
export interface Stored {
  readonly id: string;
  readonly userId: number;
  readonly type: PixType;
  readonly status: PixStatus;
  readonly phase: PixPhase;
  readonly outcome: PixOutcome | null;
  /** Null: an amount that is too large to compare. */
  readonly amountCents: number | null;
  /** Of a refund or a return: its return id. */
  readonly endToEnd: string | null;
  /** The idempotency key; the request id of a return follows from it. */
  readonly requestId: string | null;
  readonly txid: string | null;
  /** The provider's id that the report names, if it is one of several; else the first. */
  readonly providerTxid: string | null;
  /** The key of the payee, as the directory stores it. */
  readonly payeeKey: string | null;
  readonly createdAt: Date;
  /** Of a send: whether its payee, another customer, has received it. */
  readonly hasReachedPayee: boolean;
  /** A charge that does not expire: it may be paid many times. */
  readonly isStatic: boolean;
  /** The account of a charge's owner. */
  readonly owner: Omit<WebhookItemPayee, 'key' | 'isContradictory'> | null;
  /** Whether an attempt may have been executed whose response does not say so, or was lost. */
  readonly hasOpenAttempt: boolean;
  /** Of a return that a user has made here: what it gives back. */
  readonly originalId: string | null;
  /** Of a COMPLETED charge: the event that ended it, and the provider's id of that payment. */
  readonly endedBy: { readonly eventId: string | null; readonly providerTxid: string | null };
}

/** What a report is judged on. */
export interface Facts {
  /** The transactions that share an id with the report, the closest first. */
  readonly stored: readonly Stored[];
  /** There may be more of them: a single match by an id that others may have is not certain. */
  readonly isCut: boolean;
  /** At most two, the most certain first. */
  readonly payees: readonly PayeeRow[];
}

/** @returns the facts of the rows that were read for a report. */
export function toFacts({ candidates, payees }: Candidates): Facts {
  return { stored: candidates.map(toStored), isCut: candidates.length >= maxCandidates, payees };
}

function toStored(row: CandidateRow): Stored {
  const [eventId = null, providerTxid = null] = row.paidBy ?? [];
  const [agency = null, accountNumber = null, document = null] = row.owner ?? [];
  return {
    id: row.id,
    userId: row.userId,
    type: row.operation,
    status: row.status,
    phase: row.phase,
    outcome: row.outcome,
    amountCents: centsFromDecimal(row.amount),
    endToEnd: row.endToEnd,
    requestId: row.idempotencyKey,
    txid: row.transactionIdentification,
    providerTxid: row.providerTxid,
    payeeKey: row.pixKey,
    createdAt: row.createdAt,
    hasReachedPayee: row.reachedPayee === true,
    isStatic: row.expiresAt === null,
    owner: row.owner && { agency, accountNumber, document },
    hasOpenAttempt: row.repeated,
    originalId: row.originalId ?? null,
    endedBy: { eventId, providerTxid },
  };
}

/** The report contradicts what is stored: a person must check it. */
export interface Conflict {
  readonly kind: 'conflict';
  /** Null: the report contradicts itself, and names no transaction. */
  readonly transaction: Stored | null;
  readonly reason: string;
}

/** A conflict about a transaction that is recorded beside another verdict. */
export type Beside = Conflict & { readonly transaction: Stored };

/** It ends a transaction. */
export interface MoveVerdict {
  readonly kind: 'move';
  readonly transaction: Stored;
  readonly move: Move;
}

/** A FAILED transaction was paid: it becomes COMPLETED, and an operator must look at it. */
export interface Correction {
  readonly kind: 'correct';
  readonly transaction: Stored;
  readonly endToEnd: string | null;
  readonly providerTxid: string | null;
}

/** A refund of a transaction is recorded. */
export interface RefundVerdict {
  readonly kind: 'refund';
  /** The transaction that is refunded. */
  readonly transaction: Stored;
  readonly refund: Refund;
}

/** What becomes of a report. */
export type Verdict =
  | MoveVerdict
  | Correction
  /** The end-to-end id of the payment that completed a charge, or of a receipt, is known now. */
  | { readonly kind: 'identify'; readonly transaction: Stored; readonly endToEnd: string }
  /** Money that came in and pays no charge is recorded. */
  | { readonly kind: 'record'; readonly received: ReceivedPix; readonly beside?: Beside }
  | RefundVerdict
  /** Its payee, another customer, has received a send: an open one does not fail from now on. */
  | { readonly kind: 'reached'; readonly transaction: Stored }
  /** The provider analyses a sent payment. */
  | { readonly kind: 'analysis'; readonly transaction: Stored }
  /** It is stored as it says. */
  | { readonly kind: 'already'; readonly transaction: Stored }
  /** It is judged again when its transaction is stored, or has moved on. */
  | {
      readonly kind: 'waits';
      readonly reason: string;
      readonly transaction?: Stored;
      /** Recorded for the operator at once. */
      readonly beside?: Beside;
    }
  | Conflict
  | { readonly kind: 'ignored'; readonly reason: string; readonly transaction?: Stored }
  /** It was not understood, and concerns a stored transaction: a person must check it. */
  | { readonly kind: 'unread'; readonly reason: string; readonly transaction: Stored };
