/** Codes that were typed for the provider, and are still here when onboarding becomes local. */
import assert from 'node:assert/strict';
import { after, test, type TestContext } from 'node:test';
import { faulty } from '../../../src/provider/sandbox/bank/response.ts';
import { startTestApp, type TestResponse, type TestApp } from '../../support/app.ts';
import { createTestDatabase } from '../../support/db.ts';
import { passUntil } from '../../support/passing-time.ts';
import { addressBody, give, register, settled, shown, step, type Shown } from './applicants.ts';

const database = await createTestDatabase();
let running: TestApp | null = null;

after(async () => {
  if (running) await passUntil(running.clock, running.stop());
  await database.drop();
});

/** Starts the service again on the same database. */
async function restart(mode: 'local' | 'provider'): Promise<TestApp> {
  if (running) await passUntil(running.clock, running.stop());
  const isLocal = String(mode === 'local');
  running = await startTestApp({
    database,
    environment: { ONBOARDING_LOCAL_ONLY: isLocal, PROVIDER_RETRIES: '0' },
  });
  return running;
}

function confirm(app: TestApp, id: string, codigo: string): Promise<TestResponse> {
  return give(app, id, { step: 'electronic-validation/confirm', body: { codigo } });
}

/** The state of the code's step, and what is stored of it. */
async function readCode(app: TestApp, id: string) {
  const { status, error } = step(await shown(app, id), 'electronic_validation_confirm');
  const [row] = await app.rows(
    `select validation_failures as failures, validation_locked_until is not null as locked,
            sealed_code is not null as kept
       from onboarding_applications where id = $1`,
    [id],
  );
  return { status, error, ...row };
}

/** Has a code wait for a provider that is away, after others that it has called wrong. */
async function waitingCode(
  t: TestContext,
  wrongBefore: number,
): Promise<{ app: TestApp; application: Shown; id: string }> {
  const app = await restart('provider');
  const application = await register(app);
  await give(app, application.id, { step: 'electronic-validation' });
  await settled(app, application);
  for (let turn = 0; turn < wrongBefore; turn += 1) {
    await confirm(app, application.id, `WRONG${turn}`);
    await settled(app, application);
  }
  const { mock } = t.mock.method(app.bank.onboarding, 'confirmValidation', () =>
    faulty('unavailable'),
  );
  await confirm(app, application.id, 'XYZ999');
  await settled(app, application);
  mock.restore();
  assert.deepEqual(await readCode(app, application.id), {
    status: 'failed',
    error: 'PROVIDER_UNAVAILABLE',
    failures: wrongBefore,
    locked: false,
    kept: true,
  });
  return { app, application, id: application.id };
}

async function damageCode(app: TestApp, id: string): Promise<void> {
  await app.rows(
    `update onboarding_applications
        set sealed_code = substr(sealed_code, 1, length(sealed_code) - 1) where id = $1`,
    [id],
  );
}

test('the right code passes, though an old one would have been the fifth wrong one', async (t) => {
  const { id } = await waitingCode(t, 4);
  const app = await restart('local');
  const response = await confirm(app, id, 'ABC123');
  assert.equal(response.status, 202, JSON.stringify(response.body));
  assert.deepEqual(await readCode(app, id), {
    status: 'done',
    error: null,
    failures: 0,
    locked: false,
    kept: false,
  });
});

test('an old code that is wrong is dropped uncounted, and the next wrong one locks', async (t) => {
  const { id } = await waitingCode(t, 4);
  const app = await restart('local');
  await give(app, id, { step: 'sync' });
  const dropped = { status: 'failed', error: 'WRONG_CODE', kept: false };
  assert.deepEqual(await readCode(app, id), { ...dropped, failures: 4, locked: false });
  const { body } = await confirm(app, id, 'WRONG4');
  assert.deepEqual(body.errors, { codigo: ['Too many wrong codes. Try again in 10 minutes.'] });
  assert.deepEqual(await readCode(app, id), { ...dropped, failures: 0, locked: true });
});

test('an old code that cannot be opened blocks no change, and is submitted again', async (t) => {
  const { id } = await waitingCode(t, 1);
  const app = await restart('local');
  await damageCode(app, id);
  assert.equal((await give(app, id, { step: 'address', body: addressBody })).status, 201);
  assert.deepEqual(await readCode(app, id), {
    status: 'failed',
    error: 'CONTENT_MISSING',
    failures: 1,
    locked: false,
    kept: false,
  });
  assert.equal((await confirm(app, id, 'ABC123')).status, 202);
  assert.equal((await readCode(app, id)).status, 'done');
});

test('a code that does not open gives way to the next one for the provider', async (t) => {
  const { app, application, id } = await waitingCode(t, 0);
  await damageCode(app, id);
  assert.equal((await confirm(app, id, 'ABC123')).status, 202);
  await settled(app, application);
  assert.deepEqual(await readCode(app, id), {
    status: 'done',
    error: null,
    failures: 0,
    locked: false,
    kept: false,
  });
});
