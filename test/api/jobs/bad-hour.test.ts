/**
 * One bad hour of the bank's payments: twenty-four sends whose outcome is not known when they are
 * answered. The story says how many end by what, and when; what nothing proves is left on one list
 * for the bank.
 */
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { listForBank } from '../../../src/operator/pix-for-bank.ts';
import { resolveList } from '../../../src/operator/pix-resolve-list.ts';
import { riskOfFailing } from '../../../src/operator/pix-resolve.ts';
import { refused } from '../../../src/provider/sandbox/bank/response.ts';
import { receiveEvent } from '../../../src/settlement/receive-provider-webhook.ts';
import { sweepPix } from '../../../src/settlement/sweep-pix.ts';
import { createTestDatabase } from '../../support/db.ts';
import { givenCustomer, logIn, type TestUser } from '../../support/factories.ts';
import { startPixApp } from '../pix/pix-app.ts';
import { settleBy } from './settling.ts';

const database = await createTestDatabase();
const app = await startPixApp({ environment: { JOBS: 'off' }, database });
after(() => database.drop());
const { clock } = app;

const minuteMs = 60_000;
const hourMs = 60 * minuteMs;
const job = { id: '0', kind: 'test', payload: {}, attempt: 1, worker: 'test' } as const;
const caller = { operator: 'ana', reason: 'list of the bank', progress: () => undefined };

/** What the bank does with a payment, and what it says of it later. */
interface Fate {
  readonly isExecuted: boolean;
  readonly answer: 'fails' | 'refuses the session';
  readonly event: 'CONFIRMED' | 'ERROR' | null;
  /** Whether the app repeats the key after a login. */
  readonly isRepeated: boolean;
}

const fates = {
  executedAndReported: { isExecuted: true, answer: 'fails', event: 'CONFIRMED', isRepeated: false },
  executedInSilence: { isExecuted: true, answer: 'fails', event: null, isRepeated: false },
  failedAndReported: { isExecuted: false, answer: 'fails', event: 'ERROR', isRepeated: false },
  refusedAndRepeated: {
    isExecuted: false,
    answer: 'refuses the session',
    event: null,
    isRepeated: true,
  },
  refusedAndLeft: {
    isExecuted: false,
    answer: 'refuses the session',
    event: null,
    isRepeated: false,
  },
  lostInSilence: { isExecuted: false, answer: 'fails', event: null, isRepeated: false },
} as const satisfies Record<string, Fate>;

type Group = keyof typeof fates;
const groups = Object.keys(fates) as Group[];
const sendsOfGroup = 4;

let fate: Fate | null = null;
const pay = app.bank.pay.bind(app.bank);
app.bank.pay = async (...payment) => {
  if (fate === null) return pay(...payment);
  if (fate.isExecuted) await pay(...payment);
  return fate.answer === 'fails'
    ? { outcome: 'faulty', fault: 'internal_error' }
    : refused({ kind: 'token', reason: 'InvalidToken' });
};

/** A statement whose debits may still be reversed. */
async function sweep(): Promise<void> {
  const { provider } = app.context;
  const statement: typeof provider.statement = async (request) => {
    return { ...(await provider.statement(request)), isFinal: false };
  };
  const context = { ...app.context, provider: { ...provider, statement } };
  await sweepPix.run(context, { ...job, kind: 'sweep-pix' });
}

async function receive(status: string, { end_to_end: endToEnd }: Sent): Promise<void> {
  const failure = status === 'ERROR' && { error: { code: 'AB03' } };
  const event = { event: 'PIX_PAYMENT_OUT', status, endToEnd, ...failure };
  const posted = { payload: Buffer.from(JSON.stringify(event)), content: undefined };
  const { id: eventId } = await receiveEvent(app.context, posted);
  await settleBy(app, eventId);
}

interface Sent {
  readonly id: string;
  readonly end_to_end: string | null;
}

const users = new Map<Group, TestUser>();
const sent = new Map<Group, Sent[]>(groups.map((group) => [group, []]));

