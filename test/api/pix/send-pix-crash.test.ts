/** What dead processes have left: a repeat resumes what cannot have been paid, and only that. */
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { test } from 'node:test';
import type { PixPhase } from '../../../src/domain/pix.ts';
import { auditPix } from '../../../src/operator/pix-audit.ts';
import { unwatched } from '../operator/asking.ts';
import { eventually } from '../../support/eventually.ts';
import { givenCustomer, password, type TestUser } from '../../support/factories.ts';
import { mockQueries } from '../../support/intercepted.ts';
import { startPixApp } from './pix-app.ts';

const app = await startPixApp();

const body = { pix_key: 'ana@example.com', amount: 10 };

interface Remains {
  readonly phase: PixPhase;
  readonly endToEnd?: string;
  /** Null: no process claims it; otherwise, milliseconds from now. */
  readonly claimedForMs: number | null;
}

/** Stores a send of `body` under the key `dead`, as a process that crashed in a phase stored it. */
async function givenRemains(user: TestUser, remains: Remains): Promise<string> {
  const living = await app.send(user, body);
  await app.bank.settle(living.body.end_to_end);
  await app.settled(living.body.transaction_id);
  const { phase, endToEnd = null, claimedForMs } = remains;
  const now = app.clock.now();
  const claimedUntil = claimedForMs === null ? null : new Date(now.getTime() + claimedForMs);
  const id = randomUUID();
  await app.rows(
    `insert into pix_transactions (id, user_id, operation, idempotency_key, fingerprint, status,
                                   phase, amount, pix_key, end_to_end, claimed_until, created_at,
                                   updated_at)
     select $1, user_id, operation, 'dead', fingerprint, 'PROCESSING', $2, amount, pix_key, $3, $4,
            $5, $5
       from pix_transactions where id = $6`,
    [id, phase, endToEnd, claimedUntil, now, living.body.transaction_id],
  );
  return id;
}

/** The end-to-end id of a look-up that was answered before the process died. */
async function givenLookUp({ id, email }: TestUser): Promise<string> {
  const login = app.bank.login({ email, password });
  assert.ok(login.outcome === 'done');
  const [account] = await app.rows<{ document: string }>(
    'select document from accounts where user_id = $1',
    [id],
  );
  const lookUp = { payerId: String(account?.document), key: body.pix_key };
  const response = app.bank.lookUpKey(login.value.token, lookUp);
  assert.ok(response.outcome === 'done');
  return response.value.endToEnd;
}

const noCalls = { lookUps: 0, payments: 0 };

/** Repeats the dead send and counts the calls to the bank. */
async function repeat(user: TestUser, t: { mock: typeof test.mock }, key = 'dead') {
  const lookUps = t.mock.method(app.bank, 'lookUpKey');
  const payments = t.mock.method(app.bank, 'pay');
  const response = await app.send(user, body, { key });
  lookUps.mock.restore();
  payments.mock.restore();
  const calls = { lookUps: lookUps.mock.callCount(), payments: payments.mock.callCount() };
  return { ...response, calls };
}

const accepted = ['RESERVED', 'RESOLVED', 'PAYING 1', 'ACCEPTED 1 2xx'];

const ownEndToEnd = (at: number): string => `E1116575620260524120${at}abcdefghijk`;

for (const claimedForMs of [null, 0, -1]) {
  const claim = claimedForMs === null ? 'without a claim' : `claimed until ${claimedForMs} ms`;
  test(`a repeat resumes a send that died RESERVED (${claim}), and pays it once`, async (t) => {
    const user = await givenCustomer(app);
    const id = await givenRemains(user, { phase: 'RESERVED', claimedForMs });
    const again = await repeat(user, t);
    assert.equal(again.status, 200);
    assert.equal(again.body.transaction_id, id);
    assert.equal(again.body.status, 'PROCESSING');
    assert.equal(again.headers.get('pix-outcome'), 'accepted');
    assert.equal(again.headers.get('idempotency-replayed'), 'true');
    assert.deepEqual(again.calls, { lookUps: 1, payments: 1 });
    assert.equal((await app.executed(user))[0], again.body.end_to_end);
    assert.deepEqual(await app.timeline(id), accepted);
    assert.deepEqual((await repeat(user, t)).calls, noCalls);
    assert.equal((await app.executed(user)).length, 2);
  });
}

