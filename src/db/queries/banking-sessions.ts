import type { Statement } from '../database.ts';

/**
 * Renews the one active session of a user, or opens it, if the user is active and still has the
 * password hash that was checked. The lock on the user makes a change of either wait for this
 * statement, or this statement for the change. The address that the user logs in from is known from
 * then on.
 * Parameters: new id, user id, sealed token, token's end, now, checked password hash, keyed digest
 * of the address. Answers the session's id; no row when the user or the hash has changed.
 */
export const renewSession: Statement = {
  name: 'renew-session',
  text: `
    with owner as (
      select id from users
       where id = $2 and status = 'ACTIVE' and password_hash = $6 for share
    ), known as (
      insert into login_addresses (user_id, address_digest, last_login_at)
      select owner.id, $7, $5 from owner
          on conflict (user_id, address_digest)
          do update set last_login_at = excluded.last_login_at
    )
    insert into banking_sessions
           (id, user_id, status, sealed_token, token_expires_at, created_at, renewed_at)
    select $1, owner.id, 'ACTIVE', $3, $4, $5, $5 from owner
        on conflict (user_id) where status = 'ACTIVE'
        do update set sealed_token = excluded.sealed_token,
                      token_expires_at = excluded.token_expires_at,
                      renewed_at = excluded.renewed_at
    returning id`,
};

/** Ends a session and destroys its token. Parameters: session id, user id, now. */
export const endSession: Statement = {
  name: 'end-session',
  text: `
    update banking_sessions set status = 'ENDED', sealed_token = null, ended_at = $3
     where id = $1 and user_id = $2 and status = 'ACTIVE'`,
};

/**
 * Marks a session expired, unless its token has been renewed since.
 * Parameters: session id, the sealed token that was refused, now.
 */
export const expireSession: Statement = {
  name: 'expire-session',
  text: `
    update banking_sessions set status = 'EXPIRED', sealed_token = null, ended_at = $3
     where id = $1 and status = 'ACTIVE' and sealed_token = $2`,
};

/** The sealed token of an active session. Parameters: session id. */
export const sealedToken: Statement = {
  name: 'sealed-token',
  text: `select sealed_token from banking_sessions where id = $1 and status = 'ACTIVE'`,
};
