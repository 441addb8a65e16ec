/** A service that stops while payments are under way whose clients have hung up. */
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { openDatabase } from '../../../src/db/database.ts';
import { createTestDatabase, type TestDatabase } from '../../support/db.ts';
import { givenCustomer, type TestUser } from '../../support/factories.ts';
import { mockQueries } from '../../support/intercepted.ts';
import { passUntil } from '../../support/passing-time.ts';
import { eventually, startPixApp, type PixApp } from './pix-app.ts';

const databases = [
  await createTestDatabase(),
  await createTestDatabase(),
  await createTestDatabase(),
  await createTestDatabase(),
] as const;
after(() => Promise.all(databases.map((database) => database.drop())));

// Longer than a stop waits.
const environment = { PROVIDER_TIMEOUT_MS: '60000' };

/** A payment that is at the bank, whose client has hung up; `respond` lets the bank answer. */
async function givenPaying(t: { mock: typeof test.mock }, app: PixApp) {
  const user = await givenCustomer(app);
  const atBank = Promise.withResolvers<void>();
  const answered = Promise.withResolvers<void>();
  const { pay } = app.bank;
  t.mock.method(app.bank, 'pay', async (...call: Parameters<typeof pay>) => {
    atBank.resolve();
    await answered.promise;
    return pay.apply(app.bank, call);
  });
  await sendUntil(app, user, { reached: atBank.promise });
  return { respond: answered.resolve };
}

interface UntilHungUp {
  /** When the client hangs up. */
  readonly reached: Promise<void>;
  readonly lookUp?: { readonly lookup_id: string };
}

/** Sends a Pix, and hangs up before the answer. */
async function sendUntil(
  { url }: PixApp,
  { token }: TestUser,
  { reached, lookUp }: UntilHungUp,
): Promise<void> {
  const client = new AbortController();
  const sent = fetch(`${url}/api/v1/pix/send`, {
    method: 'POST',
    signal: client.signal,
    headers: {
      authorization: `Bearer ${token}`,
      'idempotency-key': 'hung-up',
      'content-type': 'application/json',
    },
    body: JSON.stringify({ pix_key: 'ana@example.com', amount: 10, ...lookUp }),
  });
  await reached;
  client.abort();
  await assert.rejects(sent, { name: 'AbortError' });
}

/** What a service has left behind that has stopped. */
async function leftIn({ databaseUrl, dataDir }: TestDatabase, { clock }: PixApp) {
  const db = await openDatabase({ databaseUrl, dataDir, clock });
  try {
    return await db.query<{ phase: string; outcome: string; notes: string[] }>(
      {
        name: '',
        text: `select phase, outcome, array(select concat_ws(' ', l.phase, l.note)
                                              from pix_timeline l where l.transaction_id = t.id
                                             order by l.id) as notes
                 from pix_transactions t`,
      },
      [],
    );
  } finally {
    await db.close();
  }
}

test('the stop waits for the response, and stores it', async (t) => {
  const app = await startPixApp({ database: databases[0], environment });
  const { respond } = await givenPaying(t, app);
  let isStopped = false;
  const stopped = app.stop().then(() => (isStopped = true));
  await app.clock.advance(14_000);
  await app.clock.advance(0);
  assert.equal(isStopped, false);
  respond();
  await stopped;
  const [left] = await leftIn(databases[0], app);
  assert.deepEqual([left?.phase, left?.outcome], ['ACCEPTED', 'accepted']);
});

test('after 15 s the outcome is stored as unknown', async (t) => {
  const app = await startPixApp({ database: databases[1], environment });
  await givenPaying(t, app);
  const stopped = app.stop();
  await app.clock.advance(14_999);
  await eventually(() => app.context.stopping.aborted);
  await passUntil(app.clock, stopped);
  const [left] = await leftIn(databases[1], app);
  assert.deepEqual([left?.phase, left?.outcome], ['UNKNOWN', 'unknown']);
  assert.equal(left?.notes.at(-1), 'UNKNOWN service_stopped');
});

test('a payment that another process has begun after a failover is not called unknown', async (t) => {
  const app = await startPixApp({ database: databases[2], environment });
  await givenPaying(t, app);
  // The failover has lost the payment, and a repeat has begun it under another end-to-end id.
  await app.rows(`update pix_transactions set end_to_end = 'E-of-another-process'`);
  const stopped = app.stop();
  await app.clock.advance(14_999);
  await eventually(() => app.context.stopping.aborted);
  await passUntil(app.clock, stopped);
  const [left] = await leftIn(databases[2], app);
  assert.deepEqual([left?.phase, left?.notes.at(-1)], ['PAYING', 'PAYING']);
});

test('the stop waits for a claim that takes its send to PAYING, and for the payment', async (t) => {
  const app = await startPixApp({ database: databases[3], environment });
  const user = await givenCustomer(app);
  const { body: lookUp } = await app.call('/pix/lookup', {
    token: user.token,
    body: { pix_key: 'ana@example.com' },
  });
  const atDatabase = Promise.withResolvers<void>();
  const executed = Promise.withResolvers<void>();
  mockQueries(t, app.context.db, (run) => async (statement, parameters) => {
    if (statement.name === 'pix-reserve-send') {
      atDatabase.resolve();
      await executed.promise;
    }
    return run(statement, parameters);
  });
  await sendUntil(app, user, { reached: atDatabase.promise, lookUp });
  const stopped = app.stop();
  await eventually(() => app.context.stopping.aborted);
  executed.resolve();
  await passUntil(app.clock, stopped);
  const [left] = await leftIn(databases[3], app);
  assert.deepEqual([left?.phase, left?.outcome], ['ACCEPTED', 'accepted']);
  assert.deepEqual(left?.notes, ['PAYING', 'ACCEPTED']);
});