test('a repeat resumes a send that died RESOLVED with its end-to-end id: no second look-up', async (t) => {
  const user = await givenCustomer(app);
  const endToEnd = await givenLookUp(user);
  const id = await givenRemains(user, { phase: 'RESOLVED', endToEnd, claimedForMs: 0 });
  const again = await repeat(user, t);
  assert.deepEqual(again.body, { transaction_id: id, status: 'PROCESSING', end_to_end: endToEnd });
  assert.equal(again.headers.get('pix-outcome'), 'accepted');
  assert.deepEqual(again.calls, { lookUps: 0, payments: 1 });
  assert.equal((await app.executed(user))[0], endToEnd);
  assert.deepEqual(await app.timeline(id), accepted);
});

const untouchables: [string, Remains][] = [
  ['RESERVED and is still worked on', { phase: 'RESERVED', claimedForMs: 1 }],
  [
    'RESOLVED and is still worked on',
    { phase: 'RESOLVED', endToEnd: ownEndToEnd(1), claimedForMs: 9_999 },
  ],
  ['PAYING', { phase: 'PAYING', endToEnd: ownEndToEnd(2), claimedForMs: null }],
  [
    'PAYING, its claim lapsed',
    { phase: 'PAYING', endToEnd: ownEndToEnd(3), claimedForMs: -60_000 },
  ],
  ['UNKNOWN', { phase: 'UNKNOWN', endToEnd: ownEndToEnd(4), claimedForMs: null }],
];

for (const [state, remains] of untouchables) {
  test(`a repeat of a send that is ${state}: 200 PROCESSING, and the bank is not called`, async (t) => {
    const user = await givenCustomer(app);
    const id = await givenRemains(user, remains);
    const again = await repeat(user, t);
    assert.equal(again.status, 200);
    assert.deepEqual(again.body, {
      transaction_id: id,
      status: 'PROCESSING',
      ...(remains.endToEnd && { end_to_end: remains.endToEnd }),
    });
    assert.equal(again.headers.get('pix-outcome'), 'unknown');
    assert.equal(again.headers.get('idempotency-replayed'), 'true');
    assert.deepEqual(again.calls, noCalls);
    assert.deepEqual(await app.timeline(id), ['RESERVED']);
    assert.equal((await app.stored(id)).phase, remains.phase);
  });
}

test('a dead RESERVED is not resumed for another body', async (t) => {
  const user = await givenCustomer(app);
  await givenRemains(user, { phase: 'RESERVED', claimedForMs: 0 });
  const payments = t.mock.method(app.bank, 'pay');
  const sent = await app.send(user, { ...body, amount: 11 }, { key: 'dead' });
  assert.equal(sent.status, 422);
  assert.equal(payments.mock.callCount(), 0);
});

test('two repeats at once of a dead RESERVED pay it once', async (t) => {
  const user = await givenCustomer(app);
  const id = await givenRemains(user, { phase: 'RESERVED', claimedForMs: 0 });
  const payments = t.mock.method(app.bank, 'pay');
  const responses = await Promise.all(
    Array.from({ length: 2 }, () => app.send(user, body, { key: 'dead' })),
  );
  for (const { status, body: response } of responses) {
    assert.deepEqual([status, response.transaction_id, response.status], [200, id, 'PROCESSING']);
  }
  assert.equal(payments.mock.callCount(), 1);
  assert.equal((await app.executed(user)).length, 2);
});

test('a resumed send whose look-up fails is FAILED: 502, not_sent', async (t) => {
  const user = await givenCustomer(app);
  const id = await givenRemains(user, { phase: 'RESERVED', claimedForMs: 0 });
  const refusal = { kind: 'not_found', reason: 'NotFound' } as const;
  t.mock.method(app.bank, 'lookUpKey', async () => ({ outcome: 'refused', refusal }) as const);
  const again = await app.send(user, body, { key: 'dead' });
  assert.deepEqual([again.status, again.body.code], [502, 'PIX_KEY_NOT_FOUND']);
  assert.equal(again.headers.get('pix-outcome'), 'not_sent');
  assert.equal((await app.stored(id)).status, 'FAILED');
});

