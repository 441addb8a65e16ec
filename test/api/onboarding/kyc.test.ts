/** The decision on an application and the account that it opens, where onboarding is local. */
import assert from 'node:assert/strict';
import crypto from 'node:crypto';
import { syncBuiltinESMExports } from 'node:module';
import { test } from 'node:test';
import { accountCheckDigit } from '../../../src/domain/account.ts';
import { done } from '../../../src/provider/sandbox/bank/response.ts';
import { startTestApp } from '../../support/app.ts';
import { logIn, password } from '../../support/factories.ts';
import {
  giveAll,
  readKyc,
  newPerson,
  register,
  shown,
  step,
  type PersonBody,
} from './applicants.ts';

const app = await startTestApp({ environment: { JOBS: 'off' } });

/** An application that waits for its decision. */
async function underAnalysis(person: PersonBody = newPerson()) {
  const application = await register(app, person);
  await giveAll(app, application.id);
  return application;
}

function readAccounts(userId: number) {
  return app.rows<{
    provider: string;
    agency: string;
    account_number: string;
    document: string;
    status: string;
  }>(`select provider, agency, account_number, document, status from accounts where user_id = $1`, [
    userId,
  ]);
}

test('before the analysis the application is answered as it is', async () => {
  const { id } = await register(app);
  const before = await shown(app, id);
  assert.deepEqual(await readKyc(app, id), before);
  assert.equal(before.kyc_status, null);
});

test('an approval opens one active account in the name of the person', async () => {
  const person = newPerson();
  const { id, user_id: userId } = await underAnalysis(person);
  const decided = await readKyc(app, id);
  assert.equal(decided.status, 'APPROVED');
  assert.equal(decided.conta_bancaria_criada, true);
  assert.equal(step(decided, 'kyc').status, 'done');
  assert.equal(step(decided, 'account').status, 'done');
  const [account, ...others] = await readAccounts(userId);
  assert.deepEqual(others, []);
  assert.ok(account);
  const { account_number: number, ...rest } = account;
  assert.deepEqual(rest, {
    provider: 'local',
    agency: '0001',
    document: person.document,
    status: 'ACTIVE',
  });
  assert.match(number, /^[1-9]\d{7}$/);
  assert.equal(number.at(-1), accountCheckDigit(number.slice(0, -1)));
  assert.equal(decided.provider['agency'], '0001');
  assert.equal(decided.provider['account_number'], number);
  assert.deepEqual(await readKyc(app, id), decided, 'asking again changes nothing');
});

for (const phone of ['+5511987654322', '(11) 3333-4442', '+441632960002']) {
  test(`a phone that ends in 2 is rejected: ${phone}`, async () => {
    const { id, user_id: userId } = await underAnalysis(newPerson({ phone }));
    const decided = await readKyc(app, id);
    assert.equal(decided.status, 'REJECTED');
    assert.equal(decided.kyc_status, 'REJECTED');
    assert.equal(decided.conta_bancaria_criada, false);
    assert.equal(step(decided, 'kyc').status, 'done');
    assert.equal(step(decided, 'account').status, 'not_required');
    assert.deepEqual(await readAccounts(userId), []);
    assert.deepEqual(await readKyc(app, id), decided);
  });
}

test('a rejected person logs in and has no account, whatever the provider says', async () => {
  const person = newPerson({ phone: '+5511987654322' });
  const { id, user_id: userId } = await underAnalysis(person);
  await readKyc(app, id);
  const me = await app.call('/accounts/me', { token: await logIn(app, person.email) });
  assert.equal(me.body.account, null);
  assert.deepEqual(await readAccounts(userId), []);
});

test('an applicant has no account before the approval, whatever the provider says', async () => {
  const person = newPerson();
  const { id, user_id: userId } = await underAnalysis(person);
  const token = await logIn(app, person.email);
  assert.equal((await app.call('/accounts/me', { token })).body.account, null);
  await readKyc(app, id);
  const [account] = await readAccounts(userId);
  const me = await app.call('/accounts/me', { token });
  assert.equal(me.body.account.account_number, account?.account_number);
});

test('ten questions at once decide once and open one account', async () => {
  const { id, user_id: userId } = await underAnalysis();
  const responses = await Promise.all(Array.from({ length: 10 }, () => readKyc(app, id)));
  const [first] = responses;
  for (const response of responses) assert.deepEqual(response, first);
  assert.equal(first?.status, 'APPROVED');
  assert.equal(step(first, 'kyc').attempts, 1);
  assert.equal((await readAccounts(userId)).length, 1);
});

test('a number that is taken is drawn again', async (t) => {
  const { id } = await underAnalysis();
  const taken = (await readKyc(app, id)).provider['account_number'] ?? assert.fail('no number');
  const base = Number(taken.slice(0, -1));
  const free = base === 7_654_321 ? 7_654_322 : 7_654_321;
  const draws = [base, base, free];
  const { id: other } = await underAnalysis();
  t.mock.method(crypto, 'randomInt', () => draws.shift());
  syncBuiltinESMExports();
  t.after(() => {
    t.mock.restoreAll();
    syncBuiltinESMExports();
  });
  const decided = await readKyc(app, other);
  assert.equal(decided.status, 'APPROVED');
  assert.equal(decided.provider['account_number'], String(free) + accountCheckDigit(String(free)));
  assert.deepEqual(draws, []);
});

test('the first login takes the account that the bank has for the document', async () => {
  const person = newPerson();
  const { id, user_id: userId } = await underAnalysis(person);
  const drawn = await readKyc(app, id);
  await logIn(app, person.email);
  const bank = app.bank.login({ email: person.email, password });
  assert.ok(bank.outcome === 'done');
  const { agency, accountNumber, document } = bank.value.account;
  assert.equal(document, person.document);
  assert.deepEqual(await readAccounts(userId), [
    { provider: 'provider', agency, account_number: accountNumber, document, status: 'ACTIVE' },
  ]);
  assert.notEqual(drawn.provider['account_number'], accountNumber);
  assert.equal((await shown(app, id)).provider['account_number'], accountNumber);
});

test('a login as another person leaves the account that was opened here', async (t) => {
  const person = newPerson();
  const { id, user_id: userId } = await underAnalysis(person);
  await readKyc(app, id);
  const before = await readAccounts(userId);
  const original = app.bank.login.bind(app.bank);
  t.mock.method(app.bank, 'login', (credentials: { email: string; password: string }) => {
    const response = original(credentials);
    assert.ok(response.outcome === 'done');
    const account = { ...response.value.account, document: '52998224725' };
    return done({ ...response.value, account });
  });
  const refused = await app.call('/auth/login', { body: { email: person.email, password } });
  assert.equal(refused.status, 422);
  assert.deepEqual(await readAccounts(userId), before);
});

test('the database refuses to undo a decision, and an account without one', async () => {
  const { id } = await underAnalysis(newPerson({ phone: '+5511987654322' }));
  await readKyc(app, id);
  for (const status of ['IN_PROGRESS', 'UNDER_ANALYSIS', 'APPROVED']) {
    await assert.rejects(
      app.rows('update onboarding_applications set status = $2 where id = $1', [id, status]),
      /an application does not move this way/,
    );
  }
  await assert.rejects(
    app.rows('update onboarding_applications set conta_bancaria_criada = true where id = $1', [id]),
    /onboarding_applications_account_when_approved/,
  );
});
