/**
 * Stored Pix transactions: their rows, reads and anomalies. The statements are SQL, because every
 * payment and poll uses them; the simulation runs them, too.
 */
import { activeSessions } from '../auth/session-repository.ts';
import type { VerifiedToken } from '../process/access-tokens.ts';
import type { LocalContext } from '../context/context.ts';
import { columnsOf, type RowOf } from '../db/rows.ts';
import { batchedStatement, isOneOf, sql, statement } from '../db/statement.ts';
import { maxCallMs } from '../domain/call-duration.ts';
import type { ShownOwner } from '../domain/key-owner.ts';
import { phasesBeforePaying, staticTxidLength } from '../domain/pix.ts';
import { AppError } from '../errors.ts';

/** What the processing of a transaction needs of it, and no more: each column has a cost. */
export const processedColumns = `
  id, userId, operation, idempotencyKey, status, phase, outcome, failureCode, amount, endToEnd,
  transactionIdentification, qrCode, copyPaste`;
export const processed = columnsOf('pix_transactions', processedColumns);

/** A stored transaction, with its amount in reais, as a decimal. */
export interface ProcessedRow extends RowOf<typeof processed> {
  readonly amount: string;
}

/** A stored transaction. */
export interface PixTransaction extends Omit<ProcessedRow, 'amount'> {
  /** When a charge expires; null: never. Only the claim of a charge reads it. */
  readonly expiresAt?: Date | null;
  /** When the provider held a send for analysis; null or absent: it did not. */
  readonly heldAt?: Date | null;
  /** Absent where nothing depends on it. */
  readonly createdAt?: Date;
  /** Whether this request has taken a look-up for the send; never stored. */
  readonly tookLookUp?: boolean;
}

/**
 * A condition that finds the transaction `t` of each call by its id, always through the index. With
 * `t.id = call.id`, a plan that is made while the table is small reads the whole table, and this
 * plan is kept when the table has grown.
 * @param calls the table expression of the calls.
 */
export function matchesCallId(calls: string): string {
  return `t.id = any(array[${calls}.id])`;
}

/** The part of the identification of a charge that every code of it has, and that is indexed. */
export function shortTxid(identification: string): string {
  return `left(${identification}, ${staticTxidLength})`;
}

/**
 * A condition: a transaction is not settled. A charge that has its code waits for its payer.
 * @param table the transactions.
 */
export function isUnsettled(table: string): string {
  return `${table}.status = 'PROCESSING' and ${table}.qr_code is null`;
}

/** A condition: no process has a claim to a transaction, or its claim has expired. */
function isUnclaimed(table: string, now: string): string {
  return `(${table}.claimed_until is null or ${table}.claimed_until <= ${now})`;
}

/** A condition: no process has changed a transaction since a time, and none has a claim to it. */
export function isAbandoned(table: string, untouchedSince: string, now: string): string {
  return `${table}.updated_at <= ${untouchedSince} and ${isUnclaimed(table, now)}`;
}

/**
 * The open transactions `t`, without charges that wait for their payer: a part of a FROM clause,
 * for the condition `isUnsettled('t')`.
 */
export const openTransactions = `
      (select transaction_id from pix_open where not has_code) open
      join pix_transactions t on t.id = any(array[open.transaction_id])`;

/**
 * When the claim of a process that starts to work on a transaction now expires: after the longest
 * duration of a provider call. A look-up that takes longer costs a second one and nothing else,
 * because only one process can move the transaction to PAYING; a payment is not sent after its
 * claim has expired.
 */
export function claimUntil({ clock, config }: Pick<LocalContext, 'clock' | 'config'>): Date {
  return new Date(clock.now().getTime() + maxCallMs(config.provider));
}