/** As long as a look-up may take: two retries of 100 ms each, and their waits. */
const claimMs = 100 * (2 + 2) + 1_000 * 2;

test('a look-up that outlives its claim is overtaken by a repeat, and pays nothing itself', async (t) => {
  const user = await givenCustomer(app);
  const { lookUpKey } = app.context.provider;
  const requested = Promise.withResolvers<void>();
  const released = Promise.withResolvers<void>();
  t.after(() => released.resolve());
  const slow = t.mock.method(
    app.context.provider,
    'lookUpKey',
    async (...question: Parameters<typeof lookUpKey>) => {
      const isFirst = slow.mock.callCount() === 0;
      const owner = await lookUpKey(...question);
      if (isFirst) {
        requested.resolve();
        await released.promise;
      }
      return owner;
    },
  );
  const payments = t.mock.method(app.bank, 'pay');
  const first = app.send(user, body, { key: 'overtaken' });
  await requested.promise;
  await app.clock.advance(claimMs - 1);
  const early = await app.send(user, body, { key: 'overtaken' });
  assert.equal(early.headers.get('pix-outcome'), 'unknown');
  await app.clock.advance(1);
  const again = await app.send(user, body, { key: 'overtaken' });
  assert.equal(again.headers.get('pix-outcome'), 'accepted');
  released.resolve();
  assert.deepEqual((await first).body, again.body);
  assert.equal(payments.mock.callCount(), 1);
  assert.deepEqual(await app.executed(user), [again.body.end_to_end]);
});

/** The parameter of each move that has the phase to enter. */
const phaseParameter: Readonly<Record<string, string>> = {
  'pix-move': 'phase',
  'pix-step': 'toPhase',
};

/** Makes the database fail for the moves to one phase, as often as is said. */
function failMoves(t: { mock: typeof test.mock }, to: PixPhase, times = Infinity): void {
  let failed = 0;
  mockQueries(t, app.context.db, (run) => async (statement, parameters) => {
    const phase = phaseParameter[statement.name];
    if (phase !== undefined && parameters[phase] === to && failed < times) {
      failed += 1;
      throw new Error('connection lost');
    }
    return run(statement, parameters);
  });
}

test('an outcome that could not be stored at first is stored by a second try', async (t) => {
  const user = await givenCustomer(app);
  failMoves(t, 'ACCEPTED', 1);
  const sent = await app.throughTime(app.send(user, body));
  assert.deepEqual([sent.status, sent.headers.get('pix-outcome')], [200, 'accepted']);
  assert.equal((await app.stored(sent.body.transaction_id)).phase, 'ACCEPTED');
});

test('an accepted payment that cannot be stored still answers 200 PROCESSING', async (t) => {
  const user = await givenCustomer(app);
  failMoves(t, 'ACCEPTED');
  const sent = await app.throughTime(app.send(user, body, { key: 'unstored' }));
  t.mock.restoreAll();
  assert.equal(sent.status, 200);
  assert.equal(sent.body.status, 'PROCESSING');
  assert.equal(sent.headers.get('pix-outcome'), 'accepted');
  assert.equal((await app.stored(sent.body.transaction_id)).phase, 'PAYING');
  assert.ok(app.logLines.some((line) => line.includes('an outcome waits for the database')));

  const again = await repeat(user, t, 'unstored');
  assert.deepEqual([again.status, again.body], [200, sent.body]);
  assert.deepEqual(again.calls, noCalls);
  await app.clock.advance(10_000);
  const isStored = async () => (await app.stored(sent.body.transaction_id)).phase === 'ACCEPTED';
  await eventually(isStored, 'the outcome');
  await app.bank.settle(sent.body.end_to_end);
  assert.equal((await app.settled(sent.body.transaction_id)).status, 'COMPLETED');
});

test('an unknown outcome that cannot be stored answers 200 PROCESSING too', async (t) => {
  const user = await givenCustomer(app);
  failMoves(t, 'UNKNOWN');
  const sent = await app.throughTime(app.send(user, { ...body, pix_key: 'html@ponte.test' }));
  assert.deepEqual([sent.status, sent.body.status], [200, 'PROCESSING']);
  assert.equal(sent.headers.get('pix-outcome'), 'unknown');
  assert.equal((await app.stored(sent.body.transaction_id)).phase, 'PAYING');
});

