/** Onboarding at the provider: each step is a job, and the simulated bank opens the account. */
import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';
import { done, faulty, type BankResponse } from '../../../src/provider/sandbox/bank/response.ts';
import type { KycDecision } from '../../../src/provider/provider.ts';
import { startTestApp } from '../../support/app.ts';
import { logIn } from '../../support/factories.ts';
import {
  addressBody,
  give,
  giveAll,
  readJobs,
  readKyc,
  newPerson,
  register,
  settled,
  shown,
  step,
  steps,
  upload,
  type PersonBody,
} from './applicants.ts';

const app = await startTestApp({
  environment: { ONBOARDING_LOCAL_ONLY: 'false', PROVIDER_RETRIES: '0' },
});

const { onboarding } = app.bank;

/** An application that the bank has all of. */
async function underAnalysis(person: PersonBody = newPerson()) {
  const application = await register(app, person);
  await giveAll(app, application.id);
  const complete = await settled(app, application);
  assert.equal(complete.status, 'UNDER_ANALYSIS', steps(complete).join(', '));
  return complete;
}

test('register, give every step, be approved, log in: the account is the provider’s', async () => {
  const person = newPerson();
  const application = await register(app, person);
  assert.equal(step(application, 'registration').status, 'queued');
  await giveAll(app, application.id);
  const complete = await settled(app, application);
  assert.equal(complete.status, 'UNDER_ANALYSIS');
  assert.equal(complete.kyc_status, 'PENDING');
  assert.ok(complete.provider['pessoa_fisica_id']);
  for (const { name, status, attempts, error } of complete.steps.slice(0, 7)) {
    assert.deepEqual([status, error], ['done', null], name);
    assert.ok(name === 'documents' ? attempts <= 3 : attempts === 1, name);
  }
  assert.match(complete.prova_vida['url_iframe'] ?? '', /^https:/);

  const decided = await readKyc(app, application.id);
  assert.deepEqual([decided.status, decided.kyc_status], ['APPROVED', 'APPROVED']);
  assert.equal(decided.conta_bancaria_criada, true);
  assert.equal(decided.provider['client_token'], null, 'the route is public');

  const [account] = await app.rows('select * from accounts where user_id = $1', [
    application.user_id,
  ]);
  assert.equal(account?.['provider'], 'provider');
  assert.equal(account['document'], person.document);
  assert.equal(account['status'], 'ACTIVE');
  assert.equal(account['account_number'], decided.provider['account_number']);

  const token = await logIn(app, person.email);
  const me = await app.call('/accounts/me', { token });
  assert.equal(me.body.account.account_number, decided.provider['account_number']);
  assert.equal(me.body.user.document, person.document);
  const paid = await app.call('/pix/send', {
    token,
    key: 'first',
    body: { pix_key: 'bruno@example.com', amount: 10 },
  });
  assert.equal(paid.status, 200);
});

/** Makes the bank's responses to a call wait until the test lets them come. */
function hold(t: TestContext, method: 'register' | 'requestValidation' | 'startLivenessCheck') {
  const gate = Promise.withResolvers<void>();
  t.after(() => gate.resolve());
  const original = onboarding[method].bind(onboarding) as (...args: unknown[]) => unknown;
  const { mock } = t.mock.method(onboarding, method, async (...args: unknown[]) => {
    await gate.promise;
    return original(...args);
  });
  return { mock, release: () => gate.resolve() };
}

test('a step submitted before the registration waits without a job, and is sent then', async (t) => {
  const registration = hold(t, 'register');
  const application = await register(app);
  await giveAll(app, application.id);
  const waiting = await shown(app, application.id);
  for (const { name, status, attempts } of waiting.steps.slice(1, 7)) {
    assert.deepEqual([status, attempts], ['queued', 0], name);
  }
  assert.deepEqual(await readJobs(app, application), ['registration running']);
  registration.release();
  assert.equal((await settled(app, application)).status, 'UNDER_ANALYSIS');
  assert.equal(registration.mock.callCount(), 1);
});