const takeOver = statement({
  name: 'pix-take-over',
  parameters: { id: 'uuid', claimedUntil: 'timestamptz', now: 'timestamptz' },
  text: ({ id, claimedUntil, now }) => sql<ProcessedRow & Pick<PixTransaction, 'expiresAt'>>`
    update pix_transactions t set claimed_until = ${claimedUntil}
     where id = ${id} and settled_at is null and ${isOneOf('phase', phasesBeforePaying)}
       and ${isUnclaimed('t', now)}
    returning ${processed.select()}, expires_at as "expiresAt"`,
});

/**
 * Takes over a transaction before PAYING that no process has a claim to.
 * @returns null when its claim has not expired, or when it is in another phase.
 */
export async function takeOverTransaction(
  context: LocalContext,
  id: string,
): Promise<PixTransaction | null> {
  const [taken] = await context.db.query(takeOver, {
    id,
    claimedUntil: claimUntil(context),
    now: context.clock.now(),
  });
  return taken ?? null;
}

/** One transaction of a user. */
const findTransaction = batchedStatement({
  name: 'pix-find',
  parameters: { id: 'uuid', userId: 'int' },
  batching: {},
  text: (requested) => sql<ProcessedRow>`
    select requested.ordinal, ${processed.select('t')}
      from ${requested}
      join pix_transactions t on t.id = requested.id and t.user_id = requested.user_id`,
});

/** @returns the transaction as it is stored now, or null: its commit is lost. */
export async function readStored(
  { db }: Pick<LocalContext, 'db'>,
  { id, userId }: PixTransaction,
): Promise<PixTransaction | null> {
  const [stored] = await db.query(findTransaction, { id, userId });
  return stored ?? null;
}

/** The fields of a send that its response contains. */
export type SentView = Pick<
  PixTransaction,
  'id' | 'status' | 'outcome' | 'failureCode' | 'endToEnd' | 'heldAt' | 'createdAt'
>;

const viewed = columnsOf(
  'pix_transactions',
  `id, status, outcome, failureCode, qrCode, copyPaste, expiresAt, heldAt, createdAt, correctedAt,
   paidAgainBy, overruledAt`,
);

/** The fields of a transaction that its response contains. */
export type PixView = RowOf<typeof viewed>;

/**
 * One transaction of the user of an active banking session, in the read that checks the session. No
 * row: the session is not active. A row without an id: the user has no such transaction. It is
 * found by its id alone, so that the plan does not depend on the number of the user's transactions,
 * and then its owner is compared.
 */
const findView = batchedStatement({
  name: 'pix-view',
  parameters: { sessionId: 'uuid', userId: 'int', now: 'timestamptz', id: 'uuid' },
  batching: { lane: 'views' },
  text: (requested) => sql<RowOf<typeof viewed> | { readonly id: null }>`
    select requested.ordinal, ${viewed.select('t')}
      from ${requested}
      join ${activeSessions}
      left join lateral (
             select ${viewed.list()}, user_id
               from pix_transactions where id = requested.id limit 1) t on t.user_id = u.id`,
});

/**
 * Reads a transaction of a caller, in one read with the check of the banking session.
 * @returns null when the caller has no such transaction.
 * @throws AppError UNAUTHENTICATED when the session of the token is not active.
 */
export async function viewTransaction(
  { db, clock }: Pick<LocalContext, 'db' | 'clock'>,
  { sessionId, userId }: VerifiedToken,
  id: string,
): Promise<PixView | null> {
  const [row] = await db.query(findView, { sessionId, userId, now: clock.now(), id });
  if (!row) throw new AppError('UNAUTHENTICATED');
  return row.id === null ? null : row;
}

/**
 * A condition that holds for the transaction `t` if it is a received Pix that has completed a
 * charge of its user: lists show the charge only. The charge is a scalar subquery, because for
 * `exists` the planner reads the whole table.
 */
export const isAlsoCharge = `(operation = 'RECEIVED' and
                 (select charge.user_id from pix_transactions charge
                   where charge.end_to_end = t.end_to_end and charge.operation = 'CHARGE')
                 is not distinct from t.user_id)`;

/**
 * The owner of a key that the transaction `t` pays, or that the refunded one has paid. A subquery,
 * because for a join the planner may read the whole table.
 */
