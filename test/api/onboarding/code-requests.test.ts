/** How often a code may be requested: for an application, for a phone and from an address. */
import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';
import { refused } from '../../../src/provider/sandbox/bank/response.ts';
import { startTestApp, type TestResponse, type TestApp } from '../../support/app.ts';
import { give, newPerson, register, settled, step, type Shown } from './applicants.ts';

const environment = {
  ONBOARDING_LOCAL_ONLY: 'false',
  PROVIDER_RETRIES: '0',
  THROTTLE_ADDRESS_PER_MINUTE: '1000',
  TRUST_PROXY_HOPS: '1',
};

const app = await startTestApp({ environment });

/** Days pass here: no loop looks for jobs meanwhile. */
const idle = await startTestApp({ environment: { ...environment, JOBS: 'off' } });

const { onboarding } = app.bank;

const minuteMs = 60_000;
const dayMs = 24 * 60 * minuteMs;

let made = 0;

/** A value that no other test has. */
function unused(): { phone: string; address: string } {
  made += 1;
  const digits = String(made).padStart(4, '0');
  return { phone: `+551198765${digits}`, address: `10.1.${Math.floor(made / 200)}.${made % 200}` };
}

/** An application that the bank knows. */
async function applicant(phone = unused().phone): Promise<Shown> {
  return settled(app, await register(app, newPerson({ phone })));
}

/** An application of the service where nothing is carried out. */
function idler(phone = unused().phone): Promise<Shown> {
  return register(idle, newPerson({ phone }));
}

interface CodeRequest {
  readonly tipo?: number;
  readonly address?: string;
  readonly path?: string;
  readonly at?: TestApp;
}

function ask(
  { id }: Shown,
  { tipo = 1, address, path, at = app }: CodeRequest = {},
): Promise<TestResponse> {
  const headers = { 'x-forwarded-for': address ?? unused().address };
  const isRequest = path === undefined;
  const request = { step: path ?? 'electronic-validation', headers };
  return give(at, id, isRequest ? { ...request, body: { tipo } } : request);
}

/** Counts the codes requested for one person: jobs of other tests may still run. */
function countCodes(t: TestContext): (application: Shown) => number {
  const { mock } = t.mock.method(onboarding, 'requestValidation');
  return ({ provider }) =>
    mock.calls.filter(({ arguments: [personId] }) => personId === provider['pessoa_fisica_id'])
      .length;
}

test('one code a minute for an application, whatever the kind and the address', async (t) => {
  const codesSoFar = countCodes(t);
  const application = await applicant();
  assert.equal((await ask(application)).status, 202);
  await settled(app, application);
  for (let nth = 0; nth < 20; nth += 1) {
    const { status } = await ask(application, { tipo: nth % 2 === 0 ? 2 : 3 });
    assert.equal(status, 429);
  }
  const { headers } = await ask(application, { tipo: 2 });
  assert.equal(headers.get('retry-after'), '60');
  assert.equal(codesSoFar(application), 1);
  const stored = await settled(app, application);
  assert.equal(step(stored, 'electronic_validation').status, 'done');
  await app.clock.advance(minuteMs);
  assert.equal((await ask(application, { tipo: 2 })).status, 202);
  await settled(app, application);
  assert.equal(codesSoFar(application), 2);
});

test('a repeat that sends no code is not counted and not refused', async () => {
  const application = await applicant();
  const { address } = unused();
  for (let nth = 0; nth < 10; nth += 1) {
    assert.equal((await ask(application, { address })).status, 202);
  }
});

const shared: readonly (readonly [
  what: string,
  next: (common: ReturnType<typeof unused>) => Promise<readonly [Shown, CodeRequest]>,
])[] = [['phone', async ({ phone }) => [await idler(phone), { at: idle }]]];

for (const [what, next] of shared) {
  test(`one code a minute and five a day for a ${what}, over all applications`, async () => {
    const common = unused();
    const begun = idle.clock.now().getTime();
    for (let nth = 0; nth < 5; nth += 1) {
      assert.equal((await ask(...(await next(common)))).status, 202);
      const { status, headers } = await ask(...(await next(common)));
      assert.equal(status, 429);
      if (nth < 4) assert.equal(headers.get('retry-after'), '60');
      await idle.clock.advance(minuteMs);
    }
    const { status, headers } = await ask(...(await next(common)));
    assert.equal(status, 429);
    const leftMs = begun + dayMs - idle.clock.now().getTime();
    assert.equal(headers.get('retry-after'), String(leftMs / 1_000));
    await idle.clock.advance(leftMs);
    assert.equal((await ask(...(await next(common)))).status, 202);
  });
}

