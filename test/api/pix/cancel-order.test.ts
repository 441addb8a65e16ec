/** Orders that a customer gives up: the key is closed, or the order that has it is answered. */
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { describe, it } from 'node:test';
import { auditPix } from '../../../src/operator/pix-audit.ts';
import { pausePix, resumePix } from '../../../src/operator/pix-pause.ts';
import type { TestResponse } from '../../support/app.ts';
import { givenCustomer, type TestUser } from '../../support/factories.ts';
import { mockQueries } from '../../support/intercepted.ts';
import { unwatched } from '../operator/asking.ts';
import { startReturnApp } from './return-app.ts';

const app = await startReturnApp();

const body = { pix_key: 'bruno@example.com', amount: 10 };
const otherBody = { pix_key: 'carla@example.com', amount: 3, description: 'another one' };

const cancel = ({ token }: TestUser, key: string): Promise<TestResponse> =>
  app.call('/pix/send/cancel', { method: 'POST', token, key });

const cancelReturn = ({ token }: TestUser, id: string, key: string): Promise<TestResponse> =>
  app.call(`/pix/${id}/refund/cancel`, { method: 'POST', token, key });

/** Holds a response against a key that is closed, and pays nothing. */
function assertClosed({ status, headers, body: answered }: TestResponse): void {
  assert.equal(status, 200, JSON.stringify(answered));
  assert.equal(answered.status, 'FAILED');
  assert.equal(headers.get('pix-outcome'), 'not_sent');
}

const isReplayed = ({ headers }: TestResponse) => headers.get('idempotency-replayed') === 'true';

/** A send that a process that died has left before PAYING. */
async function givenAbandoned(user: TestUser, claimedForMs: number | null): Promise<string> {
  const key = randomUUID();
  const now = app.clock.now();
  const claimedUntil = claimedForMs === null ? null : new Date(now.getTime() + claimedForMs);
  await app.rows(
    `insert into pix_transactions (id, user_id, operation, idempotency_key, fingerprint, status,
                                   phase, amount, pix_key, claimed_until, created_at, updated_at)
     values ($1, $2, 'SEND', $3, 'x', 'PROCESSING', 'RESERVED', 10, 'bruno@example.com', $4, $5,
             $5)`,
    [randomUUID(), user.id, key, claimedUntil, now],
  );
  return key;
}

