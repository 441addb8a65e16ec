/** Onboarding at a provider that fails: every step says why, and sync tries what is not done. */
import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';
import { faulty, refused } from '../../../src/provider/sandbox/bank/response.ts';
import { startTestApp, type TestResponse } from '../../support/app.ts';
import {
  addressBody,
  give,
  bankMethods,
  giveAll,
  readJobs,
  register,
  settled,
  step,
  steps,
  upload,
  type Shown,
} from './applicants.ts';

const app = await startTestApp({
  environment: { ONBOARDING_LOCAL_ONLY: 'false', PROVIDER_RETRIES: '0' },
});

const { onboarding } = app.bank;

type Method = (typeof bankMethods)[number];

/** Has the bank answer these calls in one way; gives what mends it. */
function breaks(t: TestContext, response: unknown, broken: readonly Method[] = bankMethods) {
  const mocks = broken.map(
    (method) => t.mock.method(onboarding, method, () => response as never).mock,
  );
  return {
    calls: () => mocks.reduce((sum, mock) => sum + mock.callCount(), 0),
    mend: () => {
      for (const mock of mocks) mock.restore();
    },
  };
}

/** What the hosts that were tried answer to every call under `/core/v2/onboarding`. */
const notOffered = refused({ kind: 'missing', reason: 'NotFound' });

function sync(application: Shown): Promise<TestResponse> {
  return give(app, application.id, { step: 'sync' });
}

test('a provider that answers 404 leaves every step failed; sync tries them again', async (t) => {
  const { calls, mend } = breaks(t, notOffered);
  const application = await register(app);
  await giveAll(app, application.id);
  const failed = await settled(app, application);
  assert.deepEqual(steps(failed), [
    'registration failed PROVIDER_NOT_FOUND',
    'address failed EARLIER_STEP_FAILED',
    'documents failed EARLIER_STEP_FAILED',
    'proposal failed EARLIER_STEP_FAILED',
    'electronic_validation failed EARLIER_STEP_FAILED',
    'electronic_validation_confirm failed EARLIER_STEP_FAILED',
    'prova_vida failed EARLIER_STEP_FAILED',
    'kyc pending',
    'account pending',
  ]);
  assert.equal(failed.status, 'IN_PROGRESS');
  const { attempts } = step(failed, 'registration');
  const callsBefore = calls();

  const response = await sync(application);
  assert.equal(response.status, 202);
  assert.equal(response.body.message, 'The synchronisation has started.');
  const queued = (response.body.application as Shown).steps.slice(0, 7);
  assert.deepEqual(new Set(queued.map(({ status }) => status)), new Set(['queued']));
  const again = await settled(app, application);
  assert.deepEqual(steps(again), steps(failed));
  assert.equal(step(again, 'registration').attempts, attempts + 1);
  assert.equal(step(again, 'address').attempts, 0, 'it was never sent');
  assert.equal(calls(), callsBefore + 1, 'nothing is retried by itself');

  mend();
  await sync(application);
  const done = await settled(app, application);
  assert.equal(done.status, 'UNDER_ANALYSIS', steps(done).join(', '));
});

test('nothing of a failed call is tried again by itself', async (t) => {
  const { calls } = breaks(t, faulty('unavailable'));
  const application = await register(app);
  assert.equal(step(await settled(app, application), 'registration').error, 'PROVIDER_UNAVAILABLE');
  await app.clock.advance(10 * 60_000);
  await settled(app, application);
  assert.equal(calls(), 1);
  assert.deepEqual(await readJobs(app, application), ['registration done']);
});

const outcomes = [
  ['503', faulty('unavailable'), 'PROVIDER_UNAVAILABLE'],
  ['500', faulty('internal_error'), 'PROVIDER_UNAVAILABLE'],
  ['HTML', faulty('garbled'), 'PROVIDER_INVALID_RESPONSE'],
  ['a refusal', refused({ kind: 'rule', reason: 'SECRET-REASON' }), 'PROVIDER_REJECTED'],
  ['429', refused({ kind: 'rate_limited', reason: 'TooMany' }), 'PROVIDER_RATE_LIMITED'],
] as const;

