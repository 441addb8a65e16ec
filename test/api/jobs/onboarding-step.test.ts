/** The job of a step: what it sends, what it stores, and what happens meanwhile. */
import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';
import type { Context } from '../../../src/context/context.ts';
import { stepNames } from '../../../src/domain/onboarding.ts';
import { onboardingStep } from '../../../src/onboarding/onboarding-step.ts';
import { done, faulty } from '../../../src/provider/sandbox/bank/response.ts';
import { startTestApp } from '../../support/app.ts';
import { eventually } from '../../support/eventually.ts';
import {
  addressBody,
  give,
  readJobs,
  register,
  settled,
  shown,
  step,
  upload,
  type Shown,
} from '../onboarding/applicants.ts';

const app = await startTestApp({
  environment: { ONBOARDING_LOCAL_ONLY: 'false', PROVIDER_RETRIES: '0' },
});

const { onboarding } = app.bank;

/** Runs a job by hand, beside those of the loop. */
function run(application: Shown, name: string, context: Context = app.context) {
  const payload = { userId: application.user_id, step: name };
  return onboardingStep.run(context, {
    id: '1',
    kind: 'onboarding-step',
    payload,
    attempt: 1,
    worker: 'test',
  });
}

/** Has the bank's responses to addresses wait for the test. */
function heldAddresses(t: TestContext) {
  const gate = Promise.withResolvers<void>();
  t.after(() => gate.resolve());
  const original = onboarding.submitAddress.bind(onboarding);
  const { mock } = t.mock.method(onboarding, 'submitAddress', async (id: string) => {
    await gate.promise;
    return original(id);
  });
  return {
    calls: () => mock.callCount(),
    called: (times: number) => eventually(() => mock.callCount() >= times, 'the address'),
    release: () => gate.resolve(),
  };
}

test('content that changes while it is sent stays queued, and is sent after it', async (t) => {
  const sent = t.mock.method(app.context.provider, 'submitAddress').mock;
  const application = await settled(app, await register(app));
  const bank = heldAddresses(t);
  await give(app, application.id, { step: 'address', body: addressBody });
  await bank.called(1);
  const changed = await give(app, application.id, {
    step: 'address',
    body: { ...addressBody, numero: '2' },
  });
  assert.equal(step(changed.body, 'address').status, 'queued');
  bank.release();
  const after = await settled(app, application);
  assert.deepEqual([step(after, 'address').status, step(after, 'address').attempts], ['done', 2]);
  const numbers = sent.calls.map((call) => call.arguments[0].address.numero);
  assert.deepEqual(numbers, ['1000', '2']);
  const jobs = await readJobs(app, application);
  assert.equal(jobs.filter((job) => job.startsWith('address')).length, 1, 'one job ran twice');
});

test('a failure to send what has changed meanwhile does not fail the step', async (t) => {
  const application = await settled(app, await register(app));
  const gate = Promise.withResolvers<void>();
  t.after(() => gate.resolve());
  const responses = [faulty('unavailable'), done(null)];
  const { mock } = t.mock.method(onboarding, 'submitAddress', async () => {
    await gate.promise;
    return responses.shift() as never;
  });
  await give(app, application.id, { step: 'address', body: addressBody });
  await eventually(() => mock.callCount() === 1, 'the first address');
  await give(app, application.id, { step: 'address', body: { ...addressBody, numero: '2' } });
  gate.resolve();
  assert.equal(step(await settled(app, application), 'address').status, 'done');
  assert.equal(mock.callCount(), 2);
});

test('a document that comes while others are forwarded is forwarded too', async (t) => {
  const application = await settled(app, await register(app));
  const gate = Promise.withResolvers<void>();
  t.after(() => gate.resolve());
  const original = onboarding.submitDocument.bind(onboarding);
  const { mock } = t.mock.method(
    onboarding,
    'submitDocument',
    async (...args: Parameters<typeof original>) => {
      await gate.promise;
      return original(...args);
    },
  );
  await upload(app, application.id, 1);
  await upload(app, application.id, 5);
  await eventually(() => mock.callCount() > 0, 'a document');
  await upload(app, application.id, 6);
  gate.resolve();
  assert.equal(step(await settled(app, application), 'documents').status, 'done');
});

test('two runs at once of one step both call, and one result is stored', async (t) => {
  const application = await settled(app, await register(app));
  const bank = heldAddresses(t);
  await give(app, application.id, { step: 'address', body: addressBody });
  await bank.called(1);
  // A lease that lapsed lets another process run the job beside the first.
  const second = run(application, 'address');
  await bank.called(2);
  bank.release();
  await second;
  const { status, attempts } = step(await settled(app, application), 'address');
  assert.deepEqual([status, attempts], ['done', 2], 'each try is counted');
});