describe('a key that no order has', () => {
  it('is closed, once, and a send with it never pays, whatever its body', async (t) => {
    const ana = await givenCustomer(app);
    const key = randomUUID();
    const first = await cancel(ana, key);
    assertClosed(first);
    assert.ok(!isReplayed(first));
    const paid = t.mock.method(app.context.provider, 'pay');
    for (const repeat of [
      await cancel(ana, key),
      await app.send(ana, body, { key }),
      await app.send(ana, otherBody, { key }),
    ]) {
      assertClosed(repeat);
      assert.ok(isReplayed(repeat));
      assert.equal(repeat.body.transaction_id, first.body.transaction_id);
    }
    assert.equal(paid.mock.callCount(), 0);
    assert.equal(await app.countRows(ana), 1);
    const { amount, failure_code: code } = await app.stored(first.body.transaction_id);
    assert.deepEqual([amount, code], [null, 'CANCELLED']);
    assert.deepEqual(await app.timeline(first.body.transaction_id), ['RESERVED', 'SETTLED closed']);
  });

  it('is free after its end also for a send whose fields are at fault', async () => {
    const ana = await givenCustomer(app);
    const key = randomUUID();
    const { body: closed } = await cancel(ana, key);
    const refused = await app.send(ana, { ...body, amount: -1 }, { key });
    assert.deepEqual([refused.status, Object.keys(refused.body.errors)], [422, ['amount']]);
    assert.equal(refused.body.transaction_id, closed.transaction_id);
    assert.equal(refused.headers.get('pix-outcome'), 'not_sent');
    assert.equal(refused.headers.get('pix-next'), 'new-key');
  });

  it('is shown by its id alone: no list and no receipt has it, and the audit finds nothing', async () => {
    const ana = await givenCustomer(app);
    const { body: closed } = await cancel(ana, randomUUID());
    const { token } = ana;
    const view = await app.view(ana, closed.transaction_id);
    assert.deepEqual([view.status, view.body.status], [200, 'FAILED']);
    const list = await app.call('/pix', { token });
    assert.deepEqual(list.body.items, []);
    const statement = await app.call('/accounts/statement', { token });
    assert.deepEqual(statement.body.items.local, []);
    const receipt = await app.call(`/pix/${closed.transaction_id}/receipt`, { token });
    assert.equal(receipt.status, 404);
    const { ok, invariants } = await auditPix.run(app.context, {}, unwatched);
    assert.ok(ok, JSON.stringify(invariants.filter(({ broken }) => broken > 0)));
  });

  it('is one of a user and of a kind: another user, a return and a charge have keys of their own', async () => {
    const [ana, bruno] = [await givenCustomer(app), await givenCustomer(app)];
    const key = randomUUID();
    assertClosed(await cancel(ana, key));
    const received = await app.givenReceived(ana);
    assert.equal((await app.giveBack(ana, received.id, 1, { key })).body.status, 'PROCESSING');
    assert.equal((await app.send(bruno, body, { key })).body.status, 'PROCESSING');
  });

  it('of a return is closed, too, whichever payment the path names', async (t) => {
    const ana = await givenCustomer(app);
    const received = await app.givenReceived(ana);
    const refunded = t.mock.method(app.context.provider, 'refund');
    for (const id of [received.id, randomUUID()]) {
      const key = randomUUID();
      const first = await cancelReturn(ana, id, key);
      assertClosed(first);
      const repeat = await app.giveBack(ana, received.id, 5, { key });
      assertClosed(repeat);
      assert.equal(repeat.body.transaction_id, first.body.transaction_id);
      assertClosed(await cancelReturn(ana, received.id, key));
    }
    assert.equal(refunded.mock.callCount(), 0);
    assert.deepEqual(await app.sums(received.id), { refunded: null, refunding: null });
    const none = await cancelReturn(ana, 'no-uuid', randomUUID());
    assert.deepEqual([none.status, none.headers.get('pix-outcome')], [404, 'not_sent']);
  });

  it('writes no app event', async () => {
    const events = await startReturnApp({
      environment: {
        JOBS: 'off',
        APP_EVENTS_URL: 'https://backend.example/events',
        APP_EVENTS_SECRET: `whsec_${Buffer.alloc(32, 'secret').toString('base64')}`,
      },
    });
    const ana = await givenCustomer(events);
    await events.call('/pix/send/cancel', { method: 'POST', token: ana.token, key: randomUUID() });
    assert.deepEqual(await events.rows('select id from app_events'), []);
  });
});

describe('a key that an order has', () => {
  it('is answered with the order as it stands', async () => {
    const ana = await givenCustomer(app);
    const key = randomUUID();
    const sent = await app.send(ana, body, { key });
    const answer = await cancel(ana, key);
    assert.equal(answer.status, 200);
    assert.deepEqual(answer.body, sent.body);
    assert.equal(answer.headers.get('pix-outcome'), 'accepted');
    assert.ok(isReplayed(answer));
  });

  it('before PAYING, with no process at work: it has failed, and never pays', async (t) => {
    const ana = await givenCustomer(app);
    const paid = t.mock.method(app.context.provider, 'pay');
    for (const claimedForMs of [null, 0, -1]) {
      const key = await givenAbandoned(ana, claimedForMs);
      const answer = await cancel(ana, key);
      assertClosed(answer);
      const stored = await app.stored(answer.body.transaction_id);
      assert.deepEqual([stored.amount, stored.failure_code], ['10.00', 'CANCELLED']);
      assertClosed(await cancel(ana, key));
    }
    assert.equal(paid.mock.callCount(), 0);
    const list = await app.call('/pix', { token: ana.token });
    assert.equal(list.body.items.length, 3, 'an order with an amount is listed');
  });

  it('before PAYING, with a process at work: it is answered as it stands', async () => {
    const ana = await givenCustomer(app);
    const key = await givenAbandoned(ana, 1);
    const answer = await cancel(ana, key);
    assert.deepEqual([answer.status, answer.body.status], [200, 'PROCESSING']);
    assert.equal(answer.headers.get('pix-outcome'), 'unknown');
    assert.equal((await app.stored(answer.body.transaction_id)).phase, 'RESERVED');
  });

  it('while it is looked up or paid: it is paid once, and answered as it stands', async (t) => {
    const ana = await givenCustomer(app);
    const { provider } = app.context;
    for (const step of ['lookUpKey', 'pay'] as const) {
      const key = randomUUID();
      const call = provider[step].bind(provider) as (request: never) => Promise<never>;
      const meanwhile: TestResponse[] = [];
      const mocked = t.mock.method(provider, step, async (request: never) => {
        meanwhile.push(await cancel(ana, key));
        return call(request);
      });
      const sent = await app.send(ana, body, { key });
      mocked.mock.restore();
      assert.equal(sent.headers.get('pix-outcome'), 'accepted');
      const [answer] = meanwhile;
      assert.deepEqual([answer?.status, answer?.body.status], [200, 'PROCESSING']);
      assert.equal(answer?.body.transaction_id, sent.body.transaction_id);
    }
  });
});

