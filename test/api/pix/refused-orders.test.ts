/** Orders that a rule refuses: the key is closed, and no request with it pays later. */
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { describe, it, type TestContext } from 'node:test';
import pg from 'pg';
import { pausePix, resumePix } from '../../../src/operator/pix-pause.ts';
import { auditPix } from '../../../src/operator/pix-audit.ts';
import type { TestResponse } from '../../support/app.ts';
import { eventually } from '../../support/eventually.ts';
import { givenCustomer, type TestUser } from '../../support/factories.ts';
import { mockQueries } from '../../support/intercepted.ts';
import { unwatched } from '../operator/asking.ts';
import { startReturnApp } from './return-app.ts';

const app = await startReturnApp({
  environment: { PIX_LIMIT_DAY: '100.00', PIX_LIMIT_NIGHT: '100.00' },
});

const body = { pix_key: 'bruno@example.com', amount: 10 };

/** A request that a rule refuses, what the app sees, and how the rule is lifted. */
interface Refused {
  readonly send: (key: string) => Promise<TestResponse>;
  readonly field: string;
  readonly code: string;
  readonly lift: () => Promise<unknown>;
}

const setAccount = (user: TestUser, column: string, value: string | null) =>
  app.rows(`update accounts set ${column} = $2 where user_id = $1`, [user.id, value]);

const newEndToEnd = () => `E12345678202611280000${randomUUID().replaceAll('-', '').slice(0, 11)}`;

async function givenCharge(user: TestUser): Promise<{ readonly id: string }> {
  const { body: charge } = await app.charge(user, { type: 'dynamic', amount: 10 });
  return { id: charge.transaction_id };
}

const complete = (id: string, endToEnd: string | null) =>
  app.rows(
    `update pix_transactions set status = 'COMPLETED', phase = 'SETTLED', outcome = 'accepted',
            end_to_end = $2, settled_at = updated_at where id = $1`,
    [id, endToEnd],
  );

const rules: Readonly<Record<string, (user: TestUser) => Promise<Refused>>> = {
  'over the limit': (user) =>
    Promise.resolve({
      send: (key) => app.send(user, { ...body, amount: 100.01 }, { key }),
      field: 'amount',
      code: 'LIMIT_EXCEEDED',
      lift: () =>
        app.rows(
          'insert into pix_limits (user_id, day, night, version) values ($1, 900, 900, 1)' +
            ' on conflict (user_id) do update set day = 900, night = 900',
          [user.id],
        ),
    }),
  'from an account that is blocked': async (user) => {
    await setAccount(user, 'status', 'BLOCKED');
    return {
      send: (key) => app.send(user, body, { key }),
      field: 'account',
      code: 'ACCOUNT_NOT_ACTIVE',
      lift: () => setAccount(user, 'status', 'ACTIVE'),
    };
  },
  'from an account that is not complete': async (user) => {
    await setAccount(user, 'agency', null);
    return {
      send: (key) => app.send(user, body, { key }),
      field: 'account',
      code: 'ACCOUNT_INCOMPLETE',
      lift: () => setAccount(user, 'agency', '0001'),
    };
  },
  'with a look-up that cannot be used': (user) =>
    Promise.resolve({
      send: (key) => app.send(user, { ...body, lookup_id: 'nonsense' }, { key }),
      field: 'lookup_id',
      code: 'LOOK_UP_UNUSABLE',
      lift: () => Promise.resolve(),
    }),
  'that returns more than is left': async (user) => {
    const received = await app.givenReceived(user, 1_000);
    return {
      send: (key) => app.giveBack(user, received.id, 10.01, { key }),
      field: 'amount',
      code: 'RETURN_TOO_MUCH',
      lift: () =>
        app.rows('update pix_transactions set updated_at = updated_at where id = $1', [
          received.id,
        ]),
    };
  },
  'that returns what was sent': async (user) => {
    const sent = await app.send(user, body);
    return {
      send: (key) => app.giveBack(user, sent.body.transaction_id, 1, { key }),
      field: 'transactionId',
      code: 'NOT_RECEIVED',
      lift: () => Promise.resolve(),
    };
  },
  'that returns a charge that is not paid': async (user) => {
    const { id } = await givenCharge(user);
    return {
      send: (key) => app.giveBack(user, id, 1, { key }),
      field: 'transactionId',
      code: 'NOT_RECEIVED_YET',
      lift: () => complete(id, newEndToEnd()),
    };
  },
  'that returns a charge whose end-to-end id the bank has not reported': async (user) => {
    const { id } = await givenCharge(user);
    await complete(id, null);
    return {
      send: (key) => app.giveBack(user, id, 1, { key }),
      field: 'transactionId',
      code: 'NOT_IDENTIFIED',
      lift: () =>
        app.rows('update pix_transactions set end_to_end = $2 where id = $1', [id, newEndToEnd()]),
    };
  },
  'that returns a Pix after 90 days': async (user) => {
    const id = randomUUID();
    await app.rows(
      `insert into pix_transactions (id, user_id, operation, status, phase, outcome, amount,
               end_to_end, created_at, updated_at, settled_at)
       select $1, $2, 'RECEIVED', 'COMPLETED', 'SETTLED', 'accepted', 10, $3, at, at, at
         from (select $4::timestamptz - interval '91 days' as at) received`,
      [id, user.id, newEndToEnd(), app.clock.now()],
    );
    return {
      send: (key) => app.giveBack(user, id, 1, { key }),
      field: 'transactionId',
      code: 'RETURN_TOO_LATE',
      lift: () => Promise.resolve(),
    };
  },
  'that returns from an account that is blocked': async (user) => {
    const received = await app.givenReceived(user, 1_000);
    await setAccount(user, 'status', 'BLOCKED');
    return {
      send: (key) => app.giveBack(user, received.id, 1, { key }),
      field: 'account',
      code: 'ACCOUNT_NOT_ACTIVE',
      lift: () => setAccount(user, 'status', 'ACTIVE'),
    };
  },
};

