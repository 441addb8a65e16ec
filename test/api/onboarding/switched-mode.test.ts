/** Applications that were begun with the provider and go on without it, and the other way round. */
import assert from 'node:assert/strict';
import { after, test, type TestContext } from 'node:test';
import { refused } from '../../../src/provider/sandbox/bank/response.ts';
import { startTestApp, type TestApp } from '../../support/app.ts';
import { createTestDatabase } from '../../support/db.ts';
import { passUntil } from '../../support/passing-time.ts';
import {
  addressBody,
  give,
  giveAll,
  bankMethods,
  giveAllButCode,
  readKyc,
  register,
  settled,
  shown,
  step,
  steps,
  type Shown,
} from './applicants.ts';

const database = await createTestDatabase();
let running: TestApp | null = null;

after(async () => {
  if (running) await passUntil(running.clock, running.stop());
  await database.drop();
});

/** Starts the service again on the same database. */
async function restart(mode: 'local' | 'provider', jobs = 'inline'): Promise<TestApp> {
  if (running) await passUntil(running.clock, running.stop());
  const isLocal = String(mode === 'local');
  running = await startTestApp({
    database,
    environment: { ONBOARDING_LOCAL_ONLY: isLocal, JOBS: jobs, PROVIDER_RETRIES: '0' },
  });
  return running;
}

/** An application with every step submitted, at a provider that offers no onboarding. */
async function notOffered(t: TestContext): Promise<Shown> {
  const app = await restart('provider');
  const response = refused({ kind: 'missing', reason: 'NotFound' });
  t.mock.method(app.bank.onboarding, 'register', () => response as never);
  const application = await register(app);
  await giveAll(app, application.id);
  const failed = await settled(app, application);
  assert.equal(step(failed, 'registration').error, 'PROVIDER_NOT_FOUND');
  return failed;
}

