/** Inserts the rows of a service that has run for a year, in bulk. */
import type { Target } from './target.ts';

export const grownUsers = 200_000;
/** The transactions of one customer over a year. */
export const busyTransactions = 100_000;

const chunk = 200_000;

/** SQL for a UUID version 7 with this time, in the format of the service. */
const makeUuid = (at: string, salt: string): string => `(
  lpad(to_hex((extract(epoch from ${at}) * 1000)::bigint), 12, '0') || '7' ||
  substr(md5(n || ${salt}), 1, 3) || '8' || substr(md5(n || ${salt}), 4, 15))::uuid`;

/** One transaction of the read case is added for this many others, spread evenly among them. */
const readEvery = 400;

const transactions = `
  insert into pix_transactions (id, user_id, operation, idempotency_key, fingerprint, status, phase,
         outcome, amount, pix_key, end_to_end, provider_txid, created_at, updated_at, settled_at)
  select ${makeUuid('at', '$1')}, user_id, 'SEND', $1 || n, '\\x00', 'COMPLETED', 'SETTLED',
         'accepted', 1.5, 'bruno@example.com', 'E' || upper(substr(md5($1), 1, 8)) || '202601030000'
           || lpad(n::text, 11, '0'),
         ${makeUuid('at', '$1')}::text, at, at, at
    from (select n, now() - interval '365 days' * (1 - n::float8 / $4::float8) as at,
                 ($5::int[])[1 + n % array_length($5::int[], 1)] as user_id
            from generate_series($2::bigint, $3::bigint) n) made`;

/**
 * @param count how many transactions; there are half as many webhook events.
 * @param print receives lines of progress.
 */
export async function growRows(
  target: Target,
  count: number,
  print: (line: string) => void,
): Promise<void> {
  const { client, customers } = target;
  print(`storing ${grownUsers} users`);
  const { rows: users } = await client.query<{ id: number }>(
    `insert into users (name, email, password_hash, created_at, updated_at)
     select 'Joana Lima', 'grown' || n || '@example.com', 'none', now(), now()
       from generate_series(1, $1::int) n
     returning id`,
    [grownUsers],
  );
  await spread(
    target,
    { key: 'grown-', count },
    users.map(({ id }) => id),
  );
  print(`${count} transactions stored`);
  const ids = customers.map(({ userId }) => userId);
  await spread(target, { key: 'read-', count: Math.ceil(count / readEvery) }, ids);
  await spread(target, { key: 'busy-', count: busyTransactions }, ids.slice(0, 1));
  const events = Math.ceil(count / 2);
  await growEvents(target, events);
  print(`${events} events stored`);
  await client.query('vacuum analyze');
}

async function spread(
  { client }: Target,
  { key, count }: { readonly key: string; readonly count: number },
  users: readonly number[],
): Promise<void> {
  for (let first = 1; first <= count; first += chunk) {
    const last = Math.min(count, first + chunk - 1);
    await client.query(transactions, [key, first, last, count, users]);
  }
}

async function growEvents({ client }: Target, count: number): Promise<void> {
  await client.query(
    `insert into webhook_events (id, payload_hash, payload, status, results, received_at,
            processed_at)
     select ${makeUuid('at', `'event'`)}, sha256(convert_to('grown' || n, 'UTF8')),
            convert_to('{"event":"PIX_PAYMENT","endToEnd":"grown' || n || '"}', 'UTF8'),
            'processed', '[]', at, at
       from (select n, now() - interval '80 days' * (1 - n::float8 / $1) as at
               from generate_series(1, $1::int) n) made`,
    [count],
  );
}
