/** The accounts that a received Pix names as its payee. */
import { isKnownToProvider } from '../accounts/payer-account.ts';
import { batchedStatement, sql } from '../db/statement.ts';

/** An account that a received Pix names by an identifier. */
export interface PayeeRow {
  readonly userId: number;
  /** Whether the key of the Pix, if it names one, is known to belong to the account. */
  readonly hasKey: boolean;
  /** Whether every identifier agrees and at least one is sufficient proof. */
  readonly agrees: boolean;
}

/** A condition: two numbers of accounts are the same but for leading zeros. */
function isSameNumber(one: string, other: string): string {
  return `ltrim(${one}, '0') = ltrim(${other}, '0')`;
}

/** A condition: two agencies are the same; the first may have its digit after a hyphen. */
function isSameAgency(one: string, other: string): string {
  return `(${isSameNumber(one, other)} or ltrim(${one}, '0') like ltrim(${other}, '0') || '-_')`;
}

/**
 * The accounts that a received Pix names by any identifier. Accounts that agree with every
 * identifier come first. At most two are returned: two mean that the account is ambiguous.
 * Sufficient proof is the agency with the account number, the holder's document, which may also be
 * the key, or a key that the provider has listed for the account. Data typed at registration is no
 * proof.
 */
export const findPayees = batchedStatement({
  name: 'find-payees',
  parameters: {
    document: 'text null',
    documentPattern: 'text null',
    agency: 'text null',
    accountNumber: 'text null',
    pixKey: 'text null',
    countsLocal: 'boolean',
  },
  batching: {},
  text: (requested) => sql<PayeeRow>`
    select ordinal, payee.*
      from ${requested},
           lateral (
             select user_id as "userId", has_key as "hasKey",
                    (requested.document is null or named.document = requested.document) is true
                    and (named.document like requested.document_pattern) is not false
                    and (requested.agency is null
                         or ${isSameAgency('named.agency', 'requested.agency')}) is true
                    and (requested.account_number is null
                         or ${isSameNumber('named.account_number', 'requested.account_number')}
                        ) is true
                    and (requested.pix_key is null or has_key)
                    and (requested.document is not null
                         or requested.agency is not null and requested.account_number is not null
                         or has_key) as agrees
               from (select a.user_id, a.agency, a.account_number, a.document,
                            (a.document = requested.pix_key
                             or a.pix_keys @> array[requested.pix_key]) is true as has_key
                       from accounts a
                      where (a.document in (requested.document, requested.pix_key)
                             or a.account_number = requested.account_number
                             or a.pix_keys @> array[requested.pix_key])
                        and ${isKnownToProvider('a.provider', 'requested.counts_local')}) named
              where named.document = requested.document or has_key
                 or named.account_number = requested.account_number
                    and (requested.agency is null
                         or ${isSameAgency('named.agency', 'requested.agency')})
              order by agrees desc limit 2) payee
     order by ordinal, agrees desc`,
});
