/** The statements of the reference server: named, so that each connection prepares them once. */
import pg from 'pg';

export interface Statement {
  readonly name: string;
  readonly text: string;
}

export type Query = <Row extends pg.QueryResultRow>(
  statement: Statement,
  values: readonly unknown[],
) => Promise<Row[]>;

export function openPool(connectionString: string): { query: Query; close(): Promise<void> } {
  const pool = new pg.Pool({ connectionString, max: 10 });
  return {
    query: async (statement, values) =>
      (await pool.query({ ...statement, values: [...values] })).rows,
    close: () => pool.end(),
  };
}

/** Parameters: session id, user id. */
export const findPrincipal: Statement = {
  name: 'principal',
  text: `
    select s.id as session_id, s.sealed_token, u.id as user_id, u.document as user_document,
           a.id as account_id, a.agency, a.account_number, a.document as account_document,
           a.balance
      from banking_sessions s
      join users u on u.id = s.user_id
      left join accounts a on a.user_id = u.id
     where s.id = $1 and s.user_id = $2 and s.status = 'ACTIVE' and u.status = 'ACTIVE'
       and (s.token_expires_at is null or s.token_expires_at > now())`,
};

const columns = 'id, status, phase, outcome, end_to_end, fingerprint, qr_code, copy_paste';

/** Parameters: id, user id. */
export const findTransaction: Statement = {
  name: 'find',
  text: `select ${columns} from pix_transactions where id = $1 and user_id = $2`,
};

/** Parameters: user id, key. */
export const findByKey: Statement = {
  name: 'find-by-key',
  text: `
    select ${columns} from pix_transactions
     where user_id = $1 and operation = 'SEND' and idempotency_key = $2`,
};

/** Parameters: id, user id, key, fingerprint, amount, pix key, description. */
export const reserve: Statement = {
  name: 'reserve',
  text: `
    with reserved as (
      insert into pix_transactions
             (id, user_id, operation, idempotency_key, fingerprint, status, phase, amount, pix_key,
              description, created_at, updated_at)
      values ($1, $2, 'SEND', $3, $4, 'PROCESSING', 'RESERVED', $5, $6, $7, now(), now())
          on conflict (user_id, operation, idempotency_key) do nothing
      returning id
    ), noted as (
      insert into pix_timeline (transaction_id, phase, at)
      select id, 'RESERVED', now() from reserved
    )
    select id from reserved`,
};

/** Parameters: id, end to end. */
export const beginPaying: Statement = {
  name: 'begin-paying',
  text: `
    with moved as (
      update pix_transactions set phase = 'PAYING', end_to_end = $2, updated_at = now()
       where id = $1 and phase = 'RESERVED'
      returning id
    ), noted as (
      insert into pix_timeline (transaction_id, phase, at, attempt)
      select id, phase, now(), attempt
        from moved, (values ('RESOLVED', null), ('PAYING', 1)) as entry (phase, attempt)
    )
    select id from moved`,
};

/** Parameters: id, phase, outcome, provider's id. */
export const recordOutcome: Statement = {
  name: 'record',
  text: `
    with moved as (
      update pix_transactions
         set phase = $2, outcome = $3, provider_txid = $4, updated_at = now()
       where id = $1 and phase in ('PAYING', 'UNKNOWN')
      returning ${columns}
    ), noted as (
      insert into pix_timeline (transaction_id, phase, at) select id, phase, now() from moved
    )
    select ${columns} from moved`,
};

/** A look-up that failed: nothing was sent. Parameters: id. */
export const recordNotSent: Statement = {
  name: 'record-not-sent',
  text: `
    with moved as (
      update pix_transactions
         set phase = 'SETTLED', status = 'FAILED', outcome = 'not_sent', updated_at = now(),
             settled_at = now()
       where id = $1 and phase = 'RESERVED'
      returning id
    ), noted as (
      insert into pix_timeline (transaction_id, phase, at) select id, 'SETTLED', now() from moved
    )
    select id from moved`,
};

/** Parameters: account id, balance. */
export const keepBalance: Statement = {
  name: 'keep-balance',
  text: 'update accounts set balance = $2, balance_read_at = now() where id = $1',
};