test('a refusal that cannot be stored is replied as to a repeat: 200 PROCESSING', async (t) => {
  const user = await givenCustomer(app);
  const refused = { ...body, pix_key: 'reject@ponte.test' };
  failMoves(t, 'REJECTED');
  const sent = await app.throughTime(app.send(user, refused, { key: 'refused' }));
  t.mock.restoreAll();
  assert.deepEqual([sent.status, sent.body.status], [200, 'PROCESSING']);
  assert.equal(sent.headers.get('pix-outcome'), 'unknown');
  const again = await app.send(user, refused, { key: 'refused' });
  assert.deepEqual([again.status, again.body], [200, sent.body]);
  const isStored = async () => (await app.stored(sent.body.transaction_id)).phase === 'REJECTED';
  await app.throughPolls(eventually(isStored, 'the refusal'));
});

test('a payment that provably has not left does not stay in PAYING', async (t) => {
  const user = await givenCustomer(app);
  let isAway = false;
  // The statement is carried out, and its response is lost with the connection.
  mockQueries(t, app.context.db, (run) => async (statement, parameters) => {
    const isStep = statement.name === 'pix-step' && parameters['toPhase'] === 'PAYING';
    if (isStep && !isAway) await run(statement, parameters);
    isAway ||= isStep;
    if (isAway) throw new Error('connection lost');
    return run(statement, parameters);
  });
  const payments = t.mock.method(app.bank, 'pay');
  const sent = await app.send(user, body, { key: 'not-left' });
  assert.equal(sent.status, 500);
  t.mock.restoreAll();
  const [before] = await app.rows<{ id: string; phase: string }>(
    `select id, phase from pix_transactions where idempotency_key = 'not-left'`,
  );
  assert.equal(before?.phase, 'PAYING');
  const isFailed = async () => (await app.stored(before.id)).outcome === 'not_sent';
  await app.throughPolls(eventually(isFailed, 'the end of the payment'));
  assert.equal((await app.stored(before.id)).status, 'FAILED');
  assert.equal(payments.mock.callCount(), 0);
  const { invariants } = await auditPix.run(app.context, {}, unwatched);
  const broken = invariants.filter(({ rows }) => rows.some(({ id }) => id === before.id));
  assert.deepEqual(broken, []);
});

test('a repeat that has paid under the same end-to-end id is not called unsent', async (t) => {
  const user = await givenCustomer(app);
  const lost = { ...body, pix_key: 'lost@ponte.test' };
  // The directory answers each look-up of this payment with one end-to-end id.
  const { provider } = app.context;
  const { lookUpKey } = provider;
  let first: ReturnType<typeof lookUpKey> | null = null;
  t.mock.method(provider, 'lookUpKey', (...args: Parameters<typeof lookUpKey>) => {
    first ??= lookUpKey(...args);
    return first;
  });
  failMoves(t, 'PAYING', 1);
  assert.equal((await app.send(user, lost, { key: 'one-look-up' })).status, 500);
  await app.clock.advance(30_000);
  const again = await app.throughTime(app.send(user, lost, { key: 'one-look-up' }));
  assert.equal(again.headers.get('pix-outcome'), 'unknown');
  await app.clock.advance(60_000);
  await eventually(() => app.context.outcomes.size === 0, 'the look at what never left');
  assert.notEqual((await app.stored(again.body.transaction_id)).status, 'FAILED');
});

test('what the database cannot note beforehand is not paid: a repeat pays it later', async (t) => {
  const user = await givenCustomer(app);
  failMoves(t, 'PAYING');
  const payments = t.mock.method(app.bank, 'pay');
  const sent = await app.send(user, body, { key: 'unnoted' });
  assert.equal(sent.status, 500);
  assert.deepEqual(Object.keys(sent.body), ['message']);
  assert.equal(payments.mock.callCount(), 0);
  t.mock.restoreAll();

  await app.clock.advance(10_000);
  const again = await app.send(user, body, { key: 'unnoted' });
  assert.equal(again.headers.get('pix-outcome'), 'accepted');
  assert.deepEqual(await app.executed(user), [again.body.end_to_end]);
});