describe('an order', () => {
  for (const [what, make] of Object.entries(rules)) {
    it(`${what}: it is refused once, and its key replays that after the rule is lifted`, async (t) => {
      const user = await givenCustomer(app);
      const { send, field, code, lift } = await make(user);
      const { provider } = app.context;
      const calls = [t.mock.method(provider, 'pay'), t.mock.method(provider, 'refund')];
      const key = randomUUID();
      const before = await app.countMade(user);
      const refused = await send(key);
      assert.equal(refused.status, 422, JSON.stringify(refused.body));
      assert.deepEqual(Object.keys(refused.body.errors), [field]);
      assert.equal(refused.headers.get('pix-outcome'), 'not_sent');
      assert.equal(refused.headers.get('pix-next'), 'new-key');
      await lift();
      const repeat = await send(key);
      assert.equal(repeat.status, 200);
      assert.equal(repeat.body.status, 'FAILED');
      assert.equal(repeat.body.failure.code, code);
      assert.equal(repeat.headers.get('pix-outcome'), 'not_sent');
      assert.equal(repeat.headers.get('idempotency-replayed'), 'true');
      assert.equal(repeat.body.transaction_id, refused.body.transaction_id);
      const stored = await app.stored(repeat.body.transaction_id);
      assert.deepEqual([stored.status, stored.failure_code], ['FAILED', code]);
      assert.equal(await app.countMade(user), before);
      assert.ok(calls.every(({ mock }) => mock.callCount() === 0));
    });
  }

  it('is listed as FAILED with its amount, and the audit finds no fault in it', async () => {
    const user = await givenCustomer(app);
    const refused = await app.send(user, { ...body, amount: 100.01 });
    const { body: list } = await app.call('/pix', { token: user.token });
    const [item] = list.items;
    assert.deepEqual([item.status, item.amount], ['FAILED', 100.01]);
    const { invariants } = await auditPix.run(app.context, {}, unwatched);
    const broken = invariants.filter(({ rows }) =>
      rows.some(({ id }) => id === refused.body.transaction_id),
    );
    assert.deepEqual(broken, []);
  });
});

const onServer = {
  skip: app.context.config.databaseUrl === undefined && 'the embedded database has one connection',
};

/** A connection beside those of the service. */
async function connected(t: TestContext): Promise<pg.Client> {
  const client = new pg.Client({ connectionString: app.context.config.databaseUrl });
  await client.connect();
  t.after(() => client.end());
  return client;
}

/** Whether a statement waits for the transaction of a connection. */
async function isBlocked(by: pg.Client): Promise<boolean> {
  const { rowCount } = await by.query(
    'select from pg_stat_activity where pg_backend_pid() = any(pg_blocking_pids(pid))',
  );
  return rowCount === 1;
}

