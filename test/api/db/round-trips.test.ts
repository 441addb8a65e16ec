/**
 * How often an operation goes to the database and back: the cost that most of its time is spent on.
 * The session check shares its read with the operation where that saves a round trip.
 */
import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';
import { startTestApp, type TestResponse } from '../../support/app.ts';
import { insertGood, receivedColumns } from './rows.ts';
import { givenCustomer } from '../../support/factories.ts';

// The job loop looks at its queue whenever it likes, and each look would be counted.
const app = await startTestApp({ environment: { JOBS: 'off' } });

const user = await givenCustomer(app);

async function roundTrips(): Promise<number> {
  const { values } = await app.context.metrics.databaseQueries.get();
  return values[0]?.value ?? 0;
}

/** Makes one request and holds it to its budget. */
async function assertMaxRoundTrips(
  t: TestContext,
  budget: number,
  request: () => Promise<TestResponse>,
): Promise<TestResponse> {
  const before = await roundTrips();
  const response = await request();
  const cost = (await roundTrips()) - before;
  t.diagnostic(`${cost} round trips, at most ${budget}`);
  assert.equal(response.status, 200, JSON.stringify(response.body));
  assert.ok(cost > 0, 'nothing was counted');
  assert.ok(
    cost <= budget,
    `it took ${cost} round trips to the database, at most ${budget} may be`,
  );
  return response;
}

function read(path: string): Promise<TestResponse> {
  return app.call(path, { token: user.token });
}

function send(key: string): Promise<TestResponse> {
  const body = { pix_key: 'ana@example.com', amount: 10 };
  return app.call('/pix/send', { token: user.token, key, body });
}

test('me takes at most two round trips', async (t) => {
  await assertMaxRoundTrips(t, 2, () => read('/accounts/me'));
});

test('a balance that has changed takes at most two round trips', async (t) => {
  await assertMaxRoundTrips(t, 2, () => read('/accounts/balance'));
});

test('a balance that has not changed takes at most two round trips', async (t) => {
  await read('/accounts/balance');
  await assertMaxRoundTrips(t, 2, () => read('/accounts/balance'));
});

test('a statement takes at most two round trips', async (t) => {
  await assertMaxRoundTrips(t, 2, () => read('/accounts/statement'));
});

// The version of the stored keys is read before the provider is asked.
test('a list of PIX keys takes at most three round trips', async (t) => {
  await assertMaxRoundTrips(t, 3, () => read('/pix/keys'));
});

test('a transaction takes one round trip', async (t) => {
  const { body } = await send('to-be-read');
  await assertMaxRoundTrips(t, 1, () => read(`/pix/${body.transaction_id}`));
});

test('a receipt takes one round trip', async (t) => {
  const { body } = await send('to-be-printed');
  await assertMaxRoundTrips(t, 1, () => read(`/pix/${body.transaction_id}/receipt`));
});

test('a page of transactions takes one round trip', async (t) => {
  await assertMaxRoundTrips(t, 1, () => read('/pix?type=PIX_CHARGE'));
});

test('a look-up takes at most four round trips', async (t) => {
  const body = { pix_key: 'ana@example.com' };
  await assertMaxRoundTrips(t, 4, () => app.call('/pix/lookup', { token: user.token, body }));
});

test('a send takes at most three round trips', async (t) => {
  await assertMaxRoundTrips(t, 3, () => send('counted'));
});

test('a return takes at most three round trips', async (t) => {
  const received = await app.bank.receive(user.email, 1_000);
  assert.ok(received.outcome === 'done');
  const id = await insertGood(app, 'pix_transactions', {
    ...receivedColumns(app.clock.now()),
    user_id: user.id,
    end_to_end: received.value.endToEnd,
  });
  const body = { amount: 1, reason: 'OTHER' };
  const path = `/pix/${String(id)}/refund`;
  const refund = () => app.call(path, { token: user.token, key: 'returned', body });
  await assertMaxRoundTrips(t, 3, refund);
  // The reservation reads the key's holder.
  await assertMaxRoundTrips(t, 1, refund);
});

for (const isSeen of [true, false]) {
  const where = isSeen ? 'that has seen its key' : 'that has not seen its key';
  test(`a replay of a send takes one round trip on a process ${where}`, async (t) => {
    const key = `repeated-${isSeen}`;
    const first = await send(key);
    t.mock.method(app.context.claimedKeys, 'seenAt', () => (isSeen ? app.clock.now() : null));
    const replay = await assertMaxRoundTrips(t, 1, () => send(key));
    assert.equal(replay.headers.get('idempotency-replayed'), 'true');
    assert.equal(replay.body.transaction_id, first.body.transaction_id);
  });
}
