import { numberMark, type PlannedRequest } from '../load.ts';
import type { Customer, Target } from '../target.ts';
import { bearer, fetchResponse, jsonType, type Case } from './case.ts';

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
  readonly payments: number;
}

async function readStored({ client }: Target, prefix: string): Promise<Stored> {
  const { rows } = await client.query<Stored>(
    `select count(*)::int as rows,
            (count(*) filter (where phase = 'ACCEPTED'))::int as accepted,
            count(distinct provider_txid)::int as payments
       from pix_transactions where idempotency_key like $1`,
    [`${prefix}%`],
  );
  const [row] = rows;
  if (!row) throw new Error('a count has no row');
  return row;
}

/** @returns a fault for each count of rows and payments that is not the wanted one. */
async function wrongCounts(target: Target, prefix: string, wanted: number): Promise<string[]> {
  const stored = Object.entries(await readStored(target, prefix));
  return stored.flatMap(([name, count]) =>
    count === wanted ? [] : [`${wanted} keys, ${name}: ${count}`],
  );
}

export const send: Case = {
  title: 'POST /pix/send, fresh key',
  async prepare(target, run) {
    const prefix = `send-${run.number}-`;
    const before = await target.bank.executed();
    return {
      plan: {
        requests: target.customers.map((one) => sendRequest(one, `${prefix}${numberMark}`)),
        numbers: { first: 1, last: 99_999_999_999 },
      },
      async check({ requests }) {
        const executed = (await target.bank.executed()) - before;
        return [
          ...(await wrongCounts(target, prefix, requests)),
          ...(executed === requests ? [] : [`${requests} keys, the bank executed ${executed}`]),
        ];
      },
    };
  },
};

const replayed = 256;

export const replay: Case = {
  title: 'POST /pix/send, replay',
  async prepare(target) {
    const { customers, bank } = target;
    const requests = Array.from({ length: replayed }, (_, place) => {
      const customer = customers[place % customers.length];
      if (!customer) throw new Error('there are no customers');
      return sendRequest(customer, `replay-${place}`);
    });
    for (const request of requests) {
      const { status } = await fetchResponse(target, request);
      if (status !== 200) throw new Error(`a send was answered with ${status}`);
    }
    const before = await bank.executed();
    return {
      plan: { requests },
      async check() {
        const executed = (await bank.executed()) - before;
        return [
          ...(await wrongCounts(target, 'replay-', replayed)),
          ...(executed === 0 ? [] : [`the bank executed ${executed} replays`]),
        ];
      },
    };
  },
};
