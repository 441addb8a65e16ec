/** `ponte pix resolve --as failed --overrule`: two persons take a wrong COMPLETED back. */
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { beforeEach, describe, it } from 'node:test';
import { fromEvent, newEndToEndId } from '../../../src/domain/pix.ts';
import { storeReceived } from '../../../src/ledger/transaction-repository.ts';
import { auditPix } from '../../../src/operator/pix-audit.ts';
import { findStatementUser } from '../../../src/settlement/reconciliation-repository.ts';
import { reconcileUser } from '../../../src/settlement/reconcile-user.ts';
import { calendarDay } from '../../../src/domain/calendar.ts';
import { confirmed, settleBy } from '../jobs/settling.ts';
import { startPixApp, type StoredPix } from '../pix/pix-app.ts';
import { acceptance, startScriptedBank } from '../pix/scripted-bank.ts';
import { givenCustomer, type TestUser } from '../../support/factories.ts';
import { unwatched } from './asking.ts';
import { runPonte } from './command-line.ts';

const bank = await startScriptedBank();
const environment = {
  ...bank.environment,
  JOBS: 'off',
  APP_EVENTS_URL: 'http://127.0.0.1:9/',
  APP_EVENTS_SECRET: `whsec_${'A'.repeat(32)}`,
};
const app = await startPixApp({ bank: {} as never, environment });
const minuteMs = 60_000;
const dayMs = 24 * 60 * minuteMs;

const decision = ['--reason', 'ticket 8', '--by', 'ana', '--yes'];

function run(id: string, as: string, ...options: string[]) {
  const words = as === 'failed' ? 'money may have moved' : 'money has moved';
  const argv = ['pix', 'resolve', id, '--as', as, ...decision, '--confirm', words, ...options];
  return runPonte(app, argv, { environment });
}

const overrule = (id: string, ...options: string[]) => run(id, 'failed', '--overrule', ...options);

/** A send that an operator has completed, and that the bank has accepted. */
async function givenCompleted(user: TestUser): Promise<StoredPix> {
  const { body } = await app.send(user, { pix_key: 'ana@example.com', amount: 10 });
  assert.equal((await run(body.transaction_id, 'completed')).code, 0);
  return app.stored(body.transaction_id);
}

/** Gives the requests for an overrule another login of the database. */
const asRequestedByAnother = (id: string) =>
  app.ownerRows(`do $$ begin
    set local session_replication_role = 'replica';
    update operator_actions set database_user = 'bia', operator = 'bia'
     where target = 'pix:${id}' and command = 'pix resolve --overrule';
  end $$`);

const debit = ({ end_to_end: endToEnd }: StoredPix) => ({
  endToEnd,
  amount: 10,
  type: 'PIX_PAYMENT_OUT',
  status: 'CONFIRMED',
});
const credit = (send: StoredPix) => ({ ...debit(send), type: 'PIX_PAYMENT_IN' });

const statement = (...lines: readonly object[]): void => {
  bank.onStatement = () => ({ status: 200, body: lines });
};

/** Requests the overrule with one login, and carries it out with another. */
async function overruleTwice(id: string, ...options: string[]): Promise<void> {
  assert.equal((await overrule(id, ...options)).code, 0);
  await asRequestedByAnother(id);
  const { code, stdout, stderr } = await overrule(id, ...options);
  assert.equal(code, 0, stderr);
  assert.match(stdout, /is FAILED\./);
}

const view = async (user: TestUser, id: string) =>
  (await app.call(`/pix/${id}`, { token: user.token })) as {
    readonly body: Record<string, unknown>;
    readonly headers: Headers;
  };

/** Delivers an event about a send, and settles it. */
async function receive({ end_to_end: endToEnd }: StoredPix, changes: object = {}): Promise<void> {
  const body = confirmed({ endToEnd, amount: 10, ...changes });
  const response = await app.call('/webhooks/provider', { method: 'POST', body });
  assert.equal(response.status, 200);
  await settleBy(app, response.body.event_id);
}

const newEndToEnd = () => newEndToEndId('11165756', app.clock.now());

/** Records the other side of a send: its payee is a customer, too. */
async function receivedBy({ id: userId }: TestUser, send: StoredPix): Promise<void> {
  const received = { userId, amountCents: 1_000, pixKey: 'ana@example.com', providerTxid: null };
  const { end_to_end: endToEnd } = send;
  const at = app.clock.now();
  await storeReceived(app.context, fromEvent(randomUUID()), { ...received, endToEnd, at });
}

