/** A send by a fresh look-up is PAYING in the commit of its claim. */
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { test, type TestContext } from 'node:test';
import { eventually } from '../../support/eventually.ts';
import { givenCustomer, type TestUser } from '../../support/factories.ts';
import { mockQueries, type RunAny } from '../../support/intercepted.ts';
import { startPixApp } from './pix-app.ts';

const app = await startPixApp();
const query = { ...app.context.db }.query as unknown as RunAny;

const terms = { pix_key: 'ana@example.com', amount: 10.5 };

async function lookUp({ token }: TestUser): Promise<string> {
  const { body } = await app.call('/pix/lookup', { token, body: { pix_key: terms.pix_key } });
  return body.lookup_id;
}

const isClaim = (name: string): boolean => name.startsWith('pix-reserve-send');

/** The names of the statements that write a send, in order. */
function watchWrites(t: TestContext): string[] {
  const written: string[] = [];
  mockQueries(t, app.context.db, () => (statement, parameters) => {
    if (isClaim(statement.name) || statement.name === 'pix-step') written.push(statement.name);
    return query(statement, parameters);
  });
  return written;
}

async function timelineOf(id: string): Promise<string[]> {
  const rows = await app.rows<{ phase: string; attempt: number | null }>(
    'select phase, attempt from pix_timeline where transaction_id = $1 order by id',
    [id],
  );
  return rows.map(({ phase, attempt }) => `${phase} ${attempt}`);
}

test('its claim and its PAYING are one commit, and the owner is stored', async (t) => {
  const user = await givenCustomer(app);
  const lookup_id = await lookUp(user);
  const written = watchWrites(t);
  const { status, body } = await app.send(user, { ...terms, lookup_id });
  assert.deepEqual([status, body.status], [200, 'PROCESSING']);
  assert.deepEqual(written, ['pix-reserve-send', 'pix-step']);
  const [row] = await app.rows(
    'select phase, payee_class, payee, end_to_end from pix_transactions where id = $1',
    [body.transaction_id],
  );
  assert.equal(row?.['phase'], 'ACCEPTED');
  assert.equal(row['payee_class'], 'person');
  assert.ok(row['payee'] !== null && row['end_to_end'] !== null);
  assert.deepEqual(await timelineOf(body.transaction_id), ['PAYING 1', 'ACCEPTED 1']);
});

test('with limits it is judged, and PAYING in its claim', async (t) => {
  const user = await givenCustomer(app);
  await app.rows(
    "insert into pix_limits (user_id, version, day, night) values ($1, 1, '100.00', '100.00')",
    [user.id],
  );
  const lookup_id = await lookUp(user);
  const written = watchWrites(t);
  assert.equal((await app.send(user, { ...terms, lookup_id })).status, 200);
  assert.deepEqual(written, ['pix-reserve-send', 'pix-reserve-send-judged', 'pix-step']);
  const over = await app.send(user, { ...terms, amount: 90, lookup_id: await lookUp(user) });
  assert.equal(over.status, 422);
});

test('a token that this process has not opened leaves it RESERVED first', async (t) => {
  const user = await givenCustomer(app);
  const lookup_id = await lookUp(user);
  app.context.sealer.forgetText(`user:${user.id}`);
  const written = watchWrites(t);
  assert.equal((await app.send(user, { ...terms, lookup_id })).status, 200);
  assert.deepEqual(written, ['pix-reserve-send', 'pix-step', 'pix-step']);
});

test('a look-up that has paid before pays nothing under another key', async (t) => {
  const user = await givenCustomer(app);
  const lookup_id = await lookUp(user);
  assert.equal((await app.send(user, { ...terms, lookup_id })).status, 200);
  const payments = t.mock.method(app.context.provider, 'pay');
  const again = await app.send(user, { ...terms, lookup_id });
  assert.equal(again.status, 422);
  assert.ok(again.body.errors.lookup_id);
  assert.equal(payments.mock.callCount(), 0);
});

for (const column of ['status', 'paused'] as const) {
  test(`nothing is stored while it may not be paid: ${column}`, async (t) => {
    const user = await givenCustomer(app);
    const lookup_id = await lookUp(user);
    const payments = t.mock.method(app.context.provider, 'pay');
    if (column === 'status') {
      await app.rows("update accounts set status = 'BLOCKED' where user_id = $1", [user.id]);
    } else {
      await app.ownerRows(
        "insert into pix_pauses (began_at, began_by, reason) values (now(), 'ana', 'test')",
      );
      t.after(() => app.ownerRows('delete from pix_pauses'));
    }
    const key = randomUUID();
    const { status } = await app.send(user, { ...terms, lookup_id }, { key });
    assert.equal(status, column === 'status' ? 422 : 503);
    const open = await app.rows(
      "select from pix_transactions where user_id = $1 and status = 'PROCESSING'",
      [user.id],
    );
    assert.equal(open.length, 0);
    assert.equal(payments.mock.callCount(), 0);
  });
}

/** Lets time pass until the send of a user has failed, and nothing was sent. */
const untilUnsent = ({ id }: TestUser) =>
  eventually(async () => {
    await app.clock.advance(1_000);
    const [row] = await app.rows<{ status: string; outcome: string }>(
      'select status, outcome from pix_transactions where user_id = $1',
      [id],
    );
    return row?.status === 'FAILED' && row.outcome === 'not_sent';
  }, 'the failure');

