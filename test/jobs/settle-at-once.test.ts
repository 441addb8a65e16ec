/** Events that are settled in the commit that stores them, and those that are not. */
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { beforeEach, test } from 'node:test';
import fc from 'fast-check';
import { eventually } from '../support/eventually.ts';
import { onlyOnServer } from '../support/open-database.ts';
import { storeWebhookEvent } from '../../src/db/queries/store-webhook-event.ts';
import { confirmed, results, startSettlingApp } from './settling.ts';
import { reserveSend } from './transactions.ts';

const app = await startSettlingApp();
const { deliver, givenSend, rows, settle, stored, tell } = app;

beforeEach(() => app.leaveToJobs(false));

const eventRow = async (id: string) => {
  const [row] = await rows<{ status: string; results: unknown; processed_at: Date | null }>(
    'select status, results, processed_at from webhook_events where id = $1',
    [id],
  );
  return row;
};

const jobsOf = (eventId: string) =>
  rows<{ status: string }>('select status from jobs where unique_key = $1', [`webhook:${eventId}`]);

const counted = async (result: string): Promise<number> => {
  const text = await app.context.metrics.registry.metrics();
  const line = new RegExp(`^ponte_webhook_events_total\\{result="${result}"\\} (\\d+)$`, 'm');
  return Number(line.exec(text)?.[1] ?? 0);
};

test('the end of a send is settled in the commit that stores it, and no job is left to do', async () => {
  const send = await givenSend();
  const [processed, received] = [await counted('processed'), await counted('received')];
  const id = await deliver(confirmed({ endToEnd: send.end_to_end, amount: 10.5 }));
  const now = app.clock.now();
  assert.deepEqual(await eventRow(id), {
    status: 'processed',
    results: [{ index: 0, result: 'applied', transactionId: send.id }],
    processed_at: now,
  });
  assert.deepEqual(await jobsOf(id), []);
  const { status, phase, outcome } = await stored(send.id);
  assert.deepEqual([status, phase, outcome], ['COMPLETED', 'SETTLED', 'accepted']);
  assert.equal((await app.timeline(send.id)).at(-1), 'SETTLED COMPLETED event');
  assert.deepEqual(
    [await counted('processed'), await counted('received')],
    [processed + 1, received + 1],
  );
});

test('the same bytes again find a send that is settled, and change nothing', async () => {
  const send = await givenSend();
  const event = confirmed({ endToEnd: send.end_to_end });
  const id = await deliver(event);
  const [before, timeline] = [await eventRow(id), await app.timeline(send.id)];
  assert.equal(await deliver(event), id);
  assert.deepEqual([await eventRow(id), await app.timeline(send.id)], [before, timeline]);
  assert.deepEqual(await jobsOf(id), []);
});

test('of many events about one send that come at once, one settles it, and their jobs the rest', async () => {
  const send = await givenSend();
  const ids = await Promise.all(
    Array.from({ length: 12 }, (_, nth) =>
      deliver(confirmed({ endToEnd: send.end_to_end, nth, ...(nth % 3 && { status: 'ERROR' }) })),
    ),
  );
  const { status } = await stored(send.id);
  assert.notEqual(status, 'PROCESSING');
  const came = await Promise.all(ids.map(async (id) => results(await settle(id))[0]));
  const count = (result: string) => came.filter((one) => one === result).length;
  const like = status === 'COMPLETED' ? 4 : 8;
  assert.deepEqual(
    [count('applied'), count('already'), count('anomaly: contradicts_final_status')],
    [1, like - 1, 12 - like],
  );
  const ends = (await app.timeline(send.id)).filter((line) => line.startsWith('SETTLED'));
  assert.deepEqual(ends, [`SETTLED ${status} event`]);
});

test('an event that waits for an id of the payment is woken by the end that tells it', async () => {
  const send = await givenSend();
  await rows('update pix_transactions set provider_txid = null where id = $1', [send.id]);
  const id = randomUUID();
  const parked = await tell(confirmed({ id, nth: 1 }));
  assert.equal(parked.status, 'parked');
  const open = `select run_at from jobs where unique_key = $1 and status = 'queued'`;
  await rows(`update jobs set run_at = run_at + interval '1 hour' where unique_key = $1`, [
    `webhook:${parked.eventId}`,
  ]);
  await deliver(confirmed({ id, endToEnd: send.end_to_end }));
  const [job] = await rows<{ run_at: Date }>(open, [`webhook:${parked.eventId}`]);
  assert.deepEqual(job?.run_at, app.clock.now());
  assert.deepEqual(results(await settle(parked.eventId)), ['already']);
});

