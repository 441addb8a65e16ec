/**
 * The dispute of a payment: the customer says that a Pix was sent because of a fraud, and the bank
 * asks for it back by the central bank's special return mechanism (MED).
 *
 *     REQUESTED → OPEN → ACCEPTED | REJECTED | WITHDRAWN
 *         └─ REFUSED (may be requested again)
 *
 * REQUESTED is stored before the provider is asked. A dispute moves no money: what comes back is a
 * refund of the payment.
 */

/** What happened, in the words that the central bank's directory uses for a funds recovery. */
export const disputeSituations = [
  'SCAM',
  'ACCOUNT_TAKEOVER',
  'COERCION',
  'FRAUDULENT_ACCESS',
  'OTHER',
] as const;

export type DisputeSituation = (typeof disputeSituations)[number];

/** The states that the provider reports. */
export const reportedDisputeStatuses = ['OPEN', 'ACCEPTED', 'REJECTED', 'WITHDRAWN'] as const;

export type ReportedDisputeStatus = (typeof reportedDisputeStatuses)[number];

/** A status of a dispute as an event reports it. */
export interface DisputeReport {
  /** Our id of the dispute: that of the transaction. */
  readonly disputeId: string | null;
  readonly endToEnd: string | null;
  readonly status: ReportedDisputeStatus;
}

export const disputeStatuses = ['REQUESTED', 'REFUSED', ...reportedDisputeStatuses] as const;

export type DisputeStatus = (typeof disputeStatuses)[number];

/** The states that the provider has not answered for good. */
export const openDisputeStatuses = ['REQUESTED', 'OPEN'] as const satisfies DisputeStatus[];

/** The states that are final. */
export const finalDisputeStatuses = [
  'ACCEPTED',
  'REJECTED',
  'WITHDRAWN',
] as const satisfies DisputeStatus[];

/** The states that a report of the provider leaves: every one that is not final. */
export const disputesOpenToReport = ['REQUESTED', 'REFUSED', 'OPEN'] as const;

/** How many days after its payment a Pix may be disputed (MED). */
export const disputableDays = 80;
