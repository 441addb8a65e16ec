/**
 * A send that is still open 36 hours after its last attempt: it fails only where the bank has said
 * that it failed, or refused each attempt for its session, and the statement does not show it.
 */
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { upsertAccountFromLogin } from '../../../src/accounts/account-repository.ts';
import type { ProviderStatementItem as Item } from '../../../src/provider/provider.ts';
import { receiveEvent } from '../../../src/settlement/receive-provider-webhook.ts';
import { sweepPix } from '../../../src/settlement/sweep-pix.ts';
import { findBrokenRules } from '../../support/broken-rules.ts';
import { createTestDatabase } from '../../support/db.ts';
import { givenCustomer, logIn, type TestUser } from '../../support/factories.ts';
import { startPixApp } from '../pix/pix-app.ts';
import { settleBy } from './settling.ts';

const database = await createTestDatabase();
const app = await startPixApp({ environment: { JOBS: 'off' }, database });
after(() => database.drop());
const { stored, clock } = app;

const minuteMs = 60_000;
const hourMs = 60 * minuteMs;
const elsewhere = '60701190';
const job = { id: '0', kind: 'test', payload: {}, attempt: 1, worker: 'test' } as const;

/** The context with a provider that has these lines in its statement, and nothing else. */
function withLines(items: readonly Item[], provider: Partial<typeof app.context.config.provider>) {
  const { config, dialects } = app.context;
  const statement: typeof app.context.provider.statement = () => {
    const read = dialects.readStatement(items, false) ?? assert.fail();
    return Promise.resolve({ ...read, isFinal: true });
  };
  return {
    ...app.context,
    config: { ...config, provider: { ...config.provider, ...provider } },
    provider: { ...app.context.provider, statement },
  };
}

const sweep = (
  items: readonly Item[],
  provider: Partial<typeof app.context.config.provider> = {},
) => sweepPix.run(withLines(items, provider), { ...job, kind: 'sweep-pix' });

interface Doubt {
  readonly pixKey?: string;
  readonly payeeIspb?: string;
  /** Whether an event says that it failed. */
  readonly isReported?: boolean;
}

/** A send whose outcome is not known. */
async function givenDoubtful(
  user: TestUser,
  { pixKey = 'lost@ponte.test', payeeIspb = elsewhere, isReported = true }: Doubt = {},
) {
  const key = `key-${user.id}-${pixKey}`;
  const sent = app.send(user, { pix_key: pixKey, amount: 10.5 }, { key });
  const { transaction_id: id } = (await app.throughTime(sent)).body;
  await app.rows(
    `update pix_transactions set payee = jsonb_build_object('ispb', $2::text)
                   where id = $1`,
    [id, payeeIspb],
  );
  const send = await stored(id);
  if (isReported) await receive('ERROR', { endToEnd: send.end_to_end });
  assert.equal(await statusOf(send), 'PROCESSING');
  return { ...send, key };
}

async function receive(status: string, ids: Readonly<Record<string, string | null>>) {
  const event = { event: 'PIX_PAYMENT_OUT', status, ...ids, amount: 10.5 };
  const body = { ...event, ...(status === 'ERROR' && { error: { code: 'AB03' } }) };
  const posted = { payload: Buffer.from(JSON.stringify(body)), content: undefined };
  const { id: eventId } = await receiveEvent(app.context, posted);
  await settleBy(app, eventId);
}

async function statusOf({ id }: { readonly id: string }) {
  const { status, failure_code: code } = await stored(id);
  return code === null ? status : `${status} ${code}`;
}

/** Waits until a reading may end a send, with a session that allows the reading. */
async function passDayAndHalf(user: TestUser, moreMs = 0): Promise<TestUser> {
  await clock.advance(36 * hourMs + moreMs);
  return { ...user, token: await logIn(app, user.email) };
}

const debit = { direction: 'DEBIT', status: 'COMPLETED', amount: 10.5, type: 'PIX' };
const endToEnd = 'E60701190202605241200abcdefghijk';

test('a reported failure and an absent payment fail a send after 36 hours', async () => {
  const user = await givenCustomer(app);
  const send = await givenDoubtful(user);
  assert.ok((await app.timeline(send.id)).includes('ANOMALY failed_after_repeat event'));
  const again = await passDayAndHalf(user, -2 * minuteMs);
  await sweep([]);
  assert.equal(await statusOf(send), 'PROCESSING');
  await clock.advance(hourMs);
  await sweep([{ ...debit, endToEnd, amount: 99 }]);
  assert.equal(await statusOf(send), 'FAILED EXPIRED_UNEXECUTED');
  assert.equal((await app.timeline(send.id)).at(-1), 'SETTLED unexecuted');
  assert.deepEqual(await findBrokenRules(app, send.id), []);
  const repeated = await app.send(again, { pix_key: 'lost@ponte.test', amount: 10.5 }, send);
  assert.equal(repeated.headers.get('pix-next'), 'ask');
  await receive('CONFIRMED', { endToEnd: send.end_to_end });
  assert.equal(await statusOf(send), 'COMPLETED');
  assert.deepEqual(await findBrokenRules(app, send.id), []);
});

