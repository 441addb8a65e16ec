import { defineEntity, p } from '@mikro-orm/core';
import type { ShownOwner } from '../../domain/key-owner.ts';
import type { PixOutcome, PixPhase, PixStatus, PixType } from '../../domain/pix.ts';
import { announcing, writesAppEvents } from './app-event.ts';
import { instant } from './columns.ts';
import { transactionIsValid } from './pix-transaction-rules.ts';
import { User } from './user.ts';

/** Whether a version of a row belongs in `pix_open`. */
const isOpen = (row: 'old' | 'new'): string =>
  `(${row}.status = 'PROCESSING' and (${row}.qr_code is null or ${row}.expires_at is not null))`;

const openRow =
  'insert into pix_open (transaction_id, has_code, expires_at) values (new.id, new.qr_code is not null, new.expires_at)';

/**
 * The statements of a trigger that change the sums of the transaction that a return returns. The
 * new `updated_at` wakes the events of other refunds that wait for the end of the return.
 */
function countReturn(sums: Readonly<Record<string, '+' | '-'>>): string {
  const changes = Object.entries(sums).map(
    ([column, sign]) => `${column} = nullif(coalesce(${column}, 0) ${sign} new.amount, 0)`,
  );
  const set = [...changes, 'updated_at = new.updated_at'].join(', ');
  return `update pix_transactions set ${set} where id = new.original_id;`;
}

const isReturn = "new.operation = 'REFUND_OUT'";

const announceEnd = announcing({
  id: "'pix_' || new.id",
  type: "'pix.' || lower(new.status)",
  transactionId: 'new.id',
  operation: 'new.operation',
  at: 'new.settled_at',
});

/**
 * A second event: the backend has received that the transaction has failed. It may have received an
 * earlier correction, which was overruled since.
 */
const announceCorrection = announcing({
  id: "'pix_' || new.id || case when new.overruled_at is null then '_corrected' else '_corrected_again' end",
  type: "'pix.completed'",
  transactionId: 'new.id',
  operation: 'new.operation',
  at: 'new.corrected_at',
});

/** The backend has received that the transaction was completed. */
const announceOverrule = announcing({
  id: "'pix_' || new.id || '_overruled'",
  type: "'pix.failed'",
  transactionId: 'new.id',
  operation: 'new.operation',
  at: 'new.overruled_at',
});

/** The change of a FAILED transaction that was paid after all. */
const isCorrection =
  "old.status = 'FAILED' and new.status = 'COMPLETED' and old.corrected_at is null and new.corrected_at is not null";

/** The change of a COMPLETED transaction that was not paid after all, once. */
const isOverrule =
  "old.status = 'COMPLETED' and new.status = 'FAILED' and old.overruled_at is null and new.overruled_at is not null";

/**
 * The database applies these rules, for every writer, to the changes of a transaction that are no
 * step of a payment. The condition of the trigger `pix_transactions_changed` selects these changes:
 * a rule about another change needs a wider condition.
 */
const rulesOfChange: readonly { readonly when: string; readonly run: string }[] = [
  {
    // COMPLETED and FAILED are final. A FAILED transaction that was paid is corrected, and a
    // COMPLETED one that was not is overruled, once.
    when: `old.status in ('COMPLETED', 'FAILED') and new.status <> old.status and not (${isCorrection}) and not (${isOverrule})`,
    run: "raise exception 'a final transaction does not change' using errcode = 'check_violation';",
  },
  {
    // What was asked for and what was paid, once it has ended. An erasure masks the key and the
    // payee. What was overruled stays so.
    when: `old.status <> 'PROCESSING' and (old.id <> new.id or old.original_id is distinct from new.original_id or (old.provider_txid is not null and old.provider_txid is distinct from new.provider_txid) or (new.payee is not null and old.payee is distinct from new.payee) or (old.overruled_at is not null and old.overruled_at is distinct from new.overruled_at) or old.amount is distinct from new.amount or old.user_id <> new.user_id or old.operation <> new.operation or old.created_at <> new.created_at or old.idempotency_key is distinct from new.idempotency_key or old.fingerprint is distinct from new.fingerprint or (old.pix_key is distinct from new.pix_key and new.pix_key is distinct from 'erased') or (old.status = 'COMPLETED' and old.end_to_end is not null and old.end_to_end is distinct from new.end_to_end) or (old.status = 'COMPLETED' and new.status = 'COMPLETED' and old.settled_at <> new.settled_at))`,
    run: "raise exception 'the facts of a transaction do not change' using errcode = 'check_violation';",
  },
  {
    // A charge that has its code waits for its payer.
    when: `${isOpen('new')} and (not ${isOpen('old')} or (old.qr_code is null) <> (new.qr_code is null) or old.expires_at is distinct from new.expires_at)`,
    run: `${openRow} on conflict (transaction_id) do update set has_code = excluded.has_code, expires_at = excluded.expires_at;`,
  },
  {
    when: `old.status = 'PROCESSING' and not ${isOpen('new')}`,
    run: 'delete from pix_open where transaction_id = new.id;',
  },
  // A return counts towards the transaction that it returns: while it is open as
  // `refunding_amount`, and once it is made as `refunded_amount`. A refund that is only reported is
  // never open: the statement that records it counts it.
  {
    when: `${isReturn} and old.status = 'PROCESSING' and new.status = 'COMPLETED'`,
    run: countReturn({ refunding_amount: '-', refunded_amount: '+' }),
  },
  {
    when: `${isReturn} and old.status = 'PROCESSING' and new.status = 'FAILED'`,
    run: countReturn({ refunding_amount: '-' }),
  },
  {
    when: `${isReturn} and old.status = 'FAILED' and new.status = 'COMPLETED'`,
    run: countReturn({ refunded_amount: '+' }),
  },
  {
    when: `${isReturn} and old.status = 'COMPLETED' and new.status = 'FAILED'`,
    run: countReturn({ refunded_amount: '-' }),
  },
  {
    // Only a return that was overruled takes away from what was given back.
    when: `coalesce(new.refunded_amount, 0) < coalesce(old.refunded_amount, 0) and not exists (select from pix_transactions given_back where given_back.original_id = new.id and given_back.status = 'FAILED' and given_back.overruled_at is not null and given_back.amount = old.refunded_amount - coalesce(new.refunded_amount, 0))`,
    run: "raise exception 'what was refunded does not become less' using errcode = 'check_violation';",
  },
  // Every final status writes an app event.
  {
    when: `old.status = 'PROCESSING' and new.status <> 'PROCESSING' and ${writesAppEvents}`,
    run: announceEnd,
  },
  { when: `${isCorrection} and ${writesAppEvents}`, run: announceCorrection },
  { when: `${isOverrule} and ${writesAppEvents}`, run: announceOverrule },
];