async function logInAll(): Promise<void> {
  for (const [group, user] of users) {
    users.set(group, { ...user, token: await logIn(app, user.email) });
  }
}

/** One send of a group. */
async function live(group: Group, nth: number): Promise<void> {
  const user = users.get(group) ?? assert.fail();
  const body = { pix_key: 'silent@ponte.test', amount: nth + 1 };
  const key = { key: `${group}-${nth}` };
  fate = fates[group];
  const answer = await app.throughTime(app.send(user, body, key));
  fate = null;
  const isRefused = fates[group].answer === 'refuses the session';
  assert.deepEqual(
    [answer.status, answer.headers.get('pix-outcome')],
    [isRefused ? 401 : 200, 'unknown'],
  );
  const [row] = await app.rows<Sent>(
    `update pix_transactions set payee = '{"ispb": "60701190"}'
      where user_id = $1 and idempotency_key = $2 returning id, end_to_end`,
    [user.id, key.key],
  );
  const send = row ?? assert.fail();
  sent.get(group)?.push(send);
  const { event, isRepeated } = fates[group];
  if (event) await receive(event, send);
  if (isRefused) users.set(group, { ...user, token: await logIn(app, user.email) });
  if (!isRepeated) return;
  const again = await app.send(users.get(group) ?? user, body, key);
  assert.equal(again.headers.get('pix-outcome'), 'accepted');
  await receive('CONFIRMED', send);
}

/** How the sends of each group stand. */
async function states(): Promise<Record<string, string>> {
  const found: Record<string, string> = {};
  for (const [group, sends] of sent) {
    const rows = await app.rows<{ state: string }>(
      `select distinct concat_ws(' ', status, failure_code) as state from pix_transactions
        where id = any($1)`,
      [sends.map(({ id }) => id)],
    );
    found[group] = rows.map(({ state }) => state).join(', ');
  }
  return found;
}

test('of 24 sends of a bad hour, twenty end without a person, and four by the answer of the bank', async () => {
  for (const group of groups) users.set(group, await givenCustomer(app));
  for (let nth = 0; nth < sendsOfGroup; nth += 1) {
    for (const group of groups) {
      await live(group, nth);
      await clock.advance(2.5 * minuteMs);
    }
    if (nth % 2 === 1) await logInAll();
  }
  const open = 'PROCESSING';
  const atOnce = {
    executedAndReported: 'COMPLETED',
    executedInSilence: open,
    failedAndReported: open,
    refusedAndRepeated: 'COMPLETED',
    refusedAndLeft: open,
    lostInSilence: open,
  };
  assert.deepEqual(await states(), atOnce);

  await sweep();
  assert.deepEqual(await states(), atOnce);
  await clock.advance(11 * minuteMs);
  await sweep();
  const byStatement = { ...atOnce, executedInSilence: 'COMPLETED' };
  assert.deepEqual(await states(), byStatement);

  await clock.advance(37 * hourMs);
  await logInAll();
  await sweep();
  const expired = 'FAILED EXPIRED_UNEXECUTED';
  const byTime = { ...byStatement, failedAndReported: expired, refusedAndLeft: expired };
  assert.deepEqual(await states(), byTime);

  const { orders } = await listForBank.run(app.context, { limit: 100 }, caller);
  const left = sent.get('lostInSilence') ?? [];
  assert.deepEqual(
    orders.map(({ id }) => id),
    left.map(({ id }) => id),
  );
  const entries = orders.map(({ endToEnd: name }, nth) => {
    return { line: nth + 1, name, as: 'failed' } as const;
  });
  const list = { entries, reason: 'list of the bank', confirm: riskOfFailing };
  const { results } = await resolveList.run(app.context, list, caller);
  assert.ok(results.every(({ result }) => result === 'resolved'));
  assert.deepEqual(await states(), { ...byTime, lostInSilence: 'FAILED OPERATOR_DECISION' });

  const executed = [...users.values()].map(async (user) => (await app.executed(user)).length);
  assert.deepEqual(await Promise.all(executed), [4, 4, 0, 4, 0, 0]);
});