test('every attempt that was refused for its session is like a reported failure', async () => {
  for (const paymentRetries of [2, 0]) {
    const user = await givenCustomer(app);
    const send = await givenDoubtful(user, { isReported: false });
    await app.rows(
      `insert into pix_timeline (transaction_id, phase, at, attempt, http_status)
       select id, 'UNKNOWN', created_at, nth, 401
         from pix_transactions, generate_series(1, 3) nth where id = $1`,
      [send.id],
    );
    await passDayAndHalf(user, hourMs);
    await sweep([], { paymentRetries });
    const ended = paymentRetries === 0 ? 'PROCESSING' : 'FAILED EXPIRED_UNEXECUTED';
    assert.equal(await statusOf(send), ended);
  }
});

test('a failure that is reported without the end-to-end id of a send ends it at no time', async () => {
  const user = await givenCustomer(app);
  const send = await givenDoubtful(user, { isReported: false });
  await app.rows('update pix_transactions set provider_txid = $2 where id = $1', [send.id, 'p-1']);
  await receive('ERROR', { clientRequestId: send.key, id: 'p-1' });
  assert.equal((await app.timeline(send.id)).at(-1), 'ANOMALY weak_id event');
  await passDayAndHalf(user, hourMs);
  await sweep([]);
  assert.equal(await statusOf(send), 'PROCESSING');
});

test('the statement of another account ends no send', async () => {
  const user = await givenCustomer(app);
  const send = await givenDoubtful(user);
  const other = { agency: '0001', accountNumber: '2000225' };
  const rest = { document: null, companyId: null, clientToken: null };
  await upsertAccountFromLogin(app.context, { userId: user.id, ...other, ...rest });
  await passDayAndHalf(user, hourMs);
  await sweep([]);
  assert.equal(await statusOf(send), 'PROCESSING');
});

const doubts: readonly (readonly [
  what: string,
  lines: (send: { readonly key: string; readonly end_to_end: string | null }) => readonly Item[],
  doubt?: Doubt,
  provider?: Partial<typeof app.context.config.provider>,
])[] = [
  ['no event has said that it failed', () => [], { isReported: false }],
  ["the payee's account is at the payer's institution", () => [], { payeeIspb: '11165756' }],
  ['the statement may lack our ids', () => [], {}, { statementHasIds: false }],
  ['a line of another payment has its amount', () => [{ ...debit, endToEnd }]],
  ['a line without an id has its amount', () => [debit]],
  ['a line cannot be read', () => [{ ...debit, endToEnd, amount: 'ten' }]],
  [
    'a line has its request id',
    ({ key }) => [{ ...debit, endToEnd, amount: 99, clientRequestId: key }],
  ],
  [
    'money that came in has its request id',
    ({ key }) => [{ ...debit, direction: 'CREDIT', endToEnd, amount: 99, clientRequestId: key }],
  ],
  [
    'a pending line has its end-to-end id',
    (send) => [{ ...debit, endToEnd: send.end_to_end, status: 'PENDING' }],
  ],
];

for (const [what, lines, doubt = {}, provider = {}] of doubts) {
  test(`a send stays open after 36 hours because ${what}`, async () => {
    const user = await givenCustomer(app);
    const send = await givenDoubtful(user, doubt);
    await passDayAndHalf(user, hourMs);
    await sweep(lines(send), provider);
    assert.equal(await statusOf(send), 'PROCESSING');
  });
}

test('a charge, which has no end-to-end id, explains no line without one', async () => {
  const user = await givenCustomer(app);
  await app.charge(user, { type: 'static', amount: 3, key: user.email });
  const send = await givenDoubtful(user);
  await passDayAndHalf(user, hourMs);
  await sweep([debit]);
  assert.equal(await statusOf(send), 'PROCESSING');
});

test('a line of the amount that another stored payment explains does not keep it open', async () => {
  const user = await givenCustomer(app);
  const send = await givenDoubtful(user);
  const other = await app.send(user, { pix_key: 'silent@ponte.test', amount: 10.5 });
  const line = { ...debit, endToEnd: other.body.end_to_end };
  await passDayAndHalf(user, hourMs);
  await sweep([line]);
  assert.equal(await statusOf(send), 'FAILED EXPIRED_UNEXECUTED');
});