const statusOf = async ({ id }: StoredPix) => (await app.stored(id)).status;

const outcomes = async ({ id }: StoredPix) =>
  (
    await app.rows<{ outcome: string }>(
      `select outcome from operator_actions
        where target = $1 and command = 'pix resolve --overrule' order by id`,
      [`pix:${id}`],
    )
  ).map(({ outcome }) => outcome);

async function requireSoundAudit(): Promise<void> {
  const { invariants } = await auditPix.run(app.context, {}, unwatched);
  assert.deepEqual(
    invariants.flatMap(({ name, rows }) => rows.map(({ found }) => `${name}: ${found}`)),
    [],
  );
}

beforeEach(() => {
  bank.onPayment = acceptance;
  statement();
});

describe('an overrule', () => {
  it('takes two logins of the database, and tells the app and its backend', async () => {
    const user = await givenCustomer(app);
    const send = await givenCompleted(user);
    const before = await view(user, send.id);
    const first = await overrule(send.id);
    assert.equal(first.code, 0, first.stderr);
    assert.match(first.stdout, /Requested\. Another person runs the same command within a day/);
    assert.equal(await statusOf(send), 'COMPLETED');

    const own = await overrule(send.id);
    assert.equal(own.code, 1);
    assert.match(own.stderr, /with this login of the database: another person carries it out/);

    await asRequestedByAnother(send.id);
    const second = await overrule(send.id);
    assert.equal(second.code, 0, second.stderr);
    const ends = ['REQUESTED; statement: absent', 'FAILED; statement: absent'];
    assert.deepEqual(await outcomes(send), ends);

    const { body, headers } = await view(user, send.id);
    assert.equal(body['status'], 'FAILED');
    assert.deepEqual((body['failure'] as { code: string }).code, 'OVERRULED');
    assert.equal(body['overruled_at'], app.clock.now().toISOString());
    assert.equal(headers.get('pix-next'), 'ask');
    assert.notEqual(headers.get('etag'), before.headers.get('etag'));
    const { body: receipt } = await app.call(`/pix/${send.id}/receipt`, { token: user.token });
    assert.equal(receipt.overruled_at, body['overruled_at']);
    const events = await app.rows<{ id: string; type: string }>(
      'select id, type from app_events where transaction_id = $1 order by at, id',
      [send.id],
    );
    assert.deepEqual(events, [
      { id: `pix_${send.id}`, type: 'pix.completed' },
      { id: `pix_${send.id}_overruled`, type: 'pix.failed' },
    ]);
    await requireSoundAudit();
  });

  it('is made once, and the bank corrects it by an event', async () => {
    const user = await givenCustomer(app);
    const send = await givenCompleted(user);
    await overruleTwice(send.id);
    await receive(send);
    const { body } = await view(user, send.id);
    assert.equal(body['status'], 'COMPLETED');
    assert.ok(body['corrected_at'] !== undefined && body['overruled_at'] !== undefined);
    assert.match((await overrule(send.id)).stderr, /it was overruled before/);
    const events = await app.rows<{ id: string }>(
      "select id from app_events where transaction_id = $1 and type = 'pix.completed' order by id",
      [send.id],
    );
    assert.deepEqual(
      events.map(({ id }) => id),
      [`pix_${send.id}`, `pix_${send.id}_corrected_again`],
    );
    await requireSoundAudit();
  });

  it('must be requested again after a day', async () => {
    const send = await givenCompleted(await givenCustomer(app));
    assert.equal((await overrule(send.id)).code, 0);
    await asRequestedByAnother(send.id);
    await app.ownerRows(`do $$ begin
      set local session_replication_role = 'replica';
      update operator_actions set at = at - interval '25 hours' where target = 'pix:${send.id}';
    end $$`);
    assert.match((await overrule(send.id)).stdout, /Requested\./);
    assert.equal(await statusOf(send), 'COMPLETED');
  });
});

