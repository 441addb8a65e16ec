import type { PlannedRequest } from '../load.ts';
import type { Target } from '../target.ts';
import { bearer, fetchResponse, type Case } from './case.ts';

const rows = 1_000;

/** Finished transactions, spread over the customers and inserted once. */
async function storedTransactions(target: Target) {
  const { client, customers } = target;
  const find = async () => {
    const { rows: found } = await client.query<{ id: string; user_id: number }>(
      `select id, user_id from pix_transactions where idempotency_key like 'read-%'`,
    );
    return found;
  };
  const found = await find();
  if (found.length > 0) return found;
  await client.query(
    `insert into pix_transactions (id, user_id, operation, idempotency_key, fingerprint, status,
            phase, outcome, amount, pix_key, end_to_end, provider_txid, created_at, updated_at,
            settled_at)
     select gen_random_uuid(), ($1::int[])[1 + n % $2], 'SEND', 'read-' || n, '\\x00', 'COMPLETED',
            'SETTLED', 'accepted', 1.5, 'bruno@example.com',
            'E11165756202601010000' || lpad(n::text, 11, 'r'), gen_random_uuid(), now(), now(),
            now()
       from generate_series(1, $3) n`,
    [customers.map(({ userId }) => userId), customers.length, rows],
  );
  await client.query('analyze pix_transactions');
  return find();
}

async function findWrongResponses(target: Target, requests: readonly PlannedRequest[]) {
  const [first] = requests;
  if (!first) return ['there is no transaction to read'];
  const { transaction_id: id, status } = (await fetchResponse(target, first)).body;
  const isRight = first.path.endsWith(String(id)) && status === 'COMPLETED';
  return isRight ? [] : ['a read answers other data than the stored row'];
}

export const read: Case = {
  title: 'GET /pix/{id}',
  async prepare(target) {
    const customers = new Map(target.customers.map((customer) => [customer.userId, customer]));
    const requests = (await storedTransactions(target)).flatMap(({ id, user_id: userId }) => {
      const customer = customers.get(userId);
      if (!customer) return [];
      return [{ method: 'GET', path: `/api/v1/pix/${id}`, headers: bearer(customer) } as const];
    });
    return { plan: { requests }, check: () => findWrongResponses(target, requests) };
  },
};
