/** An e-mail that somebody else has registered with: when it is free again. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { dayMs } from '../../../src/clock.ts';
import { startTestApp, type TestResponse } from '../../support/app.ts';
import { logIn } from '../../support/factories.ts';
import {
  addressBody,
  give,
  giveAll,
  newPerson,
  readKyc,
  register,
  upload,
  type PersonBody,
} from './applicants.ts';

const app = await startTestApp({ environment: { JOBS: 'off' } });

/** The owner of the e-mail of another person. */
function ownerOf({ email }: PersonBody): PersonBody {
  return { ...newPerson({ email }), name: 'Dona do E-mail' };
}

function registers(person: PersonBody): Promise<TestResponse> {
  return app.call('/onboarding/pf', { body: person });
}

async function isTaken(person: PersonBody): Promise<boolean> {
  const { status, body } = await registers(person);
  if (status === 422) assert.deepEqual(Object.keys(body.errors), ['email']);
  return status !== 201;
}

test('an application that led nowhere releases its e-mail after a day, whatever it was given', async () => {
  const squatter = newPerson();
  const { id } = await register(app, squatter);
  await give(app, id, { step: 'address', body: addressBody });
  await upload(app, id, 2);
  await give(app, id, { step: 'electronic-validation' });
  await app.clock.advance(dayMs / 2);
  // What is given later does not begin another day.
  await give(app, id, { step: 'proposal' });
  await app.clock.advance(dayMs / 2);
  const owner = ownerOf(squatter);
  assert.equal(await isTaken(owner), true, 'exactly at the limit it is kept');
  assert.equal((await app.call(`/onboarding/${id}`)).status, 200);
  await app.clock.advance(1);
  assert.equal((await app.call(`/onboarding/${id}`)).status, 200, 'nobody has asked for it');
  const response = await registers(owner);
  assert.equal(response.status, 201, JSON.stringify(response.body));
  assert.equal((await app.call(`/onboarding/${id}`)).status, 404);
  assert.deepEqual(await app.rows('select from onboarding_document_chunks'), []);
  const me = await app.call('/accounts/me', { token: await logIn(app, owner.email) });
  assert.equal(me.body.user.name, owner.name);
});

test('the same holds for the registration in one request', async () => {
  const squatter = newPerson();
  await register(app, squatter);
  await app.clock.advance(dayMs + 1);
  const { status } = await app.call('/accounts/pf', { body: ownerOf(squatter) });
  assert.equal(status, 201);
});

test('of ten registrations at once one gets the e-mail', async () => {
  const squatter = newPerson();
  await register(app, squatter);
  await app.clock.advance(dayMs + 1);
  const owners = Array.from({ length: 10 }, () => ownerOf(squatter));
  const statuses = (await Promise.all(owners.map(registers))).map(({ status }) => status);
  const created = statuses.filter((status) => status === 201);
  assert.deepEqual([created.length, new Set(statuses)], [1, new Set([201, 422])]);
});

const led: Readonly<Record<string, (person: PersonBody) => Promise<unknown>>> = {
  'its code was confirmed': async (person) => giveAll(app, (await register(app, person)).id),
  'it was approved': async (person) => {
    const { id } = await register(app, person);
    await giveAll(app, id);
    assert.equal((await readKyc(app, id)).status, 'APPROVED');
  },
  'the user has logged in at the provider': async (person) => {
    await register(app, person);
    const token = await logIn(app, person.email);
    await app.call('/auth/logout', { method: 'POST', token });
  },
  'an operator has disabled the user': async (person) => {
    const { user_id: userId } = await register(app, person);
    await app.rows(`update users set status = 'DISABLED' where id = $1`, [userId]);
  },
  'the user has an account': async (person) => {
    const { user_id: userId } = await register(app, person);
    await app.rows(
      `insert into accounts (user_id, provider, status, created_at, updated_at)
       values ($1, 'provider', 'ACTIVE', now(), now())`,
      [userId],
    );
  },
};

for (const [what, lead] of Object.entries(led)) {
  test(`an e-mail is kept when ${what}`, async () => {
    const person = newPerson();
    await lead(person);
    await app.clock.advance(2 * dayMs);
    assert.equal(await isTaken(ownerOf(person)), true);
  });
}