test('the code waits until one is requested from the bank', async (t) => {
  const confirmation = t.mock.method(onboarding, 'confirmValidation');
  const application = await register(app);
  await give(app, application.id, { step: 'electronic-validation/confirm' });
  const before = await settled(app, application);
  assert.equal(step(before, 'electronic_validation_confirm').status, 'queued');
  assert.equal(confirmation.mock.callCount(), 0);

  const validation = hold(t, 'requestValidation');
  await give(app, application.id, { step: 'electronic-validation' });
  assert.equal(confirmation.mock.callCount(), 0);
  validation.release();
  const after = await settled(app, application);
  assert.equal(step(after, 'electronic_validation_confirm').status, 'done');
  assert.equal(confirmation.mock.callCount(), 1);
});

test('a code lies sealed until the bank has it, and is gone then', async (t) => {
  const validation = hold(t, 'requestValidation');
  const application = await register(app);
  await give(app, application.id, { step: 'electronic-validation' });
  const body = { codigo: 'ABC123' };
  await give(app, application.id, { step: 'electronic-validation/confirm', body });
  const sealed = async () => {
    const [row] = await app.rows<{ sealed_code: Buffer | null }>(
      'select sealed_code from onboarding_applications where id = $1',
      [application.id],
    );
    return row?.sealed_code ?? null;
  };
  const kept = await sealed();
  assert.ok(kept);
  assert.ok(!kept.includes('ABC123'));
  assert.throws(() => app.context.sealer.open(kept, 'onboarding:another'));
  validation.release();
  await settled(app, application);
  assert.equal(await sealed(), null);
});

test('a code that does not come, or is refused, is sent again on another request', async (t) => {
  const { mock } = t.mock.method(onboarding, 'requestValidation');
  const application = await register(app);
  const ask = async () => {
    const path = 'electronic-validation';
    const responses = [1, 2, 3].map(() => give(app, application.id, { step: path }));
    for (const { status } of await Promise.all(responses)) assert.equal(status, 202);
    const requested = await settled(app, application);
    assert.equal(step(requested, 'electronic_validation').status, 'done');
    return mock.callCount();
  };
  assert.equal(await ask(), 1);
  await app.clock.advance(59_999);
  assert.equal(await ask(), 1, 'it may still be on its way');
  await app.clock.advance(1);
  assert.equal(await ask(), 2, 'a code is due when Retry-After has passed');
  assert.equal(await ask(), 2, 'the next one is on its way');

  await app.clock.advance(1_000);
  const body = { codigo: 'WRONG' };
  await give(app, application.id, { step: 'electronic-validation/confirm', body });
  await settled(app, application);
  await app.clock.advance(1_000);
  assert.equal(await ask(), 3);
  assert.equal(await ask(), 3, 'nothing was refused since');
  await give(app, application.id, { step: 'electronic-validation/confirm' });
  await settled(app, application);
  await app.clock.advance(120_000);
  assert.equal(await ask(), 3, 'the code was right');
});

test('ten identical posts at once queue one job and make one call', async (t) => {
  const submitted = t.mock.method(onboarding, 'submitAddress');
  const application = await register(app);
  const responses = await Promise.all(
    Array.from({ length: 10 }, () =>
      give(app, application.id, { step: 'address', body: addressBody }),
    ),
  );
  assert.ok(responses.every(({ status }) => status === 201));
  const after = await settled(app, application);
  assert.equal(step(after, 'address').attempts, 1);
  assert.equal(submitted.mock.callCount(), 1);
  const jobs = await readJobs(app, application);
  assert.deepEqual(
    jobs.filter((job) => job.startsWith('address')),
    ['address done'],
  );

  await give(app, application.id, { step: 'address', body: addressBody });
  assert.deepEqual(await readJobs(app, application), jobs, 'a repeat queues nothing');
  await give(app, application.id, { step: 'address', body: { ...addressBody, numero: '7' } });
  assert.equal(step(await settled(app, application), 'address').attempts, 2);
  assert.equal(submitted.mock.callCount(), 2);
});

test('documents that are not enough leave the step pending once the bank has them', async () => {
  const application = await register(app);
  const first = await upload(app, application.id, 5);
  assert.equal(step(first.body, 'documents').status, 'queued');
  assert.equal(step(await settled(app, application), 'documents').status, 'pending');
  await upload(app, application.id, 6);
  await upload(app, application.id, 1);
  assert.equal(step(await settled(app, application), 'documents').status, 'done');
  const rows = await app.rows(`select status from onboarding_documents where application_id = $1`, [
    application.id,
  ]);
  assert.deepEqual(rows, [
    { status: 'forwarded' },
    { status: 'forwarded' },
    { status: 'forwarded' },
  ]);
});