for (const [what, outcome, error] of outcomes) {
  test(`${what} fails each step with ${error}, and the others go on`, async (t) => {
    const application = await settled(app, await register(app));
    const { mend } = breaks(t, outcome, ['submitAddress', 'submitDocument', 'submitProposal']);
    await give(app, application.id, { step: 'address', body: addressBody });
    await upload(app, application.id, 5);
    await give(app, application.id, { step: 'proposal' });
    await give(app, application.id, { step: 'electronic-validation' });
    const failed = await settled(app, application);
    for (const name of ['address', 'documents', 'proposal'] as const) {
      assert.deepEqual([step(failed, name).status, step(failed, name).error], ['failed', error]);
    }
    for (const name of ['registration', 'electronic_validation'] as const) {
      assert.equal(step(failed, name).status, 'done');
    }
    assert.ok(!JSON.stringify(failed).includes('SECRET'), 'the provider’s words stay inside');
    mend();
    await sync(application);
    const synced = await settled(app, application);
    assert.deepEqual(steps(synced).slice(1, 4), [
      'address done',
      // One document is not enough; the provider has it, unless it refused it for good.
      'documents pending',
      'proposal done',
    ]);
  });
}

test('a document that the provider refuses does not block the ones after it', async (t) => {
  const application = await settled(app, await register(app));
  const refusal = refused({ kind: 'rule', reason: 'Illegible' });
  const { mend } = breaks(t, refusal, ['submitDocument']);
  await upload(app, application.id, 1);
  const failed = step(await settled(app, application), 'documents');
  assert.deepEqual([failed.status, failed.error], ['failed', 'PROVIDER_REJECTED']);
  mend();
  for (const type of [5, 6]) await upload(app, application.id, type);
  assert.equal(step(await settled(app, application), 'documents').status, 'pending');
  await upload(app, application.id, 1);
  assert.equal(step(await settled(app, application), 'documents').status, 'done');
});

test('a provider that does not answer in time fails the step', async (t) => {
  const application = await settled(app, await register(app));
  const { calls } = breaks(t, faulty('hang'), ['submitAddress']);
  await give(app, application.id, { step: 'address', body: addressBody });
  while (calls() === 0) await new Promise((resolve) => setImmediate(resolve));
  await app.clock.advance(100);
  const failed = step(await settled(app, application), 'address');
  assert.deepEqual([failed.status, failed.error], ['failed', 'PROVIDER_TIMEOUT']);
});

test('a failed step that is submitted again unchanged is tried again', async (t) => {
  const application = await settled(app, await register(app));
  const { mend } = breaks(t, faulty('unavailable'), ['submitAddress']);
  await give(app, application.id, { step: 'address', body: addressBody });
  assert.equal(step(await settled(app, application), 'address').status, 'failed');
  mend();
  await give(app, application.id, { step: 'address', body: addressBody });
  const { status, attempts, error } = step(await settled(app, application), 'address');
  assert.deepEqual([status, attempts, error], ['done', 2, null]);
});

test('a step submitted after the registration has failed retries the registration first', async (t) => {
  const { mend } = breaks(t, notOffered);
  const application = await register(app);
  assert.equal(step(await settled(app, application), 'registration').status, 'failed');
  mend();
  const { body } = await give(app, application.id, { step: 'address', body: addressBody });
  assert.deepEqual(
    [step(body, 'registration').status, step(body, 'address').status],
    ['queued', 'queued'],
  );
  const done = await settled(app, application);
  assert.deepEqual(
    [step(done, 'registration').status, step(done, 'address').status],
    ['done', 'done'],
  );
});