test('a run after the work is done does nothing, whichever step it is', async (t) => {
  const application = await settled(app, await register(app));
  await give(app, application.id, { step: 'address', body: addressBody });
  const before = await settled(app, application);
  const spies = ['register', 'submitAddress', 'kyc', 'confirmValidation'] as const;
  const mocks = spies.map((method) => t.mock.method(onboarding, method).mock);
  for (const name of stepNames) await run(application, name);
  assert.deepEqual(await shown(app, application.id), before);
  assert.deepEqual(
    mocks.map((mock) => mock.callCount()),
    [0, 0, 0, 0],
  );
});

test('where onboarding is local a leftover job calls no provider', async (t) => {
  const application = await settled(app, await register(app));
  const bank = heldAddresses(t);
  await give(app, application.id, { step: 'address', body: addressBody });
  await bank.called(1);
  const config = { ...app.context.config, onboardingLocalOnly: true };
  await run(application, 'address', { ...app.context, config });
  assert.equal(bank.calls(), 1);
});

test('a service that stops puts the job back, instead of failing the step', async (t) => {
  const application = await settled(app, await register(app));
  const bank = heldAddresses(t);
  await give(app, application.id, { step: 'address', body: addressBody });
  await bank.called(1);
  const stopping = AbortSignal.abort();
  t.mock.method(onboarding, 'requestValidation', () => faulty('unavailable'));
  await app.rows(
    `update onboarding_applications
        set validation = '{"tipo": 1}', steps = jsonb_set(steps, '{4,status}', '"queued"')
      where id = $1`,
    [application.id],
  );
  await assert.rejects(run(application, 'electronic_validation', { ...app.context, stopping }), {
    name: 'ProviderError',
  });
  assert.equal(step(await shown(app, application.id), 'electronic_validation').status, 'queued');
});

test('a code that comes between the fifth wrong one and the lock is not tried', async (t) => {
  const { mock } = t.mock.method(onboarding, 'confirmValidation');
  const application = await settled(app, await register(app));
  await give(app, application.id, { step: 'electronic-validation' });
  await settled(app, application);
  await app.rows(
    `update onboarding_applications
        set sealed_code = $2, validation_locked_until = $3,
            steps = jsonb_set(steps, '{5,status}', '"queued"') where id = $1`,
    [
      application.id,
      app.context.sealer.seal('{"codigo":"ABC123","tipo":1}', `onboarding:${application.id}`),
      new Date(app.clock.now().getTime() + 1_000),
    ],
  );
  await run(application, 'electronic_validation_confirm');
  const { status, error } = step(await shown(app, application.id), 'electronic_validation_confirm');
  assert.deepEqual([status, error], ['failed', 'CODE_LOCKED']);
  assert.equal(mock.callCount(), 0);
  const [row] = await app.rows('select sealed_code from onboarding_applications where id = $1', [
    application.id,
  ]);
  assert.equal(row?.['sealed_code'], null);
});

test('an application that was begun without the provider is registered by sync', async () => {
  const application = await settled(app, await register(app));
  await app.rows('update onboarding_applications set pessoa_fisica_id = null where id = $1', [
    application.id,
  ]);
  await give(app, application.id, { step: 'address', body: addressBody });
  const failed = step(await settled(app, application), 'address');
  assert.deepEqual([failed.status, failed.error], ['failed', 'EARLIER_STEP_FAILED']);
  await give(app, application.id, { step: 'sync' });
  const registered = await settled(app, application);
  assert.ok(registered.provider['pessoa_fisica_id']);
  assert.equal(step(registered, 'address').status, 'done');
});

for (const payload of [{}, { userId: 1, step: 'dance' }, { userId: '1', step: 'address' }]) {
  test(`a job that names no step is a defect: ${JSON.stringify(payload)}`, async () => {
    const job = { id: '1', kind: 'onboarding-step', payload, attempt: 1, worker: 'test' };
    await assert.rejects(onboardingStep.run(app.context, job), TypeError);
  });
}

test('the application’s id is in no job', async () => {
  const application = await register(app);
  await give(app, application.id, { step: 'address', body: addressBody });
  await settled(app, application);
  const jobs = await app.rows(
    `select kind, payload, unique_key, last_error from jobs where kind = 'onboarding-step'`,
  );
  assert.ok(jobs.length > 0);
  assert.ok(!JSON.stringify(jobs).includes(application.id));
});