describe('refusals of one key at once', () => {
  it('close it once', async () => {
    const user = await givenCustomer(app);
    const key = randomUUID();
    const over = { ...body, amount: 100.01 };
    const answers = await Promise.all([1, 2, 3].map(() => app.send(user, over, { key })));
    assert.ok(answers.some(({ status }) => status === 422));
    const repeats = answers.filter(({ status }) => status === 200);
    assert.ok(repeats.every((repeat) => repeat.body.status === 'FAILED'));
    assert.equal(await app.countRows(user), 1);
  });

  it('wait for a claim that is not committed yet, and answer it', onServer, async (t) => {
    const user = await givenCustomer(app);
    const key = randomUUID();
    // The same request of another customer has the fingerprint.
    const model = await app.send(await givenCustomer(app), body);
    const standby = await connected(t);
    const id = randomUUID();
    await standby.query('begin');
    await standby.query(
      `insert into pix_transactions
              (id, user_id, operation, idempotency_key, fingerprint, status, phase, amount, pix_key,
               claimed_until, created_at, updated_at)
       select $1, $2, operation, $3, fingerprint, 'PROCESSING', 'RESERVED', amount, pix_key,
              created_at + interval '1 day', created_at, created_at
         from pix_transactions where id = $4`,
      [id, user.id, key, model.body.transaction_id],
    );
    await setAccount(user, 'status', 'BLOCKED');
    const answering = app.send(user, body, { key });
    await eventually(() => isBlocked(standby), 'the refusal waits for the claim');
    await standby.query('commit');
    const answer = await answering;
    assert.deepEqual([answer.status, answer.body.transaction_id], [200, id]);
    assert.equal(answer.body.status, 'PROCESSING');
    assert.equal(answer.headers.get('pix-next'), 'wait');
    assert.equal(await app.countRows(user), 1);
  });

  it('answer a claim that was committed after the reservation has looked', async (t) => {
    const user = await givenCustomer(app);
    const key = randomUUID();
    let claimed: TestResponse | undefined;
    mockQueries(t, app.context.db, (run) => async (statement, parameters) => {
      // The account pays with the key after the refusing request has read that it does not.
      if (statement.name === 'pix-close-key' && claimed === undefined) {
        await setAccount(user, 'status', 'ACTIVE');
        claimed = await app.send(user, body, { key });
      }
      return run(statement, parameters);
    });
    await setAccount(user, 'status', 'BLOCKED');
    const answer = await app.send(user, body, { key });
    assert.equal(claimed?.headers.get('pix-outcome'), 'accepted');
    assert.equal(answer.status, 200);
    assert.equal(answer.body.transaction_id, claimed.body.transaction_id);
    assert.equal(answer.headers.get('pix-outcome'), 'accepted');
    assert.equal(await app.countRows(user), 1);
  });
});

describe('what stores nothing', () => {
  it('a faulty field: the corrected request has the same key', async () => {
    const user = await givenCustomer(app);
    const key = randomUUID();
    const faulty = await app.send(user, { ...body, amount: -1 }, { key });
    assert.deepEqual(
      [faulty.status, faulty.headers.get('pix-outcome'), faulty.headers.get('pix-next')],
      [422, 'not_sent', 'correct'],
    );
    assert.equal(await app.countRows(user), 0);
    assert.equal((await app.send(user, body, { key })).headers.get('pix-outcome'), 'accepted');
  });

  it('a rule while commits may be lost: the outcome is unknown, and the customer looks first', async (t) => {
    const user = await givenCustomer(app);
    await setAccount(user, 'status', 'BLOCKED');
    await pausePix.run(app.context, { reason: 'ticket 7' }, unwatched);
    t.after(() => resumePix.run(app.context, { reason: 'ticket 7' }, unwatched));
    const refused = await app.send(user, body);
    assert.deepEqual(
      [refused.status, refused.headers.get('pix-outcome'), refused.headers.get('pix-next')],
      [422, 'unknown', 'ask'],
    );
    assert.equal(await app.countRows(user), 0);
  });
});

it('a rule refuses another request than that of the key: the order that has it is named', async () => {
  const user = await givenCustomer(app);
  const key = randomUUID();
  const paid = await app.send(user, body, { key });
  const other = await app.send(user, { ...body, amount: 11, lookup_id: 'x' }, { key });
  const { status, headers } = other;
  assert.deepEqual([status, headers.get('pix-outcome')], [422, 'accepted']);
  assert.equal(headers.get('pix-next'), 'ask');
  assert.equal(other.body.transaction_id, paid.body.transaction_id);
  assert.deepEqual(Object.keys(other.body.errors), ['Idempotency-Key']);
});
