import { defineEntity, p } from '@mikro-orm/core';
import {
  disputeSituations,
  disputeStatuses,
  finalDisputeStatuses,
  openDisputeStatuses,
  type DisputeSituation,
  type DisputeStatus,
} from '../../domain/dispute.ts';
import { announcing, writesAppEvents } from './app-event.ts';
import { instant, isOneOf } from './columns.ts';

/** A refused request may be made again: its minute is part of the id, so that few are announced. */
const announceStatus = announcing({
  id: [
    "'dispute_' || new.transaction_id || '_' || lower(new.status) || '_'",
    "to_char(new.requested_at at time zone 'UTC', 'YYYYMMDDHH24MI')",
  ].join(' || '),
  type: "'dispute.' || lower(new.status)",
  transactionId: 'new.transaction_id',
  operation: "'SEND'",
  at: 'new.updated_at',
});

/** A status that the customer has not set. */
const isNews = `new.status <> 'REQUESTED' and ${writesAppEvents}`;

const isUnanswered = isOneOf('status', openDisputeStatuses);

/** The dispute of a send: at most one for each. */
export const PixDispute = defineEntity({
  name: 'PixDispute',
  tableName: 'pix_disputes',
  properties: {
    /**
     * The dispute has no other id. No foreign key: its check would lock the transaction's row. No
     * transaction is removed.
     */
    transactionId: p.uuid().primary(),
    userId: p.integer(),
    status: p.text().$type<DisputeStatus>(),
    /** Null: the dispute was opened at another channel, and only an event has reported it. */
    situation: p.text().$type<DisputeSituation>().nullable(),
    /**
     * The customer's text, sealed for `dispute:` and the transaction's id; null: there is none, or
     * it is no longer kept.
     */
    details: p.blob().nullable(),
    /** Whether a call with an unknown outcome may have done what is requested now. */
    mayBeDone: p.boolean().default(false),
    /** The end of the claim: until then no other process calls the provider. */
    claimedUntil: instant().nullable(),
    /** When the customer has withdrawn it, while the provider has not confirmed that. */
    withdrawalRequestedAt: instant().nullable(),
    requestedAt: instant(),
    /** When the provider has reported first that it has the dispute. */
    openedAt: instant().nullable(),
    endedAt: instant().nullable(),
    updatedAt: instant(),
  },
  indexes: [
    {
      name: 'pix_disputes_unanswered',
      expression: `create index "pix_disputes_unanswered" on "pix_disputes" ("status", "updated_at") where ${isUnanswered}`,
    },
    {
      name: 'pix_disputes_details',
      expression:
        'create index "pix_disputes_details" on "pix_disputes" ("ended_at") where "details" is not null',
    },
    { name: 'pix_disputes_user', properties: ['userId'] },
  ],
  triggers: [
    {
      name: 'pix_disputes_final_status',
      timing: 'after',
      events: ['update'],
      when: `new.status <> old.status and (${isOneOf('old.status', finalDisputeStatuses)} or (${isOneOf('new.status', ['REQUESTED', 'REFUSED'])} and old.status = 'OPEN'))`,
      body: "raise exception 'a dispute does not go back' using errcode = 'check_violation';",
    },
    {
      name: 'pix_disputes_moved',
      timing: 'after',
      events: ['update'],
      when: `old.status <> new.status and ${isNews}`,
      body: `${announceStatus} return null;`,
    },
    {
      name: 'pix_disputes_reported',
      timing: 'after',
      events: ['insert'],
      when: isNews,
      body: `${announceStatus} return null;`,
    },
  ],
  checks: [
    { name: 'pix_disputes_status_known', expression: isOneOf('status', disputeStatuses) },
    { name: 'pix_disputes_situation_known', expression: isOneOf('situation', disputeSituations) },
    {
      name: 'pix_disputes_request_stated',
      expression: `situation is not null or ${isOneOf('status', ['OPEN', ...finalDisputeStatuses])}`,
    },
    { name: 'pix_disputes_end_dated', expression: `(${isUnanswered}) = (ended_at is null)` },
    {
      name: 'pix_disputes_withdrawal_of_open',
      expression: "withdrawal_requested_at is null or status = 'OPEN'",
    },
  ],
});
