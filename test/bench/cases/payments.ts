import { numberMark, type PlannedRequest } from '../load-plan.ts';
import type { Customer, Target } from '../target.ts';
import { fetchResponse, bearer, failureFaults, jsonType, noNumbers, type Case } from './case.ts';
import { flushFaults } from './flushed.ts';

function sendRequest(customer: Customer, key: string): PlannedRequest {
  return {
    method: 'POST',
    path: '/api/v1/pix/send',
    headers: { ...bearer(customer), ...jsonType, 'Idempotency-Key': key },
    body: JSON.stringify({ pix_key: 'bruno@example.com', amount: 0.01 }),
  };
}

interface Stored {
  readonly rows: number;
  readonly accepted: number;
  readonly open: number;
  readonly payments: number;
  readonly notes: number;
}

async function readStored({ client }: Target, prefix: string): Promise<Stored> {
  const { rows } = await client.query<Stored>(
    `select count(*)::int as rows,
            (count(*) filter (where t.phase = 'ACCEPTED'))::int as accepted,
            (count(*) filter (where t.phase in ('RESERVED', 'RESOLVED', 'PAYING')))::int as open,
            count(distinct t.provider_txid)::int as payments,
            coalesce(sum(n.notes), 0)::int as notes
       from pix_transactions t
       left join lateral (select count(*) as notes from pix_timeline
                           where transaction_id = t.id) n on true
      where t.idempotency_key like $1`,
    [`${prefix}%`],
  );
  const [row] = rows;
  if (!row) throw new Error('a count has no row');
  return row;
}

/** Waits up to 10 s for the sends that were in progress at the end of the load. */
async function countSettled(target: Target, prefix: string): Promise<Stored> {
  const deadline = performance.now() + 10_000;
  for (;;) {
    const stored = await readStored(target, prefix);
    if (stored.open === 0 || performance.now() > deadline) return stored;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

/** The rows of the timeline of an accepted send: PAYING and ACCEPTED. */
const notesPerSend = 2;

export const send: Case = {
  name: 'send',
  title: 'POST /pix/send, fresh key',
  async prepare(target, run) {
    const prefix = `send-${run.number}-`;
    const { customers } = target;
    return {
      plan: {
        requests: customers.map((customer) => sendRequest(customer, `${prefix}${numberMark}`)),
        numbers: { first: 1, last: 99_999_999_999 },
      },
      async finish(result) {
        const stored = await countSettled(target, prefix);
        const { rows, accepted, payments, notes } = stored;
        const most = result.requests + 1_024;
        return {
          faults: [
            ...failureFaults(result),
            ...(rows < result.requests ? [`${result.requests} responses, ${rows} rows`] : []),
            ...(rows > most ? [`${result.requests} responses, ${rows} rows: too many`] : []),
            ...(accepted < rows ? [`${rows - accepted} sends are not ACCEPTED`] : []),
            ...(payments < rows ? [`${rows} rows, ${payments} payments`] : []),
            ...(notes !== rows * notesPerSend ? [`${rows} rows, ${notes} timeline rows`] : []),
            ...(await unflushed(target, run.number)),
          ],
        };
      },
    };
  },
};

function unflushed(target: Target, run: number): Promise<string[]> {
  return flushFaults(target, {
    table: 'pix_transactions',
    async write(turn) {
      const customer = target.customers[turn];
      if (!customer) throw new Error('there are no customers');
      const { body } = await fetchResponse(target, sendRequest(customer, `flush-${run}-${turn}`));
      return (body as { transaction_id: string }).transaction_id;
    },
  });
}

const replayed = 256;

export const replay: Case = {
  name: 'replay',
  title: 'POST /pix/send, replay',
  async prepare(target) {
    const { customers } = target;
    const requests = Array.from({ length: replayed }, (_, place) => {
      const customer = customers[place % customers.length];
      if (!customer) throw new Error('there are no customers');
      return sendRequest(customer, `replay-${place}`);
    });
    for (const request of requests) {
      const { status } = await fetchResponse(target, request);
      if (status !== 200) throw new Error(`a send was answered with ${status}`);
    }
    return {
      plan: { requests, numbers: noNumbers },
      async finish(result) {
        const { rows, payments, notes } = await readStored(target, 'replay-');
        return {
          faults: [
            ...failureFaults(result),
            ...(rows === replayed ? [] : [`${replayed} keys, ${rows} rows`]),
            ...(payments === replayed ? [] : [`${replayed} keys, ${payments} payments`]),
            ...(notes === replayed * notesPerSend ? [] : [`a replay was noted: ${notes} rows`]),
          ],
        };
      },
    };
  },
};
