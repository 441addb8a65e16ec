/** `ponte bank`: beside a service in development it does what others do to an account. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { dayMs } from '../../../src/clock.ts';
import { openMovedClock } from '../../../src/process/moved-clock.ts';
import { startTestApp } from '../../support/app.ts';
import { eventually } from '../../support/eventually.ts';
import { givenCustomer, logIn } from '../../support/factories.ts';
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
  assert.equal(refused.stderr, 'ponte: the amount is more than what is left to return\n');
});

test('a service with a port of its own is found by its data folder', async () => {
  const { email } = await givenCustomer(local);
  const environment = { APP_ENV: 'local', PORT: '' };
  const done = await runPonte(local, ['bank', 'receive', email, '1'], { environment });
  assert.deepEqual([done.code, done.stdout], [0, 'The bank has done it.\n'], done.stderr);
  const found = await runPonte(local, ['doctor', '--json'], { environment });
  const { findings } = JSON.parse(found.stdout);
  const service = findings.find(({ name }: { name: string }) => name === 'service');
  assert.match(service.says, /^runs, and was started/);
});

test('the clock moves forward, and what waits comes due', async () => {
  const { token, email } = await givenCustomer(local);
  const charged = await local.call('/pix/charge', {
    token,
    key: 'charge',
    body: { type: 'dynamic', amount: 7.5, expiration_qr: 3_600 },
  });
  const { clock, config } = local.context;
  const beforeMs = clock.now().getTime();
  const moved = await runPonte(local, ['bank', 'advance', '2d']);
  const now = new Date(beforeMs + 2 * dayMs);
  assert.deepEqual([moved.code, moved.stdout], [0, `It is ${now.toISOString()} now.\n`]);
  assert.deepEqual(clock.now(), now);
  assert.equal((await local.call('/accounts/me', { token })).status, 401);
  const again = await logIn(local, email);
  const path = `/pix/${charged.body.transaction_id}`;
  const isExpired = async (): Promise<boolean> => {
    await local.clock.advance(0);
    return (await local.call(path, { token: again })).body.status === 'FAILED';
  };
  await eventually(isExpired, 'the charge expires');
  // What is stored is dated by it: a restart and a command of its own have the same time.
  assert.deepEqual(openMovedClock(config, local.clock)?.now(), now);
});

test('a clock is not moved by what is no duration', async () => {
  for (const by of ['24', '0h', '-1h', '367d', '1h30m', 'tomorrow', '']) {
    const { code, stderr } = await runPonte(local, ['bank', 'advance', '--', by]);
    assert.equal(code, 2, by);
    assert.match(stderr, /It must be a number of minutes, hours or days/);
  }
});

test('what can never be right is refused before the service is asked: exit 2', async () => {
  for (const words of [
    ['receive', 'ana@example.com', 'abc'],
    ['return', 'abc'],
    ['return', '01934a5e-7b60-7cc1-a8f0-2d4f2f6f0b11', '--amount', '0'],
  ]) {
    const { code, stderr } = await runPonte(local, ['bank', ...words]);
    assert.equal(code, 2, words.join(' '));
    assert.match(stderr, /It must be /);
  }
});

test('what the bank refuses, and a service without it, end with exit 1 and a sentence', async () => {
  const refused = await runPonte(local, ['bank', 'pay-charge', 'x']);
  assert.equal(refused.code, 1);
  assert.equal(
    refused.stderr,
    'ponte: the code is not the code of a charge of the simulated bank\n',
  );
  const stranger = await runPonte(local, ['bank', 'expire-token', 'nobody@example.com']);
  assert.deepEqual(
    [stranger.code, stranger.stderr],
    [1, 'ponte: the e-mail is not the e-mail of a user: register the person first\n'],
  );
  const elsewhere = await runPonte(other, ['bank', 'fail-next', 'ana@example.com']);
  assert.equal(elsewhere.code, 1);
  assert.match(elsewhere.stderr, /only a service with APP_ENV=local and PROVIDER_STUB=true/);
});
