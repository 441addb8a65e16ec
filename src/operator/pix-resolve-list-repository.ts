/** Finds the orders that only the bank can end, and those that a list of the bank names. */
import type { LocalContext } from '../context/context.ts';
import { columnsOf, type RowOf } from '../db/rows.ts';
import { isOneOf, sql, statement } from '../db/statement.ts';
import { isUuid } from '../domain/text.ts';
import { orderTypes, type OrderType } from '../domain/pix.ts';
import { isUnsettled, openTransactions } from '../ledger/pix-transaction-repository.ts';

const named = columnsOf('pix_transactions', 'id, endToEnd, status');

export type NamedPix = RowOf<typeof named>;

const findNamed = statement({
  name: 'pix-resolve-named',
  parameters: { ids: 'uuid[]', endToEnds: 'text[]' },
  text: ({ ids, endToEnds }) => sql<NamedPix>`
    select ${named.select()} from pix_transactions where id = any(${ids})
    union
    select ${named.list()} from pix_transactions
     where end_to_end = any(${endToEnds}) and ${isOneOf('operation', orderTypes)}`,
});

/** @returns the transactions with one of the names: an id, or the end-to-end id of an order. */
export async function findNamedPix(
  { db }: Pick<LocalContext, 'db'>,
  names: readonly string[],
): Promise<ReadonlyMap<string, NamedPix>> {
  const rows = await db.query(findNamed, { ids: names.filter(isUuid), endToEnds: names });
  return new Map([
    ...rows.map((row) => [row.endToEnd ?? '', row] as const),
    ...rows.map((row) => [row.id, row] as const),
  ]);
}

const ofOrder = columnsOf(
  'pix_transactions',
  'id, userId, operation, idempotencyKey, phase, amount, endToEnd, createdAt',
);
const ofAccount = columnsOf('accounts', 'agency, accountNumber');

export interface OrderForBank extends RowOf<typeof ofOrder>, RowOf<typeof ofAccount> {
  readonly operation: OrderType;
  readonly amount: string;
  readonly endToEnd: string;
  /** When its last attempt was announced. */
  readonly attemptedAt: Date;
}

/** Ids are in the order of time. */
const findForBank = statement({
  name: 'pix-for-the-bank',
  parameters: { attemptedUntil: 'timestamptz', after: 'uuid', limit: 'int' },
  text: ({ attemptedUntil, after, limit }) => sql<OrderForBank>`
    select ${ofOrder.select('t')}, ${ofAccount.select('a')}, last.attempted_at as "attemptedAt"
      from ${openTransactions}
      join lateral (select coalesce(max(at), t.created_at) as attempted_at from pix_timeline
                     where transaction_id = t.id and phase = 'PAYING') last on true
      left join accounts a on a.user_id = t.user_id
     where ${isUnsettled('t')} and ${isOneOf('t.operation', orderTypes)}
       and t.phase in ('ACCEPTED', 'UNKNOWN') and t.id > ${after}
       and last.attempted_at <= ${attemptedUntil}
     order by t.id limit ${limit}`,
});

/**
 * @param search the time of the last attempt, and the last id of the page before.
 * @returns orders of an unknown end, the oldest first.
 */
export function findOrdersForBank(
  { db }: Pick<LocalContext, 'db'>,
  search: { readonly attemptedUntil: Date; readonly after: string; readonly limit: number },
): Promise<OrderForBank[]> {
  return db.query(findForBank, search);
}

/** @public For the tests of plans. */
export const resolveListStatements = { findNamed, findForBank };
