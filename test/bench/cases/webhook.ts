import { numberMark, type LoadResult } from '../load-plan.ts';
import { webhookSecret } from '../settings.ts';
import type { Target } from '../target.ts';
import { fetchResponse, failureFaults, jsonType, type Case, type Finished } from './case.ts';
import { flushFaults } from './flushed.ts';

/** More events than any of the servers can accept in a second. */
const maxPerSecond = 25_000;

/** The time limit for emptying a queue. */
const drainedWithinMs = 300_000;

const endToEndStart = 'E11165756202601020000';

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

interface Events {
  readonly rows: number;
  readonly waiting: number;
  readonly processed: number;
  readonly settled: number;
  readonly seconds: number;
}

async function readEvents({ client }: Target, since: Date): Promise<Events> {
  const { rows } = await client.query<Events>(
    `select count(*)::int as rows,
            (count(*) filter (where status in ('received', 'parked')))::int as waiting,
            (count(*) filter (where status = 'processed'))::int as processed,
            coalesce(extract(epoch from max(processed_at) - min(received_at)), 0)::float8
              as seconds,
            (select count(*) from pix_transactions
              where idempotency_key like 'webhook-%' and status = 'COMPLETED'
                and settled_at >= $1)::int as settled
       from webhook_events where received_at >= $1`,
    [since],
  );
  const [row] = rows;
  if (!row) throw new Error('a count has no row');
  return row;
}

/** Waits until all events are processed, including those stored just after the load's end. */
async function drained(target: Target, since: Date): Promise<Events> {
  const deadline = performance.now() + drainedWithinMs;
  for (;;) {
    const events = await readEvents(target, since);
    if (events.waiting === 0 || performance.now() > deadline) return events;
    await new Promise((resolve) => setTimeout(resolve, 25));
  }
}

async function finish(target: Target, since: Date, result: LoadResult): Promise<Finished> {
  const { rows, waiting, processed, settled, seconds } = await drained(target, since);
  const faults = [
    ...failureFaults(result),
    ...(waiting === 0 ? [] : ['not all events were processed in time']),
    ...(rows < result.requests ? [`${result.requests} responses, ${rows} events`] : []),
    ...(processed < rows ? [`${rows - processed} of ${rows} events are not processed`] : []),
    ...(settled === rows ? [] : [`${rows} events, ${settled} payments settled`]),
  ];
  return { faults, done: { count: processed, seconds } };
}

/** The rate counts from the first received event to the last processed one. */
export const webhook: Case = {
  name: 'webhook',
  title: 'webhooks stored and processed',
  async prepare(target, run) {
    const size = run.seconds * maxPerSecond;
    const first = run.number * 10_000_000;
    await insertAccepted(target, first, first + size);
    const { rows } = await target.client.query<{ now: Date }>('select clock_timestamp() as now');
    const since = rows[0]?.now ?? new Date();
    const request = (number: string) =>
      ({
        method: 'POST',
        path: '/api/v1/webhooks/provider',
        headers: { ...jsonType, 'X-Webhook-Secret': webhookSecret },
        body: JSON.stringify({
          event: 'PIX_PAYMENT',
          endToEnd: endToEndStart + number,
          status: 'CONFIRMED',
          amount: 0.01,
        }),
      }) as const;
    return {
      plan: { requests: [request(numberMark)], numbers: { first, last: first + size - 100 } },
      async finish(result) {
        const finished = await finish(target, since, result);
        const spare = (turn: number): string =>
          String(first + size - turn).padStart(numberMark.length, '0');
        const unflushed = await flushFaults(target, {
          table: 'webhook_events',
          async hold(turn) {
            const endToEnd = endToEndStart + spare(turn);
            await target.client.query(
              'select from pix_transactions where end_to_end = $1 for update',
              [endToEnd],
            );
          },
          async write(turn) {
            const { body } = await fetchResponse(target, request(spare(turn)));
            return (body as { event_id: string }).event_id;
          },
        });
        await drained(target, since);
        return { ...finished, faults: [...finished.faults, ...unflushed] };
      },
    };
  },
};