export const paidOwner = `case when t.operation = 'REFUND_IN'
                 then (select original.payee from pix_transactions original
                        where original.id = t.original_id)
                 else t.payee end`;

/** The end-to-end id of the transaction that the refund `t` refunds. */
export const originalEndToEnd = `(select original.end_to_end from pix_transactions original
             where original.id = t.original_id)`;

const listed = columnsOf(
  'pix_transactions',
  'id, operation, amount, status, pixKey, providerTxid, originalId, endToEnd, description',
);

/**
 * The transactions of a user in a period, newest first. A statement may have a thousand rows: their
 * times are formatted by the database.
 */
const listOfUser = statement({
  name: 'pix-list',
  parameters: { userId: 'int', from: 'timestamptz', until: 'timestamptz', limit: 'int' },
  text: ({ userId, from, until, limit }) => sql<ListedTransaction>`
    select ${listed.select()}, ${paidOwner} as payee,
           ${originalEndToEnd} as "originalEndToEnd",
           to_char(t.created_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as "createdAt"
      from pix_transactions t
     where user_id = ${userId} and created_at >= ${from} and created_at < ${until}
       and amount is not null and not ${isAlsoCharge}
     order by created_at desc, id desc limit ${limit}`,
});

/** A transaction in the statement of its user. */
export interface ListedTransaction extends RowOf<typeof listed> {
  /** In reais, as a decimal. */
  readonly amount: string;
  /** Of a refund, whose own end-to-end id is its return id: that of what it refunds. */
  readonly originalEndToEnd: string | null;
  /** See {@link paidOwner}. */
  readonly payee: ShownOwner | null;
  /** In ISO 8601, UTC, with milliseconds. */
  readonly createdAt: string;
}

/**
 * @param period its start is included, its end is not.
 * @returns the transactions of a user in a period, newest first, up to the limit.
 */
export function listTransactions(
  { db }: Pick<LocalContext, 'db'>,
  userId: number,
  { from, until, limit }: { readonly from: Date; readonly until: Date; readonly limit: number },
): Promise<ListedTransaction[]> {
  return db.query(listOfUser, { userId, from, until, limit });
}

/**
 * Adds an anomaly to a timeline, once for each event and reason.
 */
const storeAnomaly = batchedStatement({
  name: 'pix-anomaly',
  parameters: { id: 'uuid', now: 'timestamptz', eventId: 'uuid null', reason: 'text' },
  batching: { conflictKey: 'id' },
  text: (requested) => sql`
    with requested as (
      select * from ${requested}
    ), noted as (
      insert into pix_timeline (transaction_id, phase, at, event_id, note)
      select requested.id, 'ANOMALY', requested.now, requested.event_id, requested.reason
        from requested
       where not exists (select from pix_timeline
                          where transaction_id = requested.id and phase = 'ANOMALY'
                            and event_id is not distinct from requested.event_id
                            and note = requested.reason)
      returning transaction_id
    )
    select ordinal from requested join noted on transaction_id = requested.id`,
});

/** A contradiction of a transaction. */
export interface Anomaly {
  readonly transactionId: string;
  /** The event that contradicts it; null for another source. */
  readonly eventId: string | null;
  /** A fixed word. */
  readonly reason: string;
}

/**
 * Notes an anomaly on a transaction, once for an event and a reason; the transaction keeps its
 * phase.
 * @returns whether it is new.
 */
export async function noteAnomaly(
  { db, clock }: Pick<LocalContext, 'db' | 'clock'>,
  { transactionId, eventId, reason }: Anomaly,
): Promise<boolean> {
  const noted = await db.query(storeAnomaly, {
    id: transactionId,
    now: clock.now(),
    eventId,
    reason,
  });
  return noted.length > 0;
}

/** @public For the tests of plans and of the simulation. */
export const transactionStatements = {
  takeOver,
  findTransaction,
  findView,
  listOfUser,
  storeAnomaly,
};
