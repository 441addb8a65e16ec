import { defineEntity, p } from '@mikro-orm/core';
import {
  blockedOrders,
  closures,
  differenceKinds,
  unreadBecause,
  type BlockedOrders,
  type DifferenceKind,
  type UnreadBecause,
} from '../../domain/reconciliation.ts';
import { instant, isOneOf } from './columns.ts';
import { User } from './user.ts';

/** The reconciliation of one user and day: whether the statement was read, and what came of it. */
export const Reconciliation = defineEntity({
  name: 'Reconciliation',
  tableName: 'reconciliations',
  properties: {
    /** In America/Sao_Paulo. */
    day: p.date().primary(),
    user: () => p.manyToOne(User).primary().deleteRule('cascade'),
    /** UNREAD: the user waits for the next login. A day that was read stays READ. */
    state: p.text().$type<'READ' | 'UNREAD'>(),
    /** Why it was not read at the last attempt. */
    reason: p.text().$type<UnreadBecause>().nullable(),
    triedAt: instant(),
    readAt: instant().nullable(),
    /** The lines of the statement, which includes the day before and the day after. */
    lines: p.integer().default(0),
    /** The transactions that this reading has settled or recorded. */
    settled: p.integer().default(0),
    /** The differences that it has found. */
    differences: p.integer().default(0),
  },
  indexes: [
    {
      name: 'reconciliations_unread',
      expression:
        'create index "reconciliations_unread" on "reconciliations" ("user_id", "day") where "state" = \'UNREAD\'',
    },
  ],
  checks: [
    {
      name: 'reconciliations_state_known',
      expression: `${isOneOf('state', ['READ', 'UNREAD'])} and (state = 'READ') = (read_at is not null)`,
    },
    { name: 'reconciliations_reason_known', expression: isOneOf('reason', unreadBecause) },
  ],
});

/** A difference between the statement of a user and what is stored, until it is closed. */
export const ReconciliationDifference = defineEntity({
  name: 'ReconciliationDifference',
  tableName: 'reconciliation_differences',
  properties: {
    id: p.bigint().primary().autoincrement(),
    day: p.date(),
    user: () => p.manyToOne(User).deleteRule('cascade'),
    kind: p.text().$type<DifferenceKind>(),
    /** A fixed word. */
    reason: p.text(),
    /** Identifies the line or the transaction among the differences of a kind of its user. */
    subject: p.text(),
    /** The stored transaction, if it is known. */
    transactionId: p.uuid().nullable(),
    endToEnd: p.text().nullable(),
    /** Of the line. */
    amount: p.decimal().precision(15).scale(2).nullable(),
    /** Of the stored transaction. */
    storedAmount: p.decimal().precision(15).scale(2).nullable(),
    foundAt: instant(),
    /** When a run has found it last. */
    seenAt: instant(),
    closedAt: instant().nullable(),
    closedAs: p.text().$type<(typeof closures)[number]>().nullable(),
    /**
     * What it may be the payment of, lost orders of this type; null: of none. While it is open, its
     * user makes no such order of its amount, or of any amount if it has none.
     */
    blocks: p.text().$type<BlockedOrders>().nullable(),
  },
  indexes: [
    {
      name: 'reconciliation_differences_open',
      expression:
        'create index "reconciliation_differences_open" on "reconciliation_differences" ("found_at", "id") where "closed_at" is null',
    },
    {
      name: 'reconciliation_differences_blocking',
      expression:
        'create index "reconciliation_differences_blocking" on "reconciliation_differences" ("user_id") where "blocks" is not null and "closed_at" is null',
    },
  ],
  uniques: [
    {
      name: 'reconciliation_differences_once',
      properties: ['user', 'kind', 'subject'],
    },
  ],
  checks: [
    {
      name: 'reconciliation_differences_kind_known',
      expression: isOneOf('kind', differenceKinds),
    },
    {
      name: 'reconciliation_differences_closed',
      expression: `(closed_at is null) = (closed_as is null) and ${isOneOf('closed_as', closures)}`,
    },
    {
      name: 'reconciliation_differences_blocks_missing',
      expression: `blocks is null or kind = 'MISSING_HERE' and ${isOneOf('blocks', blockedOrders)}`,
    },
  ],
});
