import type { AccountStatus } from '../../domain/account.ts';
import type { Statement } from '../database.ts';

export interface PrincipalRow {
  readonly sealed_token: Buffer;
  readonly name: string;
  readonly email: string;
  readonly user_document: string | null;
  readonly person_type: string | null;
  readonly phone: string | null;
  readonly account_id: number | null;
  readonly provider: string;
  readonly agency: string | null;
  readonly account_number: string | null;
  readonly account_document: string | null;
  readonly account_status: AccountStatus;
  readonly provider_company_id: string | null;
  readonly balance: string | null;
}

/**
 * The end of a join: the sessions that are asked for by id, user and time, as far as they are
 * active, and their users. They are found by their ids alone, whatever else the planner knows of
 * active ones.
 */
export const activeSessions = `
      lateral (select * from banking_sessions where id = asked.session_id limit 1) s
          on s.user_id = asked.user_id and s.status = 'ACTIVE'
         and (s.token_expires_at is null or s.token_expires_at > asked.now)
        join users u on u.id = s.user_id and u.status = 'ACTIVE'`;

/**
 * The active banking session of a token with its user and account, in one indexed read.
 * Parameters, grouped: session id, user id, now.
 */
export const findPrincipal: Statement = {
  name: 'find-principal',
  grouping: { pair: 'principals' },
  text: `
    select asked.place, s.sealed_token,
           u.name, u.email, u.document as user_document, u.person_type, u.phone,
           a.id as account_id, a.provider, a.agency, a.account_number,
           a.document as account_document, a.status as account_status,
           a.provider_company_id, a.balance
      from unnest($1::uuid[], $2::int[], $3::timestamptz[])
           with ordinality as asked (session_id, user_id, now, place)
      join ${activeSessions}
      left join accounts a on a.user_id = u.id`,
};