// The proof of life.

test('the proof of life answers the bank’s page, and the same one again', async (t) => {
  const { mock } = t.mock.method(onboarding, 'startLivenessCheck');
  const application = await settled(app, await register(app));
  const first = await give(app, application.id, { step: 'prova-vida' });
  assert.equal(first.status, 202);
  const { application: after, url_iframe: url } = first.body;
  assert.match(url, /^https:\/\/prova-vida\.ponte\.test\//);
  assert.equal(after.prova_vida.url_iframe, url);
  assert.equal(step(after, 'prova_vida').status, 'done');
  assert.deepEqual((await give(app, application.id, { step: 'prova-vida' })).body, first.body);
  assert.equal(mock.callCount(), 1);
  await app.clock.advance(60_000);
  await settled(app, application);
  assert.equal(mock.callCount(), 1, 'the job that looks after the request finds it answered');
});

test('requests for a page at once all get the same one', async () => {
  const application = await settled(app, await register(app));
  const responses = await Promise.all(
    Array.from({ length: 10 }, () => give(app, application.id, { step: 'prova-vida' })),
  );
  assert.ok(responses.every(({ status }) => status === 202));
  assert.equal(new Set(responses.map(({ body }) => body.url_iframe)).size, 1);
});

test('before the bank knows the person there is a placeholder, and the session is opened then', async (t) => {
  const registration = hold(t, 'register');
  const application = await register(app);
  const early = await give(app, application.id, { step: 'prova-vida' });
  assert.equal(early.status, 202);
  assert.equal(early.body.url_iframe, 'https://prova-vida.invalid');
  assert.deepEqual(early.body.application.prova_vida, { session_id: null, url_iframe: null });
  assert.equal(step(early.body.application, 'prova_vida').status, 'queued');
  const repeat = await give(app, application.id, { step: 'prova-vida' });
  assert.equal(repeat.body.url_iframe, early.body.url_iframe);
  assert.deepEqual(
    step(repeat.body.application, 'prova_vida'),
    step(early.body.application, 'prova_vida'),
  );
  registration.release();
  const opened = await settled(app, application);
  assert.equal(step(opened, 'prova_vida').status, 'done');
  const later = await give(app, application.id, { step: 'prova-vida' });
  assert.equal(later.body.url_iframe, opened.prova_vida['url_iframe']);
});

test('502 when the bank opens no page; the step says why, and may be tried again', async (t) => {
  const application = await settled(app, await register(app));
  const { mock } = t.mock.method(onboarding, 'startLivenessCheck', () => faulty('unavailable'));
  const refused = await give(app, application.id, { step: 'prova-vida' });
  assert.equal(refused.status, 502);
  assert.equal(refused.body.code, 'PROVIDER_UNAVAILABLE');
  const failed = step(await shown(app, application.id), 'prova_vida');
  assert.deepEqual(
    [failed.status, failed.error, failed.attempts],
    ['failed', 'PROVIDER_UNAVAILABLE', 1],
  );
  mock.restore();
  const again = await give(app, application.id, { step: 'prova-vida' });
  assert.equal(again.status, 202);
  assert.match(again.body.url_iframe, /^https:/);
});

test('a page that was being requested when the process died is requested by the job', async () => {
  const application = await settled(app, await register(app));
  const now = app.clock.now();
  // What the request leaves behind between its first commit and the bank's response.
  await app.rows(
    `update onboarding_applications
        set steps = jsonb_set(steps, '{6,status}', '"queued"') where id = $1`,
    [application.id],
  );
  await app.rows(
    `insert into jobs (kind, payload, unique_key, status, run_at, created_at)
     values ('onboarding-step', $1, $2, 'queued', $3, $4)`,
    [
      JSON.stringify({ userId: application.user_id, step: 'prova_vida' }),
      `onboarding:${application.user_id}:prova_vida`,
      new Date(now.getTime() + 60_000),
      now,
    ],
  );
  await app.clock.advance(65_000);
  assert.equal(step(await settled(app, application), 'prova_vida').status, 'done');
});

// The decision.

test('a pending decision is requested again', async () => {
  const application = await underAnalysis(newPerson({ phone: '+5511987654323' }));
  for (const attempts of [1, 2]) {
    const pending = await readKyc(app, application.id);
    assert.deepEqual([pending.status, pending.kyc_status], ['UNDER_ANALYSIS', 'PENDING']);
    const { status, attempts: made, error } = step(pending, 'kyc');
    assert.deepEqual([status, made, error], ['queued', attempts, null]);
  }
});

test('a person whom the bank rejects has no account', async () => {
  const application = await underAnalysis(newPerson({ phone: '+5511987654322' }));
  const rejected = await readKyc(app, application.id);
  assert.deepEqual([rejected.status, rejected.kyc_status], ['REJECTED', 'REJECTED']);
  assert.equal(step(rejected, 'account').status, 'not_required');
  const accounts = await app.rows('select id from accounts where user_id = $1', [
    application.user_id,
  ]);
  assert.deepEqual(accounts, []);
  assert.equal((await give(app, application.id, { step: 'sync' })).status, 422);
});

test('a bank that fails leaves the application as it is: 200, and the step says why', async (t) => {
  const application = await underAnalysis();
  for (const [fault, error] of [
    ['unavailable', 'PROVIDER_UNAVAILABLE'],
    ['garbled', 'PROVIDER_INVALID_RESPONSE'],
  ] as const) {
    const { mock } = t.mock.method(onboarding, 'kyc', () => faulty(fault));
    const failed = await readKyc(app, application.id);
    assert.deepEqual([failed.status, failed.kyc_status], ['UNDER_ANALYSIS', 'PENDING']);
    assert.equal(step(failed, 'kyc').status, 'failed');
    assert.equal(step(failed, 'kyc').error, error);
    mock.restore();
  }
  assert.equal((await readKyc(app, application.id)).status, 'APPROVED');
});

test('ten questions at once open one account', async () => {
  const application = await underAnalysis();
  const responses = await Promise.all(
    Array.from({ length: 10 }, () => readKyc(app, application.id)),
  );
  assert.ok(responses.every(({ status }) => status === 'APPROVED'));
  const accounts = await app.rows('select id from accounts where user_id = $1', [
    application.user_id,
  ]);
  assert.equal(accounts.length, 1);
});

test('sync asks for the decision', async () => {
  const application = await underAnalysis();
  assert.equal((await give(app, application.id, { step: 'sync' })).status, 202);
  assert.equal((await settled(app, application)).status, 'APPROVED');
});

/** Has the bank approve people without telling their account. */
function approvesWithoutAccount(t: TestContext) {
  const decision: BankResponse<KycDecision> = done({
    status: 'APPROVED',
    agency: null,
    accountNumber: null,
    clientToken: null,
  });
  return t.mock.method(onboarding, 'kyc', () => decision).mock;
}

test('an approval without an account waits for it, and is requested again', async (t) => {
  const application = await underAnalysis();
  const mock = approvesWithoutAccount(t);
  const approved = await readKyc(app, application.id);
  assert.deepEqual([approved.status, approved.kyc_status], ['APPROVED', 'APPROVED']);
  assert.equal(approved.conta_bancaria_criada, false);
  assert.equal(step(approved, 'account').status, 'queued');
  const again = await readKyc(app, application.id);
  assert.equal(step(again, 'account').status, 'queued');
  assert.equal(again.conta_bancaria_criada, false);
  mock.restore();
  assert.equal((await give(app, application.id, { step: 'sync' })).status, 202);
  const opened = await settled(app, application);
  assert.equal(opened.conta_bancaria_criada, true);
  assert.equal(step(opened, 'account').status, 'done');
  assert.equal((await give(app, application.id, { step: 'sync' })).status, 422);
});

test('an account that a login reports first is the application’s', async (t) => {
  const person = newPerson();
  const application = await underAnalysis(person);
  approvesWithoutAccount(t);
  await readKyc(app, application.id);
  const token = await logIn(app, person.email);
  const opened = await shown(app, application.id);
  assert.equal(opened.conta_bancaria_criada, true);
  assert.equal(step(opened, 'account').status, 'done');
  const me = await app.call('/accounts/me', { token });
  assert.equal(me.body.account.account_number, opened.provider['account_number']);
  const [account] = await app.rows('select document from accounts where user_id = $1', [
    application.user_id,
  ]);
  assert.equal(account?.['document'], person.document);
});