test('an event with more than one item, or about what is no send, is left to its job', async () => {
  const send = await givenSend();
  const end = confirmed({ endToEnd: send.end_to_end });
  const others = [
    [end, { event: 'CONTA_CRIADA' }],
    { pix: [{ endToEndId: send.end_to_end, valor: '10.50' }] },
    { ...end, status: 'PERHAPS' },
    { event: 'REVERSAL', endToEnd: send.end_to_end, status: 'CONFIRMED' },
  ];
  for (const payload of others) {
    const id = await deliver(payload);
    assert.equal((await eventRow(id))?.status, 'received', JSON.stringify(payload));
    assert.deepEqual(
      (await jobsOf(id)).map(({ status }) => status),
      ['queued'],
    );
  }
  assert.equal((await stored(send.id)).status, 'PROCESSING');
});

/** A send as it may stand when an event comes, and what the event says of it. */
interface Meeting {
  readonly stands: keyof typeof standings;
  readonly status: string;
  readonly amount: number | undefined;
  readonly endToEnd: Sign;
  readonly key: Sign;
  readonly provider: Sign;
  readonly reason: string | undefined;
}

/** Whether the event carries an id, and whose. */
type Sign = 'own' | 'other' | 'none';

const standings = {
  reserved: { phase: 'RESERVED', outcome: null },
  paying: { phase: 'PAYING', outcome: null },
  accepted: { phase: 'ACCEPTED', outcome: 'accepted' },
  unknown: { phase: 'UNKNOWN', outcome: 'unknown' },
  completed: { phase: 'SETTLED', status: 'COMPLETED', outcome: 'accepted' },
  failed: { phase: 'REJECTED', status: 'FAILED', outcome: 'rejected' },
} as const;

const sign = fc.constantFrom<Sign>('own', 'own', 'other', 'none');

const meetings: fc.Arbitrary<Meeting> = fc.record({
  stands: fc.constantFrom(...(Object.keys(standings) as (keyof typeof standings)[])),
  status: fc.constantFrom('CONFIRMED', 'ERROR', 'PERHAPS'),
  amount: fc.constantFrom(10.5, 10.5, 10.51, undefined),
  endToEnd: sign,
  key: sign,
  provider: sign,
  reason: fc.constantFrom(undefined, 'BE17'),
});

/** Lets an event meet a send, and tells all that came of it, without the ids. */
async function meet(meeting: Meeting): Promise<unknown> {
  const { stands, status, amount, reason } = meeting;
  const ids = { key: randomUUID(), endToEnd: `E${randomUUID().slice(0, 31)}`, id: randomUUID() };
  const send = await reserveSend(app, ids.key);
  await send.pay(ids.endToEnd);
  await send.accept(ids.id);
  await rows(
    `update pix_transactions set phase = $2, status = $3, outcome = $4, settled_at = $5
      where id = $1`,
    [
      ...[send.id, standings[stands].phase],
      ...['status' in standings[stands] ? standings[stands].status : 'PROCESSING'],
      standings[stands].outcome,
      'status' in standings[stands] ? app.clock.now() : null,
    ],
  );
  const idOf = (whose: Sign, own: string): string | undefined => {
    if (whose === 'none') return undefined;
    return whose === 'own' ? own : `${own.slice(0, -3)}zzz`;
  };
  const told = await tell({
    ...{ event: 'PIX_PAYMENT_OUT', status, amount, error: reason && { code: reason } },
    endToEnd: idOf(meeting.endToEnd, ids.endToEnd),
    clientRequestId: idOf(meeting.key, ids.key),
    id: idOf(meeting.provider, ids.id),
  });
  const row = await rows(
    `select status, phase, outcome, failure_code, end_to_end = $2 as same_end_to_end,
            provider_txid = $3 as same_provider, settled_at, claimed_until, updated_at
       from pix_transactions where id = $1`,
    [send.id, ids.endToEnd, ids.id],
  );
  const items = told.items.map((item) => ({
    ...item,
    ...(item.transactionId !== undefined && { transactionId: item.transactionId === send.id }),
  }));
  const { status: event, lookAgainAt } = told;
  return { row, event, items, lookAgainAt, timeline: await app.timeline(send.id) };
}

test('an event comes to the same, whether it is settled where it is stored or by its job', async () => {
  await fc.assert(
    fc.asyncProperty(meetings, async (meeting) => {
      app.leaveToJobs(true);
      const byJob = await meet(meeting);
      app.leaveToJobs(false);
      assert.deepEqual(await meet(meeting), byJob);
    }),
    { numRuns: 50 },
  );
});

