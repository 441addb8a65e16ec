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

export interface Pool {
  readonly query: Query;
  /** Runs statements in one transaction. */
  transaction<T>(work: (query: Query) => Promise<T>): Promise<T>;
  close(): Promise<void>;
}

export function openPool(connectionString: string, max: number): Pool {
  const pool = new pg.Pool({ connectionString, max });
  const on =
    (client: pg.Pool | pg.PoolClient): Query =>
    async ({ name, text }, values) =>
      (await client.query({ name, text, values: [...values] })).rows;
  return {
    query: on(pool),
    async transaction(work) {
      const client = await pool.connect();
      try {
        await client.query('begin');
        const result = await work(on(client));
        await client.query('commit');
        client.release();
        return result;
      } catch (error) {
        client.release(true);
        throw error;
      }
    },
    close: () => pool.end(),
  };
}

/** The condition of an active session and user. Parameters: $1 session id, $2 user id. */
const active = `
     where s.id = $1 and s.user_id = $2 and s.status = 'ACTIVE' and u.status = 'ACTIVE'
       and (s.token_expires_at is null or s.token_expires_at > now())`;

/** Parameters: session id, user id. */
export const findPrincipal: Statement = {
  name: 'principal',
  text: `
    select s.sealed_token, u.id as user_id, a.id as account_id, a.balance
      from banking_sessions s
      join users u on u.id = s.user_id
      left join accounts a on a.user_id = u.id ${active}`,
};

const columns = 'id, status, phase, outcome, end_to_end, fingerprint, qr_code, copy_paste';

/** No row: no session; null id: no transaction. Parameters: session id, user id, transaction id. */
export const findTransaction: Statement = {
  name: 'find',
  text: `
    select t.id, t.status, t.qr_code, t.copy_paste
      from banking_sessions s
      join users u on u.id = s.user_id
      left join pix_transactions t on t.id = $3 and t.user_id = s.user_id ${active}`,
};

/** Parameters: user id, key. */
export const findByKey: Statement = {
  name: 'find-by-key',
  text: `
    select ${columns} from pix_transactions
     where user_id = $1 and operation = 'SEND' and idempotency_key = $2`,
};

/**
 * Checks the session, claims the key and finds the transaction that already has it. A row that is
 * not new and has a null `id`: a concurrent request has claimed the key. Parameters: session id,
 * user id, id, key, fingerprint, amount, pix key, description.
 */
export const reserve: Statement = {
  name: 'reserve',
  text: `
    with principal as materialized (
      select s.sealed_token, u.id as user_id, a.agency, a.account_number, a.document
        from banking_sessions s
        join users u on u.id = s.user_id
        left join accounts a on a.user_id = u.id ${active}
    ), reserved as (
      insert into pix_transactions
             (id, user_id, operation, idempotency_key, fingerprint, status, phase, amount, pix_key,
              description, created_at, updated_at)
      select $3, user_id, 'SEND', $4, $5, 'PROCESSING', 'RESERVED', $6, $7, $8, now(), now()
        from principal
       where agency is not null and account_number is not null and document is not null
          on conflict (user_id, operation, idempotency_key) do nothing
      returning id
    )
    select principal.*, exists (select from reserved) as is_new, known.*
      from principal
      left join (select ${columns} from pix_transactions
                  where user_id = $2 and operation = 'SEND' and idempotency_key = $4) known
        on true`,
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
      select id, 'PAYING', now(), 1 from moved
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

/** Fails a send whose look-up failed: nothing was sent. Parameters: id. */
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
export const saveBalance: Statement = {
  name: 'keep-balance',
  text: 'update accounts set balance = $2, balance_read_at = now() where id = $1',
};
