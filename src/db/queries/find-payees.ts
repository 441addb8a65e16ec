import type { Statement } from '../database.ts';

/** An account that a received PIX names by an identifier. */
export interface PayeeRow {
  readonly user_id: number;
  /** Every identifier agrees, and one of them is proof enough. */
  readonly agrees: boolean;
}

/**
 * The accounts that a received PIX names by any identifier, those first that every identifier
 * agrees with; no more than two, which says that it is not clear which. Proof enough is the agency
 * together with the account number, the holder's document, which may also be the key, or a key that
 * the provider has listed for the account. What a person typed at registration is no proof.
 * Parameters: document, agency, account number, PIX key as the directory stores it, whether local
 * accounts count.
 */
export const findPayees: Statement = {
  name: 'find-payees',
  text: `
    with named as (
      select a.user_id, a.agency, a.account_number, a.document,
             (a.document = $4 or a.pix_keys @> array[$4::text]) is true as has_key
        from accounts a
       where (a.document in ($1, $4) or a.account_number = $3 or a.pix_keys @> array[$4::text])
         and (a.provider = 'provider' or $5)
    )
    select user_id,
           ($1::text is null or document = $1) is true
           and ($2::text is null or agency = $2) is true
           and ($3::text is null or account_number = $3) is true
           and ($4::text is null or has_key)
           and ($1 is not null or $2 is not null and $3 is not null or has_key) as agrees
      from named
     where document = $1 or has_key or account_number = $3 and ($2 is null or agency = $2)
     order by agrees desc limit 2`,
};
