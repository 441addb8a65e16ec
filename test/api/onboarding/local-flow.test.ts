/** An account from its registration to the first PIX, where onboarding is local. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { logIn } from '../../support/factories.ts';
import { startPixApp } from '../pix/pix-app.ts';
import { giveAll, readJobs, readKyc, newPerson, register, shown } from './applicants.ts';

const app = await startPixApp({ environment: { STUB_SETTLE_MS: '1' } });

test('register, give every step, be approved, log in, see the account, send a PIX', async (t) => {
  const person = newPerson();
  const onboarding = Object.getOwnPropertyNames(Object.getPrototypeOf(app.bank.onboarding));
  const mocks = onboarding
    .filter((name) => name !== 'constructor')
    .map((name) => t.mock.method(app.bank.onboarding, name as 'kyc'));

  const application = await register(app, person);
  await giveAll(app, application.id);
  const complete = await shown(app, application.id);
  assert.equal(complete.status, 'UNDER_ANALYSIS');
  assert.equal(complete.kyc_status, 'PENDING');

  const decided = await readKyc(app, application.id);
  assert.equal(decided.status, 'APPROVED');
  assert.equal(decided.kyc_status, 'APPROVED');
  assert.equal(decided.conta_bancaria_criada, true);
  assert.deepEqual(new Set(decided.steps.map(({ status }) => status)), new Set(['done']));
  assert.equal(decided.provider['agency'], '0001');

  const token = await logIn(app, person.email);
  const me = await app.call('/accounts/me', { token });
  assert.equal(me.body.user.document, person.document);
  assert.equal(me.body.account.provider, 'provider');
  const { agency, account_number: accountNumber } = me.body.account;
  assert.deepEqual((await shown(app, application.id)).provider, {
    ...decided.provider,
    agency,
    account_number: accountNumber,
  });
  assert.equal(me.body.account.status, 'ACTIVE');

  const user = { id: application.user_id, email: person.email, token };
  const { body: sent } = await app.send(user, { pix_key: 'bruno@example.com', amount: 10 });
  await app.clock.advance(1_000);
  assert.equal((await app.settled(sent.transaction_id)).status, 'COMPLETED');

  assert.ok(mocks.length > 5, 'the provider is watched');
  assert.deepEqual(
    mocks.map(({ mock }) => mock.callCount()),
    mocks.map(() => 0),
  );
  assert.deepEqual(await readJobs(app, application), []);
});
