/** `ponte bank`: beside a service in development it does what others do to an account. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { startTestApp } from '../../support/app.ts';
import { eventually } from '../../support/eventually.ts';
import { givenCustomer } from '../../support/factories.ts';
import { runPonte } from './command-line.ts';

const local = await startTestApp({ environment: { APP_ENV: 'local' } });
const other = await startTestApp();

const readBalance = async (token: string): Promise<unknown> =>
  (await local.call('/accounts/balance', { token })).body.balance;

test('a Pix comes, and a charge is paid', async () => {
  const { token, email } = await givenCustomer(local);
  const received = await runPonte(local, ['bank', 'receive', email, '42.50', '--json']);
  assert.deepEqual(
    [received.code, JSON.parse(received.stdout)],
    [0, { status: 200, message: 'The bank has done it.' }],
  );
  assert.equal(await readBalance(token), 10_042.5);
  const { body } = await local.call('/pix/charge', {
    token,
    key: 'charge',
    body: { type: 'static', amount: 7.5 },
  });
  const paid = await runPonte(local, ['bank', 'pay-charge', body.copy_paste]);
  assert.equal(paid.code, 0, paid.stderr);
  assert.equal(await readBalance(token), 10_050);
});

test('a received Pix is returned in part, and what is wrong is named', async () => {
  const { token, email } = await givenCustomer(local);
  await runPonte(local, ['bank', 'receive', email, '10']);
  const listed = async () => (await local.call('/pix', { token })).body.items;
  await eventually(async () => (await listed()).length === 1, 'the Pix is received');
  const [{ transaction_id: id }] = await listed();
  const returned = await runPonte(local, ['bank', 'return', id, '--amount', '4']);
  assert.deepEqual([returned.code, returned.stdout], [0, 'The bank has done it.\n']);
  assert.equal(await readBalance(token), 10_006);
  const refused = await runPonte(local, ['bank', 'return', id, '--amount', '6.01']);
  assert.equal(refused.code, 1);
  assert.match(refused.stderr, /amount: Is more than what is left to return\./);
});

test('what the bank refuses, and a service without it, end with exit 1 and a sentence', async () => {
  const refused = await runPonte(local, ['bank', 'pay-charge', 'x']);
  assert.equal(refused.code, 1);
  assert.match(refused.stderr, /code: Is not the code of a charge of the simulated bank\./);
  const elsewhere = await runPonte(other, ['bank', 'fail-next', 'ana@example.com']);
  assert.equal(elsewhere.code, 1);
  assert.match(elsewhere.stderr, /only a service with APP_ENV=local and the simulated bank/);
});
