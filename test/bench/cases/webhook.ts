import { numberMark, type LoadResult } from '../load.ts';
import { webhookSecret } from '../settings.ts';
import type { Target } from '../target.ts';
import { jsonType, type Case, type Run, type Settled } from './case.ts';

/**
 * The payments to store, one for each event. The load ends when all have had theirs, so no event is
 * of an unknown payment.
 */
function paymentsFor({ seconds, connections }: Run): number {
  return seconds * Math.min(10_000, connections * 2_500);
}

/** The time limit for settling all events. */
const settledWithinMs = 60_000;

const endToEndStart = 'E11165756202601020000';

function endToEnd(number: number): string {
  return endToEndStart + String(number).padStart(numberMark.length, '0');
}

/** Inserts accepted payments that wait for their event. */
async function insertAccepted(target: Target, first: number, last: number): Promise<void> {
  const { client, customers } = target;
  await client.query(
    `insert into pix_transactions (id, user_id, operation, idempotency_key, fingerprint, status,
            phase, outcome, amount, pix_key, end_to_end, provider_txid, created_at, updated_at)
     select gen_random_uuid(), ($1::int[])[1 + n % $2], 'SEND', 'webhook-' || n, '\\x00',
            'PROCESSING', 'ACCEPTED', 'accepted', 0.01, 'bruno@example.com',
            $3 || lpad(n::text, 11, '0'), gen_random_uuid(), now(), now()
       from generate_series($4::bigint, $5::bigint) n`,
    [customers.map(({ userId }) => userId), customers.length, endToEndStart, first, last],
  );
  await client.query('analyze pix_transactions');
}

/** @returns the times in milliseconds since 1970 at which these payments were settled, in order. */
async function settledAt({ client }: Target, first: number, last: number): Promise<number[]> {
  const { rows } = await client.query<{ at: number }>(
    `select extract(epoch from settled_at)::float8 * 1000 as at
       from pix_transactions
      where end_to_end between $1 and $2 and status = 'COMPLETED'
      order by end_to_end`,
    [endToEnd(first), endToEnd(last)],
  );
  return rows.map(({ at }) => at);
}

/** Waits until the payment of every posted event is settled. */
async function settle(target: Target, first: number, result: LoadResult): Promise<Settled> {
  const { requests, startedAt } = result;
  const deadline = performance.now() + settledWithinMs;
  for (;;) {
    const times = await settledAt(target, first, first + requests - 1);
    if (times.length === requests || performance.now() > deadline) {
      const lastAt = times.reduce((latest, at) => Math.max(latest, at), 0);
      return {
        seconds: Math.max(result.seconds, (lastAt - (startedAt[0] ?? 0)) / 1e3),
        latencies: startedAt.map((at, place) => Math.max(0, (times[place] ?? NaN) - at)),
      };
    }
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

/** The rate counts from the first post until the last payment is settled. */
export const webhook: Case = {
  title: 'webhooks stored and settled',
  async prepare(target, run) {
    const first = run.number * 1_000_000;
    const last = first + paymentsFor(run) - 1;
    await insertAccepted(target, first, last);
    const request = {
      method: 'POST',
      path: '/api/v1/webhooks/provider',
      headers: { ...jsonType, 'X-Webhook-Secret': webhookSecret },
      body: JSON.stringify({
        event: 'PIX_PAYMENT',
        endToEnd: endToEndStart + numberMark,
        status: 'CONFIRMED',
        amount: 0.01,
      }),
    } as const;
    return {
      plan: { requests: [request], numbers: { first, last } },
      settle: (result) => settle(target, first, result),
      async check({ requests }) {
        const settled = (await settledAt(target, first, last)).length;
        return settled === requests ? [] : [`${requests} events, ${settled} payments settled`];
      },
    };
  },
};