describe('an overrule is refused', () => {
  const lines: Readonly<Record<string, (send: StoredPix) => object[]>> = {
    'the statement shows this payment': (send) => [debit(send)],
    'its lines are not clear': (send) => [debit(send), debit(send)],
    'a debit of this amount that is of no stored payment': (send) => [
      { ...debit(send), endToEnd: undefined },
    ],
  };
  for (const [sentence, shown] of Object.entries(lines)) {
    it(`while ${sentence}`, async () => {
      const send = await givenCompleted(await givenCustomer(app));
      statement(...shown(send));
      const { code, stderr } = await overrule(send.id);
      assert.equal(code, 1);
      assert.ok(stderr.includes(sentence), stderr);
      assert.deepEqual(await outcomes(send), []);
    });
  }

  it('unless both operators say that a debit of its amount is another one', async () => {
    const send = await givenCompleted(await givenCustomer(app));
    statement({ ...debit(send), endToEnd: undefined });
    assert.match((await overrule(send.id)).stderr, /give --despite-statement/);
    await overruleTwice(send.id, '--despite-statement');
    assert.equal(await statusOf(send), 'FAILED');
  });

  for (const [what, change] of [
    ['has failed', { status: 'ERROR' }],
    ['has come back', {}],
  ] as const) {
    it(`and not while a debit with its request id ${what}`, async () => {
      const send = await givenCompleted(await givenCustomer(app));
      const [{ key } = {}] = await app.rows<{ key?: string }>(
        'select idempotency_key as key from pix_transactions where id = $1',
        [send.id],
      );
      const back = what === 'has come back' ? [credit(send)] : [];
      statement({ ...debit(send), ...change, clientRequestId: key }, ...back);
      await overruleTwice(send.id);
      assert.equal(await statusOf(send), 'FAILED');
    });
  }

  it('while the statement cannot be read', async () => {
    const user = await givenCustomer(app);
    const send = await givenCompleted(user);
    await app.call('/auth/logout', { method: 'POST', token: user.token });
    assert.match((await overrule(send.id)).stderr, /was not read: the user has no active session/);
  });

  it('when an event of the bank has completed it', async () => {
    const { body } = await app.send(await givenCustomer(app), { pix_key: 'a@b.test', amount: 10 });
    const send = await app.stored(body.transaction_id);
    await receive(send);
    assert.match((await overrule(send.id)).stderr, /the event \S+ says that it was paid/);
  });

  it('when an event has found it completed, also one between the request and the end', async () => {
    const send = await givenCompleted(await givenCustomer(app));
    assert.equal((await overrule(send.id)).code, 0);
    await receive(send);
    await asRequestedByAnother(send.id);
    assert.match((await overrule(send.id)).stderr, /the event \S+ says that it was paid/);
    assert.equal(await statusOf(send), 'COMPLETED');
  });

  it('when an event has completed its other side, of a payee who is a customer, too', async () => {
    const send = await givenCompleted(await givenCustomer(app));
    await receivedBy(await givenCustomer(app), send);
    assert.match((await overrule(send.id)).stderr, /the bank has completed it/);
  });

  it('when an event completes its other side while the statement is read', async () => {
    const send = await givenCompleted(await givenCustomer(app));
    const payee = await givenCustomer(app);
    assert.equal((await overrule(send.id)).code, 0);
    await asRequestedByAnother(send.id);
    let isReceived = false;
    bank.onStatement = async () => {
      if (!isReceived) await receivedBy(payee, send);
      isReceived = true;
      return { status: 200, body: [] };
    };
    assert.match((await overrule(send.id)).stderr, /the bank has completed it/);
    assert.equal(await statusOf(send), 'COMPLETED');
  });

  it('when an event that is not settled yet may say that it was paid', async () => {
    const send = await givenCompleted(await givenCustomer(app));
    assert.equal((await overrule(send.id)).code, 0);
    const body = confirmed({ endToEnd: send.end_to_end, amount: 10 });
    const { body: stored } = await app.call('/webhooks/provider', { method: 'POST', body });
    await asRequestedByAnother(send.id);
    assert.match((await overrule(send.id)).stderr, /the event \S+, which is not settled yet, may/);
    assert.equal(await statusOf(send), 'COMPLETED');
    await settleBy(app, stored.event_id);
  });

  it('when an event that is orphaned may say that it was paid', async () => {
    const send = await givenCompleted(await givenCustomer(app));
    const body = confirmed({ endToEnd: send.end_to_end, amount: 10 });
    const { body: stored } = await app.call('/webhooks/provider', { method: 'POST', body });
    await app.rows(`delete from webhook_queue where event_id = $1`, [stored.event_id]);
    await app.rows(`update webhook_events set status = 'orphaned' where id = $1`, [
      stored.event_id,
    ]);
    assert.match((await overrule(send.id)).stderr, /the event \S+, which is not settled yet, may/);
    await app.rows(`update webhook_events set status = 'ignored' where id = $1`, [stored.event_id]);
  });

  it('and events about other payments do not prevent it', async () => {
    const send = await givenCompleted(await givenCustomer(app));
    await app.rows(
      `with parked as (
         insert into webhook_events (id, payload_hash, payload, status, received_at)
         select gen_random_uuid(), decode(md5($1::text || nth), 'hex'), '{}', 'parked', $2
           from generate_series(1, 101) as nth returning id)
       insert into webhook_queue (event_id, due_at, waiting_since)
       select id, $2::timestamptz + interval '1 hour', $2 from parked`,
      [send.id, app.clock.now()],
    );
    const [row] = await app.rows<{ key: string }>(
      'select idempotency_key as key from pix_transactions where id = $1',
      [send.id],
    );
    const foreign = { clientRequestId: row?.key, endToEnd: newEndToEnd() };
    const body = confirmed({ ...foreign, amount: 55 });
    const { body: stored } = await app.call('/webhooks/provider', { method: 'POST', body });
    await settleBy(app, stored.event_id);
    await overruleTwice(send.id);
    await app.rows('delete from webhook_queue');
    await app.rows(`update webhook_events set status = 'ignored' where status = 'parked'`);
  });

  it('when more events name it than are read', async () => {
    const user = await givenCustomer(app);
    const send = await givenCompleted(user);
    await app.rows(
      `insert into webhook_events (id, payload_hash, status, results, received_at)
       select (substr(id, 1, 23) || '-' || lpad(nth::text, 12, '0'))::uuid,
              decode(md5(id || nth), 'hex'),
              'anomaly', jsonb_build_array(jsonb_build_object('index', 0, 'result', 'anomaly',
                                                              'transactionId', $1::text)), $2
         from (select $1::text as id) as named, generate_series(1, 101) as nth`,
      [send.id, app.clock.now()],
    );
    assert.match((await overrule(send.id)).stderr, /more than 100 events name it/);
  });

  it('when money of it came back', async () => {
    const send = await givenCompleted(await givenCustomer(app));
    const returnId = `D${(send.end_to_end ?? '').slice(1)}`;
    await receive(send, { event: 'PIX_REFUND_IN', returnId });
    assert.match((await overrule(send.id)).stderr, /money of it came back/);
  });

  it('of what is not COMPLETED', async () => {
    const { body } = await app.send(await givenCustomer(app), { pix_key: 'a@b.test', amount: 10 });
    assert.match((await overrule(body.transaction_id)).stderr, /only what is COMPLETED is/);
  });
});

