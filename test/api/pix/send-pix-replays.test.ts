/**
 * A repeat is first read on a process that has seen its key, and is claimed on any other one. Both
 * answer it alike, whatever is stored by then.
 */
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { describe, test, type TestContext } from 'node:test';
import { findReplay } from '../../../src/ledger/replay-repository.ts';
import { reservationStatements } from '../../../src/ledger/reservation-repository.ts';
import type { TestResponse } from '../../support/app.ts';
import { givenCustomer, type TestUser } from '../../support/factories.ts';
import { connectionLost } from '../../support/lost-response.ts';
import { startPixApp } from './pix-app.ts';

const app = await startPixApp({ environment: { JOBS: 'off' } });

const body = { pix_key: 'ana@example.com', amount: 10 };
const otherBody = { ...body, amount: 10.01 };

/** What becomes of a send before it is repeated. */
interface Fate {
  readonly what: string;
  /** The changed columns of the send. */
  readonly set?: string;
  /** Another statement, with the user's id as its parameter. */
  readonly sql?: string;
  readonly repeated?: typeof body;
  /** The repeat is answered by the read alone. */
  readonly isRead: boolean;
}

const later = `claimed_until = '2100-01-01'`;
const unclaimed = 'claimed_until = null';
const settled = `phase = 'SETTLED', settled_at = now()`;

const fates: readonly Fate[] = [
  { what: 'is accepted', isRead: true },
  { what: 'is being paid', set: `phase = 'PAYING', outcome = null, ${later}`, isRead: true },
  { what: 'was left in PAYING', set: `phase = 'PAYING', outcome = null`, isRead: true },
  { what: 'has an unknown outcome', set: `phase = 'UNKNOWN', outcome = 'unknown'`, isRead: true },
  { what: 'is completed', set: `${settled}, status = 'COMPLETED'`, isRead: true },
  {
    what: 'has failed',
    set: `${settled}, status = 'FAILED', outcome = 'not_sent', end_to_end = null`,
    isRead: true,
  },
  {
    what: 'was refused',
    set: `phase = 'REJECTED', status = 'FAILED', outcome = 'rejected', settled_at = now()`,
    isRead: true,
  },
  {
    what: 'is accepted, and the account is blocked',
    sql: `update accounts set status = 'BLOCKED' where user_id = $1`,
    isRead: true,
  },
  {
    what: 'is being reserved by another process',
    set: `phase = 'RESERVED', outcome = null, end_to_end = null, ${later}`,
    isRead: false,
  },
  {
    what: 'was left in RESERVED',
    set: `phase = 'RESERVED', outcome = null, end_to_end = null, ${unclaimed}`,
    isRead: false,
  },
  {
    what: 'was left in RESOLVED',
    set: `phase = 'RESOLVED', outcome = null, ${unclaimed}`,
    isRead: false,
  },
  { what: 'was of another amount', repeated: otherBody, isRead: false },
  {
    what: 'is accepted, and the session has ended',
    sql: `update banking_sessions set status = 'ENDED', ended_at = now(), sealed_token = null
           where user_id = $1`,
    isRead: false,
  },
  {
    what: 'is accepted, and the user is disabled',
    sql: `update users set status = 'DISABLED' where id = $1`,
    isRead: false,
  },
];

const { reserveForSession, reserveJudged } = reservationStatements;
const claims: readonly unknown[] = [reserveForSession, reserveJudged];

const storedSends = `
  select phase, status, outcome from pix_transactions where user_id = $1 order by created_at, id`;

/** Sends, lets the fate happen, and repeats on a process that has seen the key or not. */
async function repeat(t: TestContext, fate: Fate, isSeen: boolean) {
  const user = await givenCustomer(app);
  const key = randomUUID();
  const first = await app.send(user, body, { key });
  assert.equal(first.status, 200);
  await happen(fate, user, first);
  const seen = t.mock.method(app.context.claimedKeys, 'seenAt', () =>
    isSeen ? app.clock.now() : null,
  );
  const queries = t.mock.method(app.context.db, 'query');
  const again = await app.send(user, fate.repeated ?? body, { key });
  const statements = queries.mock.calls.map(({ arguments: [statement] }) => statement);
  seen.mock.restore();
  queries.mock.restore();
  const { transaction_id: id, end_to_end: endToEnd, ...rest } = again.body;
  const response = {
    status: again.status,
    body: rest,
    isSameId: id === first.body.transaction_id,
    endToEnd: endToEnd && (endToEnd === first.body.end_to_end ? 'same' : 'other'),
    replayed: again.headers.get('idempotency-replayed'),
    outcome: again.headers.get('pix-outcome'),
    stored: await app.rows(storedSends, [user.id]),
  };
  const trips = {
    reads: statements.filter((one) => one === findReplay).length,
    claims: statements.filter((one) => claims.includes(one)).length,
  };
  return { response, trips };
}

async function happen({ set, sql }: Fate, { id }: TestUser, first: TestResponse): Promise<void> {
  if (set !== undefined) {
    const text = `update pix_transactions set ${set} where id = $1`;
    await app.rows(text, [first.body.transaction_id]);
  }
  if (sql !== undefined) await app.rows(sql, [id]);
}

describe('a process that has seen the key answers as any other when the send', () => {
  for (const fate of fates) {
    test(fate.what, async (t) => {
      const unseen = await repeat(t, fate, false);
      const seen = await repeat(t, fate, true);
      assert.deepEqual(seen.response, unseen.response);
      assert.deepEqual(unseen.trips, { reads: 0, claims: 1 });
      assert.deepEqual(seen.trips, { reads: 1, claims: fate.isRead ? 0 : 1 });
    });
  }
});

test('a key is read after it was claimed or replayed here, and not before', async (t) => {
  const user = await givenCustomer(app);
  const queries = t.mock.method(app.context.db, 'query');
  const countReads = async (key: string): Promise<number> => {
    queries.mock.resetCalls();
    assert.equal((await app.send(user, body, { key })).status, 200);
    return queries.mock.calls.filter(({ arguments: [one] }) => one === findReplay).length;
  };
  const key = randomUUID();
  assert.equal(await countReads(key), 0);
  assert.equal(await countReads(key), 1);
  assert.equal(await countReads(randomUUID()), 0);
});

test('a repeat whose read fails is answered by the claim', async (t) => {
  const user = await givenCustomer(app);
  const key = randomUUID();
  const first = await app.send(user, body, { key });
  const { query } = app.context.db;
  const failing: typeof query = (statement, parameters) =>
    statement.name === findReplay.name
      ? Promise.reject(connectionLost())
      : query(statement, parameters);
  t.mock.method(app.context.db, 'query', failing);
  const again = await app.send(user, body, { key });
  assert.deepEqual(again.body, first.body);
  assert.equal(again.headers.get('idempotency-replayed'), 'true');
});
