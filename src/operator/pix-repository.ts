/**
 * Transactions as operators see them: no Pix keys, descriptions and codes. The statements are SQL:
 * `pix resolve` decides by what they read, and the simulation runs it.
 */
import { isActiveSession } from '../auth/session-repository.ts';
import type { LocalContext } from '../context/context.ts';
import { columnsOf, type RowOf } from '../db/rows.ts';
import { isOneOf, sql, statement } from '../db/statement.ts';
import { isBlockedAtStart, isBlockedOrder } from '../ledger/block.ts';
import {
  isAbandoned,
  isUnsettled,
  openTransactions,
  shortTxid,
} from '../ledger/pix-transaction-repository.ts';
import { joinSteps } from '../ledger/timeline.ts';
import type { ShownOwner } from '../domain/key-owner.ts';
import { isUuid } from '../domain/text.ts';
import { orderTypes, staticTxidLength, type PixPhase, type PixStatus } from '../domain/pix.ts';

const inspected = columnsOf(
  'pix_transactions',
  `id, userId, operation, idempotencyKey, status, phase, outcome, failureCode, amount, endToEnd,
   transactionIdentification, providerTxid, expiresAt, originalId, refundedAmount, refundingAmount,
   claimedUntil, createdAt, updatedAt, settledAt, heldAt, correctedAt, overruledAt, paidAgainBy,
   reachedPayee`,
);

export interface InspectedPix extends RowOf<typeof inspected> {
  readonly amount: string;
}

const columns = inspected.select('t');

const entry = columnsOf(
  'pix_timeline',
  'at, phase, attempt, providerStatus, httpStatus, providerCode, eventId, note',
);

const filterParameters = {
  userId: 'int null',
  status: 'text null',
  phase: 'text null',
  createdUntil: 'timestamptz null',
  createdSince: 'timestamptz null',
  firstId: 'uuid null',
  amount: 'numeric null',
} as const;

function filter(by: Readonly<Record<keyof typeof filterParameters, string>>): string {
  return `
  (${by.userId} is null or t.user_id = ${by.userId})
  and (${by.status} is null or t.status = ${by.status})
  and (${by.phase} is null or t.phase = ${by.phase})
  and (${by.createdUntil} is null or t.created_at <= ${by.createdUntil})
  and (${by.createdSince} is null or t.created_at >= ${by.createdSince})
  and (${by.firstId} is null or t.id >= ${by.firstId})
  and (${by.amount} is null or t.amount = ${by.amount})`;
}

const listParameters = { ...filterParameters, limit: 'int' } as const;

/** @public For the tests of the simulation, which find it by its shape. */
export const pixStatements = {
  /** Ids are in the order of time. */
  list: statement({
    name: 'inspect-pix',
    parameters: listParameters,
    text: ({ limit, ...by }) => sql<InspectedPix>`
      select ${columns} from pix_transactions t
       where ${filter(by)}
       order by t.id desc limit ${limit}`,
  }),
  listCorrected: statement({
    name: 'inspect-pix-corrected',
    parameters: listParameters,
    text: ({ limit, ...by }) => sql<InspectedPix>`
      select ${columns} from pix_transactions t
       where t.corrected_at is not null and ${filter(by)}
       order by t.corrected_at desc limit ${limit}`,
  }),
  countCorrected: statement({
    name: 'inspect-pix-corrected-count',
    parameters: { since: 'timestamptz' },
    text: ({ since }) => sql<{ corrected: number }>`
    select count(*)::int as corrected from pix_transactions where corrected_at >= ${since}`,
  }),
  listStuck: statement({
    name: 'inspect-pix-stuck',
    parameters: {
      ...listParameters,
      payingSince: 'timestamptz',
      now: 'timestamptz',
      acceptedSince: 'timestamptz',
    },
    text: ({ limit, payingSince, now, acceptedSince, ...by }) => sql<InspectedPix>`
      select ${columns} from ${openTransactions}
       where ${isUnsettled('t')} and ${isOneOf('t.operation', orderTypes)} and ${filter(by)}
         and (t.phase = 'UNKNOWN'
              or (t.phase = 'PAYING' and ${isAbandoned('t', payingSince, now)})
              or (t.phase = 'ACCEPTED' and t.updated_at <= ${acceptedSince})
              or ${isBlockedAtStart('t', payingSince, now)})
       order by t.id limit ${limit}`,
  }),
  find: statement({
    name: 'inspect-pix-one',
    parameters: { id: 'uuid', now: 'timestamptz' },
    text: ({ id, now }) => sql<FoundPix>`
      select ${columns}, t.payee, ${isBlockedOrder('t')} as "mayBeLost",
             exists (select from banking_sessions s
                      where s.user_id = t.user_id and ${isActiveSession('s', now)}) as "hasSession"
        from pix_transactions t where t.id = ${id}`,
  }),
  /** Each branch uses an index; the provider's id is in the timeline, too, which has one. */
  references: statement({
    name: 'inspect-pix-references',
    parameters: { id: 'uuid null', reference: 'text' },
    text: ({ id, reference }) => sql<Pick<InspectedPix, 'id' | 'operation' | 'userId'>>`
      select t.id, t.operation, t.user_id as "userId" from pix_transactions t
       where t.id = any(array(
               select ${id} where ${id} is not null
                union
               select id from pix_transactions where end_to_end = ${reference}
                union
               select id from pix_transactions
                where ${shortTxid('transaction_identification')} = ${shortTxid(reference)}
                  and length(${reference}) >= ${staticTxidLength}
                  and transaction_identification is not null
                  and starts_with(transaction_identification, ${reference})
                union
               select id from pix_transactions where idempotency_key = ${reference}
                union
               select transaction_id from pix_timeline where provider_txid = ${reference}))
       order by t.id limit 20`,
  }),
  refunds: statement({
    name: 'inspect-pix-refunds',
    parameters: { transactionId: 'uuid', limit: 'int' },
    text: ({ transactionId, limit }) => sql<InspectedPix>`
      select ${columns} from pix_transactions t where t.original_id = ${transactionId}
       order by t.id limit ${limit}`,
  }),
  timeline: statement({
    name: 'inspect-pix-timeline',
    parameters: { transactionId: 'uuid', limit: 'int' },
    text: ({ transactionId, limit }) => sql<TimelineEntry>`
      select ${entry.select('step')}
        from pix_transactions t, ${joinSteps}
       where t.id = ${transactionId} order by step.id, step.place limit ${limit}`,
  }),
};