/**
 * A Pix that was sent, charged, received or refunded. Its pages keep room for the steps of a
 * payment (the migration `room_for_steps`). No index has a column that changes when a payment is
 * accepted or ends, so that these updates change no index (PostgreSQL, "Heap-Only Tuples").
 */
export const PixTransaction = defineEntity({
  name: 'PixTransaction',
  tableName: 'pix_transactions',
  properties: {
    id: p.uuid().primary(),
    user: () => p.manyToOne(User).deleteRule('restrict'),
    operation: p.text().$type<PixType>(),
    /** The app's idempotency key; the row is the claim to it. Null for what was only reported. */
    idempotencyKey: p.text().nullable(),
    /** SHA-256 of the validated request, to distinguish a repeat from another request. */
    fingerprint: p.blob().nullable(),
    /** Of a send that pays a dynamic code: the digest of its charge, which is paid once. */
    codeDigest: p.blob().nullable(),
    /** The same by its payee: a charge may have two addresses. Null: the bank has not said who. */
    codePayeeDigest: p.blob().nullable(),
    /** The same by the key that it is paid to: the bank may describe one payee in two ways. */
    codeKeyDigest: p.blob().nullable(),
    status: p.text().$type<PixStatus>(),
    phase: p.text().$type<PixPhase>(),
    outcome: p.text().$type<PixOutcome>().nullable(),
    /** Why it failed: a code of the catalogue, or the provider's reason. */
    failureCode: p.text().nullable(),
    /** Null: a key that was closed without an order: no payment has it, and no list shows it. */
    amount: p.decimal().precision(15).scale(2).nullable(),
    pixKey: p.text().nullable(),
    /** The owner of the key that a send pays, as the payer may see it. */
    payee: p.json<ShownOwner>().nullable(),
    /** Of a send: who is paid, as the limits distinguish payees; null: not known. */
    payeeClass: p.text().nullable(),
    description: p.text().nullable(),
    endToEnd: p.text().nullable(),
    transactionIdentification: p.text().nullable(),
    providerTxid: p.text().nullable(),
    /** The provider's id of a Pix that was received without an end-to-end id. */
    receivedTxid: p.text().nullable(),
    qrCode: p.text().nullable(),
    copyPaste: p.text().nullable(),
    /** When a dynamic charge expires; a static one does not. */
    expiresAt: instant().nullable(),
    /** Of a refund: the transaction that it refunds, of the same user. */
    originalId: p.uuid().nullable(),
    /** The sum of the refunds of this transaction; null: there is none. */
    refundedAmount: p.decimal().precision(15).scale(2).nullable(),
    /** The sum of its returns that are PROCESSING, which triggers keep; null: there is none. */
    refundingAmount: p.decimal().precision(15).scale(2).nullable(),
    /** The end of the claim: until then no other process resumes the transaction. */
    claimedUntil: instant().nullable(),
    createdAt: instant(),
    updatedAt: instant(),
    settledAt: instant().nullable(),
    /** When it became COMPLETED although it had been FAILED; null: it was never corrected. */
    correctedAt: instant().nullable(),
    /** When it became FAILED although it had been COMPLETED; null: it was never overruled. */
    overruledAt: instant().nullable(),
    /**
     * Of a send: whether its payee, another customer, has received it. Then it does not fail; if
     * it had failed before, an anomaly says so. Null: not known.
     */
    reachedPayee: p.boolean().nullable(),
    /** Of a send: when the provider has reported first that it holds it for analysis. */
    heldAt: instant().nullable(),
    /** Of a corrected send: a later send of the same user, key and amount that has not failed. */
    paidAgainBy: p.uuid().nullable(),
    /**
     * Of an order in UNKNOWN whose every attempt the bank has answered by 401: until then the same
     * key pays it again. One that the customer has given up has a time long ago.
     */
    resumableUntil: instant().nullable(),
  },
  uniques: [
    {
      // The key is the first column, because an event may identify a send by the key alone.
      name: 'pix_transactions_idempotency_unique',
      properties: ['idempotencyKey', 'user', 'operation'],
    },
  ],
  indexes: [
    {
      name: 'pix_transactions_end_to_end_unique',
      expression:
        'create unique index "pix_transactions_end_to_end_unique" on "pix_transactions" ("end_to_end", "operation") where "end_to_end" is not null',
    },
    {
      // A static code has room for only 25 of the 26 characters, so these must be unique.
      name: 'pix_transactions_txid_unique',
      expression:
        'create unique index "pix_transactions_txid_unique" on "pix_transactions" (left("transaction_identification", 25)) where "transaction_identification" is not null',
    },
    {
      // The condition is true for every row. It excludes the index from the plans of statements
      // without a period: on an empty table, the planner would consider it equally cheap.
      name: 'pix_transactions_statement',
      expression:
        'create index "pix_transactions_statement" on "pix_transactions" ("user_id", "created_at", "id") where "created_at" is not null',
    },
    {
      // Corrections are rare; an operator lists them.
      name: 'pix_transactions_corrected',
      expression:
        'create index "pix_transactions_corrected" on "pix_transactions" ("corrected_at") where "corrected_at" is not null',
    },
    {
      // A received Pix without an end-to-end id is recorded once for each id of the provider. Its
      // column is not `provider_txid`, which changes when a payment is accepted: see above.
      name: 'pix_transactions_received_unique',
      expression:
        'create unique index "pix_transactions_received_unique" on "pix_transactions" ("user_id", "received_txid") where "received_txid" is not null',
    },
    {
      // Not unique: a failed send frees the code, and may be corrected to COMPLETED later.
      name: 'pix_transactions_code',
      expression:
        'create index "pix_transactions_code" on "pix_transactions" ("user_id", "code_digest") where "code_digest" is not null',
    },
    {
      name: 'pix_transactions_code_payee',
      expression:
        'create index "pix_transactions_code_payee" on "pix_transactions" ("user_id", "code_payee_digest") where "code_payee_digest" is not null',
    },
    {
      name: 'pix_transactions_code_key',
      expression:
        'create index "pix_transactions_code_key" on "pix_transactions" ("user_id", "code_key_digest") where "code_key_digest" is not null',
    },
    {
      name: 'pix_transactions_refunds',
      expression:
        'create index "pix_transactions_refunds" on "pix_transactions" ("original_id") where "original_id" is not null',
    },
  ],
  triggers: [
    {
      // The timeline has no foreign key.
      name: 'pix_transactions_kept',
      timing: 'before',
      events: ['delete'],
      body: "raise exception 'a transaction is not removed' using errcode = 'check_violation';",
    },
    {
      name: 'pix_transactions_opened',
      timing: 'after',
      events: ['insert'],
      when: isOpen('new'),
      body: `${openRow}; return null;`,
    },
    {
      name: 'pix_transactions_return_opened',
      timing: 'after',
      events: ['insert'],
      when: `${isReturn} and new.status = 'PROCESSING'`,
      body: `${countReturn({ refunding_amount: '+' })} return null;`,
    },
    {
      name: 'pix_transactions_ended_new',
      timing: 'after',
      events: ['insert'],
      when: `new.status <> 'PROCESSING' and new.amount is not null and ${writesAppEvents}`,
      body: `${announceEnd} return null;`,
    },
    {
      // One trigger has all rules. PostgreSQL parses the condition of each trigger once for each
      // statement, and keeps the parsed body: nine conditions took a fifth of the time of an
      // update of one row. This condition is false for the steps of a payment. A trigger before
      // each update would lock each row in the log.
      name: 'pix_transactions_changed',
      timing: 'after',
      events: ['update'],
      when: "old.status <> 'PROCESSING' or new.status <> 'PROCESSING' or old.qr_code is distinct from new.qr_code or old.expires_at is distinct from new.expires_at",
      body: `${rulesOfChange.map(({ when, run }) => `if ${when} then ${run} end if;`).join(' ')} return null;`,
    },
  ],
  checks: [transactionIsValid],
});