/**
 * Loses the connection of each claim, before or after its commit.
 * @returns what executes the first one late.
 */
function loseClaims(t: TestContext, isCommitted: boolean): () => Promise<unknown> {
  const late: (() => Promise<unknown>)[] = [];
  mockQueries(t, app.context.db, () => async (statement, parameters) => {
    if (!isClaim(statement.name)) return query(statement, parameters);
    if (isCommitted) await query(statement, parameters);
    else late.push(() => query({ ...statement, name: 'late-claim' }, parameters));
    throw new Error('Connection terminated unexpectedly');
  });
  return async () => late[0]?.();
}

for (const [title, isCommitted] of [
  ['was committed', true],
  ['is executed late', false],
] as const) {
  test(`a claim that ${title} without an answer fails: nothing was sent`, async (t) => {
    const user = await givenCustomer(app);
    const lookup_id = await lookUp(user);
    const payments = t.mock.method(app.context.provider, 'pay');
    const key = randomUUID();
    const execute = loseClaims(t, isCommitted);
    const lost = await app.send(user, { ...terms, lookup_id }, { key });
    assert.deepEqual([lost.status, lost.headers.get('pix-next')], [503, 'repeat']);
    t.mock.restoreAll();
    const paid = t.mock.method(app.context.provider, 'pay');
    if (!isCommitted) await execute();
    await untilUnsent(user);
    const replay = await app.send(user, { ...terms, lookup_id }, { key });
    assert.deepEqual([replay.body.status, replay.headers.get('pix-next')], ['FAILED', 'new-key']);
    assert.equal(payments.mock.callCount() + paid.mock.callCount(), 0);
  });
}

test('a claim that is repeated after the account was blocked pays nothing', async (t) => {
  const user = await givenCustomer(app);
  const lookup_id = await lookUp(user);
  const payments = t.mock.method(app.context.provider, 'pay');
  let claims = 0;
  mockQueries(t, app.context.db, () => async (statement, parameters) => {
    const rows = await query(statement, parameters);
    if (!isClaim(statement.name)) return rows;
    claims += 1;
    if (claims > 1) return rows;
    await app.ownerRows(`update accounts set status = 'BLOCKED' where user_id = ${user.id}`);
    throw Object.assign(new Error('Connection terminated unexpectedly'), { code: 'ECONNRESET' });
  });
  const { status, headers } = await app.send(user, { ...terms, lookup_id });
  assert.deepEqual([status, headers.get('pix-outcome')], [422, 'not_sent']);
  assert.deepEqual([claims, payments.mock.callCount()], [2, 0]);
  const [row] = await app.rows(
    'select status, failure_code from pix_transactions where user_id = $1',
    [user.id],
  );
  assert.deepEqual(row, { status: 'FAILED', failure_code: 'ACCOUNT_NOT_ACTIVE' });
});

for (const [title, meanwhile] of [
  ['finds nothing, and is lost, too', null],
  [
    'finds its session ended',
    `update banking_sessions set status = 'ENDED', ended_at = now(), sealed_token = null`,
  ],
] as const) {
  test(`a committed claim whose repeat ${title} fails: nothing was sent`, async (t) => {
    const user = await givenCustomer(app);
    const lookup_id = await lookUp(user);
    const payments = t.mock.method(app.context.provider, 'pay');
    let claims = 0;
    mockQueries(t, app.context.db, () => async (statement, parameters) => {
      if (!isClaim(statement.name)) return query(statement, parameters);
      claims += 1;
      if (claims > 2 && meanwhile === null) throw new Error('Connection terminated unexpectedly');
      const rows = await query(statement, parameters);
      if (claims === 1) {
        if (meanwhile) await app.ownerRows(`${meanwhile} where user_id = ${user.id}`);
        throw new Error('Connection terminated unexpectedly');
      }
      // As from a snapshot before the first claim.
      return rows.map((one) => Object.assign(one, { id: null, reserved: null }));
    });
    const { status } = await app.send(user, { ...terms, lookup_id });
    assert.equal(status, meanwhile === null ? 503 : 401);
    t.mock.restoreAll();
    await untilUnsent(user);
    assert.equal(payments.mock.callCount(), 0);
  });
}

test('a session that another process has ended leaves one claim to look after, not one each', async () => {
  const user = await givenCustomer(app);
  const lookup_id = await lookUp(user);
  const end = `update banking_sessions set status = 'ENDED', ended_at = now(), sealed_token = null`;
  await app.ownerRows(`${end} where user_id = ${user.id}`);
  for (let nth = 0; nth < 3; nth += 1) {
    assert.equal((await app.send(user, { ...terms, lookup_id })).status, 401);
  }
  assert.equal(app.context.outcomes.size, 1);
  await eventually(async () => {
    await app.clock.advance(10_000);
    return app.context.outcomes.size === 0;
  }, 'the end of the wait');
});

test('a claim that was never executed is forgotten, and the same key pays', async (t) => {
  const user = await givenCustomer(app);
  const lookup_id = await lookUp(user);
  const key = randomUUID();
  loseClaims(t, false);
  assert.equal((await app.send(user, { ...terms, lookup_id }, { key })).status, 503);
  t.mock.restoreAll();
  await eventually(async () => {
    await app.clock.advance(10_000);
    return app.context.outcomes.size === 0;
  }, 'the end of the wait');
  const { body } = await app.send(user, { ...terms, lookup_id }, { key });
  assert.equal(body.status, 'PROCESSING');
});