test('five hundred codes a day for an address, which may be that of a carrier', async () => {
  const { address } = unused();
  for (let nth = 0; nth < 12; nth += 1) {
    assert.equal((await ask(await idler(), { at: idle, address })).status, 202);
  }
  await idle.rows(
    `update throttle_counters set attempts = 499 where key like 'code-address:%' and attempts = 12`,
  );
  assert.equal((await ask(await idler(), { at: idle, address })).status, 202);
  const tooMany = await ask(await idler(), { at: idle, address });
  assert.equal(tooMany.status, 429);
  assert.equal(tooMany.headers.get('retry-after'), '86400');
  assert.equal((await ask(await idler(), { at: idle })).status, 202, 'from another address');
});

test('a limit of codes for the whole service, which raises an alarm at half', async () => {
  const few = await startTestApp({
    environment: { ...environment, JOBS: 'off', CODES_PER_HOUR: '4' },
  });
  const reached = async (share: string): Promise<number | undefined> => {
    const { values } = await few.context.metrics.serviceLimits.get();
    return values.find(({ labels }) => labels.limit === 'codes' && labels.share === share)?.value;
  };
  const askAnew = async () => ask(await register(few, newPerson(unused())), { at: few });
  for (const [half, whole] of [
    [0, 0],
    [1, 0],
    [1, 0],
    [1, 1],
  ]) {
    assert.equal((await askAnew()).status, 202);
    assert.deepEqual([await reached('half'), await reached('whole')], [half, whole]);
  }
  const tooMany = await askAnew();
  assert.equal(tooMany.status, 429);
  assert.equal(tooMany.headers.get('retry-after'), '3600');
  await few.clock.advance(60 * minuteMs);
  assert.equal((await askAnew()).status, 202);
});

test('five codes a day for an application', async () => {
  const application = await idler();
  for (let nth = 0; nth < 5; nth += 1) {
    assert.equal((await ask(application, { at: idle, tipo: 1 + (nth % 2) })).status, 202);
    await idle.clock.advance(minuteMs);
  }
  assert.equal((await ask(application, { at: idle, tipo: 9 })).status, 429);
});

test('a refused request changes nothing of the application', async () => {
  const application = await applicant();
  await ask(application);
  const before = await settled(app, application);
  await ask(application, { tipo: 2 });
  assert.deepEqual(await settled(app, application), before);
});

/** An application whose code and whose proposal the bank has refused. */
async function withFailures(t: TestContext): Promise<Shown> {
  const application = await applicant();
  const respond = () => refused({ kind: 'missing', reason: 'NotFound' }) as never;
  const mocks = [
    t.mock.method(onboarding, 'requestValidation', respond).mock,
    t.mock.method(onboarding, 'submitProposal', respond).mock,
  ];
  await ask(application);
  await give(app, application.id, { step: 'proposal' });
  const failed = await settled(app, application);
  for (const mock of mocks) mock.restore();
  assert.equal(step(failed, 'electronic_validation').status, 'failed');
  assert.equal(step(failed, 'proposal').status, 'failed');
  return failed;
}

test('sync requests a failed code within the limits, and tries other steps in any case', async (t) => {
  const application = await withFailures(t);
  assert.equal((await ask(application, { path: 'sync' })).status, 202);
  const early = await settled(app, application);
  assert.equal(step(early, 'electronic_validation').status, 'failed');
  assert.equal(step(early, 'proposal').status, 'done');
  await app.clock.advance(minuteMs);
  assert.equal((await ask(application, { path: 'sync' })).status, 202);
  const later = await settled(app, application);
  assert.equal(step(later, 'electronic_validation').status, 'done');
  assert.equal((await ask(application, { tipo: 2 })).status, 429, 'that request counts');
});

test('a code given after a failed request has another one sent, within the limits', async (t) => {
  const application = await withFailures(t);
  const path = 'electronic-validation/confirm';
  assert.equal((await ask(application, { path })).status, 429);
  await app.clock.advance(minuteMs);
  assert.equal((await ask(application, { path })).status, 202);
  assert.equal((await ask(application, { tipo: 2 })).status, 429);
});

test('a code goes to Brazilian numbers only', async (t) => {
  const codesSoFar = countCodes(t);
  const application = await applicant('+14155552671');
  const { status, body } = await ask(application);
  assert.equal(status, 422);
  assert.deepEqual(Object.keys(body.errors), ['phone']);
  await settled(app, application);
  assert.equal(codesSoFar(application), 0);
});
