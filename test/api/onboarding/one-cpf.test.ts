/** Who has a CPF: the first application to be approved, and nobody before that. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { startTestApp } from '../../support/app.ts';
import { givenUser, password } from '../../support/factories.ts';
import { giveAll, readKyc, newPerson, register, step } from './applicants.ts';

const app = await startTestApp({ environment: { JOBS: 'off' } });

/** Two complete applications with one CPF. */
async function twins() {
  const first = newPerson();
  const second = newPerson({ document: first.document });
  const applications = [await register(app, first), await register(app, second)];
  for (const { id } of applications) await giveAll(app, id);
  return applications.map(({ id }) => id);
}

test('the first application to be approved has the CPF, the other one ends REJECTED', async () => {
  const [one = '', other = ''] = await twins();
  const approved = await readKyc(app, other);
  assert.equal(approved.status, 'APPROVED');
  const rejected = await readKyc(app, one);
  assert.deepEqual([rejected.status, rejected.kyc_status], ['REJECTED', 'REJECTED']);
  const { status, error } = step(rejected, 'kyc');
  assert.deepEqual({ status, error }, { status: 'failed', error: 'DOCUMENT_IN_USE' });
  assert.equal((await readKyc(app, other)).status, 'APPROVED');
});

test('of two decisions at once, one is approved', async () => {
  const ids = await twins();
  const decided = await Promise.all(ids.map((id) => readKyc(app, id)));
  const statuses = decided.map(({ status }) => status);
  assert.deepEqual(statuses.toSorted(), ['APPROVED', 'REJECTED']);
});

for (const [status, decision] of [
  ['ACTIVE', 'REJECTED'],
  ['BLOCKED', 'REJECTED'],
  ['REJECTED', 'APPROVED'],
] as const) {
  test(`a CPF of an account that is ${status}: ${decision}`, async () => {
    const person = newPerson();
    const { id: userId } = await givenUser(app);
    await app.rows(
      `insert into accounts (user_id, provider, document, status, created_at, updated_at)
       values ($1, 'provider', $2, $3, now(), now())`,
      [userId, person.document, status],
    );
    const { id } = await register(app, person);
    await giveAll(app, id);
    assert.equal((await readKyc(app, id)).status, decision);
  });
}

test('a login whose CPF another account has stores an account without a document', async (t) => {
  const [one, other] = [await givenUser(app), await givenUser(app)];
  const original = app.bank.login.bind(app.bank);
  t.mock.method(app.bank, 'login', (...args: Parameters<typeof original>) => {
    const response = original(...args);
    if (response.outcome !== 'done') return response;
    const account = { ...response.value.account, document: '39053344705' };
    return { ...response, value: { ...response.value, account } };
  });
  for (const { email } of [one, other]) {
    assert.equal((await app.call('/auth/login', { body: { email, password } })).status, 200);
  }
  const documents = await app.rows<{ document: string | null }>(
    'select document from accounts where user_id = any($1::int[]) order by user_id',
    [[one.id, other.id]],
  );
  assert.deepEqual(
    documents.map(({ document }) => document),
    ['39053344705', null],
  );
});
