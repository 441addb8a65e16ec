/** Applications that go nowhere, and the documents of those that are decided. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { expireOnboarding } from '../../../src/retention/maintenance.ts';
import type { JobHandler } from '../../../src/jobs/job.ts';
import { startTestApp, type TestApp } from '../../support/app.ts';
import { logIn } from '../../support/factories.ts';
import {
  addressBody,
  giveAll,
  give,
  readKyc,
  newPerson,
  register,
  upload,
  type PersonBody,
  type Shown,
} from '../onboarding/applicants.ts';

const app = await startTestApp({ environment: { JOBS: 'off', ONBOARDING_EXPIRY_DAYS: '7' } });

const hourMs = 60 * 60_000;
const dayMs = 24 * hourMs;

function run({ context }: TestApp = app, { run: work }: JobHandler = expireOnboarding) {
  const job = { id: '0', kind: 'test', payload: {}, attempt: 1, worker: 'test' };
  return work(context, job);
}

/** Whether a person is refused because the e-mail is in use. */
async function isTaken(person: PersonBody): Promise<boolean> {
  const { status, body } = await app.call('/onboarding/pf', { body: person });
  if (status === 201) return false;
  assert.equal(status, 422);
  assert.deepEqual(Object.keys(body.errors), ['email']);
  return true;
}

async function countDocuments({ id }: Shown, at: TestApp = app): Promise<number> {
  const [row] = await at.rows<{ count: number }>(
    'select count(*)::int as count from onboarding_documents where application_id = $1',
    [id],
  );
  return row?.count ?? 0;
}

async function readStatus({ id }: Shown): Promise<number> {
  return (await app.call(`/onboarding/${id}`)).status;
}

/** Rejects a person whose phone ends in 2, approves any other. */
async function decided(person: PersonBody): Promise<Shown> {
  const application = await register(app, person);
  await giveAll(app, application.id);
  return readKyc(app, application.id);
}

test('an application that was not touched goes with its documents, and its user with it', async () => {
  const person = newPerson();
  const application = await register(app, person);
  await upload(app, application.id, 1);
  await app.clock.advance(7 * dayMs);
  await run();
  assert.equal(await readStatus(application), 200, 'exactly at the limit it is kept');
  await app.clock.advance(1);
  await run();
  assert.equal(await readStatus(application), 404);
  assert.equal(await countDocuments(application), 0);
  const chunks = await app.rows('select from onboarding_document_chunks');
  assert.equal(chunks.length, 0);
  assert.equal(await isTaken(person), false);
  const body = { email: person.email, password: person.password };
  assert.equal((await app.call('/auth/login', { body })).status, 200, 'the new user');
});

test('an application that is touched stays', async () => {
  const application = await register(app);
  await app.clock.advance(6 * dayMs);
  await give(app, application.id, { step: 'address', body: addressBody });
  await app.clock.advance(6 * dayMs);
  await run();
  assert.equal(await readStatus(application), 200);
  await app.clock.advance(dayMs + 1);
  await run();
  assert.equal(await readStatus(application), 404);
});

test('a rejected application goes, and an application under analysis', async () => {
  const rejected = newPerson({ phone: '+5511987654322' });
  assert.equal((await decided(rejected)).status, 'REJECTED');
  const waiting = newPerson();
  const { id } = await register(app, waiting);
  await giveAll(app, id);
  await app.clock.advance(7 * dayMs + 1);
  await run();
  assert.equal(await isTaken(rejected), false);
  assert.equal(await isTaken(waiting), false);
});

test('an approved application stays, with its user and account; its id has expired', async () => {
  const person = newPerson();
  const approved = await decided(person);
  await app.clock.advance(7 * dayMs - 1);
  assert.equal(await readStatus(approved), 200);
  await app.clock.advance(1);
  await run();
  assert.equal(await readStatus(approved), 404);
  assert.equal((await app.call(`/onboarding/${approved.id}/kyc`)).status, 404);
  assert.equal(await isTaken(person), true);
  const me = await app.call('/accounts/me', { token: await logIn(app, person.email) });
  assert.equal(me.body.account.status, 'ACTIVE');
});

test('a user who has logged in at the provider stays, without the application', async () => {
  const person = newPerson();
  const application = await register(app, person);
  const token = await logIn(app, person.email);
  await app.call('/auth/logout', { token, method: 'POST' });
  await app.clock.advance(7 * dayMs + 1);
  await run();
  assert.equal(await readStatus(application), 404);
  assert.equal(await isTaken(person), true);
  assert.ok(await logIn(app, person.email));
});

test('where onboarding is local the documents of a decided application go after a day', async () => {
  const person = newPerson();
  const applications = [
    await decided(person),
    await decided(newPerson({ phone: '+5511987654322' })),
  ];
  const open = await register(app);
  await upload(app, open.id, 1);
  await app.clock.advance(24 * hourMs);
  await run();
  for (const one of applications) assert.equal(await countDocuments(one), 3);
  // The login at the provider changes the application, not when it was decided.
  await logIn(app, person.email);
  await app.clock.advance(1);
  await run();
  for (const one of applications) assert.equal(await countDocuments(one), 0);
  assert.equal(await countDocuments(open), 1);
  assert.equal(await readStatus(applications[0] ?? assert.fail()), 200);
});

test('where onboarding is at the provider no document goes before it has been forwarded', async () => {
  const before = await decided(newPerson());
  await app.clock.advance(25 * hourMs);
  const config = { ...app.context.config, onboardingLocalOnly: false };
  await run({ ...app, context: { ...app.context, config } });
  assert.equal(await countDocuments(before), 3);
});

test('what has expired is logged by number, and nothing of the persons', async () => {
  await app.clock.advance(30 * dayMs);
  await run();
  const person = newPerson();
  const { id } = await register(app, person);
  await app.clock.advance(7 * dayMs + 1);
  const lines = app.logLines.length;
  await run();
  await run();
  const logged = app.logLines.slice(lines).filter((line) => line.includes('onboarding expired'));
  assert.equal(logged.length, 1);
  assert.match(logged[0] ?? '', /"applications":1,"documents":0/);
  for (const secret of [id, person.email, person.document]) {
    assert.equal(logged[0]?.includes(secret), false);
  }
});