test('syncs at once queue each step once, and one with nothing to do changes nothing', async (t) => {
  const { calls, mend } = breaks(t, notOffered);
  const application = await register(app);
  await give(app, application.id, { step: 'address', body: addressBody });
  await settled(app, application);
  mend();
  const submitted = t.mock.method(onboarding, 'submitAddress').mock;
  const responses = await Promise.all(Array.from({ length: 10 }, () => sync(application)));
  assert.ok(responses.every(({ status }) => status === 202));
  const done = await settled(app, application);
  assert.deepEqual(steps(done).slice(0, 3), [
    'registration done',
    'address done',
    'documents pending',
  ]);
  assert.equal(submitted.callCount(), 1);
  assert.ok(calls() >= 1);
  const jobs = await readJobs(app, application);
  assert.deepEqual((await sync(application)).body.application, done);
  assert.deepEqual(await readJobs(app, application), jobs);
});

test('sync finds a step whose job is gone', async () => {
  const application = await settled(app, await register(app));
  await app.rows(
    `update onboarding_applications
        set address = $2, steps = jsonb_set(steps, '{1,status}', '"queued"') where id = $1`,
    [application.id, JSON.stringify({ ...addressBody, complemento: null })],
  );
  await sync(application);
  assert.equal(step(await settled(app, application), 'address').status, 'done');
});

// The code.

function confirm(application: Shown, codigo: string): Promise<TestResponse> {
  return give(app, application.id, { step: 'electronic-validation/confirm', body: { codigo } });
}

test('a code that the provider calls wrong is a wrong try; five lock the step', async (t) => {
  const { mock } = t.mock.method(onboarding, 'confirmValidation');
  const application = await register(app);
  await give(app, application.id, { step: 'electronic-validation' });
  await settled(app, application);
  for (let turn = 1; turn <= 5; turn += 1) {
    assert.equal((await confirm(application, `WRONG${turn}`)).status, 202);
    const { status, error, attempts } = step(
      await settled(app, application),
      'electronic_validation_confirm',
    );
    assert.deepEqual([status, error, attempts], ['failed', 'WRONG_CODE', turn]);
  }
  const locked = await confirm(application, 'ABC123');
  assert.equal(locked.status, 422);
  assert.deepEqual(locked.body.errors, {
    codigo: ['Too many wrong codes. Try again in 10 minutes.'],
  });
  await sync(application);
  await settled(app, application);
  assert.equal(mock.callCount(), 5, 'a refused code is not sent again');
  await app.clock.advance(10 * 60_000);
  assert.equal((await confirm(application, 'ABC123')).status, 202);
  const confirmed = await settled(app, application);
  assert.equal(step(confirmed, 'electronic_validation_confirm').status, 'done');
  assert.equal((await confirm(application, 'ANYTHING')).status, 202, 'nothing is left to confirm');
  assert.equal(mock.callCount(), 6);
});

test('a code that could not be sent to the provider is kept for sync, and not counted', async (t) => {
  const application = await register(app);
  await give(app, application.id, { step: 'electronic-validation' });
  await settled(app, application);
  const { mend } = breaks(t, faulty('unavailable'), ['confirmValidation']);
  for (let turn = 0; turn < 6; turn += 1) {
    assert.equal((await confirm(application, 'ABC123')).status, 202);
    const failed = step(await settled(app, application), 'electronic_validation_confirm');
    assert.deepEqual([failed.status, failed.error], ['failed', 'PROVIDER_UNAVAILABLE']);
  }
  mend();
  await sync(application);
  const done = await settled(app, application);
  assert.equal(step(done, 'electronic_validation_confirm').status, 'done');
});

test('the log says nothing of the application, however it fails', async (t) => {
  breaks(t, refused({ kind: 'rule', reason: 'Refused' }));
  const application = await register(app);
  await giveAll(app, application.id);
  await settled(app, application);
  await sync(application);
  await settled(app, application);
  const log = app.logLines.join('\n');
  assert.ok(log.includes('provider call failed'));
  assert.ok(!log.includes(application.id));
});
