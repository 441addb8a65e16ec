/** The statements of a login at the reference server. */
import type { Statement } from './database.ts';

/** Parameters: e-mail. */
export const findUser: Statement = {
  name: 'user',
  text: `select id, password_hash from users where lower(email) = $1 and status = 'ACTIVE'`,
};

/** Counts an attempt in the current minute. Parameters: key. */
export const countAttempt: Statement = {
  name: 'count-attempt',
  text: `
    insert into throttle_counters as t (key, window_started_at, attempts) values ($1, now(), 1)
        on conflict (key) do update
       set attempts = case when t.window_started_at <= now() - interval '1 minute'
                           then 1 else t.attempts + 1 end,
           window_started_at = case when t.window_started_at <= now() - interval '1 minute'
                                    then now() else t.window_started_at end
    returning attempts`,
};

/** Parameters: key. */
export const readAttempts: Statement = {
  name: 'read-attempts',
  text: `
    select attempts from throttle_counters
     where key = $1 and window_started_at > now() - interval '1 minute'`,
};

/** Parameters: user id, agency, account number, document. */
export const keepAccount: Statement = {
  name: 'keep-account',
  text: `
    insert into accounts (user_id, provider, agency, account_number, document, status, created_at,
           updated_at)
    values ($1, 'provider', $2, $3, $4, 'ACTIVE', now(), now())
        on conflict (user_id) do update
       set agency = excluded.agency, account_number = excluded.account_number,
           document = excluded.document, updated_at = now()`,
};

/** Parameters: new id, user id, sealed token. */
export const renewSession: Statement = {
  name: 'renew-session',
  text: `
    insert into banking_sessions (id, user_id, status, sealed_token, created_at, renewed_at)
    values ($1, $2, 'ACTIVE', $3, now(), now())
        on conflict (user_id) where status = 'ACTIVE'
        do update set sealed_token = excluded.sealed_token, renewed_at = now()
    returning id`,
};
