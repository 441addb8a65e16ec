import type { Statement } from '../database.ts';

export interface PayeeRow {
  readonly user_id: number;
}

/**
 * The users that a received PIX may be for; two rows say that it is not clear which.
 * Parameters: document, account number, PIX key.
 */
export const findPayees: Statement = {
  name: 'find-payees',
  text: `
    select a.user_id from accounts a join users u on u.id = a.user_id
     where a.document in ($1, $3) or a.account_number = $2
        or lower(u.email) = lower($3) or u.phone = $3
     group by a.user_id limit 2`,
};