/** The transactions to list; an omitted field matches all. */
export interface PixFilter {
  readonly userId?: number | undefined;
  readonly status?: PixStatus | undefined;
  readonly phase?: PixPhase | undefined;
  readonly createdUntil?: Date | undefined;
  readonly createdSince?: Date | undefined;
  /** In reais, as a decimal. */
  readonly amount?: string | undefined;
  readonly limit: number;
}

function bindFilter(which: PixFilter) {
  const { userId, status, phase, createdUntil, createdSince, amount, limit } = which;
  return {
    userId: userId ?? null,
    status: status ?? null,
    phase: phase ?? null,
    createdUntil: createdUntil ?? null,
    createdSince: createdSince ?? null,
    firstId: createdSince === undefined ? null : firstIdAt(createdSince),
    amount: amount ?? null,
    limit,
  };
}

/** More than the clocks of two instances differ. */
const slackMs = 3_600_000;

/**
 * The smallest id (UUIDv7) of a transaction that was created at a time, with some slack: the list
 * ends there, and does not read the transactions of years in search of one more row.
 */
function firstIdAt(time: Date): string {
  const hex = Math.max(0, time.getTime() - slackMs)
    .toString(16)
    .padStart(12, '0');
  return `${hex.slice(0, 8)}-${hex.slice(8)}-7000-8000-000000000000`;
}

/** @returns transactions, the newest first. */
export function findPixList(
  { db }: Pick<LocalContext, 'db'>,
  which: PixFilter,
): Promise<InspectedPix[]> {
  return db.query(pixStatements.list, bindFilter(which));
}

/** @returns FAILED transactions that were paid and are COMPLETED now, the last corrected first. */
export function findCorrectedPix(
  { db }: Pick<LocalContext, 'db'>,
  which: PixFilter,
): Promise<InspectedPix[]> {
  return db.query(pixStatements.listCorrected, bindFilter(which));
}

/** @returns how many transactions were corrected since a time. */
export async function countCorrectedPix(
  { db }: Pick<LocalContext, 'db'>,
  since: Date,
): Promise<number> {
  const [row] = await db.query(pixStatements.countCorrected, { since });
  return row?.corrected ?? 0;
}

/** When an order counts as stuck. */
export interface StuckSince {
  /** For one in PAYING. */
  readonly paying: Date;
  /** For one that the provider has accepted. */
  readonly accepted: Date;
}

/**
 * Finds orders that may have left and that no process settles: the paying process has died, the
 * response was lost, the provider accepted the payment and has not reported its end, or the commit
 * of PAYING may be lost.
 * @returns the orders, the oldest first.
 */
export function findStuckPix(
  { db, clock }: Pick<LocalContext, 'db' | 'clock'>,
  which: PixFilter,
  since: StuckSince,
): Promise<InspectedPix[]> {
  return db.query(pixStatements.listStuck, {
    ...bindFilter(which),
    payingSince: since.paying,
    now: clock.now(),
    acceptedSince: since.accepted,
  });
}

/** A transaction by itself. */
export interface FoundPix extends InspectedPix {
  /** Whether its user has an active banking session. */
  readonly hasSession: boolean;
  /** Whether it is an order whose commits may be lost: before PAYING, it may have left. */
  readonly mayBeLost: boolean;
  /** Of a send: the owner of the key that it pays, as the payer was shown it. */
  readonly payee: ShownOwner | null;
}

/** @returns a transaction; null: none. */
export async function findPix(
  { db, clock }: Pick<LocalContext, 'db' | 'clock'>,
  id: string,
): Promise<FoundPix | null> {
  if (!isUuid(id)) return null;
  const [found] = await db.query(pixStatements.find, { id, now: clock.now() });
  return found ?? null;
}

/** @returns the transactions that have this id, of whatever kind; the oldest first. */
export function findPixReferences(
  { db }: Pick<LocalContext, 'db'>,
  reference: string,
): Promise<Pick<InspectedPix, 'id' | 'operation' | 'userId'>[]> {
  const id = isUuid(reference) ? reference : null;
  return db.query(pixStatements.references, { id, reference });
}

/** @returns the first refunds of a transaction, in the order in which they were recorded. */
export function findRefunds(
  { db }: Pick<LocalContext, 'db'>,
  transactionId: string,
  limit: number,
): Promise<InspectedPix[]> {
  return db.query(pixStatements.refunds, { transactionId, limit });
}

export type TimelineEntry = RowOf<typeof entry>;

/** @returns the first entries of a transaction's timeline, in order. */
export function findTimeline(
  { db }: Pick<LocalContext, 'db'>,
  transactionId: string,
  limit: number,
): Promise<TimelineEntry[]> {
  return db.query(pixStatements.timeline, { transactionId, limit });
}
