/**
 * Reads a user's past transactions: pages of a list, and the content of a receipt. The statements
 * are SQL, because each also checks the banking session.
 */
import type { VerifiedToken } from '../process/access-tokens.ts';
import { accountDocument, activeSessions } from '../auth/session-repository.ts';
import type { LocalContext } from '../context/context.ts';
import { columnsOf, type RowOf } from '../db/rows.ts';
import { sql, statement } from '../db/statement.ts';
import type { PixPosition } from '../domain/pix-cursor.ts';
import type { PixType, PixStatus } from '../domain/pix.ts';
import { AppError } from '../errors.ts';
import type { ShownOwner } from '../domain/key-owner.ts';
import { isAlsoCharge, originalEndToEnd, paidOwner } from './pix-transaction-repository.ts';

type Store = Pick<LocalContext, 'db' | 'clock'>;

/** The most transactions that a page examines, whether or not they match its filters. */
const maxExamined = 1_000;

/** A page ends with the charge whose code brings the codes to this size, in bytes. */
const maxCodeBytes = 1_048_576;

/** The caller's session, at the start of a statement. */
function requestedSession(by: {
  readonly sessionId: string;
  readonly userId: string;
  readonly now: string;
}): string {
  return `
      from (values (${by.sessionId}, ${by.userId}, ${by.now}))
             as requested (session_id, user_id, now)
      join ${activeSessions}`;
}

const listed = columnsOf(
  'pix_transactions',
  `id, operation, status, outcome, amount, createdAt, qrCode, copyPaste, expiresAt, originalId,
   pixKey, description, endToEnd, correctedAt, paidAgainBy, overruledAt, heldAt,
   failureCode`,
);

/** A transaction in a list. */
export interface PageItem extends RowOf<typeof listed> {
  /** In reais, as a decimal. */
  readonly amount: string;
  /** See {@link paidOwner}. */
  readonly payee: ShownOwner | null;
  /** Of a refund: that of the transaction that it refunds. */
  readonly originalEndToEnd: string | null;
}

interface PageRow extends PageItem {
  readonly isListed: boolean;
  readonly isStop: boolean;
}

/**
 * A page of a user's transactions before a position, newest first. No row: the session is not
 * active.
 *
 * It reads the index of the user's transactions from the position on, and stops at a full page, or
 * after some transactions and some bytes of codes: a filter that finds one transaction in 300,000
 * thus costs no more than one that finds every one. The last row of a page that was stopped has
 * `isStop`, and may be one that the filter excludes.
 */
const pageOfUser = statement({
  name: 'pix-page',
  parameters: {
    sessionId: 'uuid',
    userId: 'int',
    now: 'timestamptz',
    from: 'timestamptz',
    beforeAt: 'timestamptz',
    beforeId: 'uuid',
    operation: 'text null',
    status: 'text null',
    limit: 'int',
  },
  text: ({ from, beforeAt, beforeId, operation, status, limit, ...session }) => sql<
    PageRow | { readonly id: null }
  >`
    select ${listed.select('t')}, t.is_listed as "isListed", t.is_stop as "isStop",
           ${paidOwner} as payee, ${originalEndToEnd} as "originalEndToEnd"
      ${requestedSession(session)}
      left join lateral (
             select *
               from (select *, sum(code_bytes) over newest - code_bytes < ${maxCodeBytes} as fits,
                            row_number() over newest = ${maxExamined}
                              or sum(code_bytes) over newest >= ${maxCodeBytes} as is_stop
                       from (select *, case when is_listed
                                         then coalesce(octet_length(qr_code), 0)
                                            + coalesce(octet_length(copy_paste), 0)
                                         else 0 end as code_bytes
                               from (select ${listed.list()}, payee,
                                            (${operation} is null or operation = ${operation})
                                              and (${status} is null or status = ${status})
                                              and amount is not null
                                              and not ${isAlsoCharge} as is_listed
                                       from pix_transactions t
                                      where user_id = u.id and created_at >= ${from}
                                        and (created_at, id) < (${beforeAt}, ${beforeId})
                                      order by created_at desc, id desc
                                      limit ${maxExamined}) examined) measured
                     window newest as (order by created_at desc, id desc rows unbounded preceding)
                    ) marked
              where fits and (is_listed or is_stop)
              order by created_at desc, id desc limit ${limit}) t on true
     order by t.created_at desc, t.id desc`,
});

