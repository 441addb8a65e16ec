import type { PlannedRequest } from '../load-plan.ts';
import { logIn, type Target } from '../target.ts';
import {
  fetchResponse,
  bearer,
  failureFaults,
  noNumbers,
  type Case,
  type Prepared,
} from './case.ts';

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

async function prepareReads(target: Target): Promise<Prepared> {
  const customers = new Map(target.customers.map((customer) => [customer.userId, customer]));
  const requests = (await storedTransactions(target)).flatMap(({ id, user_id: userId }) => {
    const customer = customers.get(userId);
    if (!customer) return [];
    return [{ method: 'GET', path: `/api/v1/pix/${id}`, headers: bearer(customer) } as const];
  });
  return {
    plan: { requests, numbers: noNumbers },
    finish: async (result) => ({
      faults: [...failureFaults(result), ...(await findWrongResponses(target, requests))],
    }),
  };
}

async function findWrongResponses(target: Target, requests: readonly PlannedRequest[]) {
  const [first] = requests;
  if (!first) return ['there is no transaction to read'];
  const { body } = await fetchResponse(target, first);
  const { transaction_id: id, status } = body as { transaction_id?: string; status?: string };
  const isRight = first.path.endsWith(id ?? '?') && status === 'COMPLETED';
  return isRight ? [] : ['a read answers other data than the stored row'];
}

export const read: Case = {
  name: 'read',
  title: 'GET /pix/{id}',
  prepare: prepareReads,
};

const betweenLoginsMs = 200;

export const readWithLogins: Case = {
  name: 'read-with-logins',
  title: 'GET /pix/{id}, 5 logins/s',
  async prepare(target) {
    const reads = await prepareReads(target);
    const refused: string[] = [];
    return {
      ...reads,
      async beside(signal) {
        const { customers, server } = target;
        const under = new Set<Promise<unknown>>();
        for (let turn = 0; !signal.aborted; turn += 1) {
          const customer = customers[turn % customers.length];
          if (!customer) throw new Error('there are no customers');
          const login = logIn(server.url, customer.email).catch((error: unknown) => {
            refused.push(String(error));
          });
          under.add(login);
          await new Promise((resolve) => setTimeout(resolve, betweenLoginsMs));
        }
        await Promise.all(under);
      },
      async finish(result) {
        const { faults } = await reads.finish(result);
        return { faults: [...faults, ...refused.map((error) => `beside the reads: ${error}`)] };
      },
    };
  },
};