describe('a line of the statement after an overrule', () => {
  async function reconcile(user: TestUser, send: StoredPix): Promise<void> {
    const day = calendarDay(app.clock.now());
    await app.clock.advance(dayMs);
    for (const _ of [1, 2]) {
      await app.clock.advance(11 * minuteMs);
      const stored = await findStatementUser(app.context, user.id);
      assert.ok(stored);
      statement(debit(send));
      await reconcileUser(app.context, stored, { first: day, last: day, options: {} });
    }
  }

  it('corrects it, if the operators have not seen the line', async () => {
    const user = await givenCustomer(app);
    const send = await givenCompleted(user);
    await overruleTwice(send.id);
    await reconcile(user, send);
    assert.equal(await statusOf(send), 'COMPLETED');
  });

  it('corrects nothing, if they have seen it with as much money back', async () => {
    const user = await givenCustomer(app);
    const send = await givenCompleted(user);
    statement(debit(send), credit(send));
    await overruleTwice(send.id);
    await reconcile(user, send);
    assert.equal(await statusOf(send), 'FAILED');
    await receive(send);
    assert.equal(await statusOf(send), 'COMPLETED');
  });
});

it('--overrule is for a payment that is called failed', async () => {
  const argv = ['pix', 'resolve', 'x', '--as', 'completed', '--reason', 'x', '--overrule'];
  const { code, stderr } = await runPonte(app, argv, { environment });
  assert.deepEqual([code, stderr], [2, 'ponte: --overrule needs --as failed\n']);
});