test('what a provider without onboarding has failed is carried out by sync', async (t) => {
  const { id } = await notOffered(t);
  const app = await restart('local');
  const response = await give(app, id, { step: 'sync' });
  assert.equal(response.status, 202);
  const synced: Shown = response.body.application;
  assert.equal(synced.status, 'UNDER_ANALYSIS', steps(synced).join(', '));
  for (const { name, status, error } of synced.steps.slice(0, 7)) {
    assert.deepEqual([status, error], ['done', null], name);
  }
  assert.match(synced.prova_vida['url_iframe'] ?? '', /^https:\/\/prova-vida\.invalid\//);
  assert.equal((await readKyc(app, id)).status, 'APPROVED');
});

test('without sync, the next submitted step completes the others', async (t) => {
  const { id } = await notOffered(t);
  const app = await restart('local');
  await give(app, id, { step: 'address', body: addressBody });
  assert.deepEqual(steps(await shown(app, id)).slice(0, 7), [
    'registration done',
    'address done',
    'documents done',
    'proposal done',
    'electronic_validation done',
    'electronic_validation_confirm done',
    'prova_vida failed EARLIER_STEP_FAILED',
  ]);
  const { body } = await give(app, id, { step: 'prova-vida' });
  assert.equal(body.application.status, 'UNDER_ANALYSIS');
});

test('jobs that are left over carry out what is queued', async () => {
  const before = await restart('provider', 'off');
  const application = await register(before);
  await giveAll(before, application.id);
  const app = await restart('local');
  const done = await settled(app, application);
  assert.deepEqual(
    done.steps.slice(0, 7).map(({ status }) => status),
    ['done', 'done', 'done', 'done', 'done', 'done', 'queued'],
  );
  const { body } = await give(app, application.id, { step: 'sync' });
  assert.equal(body.application.status, 'UNDER_ANALYSIS');
});

test('documents that are not enough, and a code that is wrong, must still be submitted', async () => {
  const before = await restart('provider', 'off');
  const { id } = await register(before);
  const body = { codigo: '482915' };
  await give(before, id, { step: 'electronic-validation/confirm', body });
  const app = await restart('local');
  const { body: synced } = await give(app, id, { step: 'sync' });
  assert.deepEqual(steps(synced.application).slice(0, 7), [
    'registration done',
    'address pending',
    'documents pending',
    'proposal pending',
    'electronic_validation pending',
    'electronic_validation_confirm failed WRONG_CODE',
    'prova_vida pending',
  ]);
  await giveAll(app, id);
  assert.equal((await shown(app, id)).status, 'UNDER_ANALYSIS');
});

// The other way round.

/** How often the bank was called, by what. */
function callsTo(t: TestContext, { bank }: TestApp) {
  const mocks = bankMethods.map(
    (name) => [name, t.mock.method(bank.onboarding, name).mock] as const,
  );
  return () => Object.fromEntries(mocks.map(([name, mock]) => [name, mock.callCount()]));
}

const allButCode = {
  register: 1,
  submitAddress: 1,
  submitDocument: 3,
  submitProposal: 1,
  requestValidation: 1,
  confirmValidation: 0,
  startLivenessCheck: 1,
  kyc: 0,
};

test('what was done without the provider is sent by sync, but the code, which is gone', async (t) => {
  const before = await restart('local');
  const application = await register(before);
  await giveAllButCode(before, application.id);
  const app = await restart('provider');
  const calls = callsTo(t, app);
  const { body } = await give(app, application.id, { step: 'sync' });
  assert.deepEqual(body.application.prova_vida, { session_id: null, url_iframe: null });
  const synced = await settled(app, application);
  assert.deepEqual(calls(), allButCode);
  assert.match(synced.prova_vida['url_iframe'] ?? '', /^https:\/\/prova-vida\.ponte\.test\//);
  assert.deepEqual(
    synced.steps.slice(0, 7).map(({ status }) => status),
    ['done', 'done', 'done', 'done', 'done', 'pending', 'done'],
  );
  await give(app, application.id, { step: 'electronic-validation/confirm' });
  assert.equal((await settled(app, application)).status, 'UNDER_ANALYSIS');
  assert.equal((await readKyc(app, application.id)).status, 'APPROVED');
});

/** An application that is under analysis, of which the provider knows nothing. */
async function unknownUnderAnalysis(): Promise<{ app: TestApp; application: Shown }> {
  const before = await restart('local');
  const application = await register(before);
  await giveAll(before, application.id);
  assert.equal((await shown(before, application.id)).status, 'UNDER_ANALYSIS');
  return { app: await restart('provider'), application };
}

test('an analysis of which the provider knows nothing says so, and goes on by sync', async (t) => {
  const { app, application } = await unknownUnderAnalysis();
  const { id } = application;
  const calls = callsTo(t, app);
  const response = await readKyc(app, id);
  assert.deepEqual(
    [step(response, 'kyc').status, step(response, 'kyc').error],
    ['failed', 'EARLIER_STEP_FAILED'],
  );
  assert.deepEqual(await readKyc(app, id), response);
  await give(app, id, { step: 'sync' });
  const synced = await settled(app, application);
  assert.deepEqual(calls(), allButCode);
  assert.equal(synced.status, 'UNDER_ANALYSIS');
  assert.deepEqual(steps(synced).slice(5), [
    'electronic_validation_confirm failed CONTENT_MISSING',
    'prova_vida done',
    'kyc failed EARLIER_STEP_FAILED',
    'account pending',
  ]);
  await give(app, id, { step: 'sync' });
  assert.deepEqual(await settled(app, application), synced, 'a second sync has nothing to do');

  const confirmed = await give(app, id, { step: 'electronic-validation/confirm' });
  assert.equal(confirmed.status, 202);
  await settled(app, application);
  const decided = await readKyc(app, id);
  assert.deepEqual([decided.status, decided.conta_bancaria_criada], ['APPROVED', true]);
  assert.equal(calls()['kyc'], 1);
});

test('under analysis, only what the provider refuses may be submitted again', async (t) => {
  const { app, application } = await unknownUnderAnalysis();
  const { id } = application;
  const refusal = refused({ kind: 'rule', reason: 'InvalidAddress' });
  const { mock } = t.mock.method(app.bank.onboarding, 'submitAddress', () => refusal as never);
  await give(app, id, { step: 'sync' });
  assert.equal(step(await settled(app, application), 'address').error, 'PROVIDER_REJECTED');
  mock.restore();
  const body = { ...addressBody, numero: '2000' };
  assert.equal((await give(app, id, { step: 'address', body })).status, 201);
  await give(app, id, { step: 'electronic-validation/confirm' });
  await settled(app, application);
  assert.equal((await give(app, id, { step: 'address', body: addressBody })).status, 422);
  assert.equal((await give(app, id, { step: 'sync' })).status, 202);
  assert.equal((await settled(app, application)).status, 'APPROVED');
});
