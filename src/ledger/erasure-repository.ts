/**
 * The removal of what identifies a person from transactions. The amounts, the times and the ids of
 * payments stay.
 */
import type { LocalContext } from '../context/context.ts';
import { sql, statement } from '../db/statement.ts';

/** In the place of a value that the schema or a check requires. */
export const erasedToken = 'erased';

/** The key of a payee stays, unless it is the person's own. */
const eraseOwn = statement({
  name: 'ops-subject-erase-transactions',
  parameters: { userId: 'int', values: 'text[]' },
  text: ({ userId, values }) => sql`
    update pix_transactions
       set description = null,
           pix_key = case when operation <> 'SEND' or pix_key = any(${values})
                          then case when pix_key is not null then '${erasedToken}' end
                          else pix_key end,
           payee = case when operation <> 'SEND' or pix_key = any(${values})
                        then null else payee end,
           qr_code = case when qr_code is not null then '${erasedToken}' end,
           copy_paste = case when copy_paste is not null then '${erasedToken}' end
     where user_id = ${userId}`,
});

/**
 * Other customers have paid the person: the key goes, as the end-to-end id is enough to find the
 * payment; the name of the payee stays, as the payer's proof. An open payment needs the key.
 */
const eraseKeys = statement({
  name: 'ops-subject-erase-paidByOthers',
  parameters: { ids: 'uuid[]' },
  text: ({ ids }) => sql`
    update pix_transactions set pix_key = '${erasedToken}'
     where id = any(${ids}) and status <> 'PROCESSING'`,
});

const forget = statement({
  name: 'pix-forget-payee',
  parameters: { id: 'uuid' },
  text: ({ id }) => sql`
    update pix_transactions set payee = null
     where id = ${id} and status = 'FAILED' and outcome = 'not_sent'`,
});

/**
 * Removes the payee of a send that never left and whose payer has not confirmed who is paid:
 * otherwise sends that are not made would read the directory.
 */
export async function forgetPayee({ db }: Pick<LocalContext, 'db'>, id: string): Promise<void> {
  await db.query(forget, { id });
}

/** What is erased of transactions. */
export interface TransactionErasure {
  readonly userId: number;
  /** The person's Pix keys, e-mail, document and phone. */
  readonly values: readonly string[];
  /** The transactions of other users that have one of the values as their key. */
  readonly paidByOthers: readonly string[];
}

/** Removes what identifies a person from the own transactions and from those of payers. */
export async function eraseTransactions(
  { db }: Pick<LocalContext, 'db'>,
  { userId, values, paidByOthers }: TransactionErasure,
): Promise<void> {
  await db.query(eraseOwn, { userId, values });
  await db.query(eraseKeys, { ids: paidByOthers });
}