describe('races of one key', () => {
  it('a cancellation and a send at once: one of them has the key, and both answer it', async (t) => {
    const paid = t.mock.method(app.context.provider, 'pay');
    for (let round = 0; round < 10; round += 1) {
      const ana = await givenCustomer(app);
      const key = randomUUID();
      const before = paid.mock.callCount();
      const work = [() => app.send(ana, body, { key }), () => cancel(ana, key)];
      if (round % 2) work.reverse();
      const answers = await Promise.all(work.map((one) => one()));
      const ids = new Set(answers.map((answer) => answer.body.transaction_id));
      assert.equal(ids.size, 1);
      assert.equal(await app.countRows(ana), 1);
      const stored = await app.stored([...ids][0] as string);
      assert.equal(paid.mock.callCount() - before, stored.status === 'FAILED' ? 0 : 1);
    }
  });

  it('two cancellations at once close it once', async () => {
    const ana = await givenCustomer(app);
    const key = randomUUID();
    const answers = await Promise.all([cancel(ana, key), cancel(ana, key), cancel(ana, key)]);
    for (const answer of answers) assertClosed(answer);
    assert.equal(new Set(answers.map((answer) => answer.body.transaction_id)).size, 1);
    assert.equal(await app.countRows(ana), 1);
  });

  it('a commit whose confirmation is lost is found again', async (t) => {
    const ana = await givenCustomer(app);
    let calls = 0;
    mockQueries(t, app.context.db, (run) => async (statement, parameters) => {
      const rows = await run(statement, parameters);
      if (statement.name !== 'pix-close-key' || (calls += 1) > 1) return rows;
      throw new Error('Connection terminated unexpectedly');
    });
    const answer = await cancel(ana, randomUUID());
    assertClosed(answer);
    assert.equal(calls, 2);
    assert.equal(await app.countRows(ana), 1);
  });
});

describe('while commits may be lost', () => {
  it('nothing is closed, and no order fails: the outcome is unknown', async (t) => {
    const ana = await givenCustomer(app);
    const [key, abandoned] = [randomUUID(), await givenAbandoned(ana, null)];
    await pausePix.run(app.context, { reason: 'ticket 7' }, unwatched);
    t.after(() => resumePix.run(app.context, { reason: 'ticket 7' }, unwatched));
    const answer = await cancel(ana, key);
    const { headers } = answer;
    assert.deepEqual([answer.status, headers.get('pix-outcome')], [503, 'unknown']);
    assert.equal(headers.get('pix-next'), 'ask');
    assert.ok(answer.headers.get('retry-after'));
    assert.doesNotMatch(answer.body.message, /nothing/i);
    const open = await cancel(ana, abandoned);
    assert.deepEqual([open.status, open.headers.get('pix-next')], [503, 'ask'], 'it may be paid');
    assert.equal(await app.countRows(ana), 1);
  });
});

describe('what is refused before', () => {
  const refused = async (path: string, request: object): Promise<[number, string | null]> => {
    const { status, headers } = await app.call(path, { method: 'POST', ...request });
    return [status, headers.get('pix-outcome')];
  };

  it('no token, no key, and an unknown query parameter', async () => {
    const { token } = await givenCustomer(app);
    const key = randomUUID();
    const path = '/pix/send/cancel';
    assert.deepEqual(await refused(path, { key }), [401, 'unknown']);
    assert.deepEqual(await refused(path, { token }), [422, 'unknown']);
    assert.deepEqual(await refused(path, { token, key: '"quoted"' }), [422, 'unknown']);
    assert.deepEqual(await refused(`${path}?now=1`, { token, key }), [422, 'not_sent']);
  });
});
