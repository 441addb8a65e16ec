/**
 * The events of the provider's webhooks, as the service reads them. Which messages they are read
 * from is data: a dialect declares it (see `dialect/`). Matching events with stored transactions is
 * done elsewhere.
 */
import type { ReportedDisputeStatus } from '../domain/dispute.ts';
import type { PixStatus } from '../domain/pix.ts';

/** Why a message is not about a payment that is made now, for its payee, in reais. */
const foreignReasons = [
  'scheduled',
  'dated_ahead',
  'test',
  'other_currency',
  'cancellation',
] as const;

export type ForeignReason = (typeof foreignReasons)[number];

/** Why an item settles nothing. */
export type IgnoredBecause =
  | 'not_json'
  | 'not_an_object'
  /** An object has two members with one name and different values. */
  | 'contradictory_member'
  /** It is not about a payment that is made now, in reais. */
  | ForeignReason
  /** Money that moved by another method than Pix, such as a boleto. */
  | 'other_method'
  /** It names another key than that of the payee of the payment. */
  | 'other_payee_key'
  /** No dialect declares a message of this form, or with this event word. */
  | 'unknown_shape'
  | 'unknown_event'
  /** Two dialects declare it. */
  | 'ambiguous_shape'
  /** A list without items. */
  | 'no_items'
  /** A field with this name decides in some message, and is not declared for this one. */
  | 'undeclared_field'
  /** The message is known and moves nothing, such as that of a new account. */
  | 'moves_nothing'
  /** A refund that cannot be tied to a payment; it never changes the original. */
  | 'reversal'
  | 'unknown_status'
  /** The item reports two statuses, such as a success and a failure. */
  | 'contradictory_status'
  /** A failure without a code, or beside a code that no dialect lists as "not executed". */
  | 'unlisted_code'
  | 'contradictory_code'
  | 'no_id'
  | 'unreadable_id'
  /** Two places or spellings of an id have different values. */
  | 'contradictory_id'
  /** An unreadable amount, or one of two amounts, cannot match any transaction. */
  | 'unreadable_amount'
  | 'unreadable_payee'
  | 'contradictory_payee'
  | 'unknown_direction'
  | 'contradictory_direction'
  /** The initial status of a transaction. */
  | 'processing'
  /** An expected Pix that was not received. */
  | 'not_received'
  /** A refund that was not made, and is no return of this service. */
  | 'not_refunded';

/**
 * The reasons for which a message is not understood: a dialect lacks a word, a field or a shape, or
 * the message lacks what would tie money that came back to its payment.
 */
export const unreadReasons = [
  'unknown_shape',
  'unknown_event',
  'ambiguous_shape',
  'not_json',
  'not_an_object',
  'contradictory_member',
  ...foreignReasons,
  'other_payee_key',
  'undeclared_field',
  'unknown_status',
  'contradictory_status',
  'unlisted_code',
  'contradictory_code',
  'no_id',
  'unreadable_id',
  'contradictory_id',
  'unreadable_amount',
  'unreadable_payee',
  'contradictory_payee',
  'unknown_direction',
  'contradictory_direction',
  'reversal',
] as const satisfies readonly IgnoredBecause[];

/**
 * `payment`: the result of a sent payment. `received`: a received Pix, or a paid charge. `expired`:
 * a charge that has expired unpaid. `refund`: a refund of a payment, whole or in part. `held`: the
 * provider holds a sent payment for analysis. `dispute`: the status of the dispute of a payment.
 */
export type WebhookItemKind =
  'payment' | 'received' | 'expired' | 'refund' | 'held' | 'dispute' | 'ignored';

/** The ids of an item, printable, 1 to 255 characters; they may contradict each other. */
export interface WebhookItemIds {
  readonly endToEnd: string | null;
  readonly clientRequestId: string | null;
  readonly transactionIdentification: string | null;
  readonly providerTxid: string | null;
}

export interface WebhookItemRefund {
  /** `D…`: identifies the refund. */
  readonly returnId: string;
  /** `in`: the user gets the money back; null when the item does not say it. */
  readonly direction: 'in' | 'out' | null;
}

export interface WebhookItemDispute {
  /** Our id of the dispute. */
  readonly disputeId: string | null;
  readonly status: ReportedDisputeStatus;
}

export interface WebhookItem {
  /** The position of the item in the payload, from 0. */
  readonly index: number;
  /** The provider's name of the event, printable and truncated. */
  readonly name: string;
  /** The declared message, such as `ponte/payment`; null when no dialect declares it. */
  readonly shape: string | null;
  readonly kind: WebhookItemKind;
  /** COMPLETED or FAILED unless the item is ignored, `held` or a `dispute`. */
  readonly status: PixStatus | null;
  readonly ids: WebhookItemIds;
  /** Set when the provider's id names a payment without a second id, as its shape declares. */
  readonly isNamedAlone?: true;
  /** Set when the direction of a `received` item follows only from its position. */
  readonly isUndirected?: true;
  /** Null when the item has none; an item with an unreadable amount is ignored. */
  readonly amountCents: number | null;
  readonly payee: WebhookItemPayee;
  /** Set for a `refund`, whose end-to-end id is that of the refunded payment. */
  readonly refund?: WebhookItemRefund;
  /** Set for a `dispute`, whose end-to-end id is that of the disputed payment. */
  readonly dispute?: WebhookItemDispute;
  /** When a Pix was received, if the item has the time with its offset from UTC. */
  readonly at?: Date;
  /** The failure's code, such as `BE17`. */
  readonly reason: string | null;
  /** Null unless the item is ignored. */
  readonly ignoredBecause: IgnoredBecause | null;
  /** The word, code or name that is why it is ignored, if it has the form of one. */
  readonly word: string | null;
}

/**
 * The payee of a received Pix; agency, account number and document without punctuation.
 */
export interface WebhookItemPayee {
  /** Two values for one identifier: all identifiers are null. */
  readonly isContradictory?: true;
  readonly key: string | null;
  readonly document: string | null;
  /** The masked document, such as `***456789**`; it identifies nobody. */
  readonly maskedDocument?: string;
  readonly agency: string | null;
  readonly accountNumber: string | null;
}

/** The payee of an item that names none. */
export const noPayee: WebhookItemPayee = {
  key: null,
  document: null,
  agency: null,
  accountNumber: null,
};