test('an event is settled where it is stored only if the send fits: an example of each reason', async () => {
  const fits: Meeting = {
    ...{ stands: 'accepted', status: 'CONFIRMED', amount: 10.5, reason: undefined },
    ...{ endToEnd: 'own', key: 'own', provider: 'own' },
  };
  const query = app.context.db.query;
  const settledAtOnce: boolean[] = [];
  Object.assign(app.context.db, {
    query: async (statement: Parameters<typeof query>[0], parameters: readonly unknown[]) => {
      const answer = await query<{ settled?: boolean }>(statement, parameters);
      if (statement.name === 'webhook-store') settledAtOnce.push(answer[0]?.settled ?? false);
      return answer;
    },
  });
  const others: Partial<Meeting>[] = [
    ...[{ stands: 'reserved' } as const, { stands: 'completed' } as const, { amount: 10.51 }],
    { stands: 'paying', status: 'ERROR' } as const,
    ...[{ endToEnd: 'other' } as const, { endToEnd: 'none' } as const, { key: 'other' } as const],
  ];
  await meet(fits);
  for (const change of others) await meet({ ...fits, ...change });
  Object.assign(app.context.db, { query });
  assert.deepEqual(settledAtOnce, [true, ...others.map(() => false)]);
});

test(
  'a send that somebody is at work on is not waited for: the event is left to its job',
  onlyOnServer,
  async () => {
    const send = await givenSend();
    const worker = await app.context.db.em();
    await worker.begin();
    await worker.execute('select from pix_transactions where id = ? for update', [send.id]);
    const id = await deliver(confirmed({ endToEnd: send.end_to_end }));
    assert.equal((await eventRow(id))?.status, 'received');
    const settled = settle(id);
    await eventually(async () => {
      const waiting = await rows(
        `select from pg_stat_activity
        where datname = current_database() and wait_event_type = 'Lock'`,
      );
      return waiting.length > 0;
    }, 'the job that waits for the send');
    await worker.rollback();
    assert.deepEqual(results(await settled), ['applied']);
    assert.equal((await stored(send.id)).status, 'COMPLETED');
  },
);

/** What is committed of a send while an event about it is being stored, and what comes of it. */
const overtaken = [
  {
    title: 'the send is accepted: what was stored of it stays',
    change: `phase = 'ACCEPTED', outcome = 'accepted', provider_txid = 'told'`,
    event: 'processed',
    send: ['COMPLETED', 'accepted', 'told'],
  },
  {
    title: 'its outcome is unknown: now it is known',
    change: `phase = 'UNKNOWN', outcome = 'unknown'`,
    event: 'processed',
    send: ['COMPLETED', 'accepted', null],
  },
  {
    title: 'it ends: nothing is done twice',
    change: `phase = 'SETTLED', status = 'FAILED', outcome = 'rejected', settled_at = now()`,
    event: 'received',
    send: ['FAILED', 'rejected', null],
  },
] as const;

/** Stores events as ever, but waits for a lock between its snapshot and the send's row. */
const waitingForLock = {
  ...storeWebhookEvent,
  name: 'webhook-store-waiting',
  text: storeWebhookEvent.text.replace(
    'where t.end_to_end =',
    `where (select pg_advisory_xact_lock(77)::text) = '' and t.end_to_end =`,
  ),
};

async function overtake(sql: string, send: string, deliverIt: () => Promise<string>) {
  const { db } = app.context;
  const { query } = db;
  const holder = await db.em();
  await holder.begin();
  await holder.execute('select pg_advisory_xact_lock(77)');
  Object.assign(db, {
    query: (statement: typeof storeWebhookEvent, parameters: readonly unknown[]) =>
      query(statement === storeWebhookEvent ? waitingForLock : statement, parameters),
  });
  const delivered = deliverIt();
  await eventually(async () => {
    const waiting = await rows(
      `select from pg_stat_activity where datname = current_database() and wait_event = 'advisory'`,
    );
    return waiting.length > 0;
  }, 'the statement that waits');
  await rows(`update pix_transactions set ${sql} where id = $1`, [send]);
  await holder.rollback();
  const id = await delivered;
  Object.assign(db, { query });
  return id;
}

for (const { title, change, event, send: expected } of overtaken) {
  test(`while an event is stored, ${title}`, onlyOnServer, async () => {
    const send = await reserveSend(app, randomUUID());
    const endToEnd = `E${randomUUID().slice(0, 31)}`;
    await send.pay(endToEnd);
    const id = await overtake(change, send.id, () => deliver(confirmed({ endToEnd })));
    assert.equal((await eventRow(id))?.status, event);
    const { status, outcome, provider_txid: provider } = await stored(send.id);
    assert.deepEqual([status, outcome, provider], expected);
  });
}

test('an end is not dated before what was stored of the send meanwhile', async () => {
  const send = await givenSend();
  const later = new Date(app.clock.now().getTime() + 5_000);
  await rows('update pix_transactions set updated_at = $2 where id = $1', [send.id, later]);
  const id = await deliver(confirmed({ endToEnd: send.end_to_end }));
  const [row] = await rows(
    `select t.settled_at, t.updated_at, n.at from pix_transactions t
       join pix_timeline n on n.transaction_id = t.id and n.event_id = $2 where t.id = $1`,
    [send.id, id],
  );
  assert.deepEqual(row, { settled_at: later, updated_at: later, at: later });
});
