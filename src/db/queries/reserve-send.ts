import type { AccountStatus } from '../../domain/account.ts';
import type { Statement } from '../database.ts';
import { activeSessions } from './active-sessions.ts';
import { reservedFor, reserving, type ReservedRow } from './reserve-transaction.ts';

/** What a send needs of whoever pays. */
interface PayerColumns {
  readonly sealed_token: Buffer;
  readonly user_document: string | null;
  readonly account_provider: string;
  readonly agency: string | null;
  readonly account_number: string | null;
  readonly account_document: string | null;
  /** Null: there is no account. */
  readonly account_status: AccountStatus | null;
}

/** The payer, and what has the key now. */
export type ReservedSendRow = PayerColumns & ReservedRow;

const payerColumns: readonly (keyof PayerColumns)[] = [
  'sealed_token',
  'user_document',
  'account_provider',
  'agency',
  'account_number',
  'account_document',
  'account_status',
];

/** As in `accounts/payer-account.ts`. */
const mayPay = `
              account_status = 'ACTIVE' and (account_provider <> 'local' or names_local)
              and agency <> '' and account_number <> ''
              and coalesce(account_document, user_document) <> ''`;

/**
 * Claims the idempotency key of a send as `reserveTransaction` does, in the statement that checks
 * the banking session and the account. No row: the session is not active, and nothing is claimed.
 * Parameters, batched: session id, user id, now, id, key, fingerprint, amount, pix key,
 * description, claimed until, whether a local account may be named to the provider.
 */
export const reserveSend: Statement = {
  name: 'pix-reserve-send',
  batching: { lane: 'sends', lockOrder: [5, 2] },
  text: `
    with payer as (
      select requested.*, 'SEND' as operation, null as transaction_identification, s.sealed_token,
             u.document as user_document, a.provider as account_provider, a.agency,
             a.account_number, a.document as account_document, a.status as account_status
        from unnest($1::uuid[], $2::int[], $3::timestamptz[], $4::uuid[], $5::text[], $6::bytea[],
                    $7::numeric[], $8::text[], $9::text[], $10::timestamptz[],
                    $11::boolean[])
             with ordinality as requested (session_id, user_id, now, id, idempotency_key,
               fingerprint, amount, pix_key, description, claimed_until, names_local, ordinal)
        join ${activeSessions}
        left join accounts a on a.user_id = u.id
    ), ${reserving(`payer where ${mayPay}`)}
    ${reservedFor('payer', payerColumns)}`,
};
