/** Orders whose outcome the provider's responses leave open, by the responses they wait for. */
import type { StoredSession } from '../auth/banking-sessions.ts';
import { isActiveSession } from '../auth/session-repository.ts';
import type { LocalContext } from '../context/context.ts';
import { columnsOf, type RowOf } from '../db/rows.ts';
import { isOneOf, sql, statement } from '../db/statement.ts';
import { orderTypes, type OrderType } from '../domain/pix.ts';
import {
  hasResponse,
  isAccountedFor,
  isRefusal,
  wasNotSent,
} from '../ledger/attempt-repository.ts';
import { isUnsettled, openTransactions } from '../ledger/pix-transaction-repository.ts';
import { sessionColumns, toSession, type SessionColumns } from '../ledger/sweep-repository.ts';

/** A condition: the transaction `t` is an order whose outcome the responses leave open. */
const isUnknown = `${isUnsettled('t')} and ${isOneOf('t.operation', orderTypes)}
         and t.phase = 'UNKNOWN'`;

/** The results of attempts of open sends that are not accounted for: table expressions. */
const responses = `
    from ${openTransactions}
    join pix_timeline response on response.transaction_id = t.id
     and ${hasResponse('response')}
   where ${isUnknown} and not ${wasNotSent('response')}`;

/** A response to an attempt at a payment, with the open sends that wait for its meaning. */
export interface UnknownResponse {
  /** Null without a complete response. */
  readonly httpStatus: number | null;
  /** The class of the response, such as `4xx` or `timeout`; null: no process knows it. */
  readonly providerStatus: string | null;
  readonly code: string | null;
  readonly payments: number;
  readonly oldestAt: Date;
  /** The oldest of them, at most `shown`. */
  readonly transactionIds: readonly string[];
}

const findResponses = statement({
  name: 'unknown-answers',
  parameters: { codes: 'text[]', shown: 'int', limit: 'int' },
  text: ({ codes, shown, limit }) => sql<UnknownResponse>`
    select response.http_status as "httpStatus", response.provider_status as "providerStatus",
           response.provider_code as code, count(distinct t.id)::int as payments,
           min(t.created_at) as "oldestAt",
           (array_agg(distinct t.id))[1:${shown}] as "transactionIds"
    ${responses} and not ${isRefusal('response', codes)}
     group by 1, 2, 3 order by payments desc, "oldestAt" limit ${limit}`,
});

/** @returns the responses without a listed code, those with the most open sends first. */
export function findUnknownResponses(
  { db, dialects }: Pick<LocalContext, 'db' | 'dialects'>,
  { shown, limit }: { readonly shown: number; readonly limit: number },
): Promise<UnknownResponse[]> {
  return db.query(findResponses, { codes: [...dialects.refusals.keys()], shown, limit });
}

const countCodes = statement({
  name: 'unknown-codes-count',
  parameters: { codes: 'text[]' },
  text: ({ codes }) => sql<{ payments: number }>`
    select count(distinct t.id)::int as payments
    ${responses} and response.provider_code <> all(${codes})`,
});

/** @returns the number of open sends that wait for a code that is not listed. */
export async function countUnlisted({
  db,
  dialects,
}: Pick<LocalContext, 'db' | 'dialects'>): Promise<number> {
  const codes = [...dialects.refusals.keys()];
  const [row] = await db.query(countCodes, { codes });
  return row?.payments ?? 0;
}

const ofOrder = columnsOf(
  'pix_transactions',
  `id, operation, userId, idempotencyKey, amount, endToEnd, providerTxid,
   transactionIdentification, createdAt`,
);

interface OrderRow extends RowOf<typeof ofOrder> {
  readonly amount: string;
  readonly operation: OrderType;
  readonly endToEnd: string;
  /** Since when its outcome has been unknown. */
  readonly unknownSince: Date;
  /** The last code; null: no attempt was sent. */
  readonly code: string | null;
}

type RefusedRow = OrderRow & SessionColumns;

/** Ids are in the order of time. */
const findRefused = statement({
  name: 'unknown-refused',
  parameters: { codes: 'text[]', after: 'uuid', now: 'timestamptz', limit: 'int' },
  text: ({ codes, after, now, limit }) => sql<RefusedRow>`
    select ${ofOrder.select('t')}, last.code,
           coalesce(unknown.since, t.created_at) as "unknownSince", ${sessionColumns}
      from ${openTransactions}
      left join lateral (select provider_code as code from pix_timeline
                          where transaction_id = t.id and provider_code = any(${codes})
                          order by id desc limit 1) last on true
      left join lateral (select max(at) as since from pix_timeline
                          where transaction_id = t.id and phase = 'UNKNOWN') unknown on true
      left join banking_sessions s on s.user_id = t.user_id and ${isActiveSession('s', now)}
     where ${isUnknown} and t.id > ${after}
       and ${isAccountedFor('t', codes)}
     order by t.id limit ${limit}`,
});

/** An open order each of whose attempts was refused with one of the codes, or was not sent. */
export interface RefusedOrder extends OrderRow {
  /** The active banking session of its user, or null. */
  readonly session: StoredSession | null;
}

/**
 * @param search the codes that mean "not executed", and the last id of the page before.
 * @returns the open orders that the codes account for, the oldest first.
 */
export async function findRefusedOrders(
  { db, clock }: Pick<LocalContext, 'db' | 'clock'>,
  search: { readonly codes: readonly string[]; readonly after: string; readonly limit: number },
): Promise<RefusedOrder[]> {
  const rows = await db.query(findRefused, {
    codes: search.codes,
    after: search.after,
    now: clock.now(),
    limit: search.limit,
  });
  return rows.map(toRefused);
}

function toRefused({ sessionId, sealedToken, ...order }: RefusedRow): RefusedOrder {
  const session = toSession({ sessionId, userId: order.userId, sealedToken });
  return { ...order, session };
}

/** @public For the tests of plans. */
export const unknownStatements = { findResponses, countCodes, findRefused };
