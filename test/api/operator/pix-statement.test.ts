/** `ponte pix resolve --as failed` reads the statement of the provider first. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { upsertAccountFromLogin } from '../../../src/accounts/account-repository.ts';
import { calendarDay, shiftDay } from '../../../src/domain/calendar.ts';
import { startPixApp, type StoredPix } from '../pix/pix-app.ts';
import { startScriptedBank } from '../pix/scripted-bank.ts';
import { givenCustomer, type TestUser } from '../../support/factories.ts';
import { runPonte } from './command-line.ts';

const bank = await startScriptedBank();
const environment = { ...bank.environment, JOBS: 'off' };
const app = await startPixApp({ bank: {} as never, environment });

const dayMs = 24 * 60 * 60_000;

const risk = ['--confirm', 'money may have moved'];

async function givenSend(user: TestUser): Promise<StoredPix> {
  const { body } = await app.send(user, { pix_key: 'ana@example.com', amount: 10 });
  assert.equal(body.status, 'PROCESSING');
  return app.stored(body.transaction_id);
}

const resolve = (id: string, ...options: string[]) => {
  const decision = ['--reason', 'ticket 7', '--by', 'ana', '--yes'];
  const argv = ['pix', 'resolve', id, '--as', 'failed', ...decision, ...risk, ...options];
  return runPonte(app, argv, { environment });
};

const debit = ({ end_to_end: endToEnd }: StoredPix) => ({
  endToEnd,
  amount: 10,
  type: 'PIX_PAYMENT_OUT',
  status: 'CONFIRMED',
});

const statement = (...lines: readonly object[]): void => {
  bank.onStatement = () => ({ status: 200, body: lines });
};

async function outcomes(id: string): Promise<string[]> {
  const rows = await app.rows<{ outcome: string }>(
    'select outcome from operator_actions where target = $1',
    [`pix:${id}`],
  );
  return rows.map(({ outcome }) => outcome);
}

describe('a statement that is read before a payment is called failed', () => {
  it('is that of the day before the payment to the day of the reading', async () => {
    const { id } = await givenSend(await givenCustomer(app));
    const madeOn = calendarDay(app.clock.now());
    await app.clock.advance(4 * dayMs);
    const read: string[] = [];
    bank.onStatement = (days) => {
      read.push(`${days.get('startDate')} ${days.get('endDate')}`);
      return { status: 200, body: [] };
    };
    assert.equal((await resolve(id)).code, 0);
    const days = `${shiftDay(madeOn, -1)} ${shiftDay(madeOn, 4)}`;
    // One reading before the question, and one before the decision.
    assert.deepEqual(read, [days, days]);
  });

  it('refuses when a line shows it, also at first sight, and names the next command', async () => {
    const user = await givenCustomer(app);
    const send = await givenSend(user);
    const { id } = send;
    statement(debit(send));
    const today = calendarDay(app.clock.now());
    const reconcile = `\`ponte reconcile --user ${user.id} --day ${today}\` settles it`;
    const first = await resolve(id);
    assert.equal(first.code, 1);
    assert.match(first.stderr, /the statement shows this payment: the sweep settles it while/);
    assert.ok(first.stderr.includes(`; from tomorrow, ${reconcile}`), first.stderr);
    assert.match(first.stderr, /to call it failed all the same, give --despite-statement/);
    await app.clock.advance(dayMs);
    const later = await resolve(id);
    assert.ok(later.stderr.includes(`the statement shows this payment: ${reconcile};`));
    assert.equal((await app.stored(id)).status, 'PROCESSING');
    assert.deepEqual(await outcomes(id), []);
  });

  it('is overridden with an option, and the record says so', async () => {
    const send = await givenSend(await givenCustomer(app));
    statement(debit(send));
    const { code, stdout, stderr } = await resolve(send.id, '--despite-statement', '--json');
    assert.equal(code, 0);
    assert.match(stderr, /^The statement shows this payment: .*\.$/m);
    assert.equal(JSON.parse(stdout).statement.says, 'shown');
    assert.equal((await app.stored(send.id)).status, 'FAILED');
    assert.deepEqual(await outcomes(send.id), ['FAILED; despite the statement: shown']);
  });

  const doubts: Readonly<Record<string, (send: StoredPix) => object[]>> = {
    'another amount': (send) => [{ ...debit(send), amount: 11 }],
    'two debits': (send) => [debit(send), debit(send)],
    'a debit that waits': (send) => [{ ...debit(send), status: 'PENDING' }],
    'its request id under another end-to-end id': (send) => [
      { ...debit(send), endToEnd: 'E1116575620260524120000000000042', clientRequestId: key(send) },
    ],
  };
  const key = (send: StoredPix) => payments().get(send.end_to_end ?? '');
  const payments = () => {
    return new Map(bank.payments.map((one) => [one.endToEnd, one.clientRequestId]));
  };
  for (const [title, lines] of Object.entries(doubts)) {
    it(`refuses where its lines are not clear: ${title}`, async () => {
      const send = await givenSend(await givenCustomer(app));
      statement(...lines(send));
      const { code, stderr } = await resolve(send.id);
      assert.equal(code, 1);
      assert.match(stderr, /its lines are not clear|with its request id under E1116575620260524/);
      assert.equal((await app.stored(send.id)).status, 'PROCESSING');
      assert.equal((await resolve(send.id, '--despite-statement')).code, 0);
      assert.deepEqual(await outcomes(send.id), ['FAILED; despite the statement: unclear']);
    });
  }

  const agreeing: Readonly<Record<string, (send: StoredPix) => object[]>> = {
    absent: () => [],
    failed: (send) => [{ ...debit(send), status: 'ERROR' }],
    reversed: (send) => [debit(send), { ...debit(send), type: 'PIX_PAYMENT_IN' }],
  };
  for (const [says, lines] of Object.entries(agreeing)) {
    it(`does not refuse where it is ${says}`, async () => {
      const send = await givenSend(await givenCustomer(app));
      statement(...lines(send));
      const { code, stderr } = await resolve(send.id);
      assert.equal(code, 0, stderr);
      assert.match(stderr, /^(?:No line of the|The) statement .*\.$/m);
      assert.deepEqual(await outcomes(send.id), [`FAILED; statement: ${says}`]);
    });
  }
});

describe('a statement that cannot be read', () => {
  it('is said, and the operator decides: without a session', async () => {
    const user = await givenCustomer(app);
    const send = await givenSend(user);
    await app.call('/auth/logout', { method: 'POST', token: user.token });
    statement(debit(send));
    const { code, stderr } = await resolve(send.id);
    assert.equal(code, 0);
    assert.match(stderr, /The statement was not read: the user has no active session/);
    assert.deepEqual(await outcomes(send.id), ['FAILED; statement not read: NO_SESSION']);
  });

  it('is said where a login has named another account since', async () => {
    const user = await givenCustomer(app);
    const send = await givenSend(user);
    const parts = { document: null, companyId: null, clientToken: null };
    const other = { userId: user.id, agency: '0001', accountNumber: '2000225', ...parts };
    await upsertAccountFromLogin(app.context, other);
    statement();
    const { code, stderr } = await resolve(send.id);
    assert.equal(code, 0);
    assert.match(stderr, /The statement was not read: .* a login has named another account since/);
    assert.deepEqual(await outcomes(send.id), ['FAILED; statement not read: NOT_WHOLE']);
  });

  const responses = { NOT_WHOLE: 503, TOKEN_REFUSED: 401 } as const;
  for (const [reason, status] of Object.entries(responses)) {
    it(`is said, and the operator decides: the provider answers ${status}`, async () => {
      const send = await givenSend(await givenCustomer(app));
      bank.onStatement = () => ({ status, body: {} });
      const { code, stderr, stdout } = await app.throughTime(resolve(send.id, '--json'));
      assert.equal(code, 0, stderr);
      assert.match(
        stderr,
        /The statement was not read: the provider (?:did not give all|has refused)/,
      );
      // A token that is refused twice ends the session: the second reading finds none.
      const unread = status === 401 ? 'NO_SESSION' : reason;
      assert.deepEqual(JSON.parse(stdout).statement.unread, unread);
      assert.deepEqual(await outcomes(send.id), [`FAILED; statement not read: ${unread}`]);
    });
  }
});

it('no database transaction is open during the reading, and what happens then counts', async () => {
  const send = await givenSend(await givenCustomer(app));
  let readings = 0;
  bank.onStatement = async () => {
    readings += 1;
    if (readings === 2) {
      await app.rows(
        `update pix_transactions set claimed_until = $2, phase = 'PAYING' where id = $1`,
        [send.id, new Date(app.clock.now().getTime() + dayMs)],
      );
    }
    return { status: 200, body: [] };
  };
  const { code, stderr } = await resolve(send.id);
  assert.equal(code, 1);
  assert.match(stderr, /a process may be sending it at this moment/);
  assert.deepEqual(await outcomes(send.id), []);
});

it('--despite-statement is for a payment that is called failed', async () => {
  const argv = ['pix', 'resolve', 'x', '--as', 'completed', '--reason', 'x', '--despite-statement'];
  const { code, stderr } = await runPonte(app, argv, { environment });
  assert.deepEqual([code, stderr], [2, 'ponte: --despite-statement needs --as failed\n']);
});
