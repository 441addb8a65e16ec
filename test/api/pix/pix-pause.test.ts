/** A pause of all sends: what is refused, what goes on, and how repeats are answered. */
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { describe, it, type TestContext } from 'node:test';
import pg from 'pg';
import { beginPause, findPause } from '../../../src/ledger/pause-repository.ts';
import { blockAccount } from '../../../src/operator/accounts.ts';
import { sweepPixTransactions } from '../../../src/settlement/sweep.ts';
import { eventually } from '../../support/eventually.ts';
import { givenCustomer } from '../../support/factories.ts';
import { pausePix, resumePix } from '../../../src/operator/pix-pause.ts';
import { unwatched } from '../operator/asking.ts';
import { startPixApp } from './pix-app.ts';

const limits = { PIX_LIMIT_DAY: '100000.00', PIX_LIMIT_NIGHT: '100000.00' };
const app = await startPixApp({ environment: { JOBS: 'off', ...limits } });
const ana = await givenCustomer(app);
const payment = { pix_key: 'bruno@example.com', amount: 12.5 };
const because = { reason: 'ticket 7' };

/** Does work in a pause. */
async function whilePaused(work: () => Promise<void>): Promise<void> {
  await pausePix.run(app.context, because, unwatched);
  try {
    await work();
  } finally {
    await resumePix.run(app.context, because, unwatched);
  }
}

describe('while sends are paused', () => {
  it('a new send is answered 503 with Retry-After, and nothing is sent', async () => {
    const key = randomUUID();
    await whilePaused(async () => {
      const response = await app.send(ana, payment, { key });
      assert.equal(response.status, 503);
      assert.equal(response.headers.get('pix-outcome'), 'unknown');
      assert.equal(response.headers.get('retry-after'), '60');
      assert.equal(await app.countRows(ana), 0, 'no key is claimed');
    });
    assert.equal((await app.send(ana, payment, { key })).status, 200, 'the key is free');
  });

  it('a look-up of a key is answered 503 with Retry-After', async () => {
    const lookUp = () => app.call('/pix/lookup', { token: ana.token, body: payment });
    await whilePaused(async () => {
      const { status, headers } = await lookUp();
      assert.deepEqual([status, headers.get('retry-after')], [503, '60']);
    });
    assert.equal((await lookUp()).status, 200);
  });

  it('a repeat of a stored send is answered with its state', async () => {
    const key = randomUUID();
    const sent = await app.send(ana, payment, { key });
    await whilePaused(async () => {
      const repeat = await app.send(ana, payment, { key });
      assert.equal(repeat.status, 200);
      assert.equal(repeat.body.transaction_id, sent.body.transaction_id);
      assert.equal(repeat.headers.get('pix-outcome'), 'accepted');
    });
  });

  it('charges, statements and transactions go on', async () => {
    const { body } = await app.send(ana, payment);
    await whilePaused(async () => {
      const charge = await app.charge(ana, { amount: 5, key: 'bruno@example.com' });
      assert.notEqual(charge.status, 503);
      assert.equal((await app.view(ana, body.transaction_id)).status, 200);
      assert.equal((await app.call('/accounts/statement', { token: ana.token })).status, 200);
    });
  });

  it('a send that was reserved before is not paid, and a repeat pays it afterwards', async (t) => {
    const key = randomUUID();
    const { provider } = app.context;
    const lookUpKey = provider.lookUpKey.bind(provider);
    const paid = t.mock.method(provider, 'pay');
    const paused = t.mock.method(provider, 'lookUpKey', async (request: never) => {
      await beginPause(app.context, { by: 'test', reason: 'in between', lostSince: null });
      return lookUpKey(request);
    });
    const response = await app.send(ana, payment, { key });
    paused.mock.restore();
    assert.equal(response.status, 503);
    assert.equal(paid.mock.callCount(), 0, 'nothing was sent');
    const repeat = await app.send(ana, payment, { key });
    assert.equal(repeat.body.status, 'PROCESSING', 'the repeat pays nothing either');
    assert.equal(paid.mock.callCount(), 0);
    await app.clock.advance(10 * 60_000);
    await sweepPixTransactions(app.context, { requestId: 'test' });
    assert.equal((await app.stored(repeat.body.transaction_id)).phase, 'RESERVED');
    await resumePix.run(app.context, because, unwatched);
    const resumed = await app.send(ana, payment, { key });
    assert.equal(resumed.body.transaction_id, repeat.body.transaction_id);
    assert.equal(resumed.headers.get('pix-outcome'), 'accepted');
  });
});

const onServer = {
  skip: app.context.config.databaseUrl === undefined && 'the embedded database has one connection',
};

/** A send whose claim waits for a lock, and what ends the wait. */
async function givenWaitingClaim(t: TestContext) {
  const user = await givenCustomer(app);
  assert.equal((await app.send(user, payment)).status, 200);
  const { body } = await app.call('/pix/lookup', { token: user.token, body: payment });
  const client = new pg.Client({ connectionString: app.context.config.databaseUrl });
  await client.connect();
  t.after(() => client.end());
  await client.query('begin');
  await client.query('select from pix_limits where user_id = $1 for update', [user.id]);
  const answer = app.send(user, { ...payment, lookup_id: body.lookup_id });
  await eventually(async () => {
    const { rowCount } = await client.query(
      'select from pg_stat_activity where pg_backend_pid() = any(pg_blocking_pids(pid))',
    );
    return rowCount === 1;
  }, 'the claim to wait');
  return { user, answer, free: () => client.query('commit') };
}

describe('a send that is being claimed', () => {
  it('is claimed before a pause is confirmed', onServer, async (t) => {
    const { user, answer, free } = await givenWaitingClaim(t);
    const paused = pausePix.run(app.context, because, unwatched).then(async ({ isComplete }) => {
      return { isComplete, rows: await app.countRows(user) };
    });
    await eventually(() => findPause(app.context), 'the pause');
    await free();
    assert.deepEqual(await paused, { isComplete: true, rows: 2 });
    assert.equal((await answer).status, 200);
    await resumePix.run(app.context, because, unwatched);
  });

  it('is claimed before the block of its account is confirmed, or refused', onServer, async (t) => {
    const { user, answer, free } = await givenWaitingClaim(t);
    const input = { user: String(user.id), ...because };
    const rows = blockAccount.run(app.context, input, unwatched).then(() => app.countRows(user));
    await free();
    assert.equal((await rows) === 2, (await answer).status === 200);
  });

  it('is reported when the pause cannot wait for it', async (t) => {
    const { db } = app.context;
    const transaction = db.transaction.bind(db);
    let count = 0;
    t.mock.method(db, 'transaction', async (work: never) => {
      count += 1;
      if (count === 1) return transaction(work);
      throw Object.assign(new Error('lock timeout'), { code: '55P03' });
    });
    const { isComplete } = await pausePix.run(app.context, because, unwatched);
    assert.equal(isComplete, false);
    t.mock.restoreAll();
    await resumePix.run(app.context, because, unwatched);
  });
});