/** The filters of a page, and where it begins. */
export interface PageRequest {
  /** Null: every one. */
  readonly operation: PixType | null;
  /** Null: every one. */
  readonly status: PixStatus | null;
  /** The earliest time, included. */
  readonly from: Date;
  /** The page shows what is before it: earlier, or of its time with a smaller id. */
  readonly before: PixPosition;
  /** The most items. */
  readonly limit: number;
}

export interface Page {
  /** Newest first. It may be empty although the list continues. */
  readonly items: readonly PageItem[];
  /** Where the list continues; null at its end. */
  readonly next: PixPosition | null;
}

/**
 * Reads a page of a caller's transactions, in one read with the check of the banking session.
 * @throws AppError UNAUTHENTICATED when the session of the token is not active.
 */
export async function readPage(
  { db, clock }: Store,
  { sessionId, userId }: VerifiedToken,
  { operation, status, from, before, limit }: PageRequest,
): Promise<Page> {
  const rows = await db.query(pageOfUser, {
    sessionId,
    userId,
    now: clock.now(),
    from,
    beforeAt: before.createdAt,
    beforeId: before.id,
    operation,
    status,
    // One more row shows that the list continues.
    limit: limit + 1,
  });
  if (rows.length === 0) throw new AppError('UNAUTHENTICATED');
  const found = rows.filter((row) => row.id !== null);
  const page = found.slice(0, limit);
  const last = page.at(-1);
  const goesOn = found.length > limit || last?.isStop;
  return {
    items: page.filter(({ isListed }) => isListed),
    next: last && goesOn ? { createdAt: last.createdAt, id: last.id } : null,
  };
}

const ofReceipt = columnsOf(
  'pix_transactions',
  `id, operation, status, amount, pixKey, description, endToEnd, failureCode, createdAt, settledAt,
   expiresAt, originalId, correctedAt, paidAgainBy, overruledAt`,
);

/** What has come in may be stored twice, as a Pix of its own and as the charge that it has paid. */
const refundedAmount = `case when t.operation in ('CHARGE', 'RECEIVED') and t.end_to_end is not null
                then (select sum(paid.refunded_amount) from pix_transactions paid
                       where paid.end_to_end = t.end_to_end and paid.user_id = t.user_id
                         and paid.operation in ('CHARGE', 'RECEIVED'))
                else t.refunded_amount end`;

/**
 * A transaction of the user of an active banking session, and the user's name, document and
 * account. No row: the session is not active. A row without an id: the user has no such
 * transaction.
 */
const findReceipt = statement({
  name: 'pix-receipt',
  parameters: { sessionId: 'uuid', userId: 'int', now: 'timestamptz', id: 'uuid' },
  indexed: true,
  text: ({ id, ...session }) => sql<ReceiptFacts | { readonly id: null }>`
    select ${ofReceipt.select('t')}, ${originalEndToEnd} as "originalEndToEnd",
           ${refundedAmount} as "refundedAmount", ${paidOwner} as payee,
           u.name, ${accountDocument} as document, a.provider
      ${requestedSession(session)}
      left join accounts a on a.user_id = u.id
      left join lateral (select * from pix_transactions where id = ${id} limit 1) t
             on t.user_id = u.id and t.amount is not null`,
});

/** The stored facts of a transaction and of its user. */
export interface ReceiptFacts extends RowOf<typeof ofReceipt> {
  /** In reais, as a decimal. */
  readonly amount: string;
  /** See {@link paidOwner}; null where it was not looked up. */
  readonly payee: ShownOwner | null;
  /** Of a refund, whose own end-to-end id is its return id: that of what it refunds. */
  readonly originalEndToEnd: string | null;
  /** What was returned of it, in reais, as a decimal; null: nothing. */
  readonly refundedAmount: string | null;
  /** The name of the user. */
  readonly name: string;
  /** The user's CPF or CNPJ, without punctuation. */
  readonly document: string | null;
  /** Who keeps the user's account: `provider` or `local`; null without an account. */
  readonly provider: string | null;
}

/**
 * Reads the content of a receipt of a caller, in one read with the check of the banking session.
 * @returns null when the caller has no such transaction.
 * @throws AppError UNAUTHENTICATED when the session of the token is not active.
 */
export async function readReceipt(
  { db, clock }: Store,
  { sessionId, userId }: VerifiedToken,
  id: string,
): Promise<ReceiptFacts | null> {
  const [row] = await db.query(findReceipt, { sessionId, userId, now: clock.now(), id });
  if (!row) throw new AppError('UNAUTHENTICATED');
  return row.id === null ? null : row;
}
