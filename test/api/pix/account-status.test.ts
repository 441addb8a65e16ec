/** Only an ACTIVE account sends, charges and manages keys; reads stay open. */
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { describe, test, type TestContext } from 'node:test';
import type { AccountStatus } from '../../../src/domain/account.ts';
import { newTransactionIdentification } from '../../../src/domain/pix.ts';
import { auditPix } from '../../../src/operator/pix-audit.ts';
import { unwatched } from '../operator/asking.ts';
import type { TestResponse } from '../../support/app.ts';
import { givenApplication, givenCustomer, logIn, type TestUser } from '../../support/factories.ts';
import { startPixApp } from './pix-app.ts';

const app = await startPixApp();

const sendBody = { pix_key: 'ana@example.com', amount: 10 };
const chargeBody = { type: 'static', amount: 10 };

async function setStatus({ id }: TestUser, status: AccountStatus): Promise<void> {
  await app.rows('update accounts set status = $2 where user_id = $1', [id, status]);
}

async function givenCustomerWith(status: AccountStatus): Promise<TestUser> {
  const user = await givenCustomer(app);
  await setStatus(user, status);
  return user;
}

async function readOnlyId({ id }: TestUser): Promise<string> {
  const [row, ...others] = await app.rows<{ id: string }>(
    'select id from pix_transactions where user_id = $1',
    [id],
  );
  assert.ok(row && others.length === 0);
  return row.id;
}

const sentences: Readonly<Record<Exclude<AccountStatus, 'ACTIVE'>, [en: string, pt: string]>> = {
  PENDING: ['Your account is still under analysis.', 'Sua conta ainda está em análise.'],
  REJECTED: ['Your account was not approved.', 'Sua conta não foi aprovada.'],
  BLOCKED: [
    'Your account is blocked. Please contact support.',
    'Sua conta está bloqueada. Entre em contato com o atendimento.',
  ],
};

type Call = (user: TestUser, headers?: Record<string, string>) => Promise<TestResponse>;

const changes: Readonly<Record<string, Call>> = {
  'a send': (user, headers = {}) => app.send(user, sendBody, { headers }),
  'a charge': (user, headers = {}) => app.charge(user, chargeBody, { headers }),
  'a new key': ({ token }, headers = {}) =>
    app.call('/pix/keys', { token, headers, body: { key_type: 'E_MAIL' } }),
  'the removal of a key': ({ token }, headers = {}) =>
    app.call('/pix/keys', { method: 'DELETE', token, headers, body: { key: 'ana@example.com' } }),
};

const methods = [
  ...(['lookUpKey', 'pay', 'createCharge', 'createKey', 'deleteKey'] as const),
] satisfies (keyof typeof app.bank)[];

/** How often the bank is called to change something, or to look a key up. */
function watchBank(t: TestContext): () => number {
  const mocks = methods.map((method) => t.mock.method(app.bank, method).mock);
  return () => mocks.reduce((total, mock) => total + mock.callCount(), 0);
}

for (const [status, [en, pt]] of Object.entries(sentences)) {
  const user = await givenCustomerWith(status as AccountStatus);

  describe(`an account that is ${status}`, () => {
    for (const [what, call] of Object.entries(changes)) {
      test(`${what}: 422 errors.account, in both languages, and nothing is done`, async (t) => {
        const calls = watchBank(t);
        for (const [language, sentence] of [
          ['en', en],
          ['pt-BR', pt],
        ] as const) {
          const response = await call(user, { 'accept-language': language });
          assert.equal(response.status, 422);
          assert.deepEqual(response.body.errors, { account: [sentence] });
        }
        assert.equal(calls(), 0);
        assert.equal(await app.countMade(user), 0);
      });
    }

    const reads = ['/accounts/me', '/accounts/balance', '/accounts/statement', '/pix', '/pix/keys'];
    for (const path of reads) {
      test(`GET ${path}: 200`, async () => {
        assert.equal((await app.call(path, { token: user.token })).status, 200);
      });
    }
  });
}

test('an account that is unblocked does not pay with the key of a refused send', async () => {
  const user = await givenCustomerWith('BLOCKED');
  const refused = await app.send(user, sendBody, { key: 'later' });
  assert.deepEqual([refused.status, refused.headers.get('pix-outcome')], [422, 'not_sent']);
  await setStatus(user, 'ACTIVE');
  const sent = await app.send(user, sendBody, { key: 'later' });
  assert.deepEqual([sent.body.status, sent.headers.get('pix-outcome')], ['FAILED', 'not_sent']);
  assert.equal(sent.body.failure.code, 'ACCOUNT_NOT_ACTIVE');
});

describe('what an account did before it was blocked', () => {
  for (const [what, call] of [
    ['send', () => app.send],
    ['charge', () => app.charge],
  ] as const) {
    test(`a repeat of a ${what} answers what is stored`, async () => {
      const user = await givenCustomer(app);
      const body = what === 'send' ? sendBody : chargeBody;
      const first = await call()(user, body, { key: 'before' });
      assert.equal(first.status, 200);
      await setStatus(user, 'BLOCKED');
      const again = await call()(user, body, { key: 'before' });
      assert.equal(again.status, 200);
      assert.equal(again.headers.get('idempotency-replayed'), 'true');
      assert.deepEqual(again.body, first.body);
      const other = await call()(user, { ...body, amount: 11 }, { key: 'before' });
      assert.equal(other.status, 422);
      assert.deepEqual(Object.keys(other.body.errors), ['Idempotency-Key']);
      assert.equal((await app.view(user, first.body.transaction_id)).status, 200);
    });
  }
});

describe('an account that is blocked before the payment is sent', () => {
  function assertRefused({ status, body, headers }: TestResponse): void {
    assert.equal(status, 422);
    assert.deepEqual(body.errors, { account: [sentences.BLOCKED[0]] });
    assert.equal(headers.get('pix-outcome'), 'not_sent');
  }

  async function assertFailed(id: string, until: readonly string[]): Promise<void> {
    const { status, outcome, failure_code: code } = await app.stored(id);
    assert.deepEqual([status, outcome, code], ['FAILED', 'not_sent', 'ACCOUNT_NOT_ACTIVE']);
    assert.deepEqual(await app.timeline(id), [...until, 'SETTLED account_not_active']);
  }

  test('during the look-up: 422, not_sent, FAILED, and a repeat gets the same', async (t) => {
    const user = await givenCustomer(app);
    const { lookUpKey } = app.bank;
    const payments = t.mock.method(app.bank, 'pay');
    t.mock.method(app.bank, 'lookUpKey', async (...question: Parameters<typeof lookUpKey>) => {
      await setStatus(user, 'BLOCKED');
      return lookUpKey.apply(app.bank, question);
    });
    assertRefused(await app.send(user, sendBody, { key: 'late' }));
    assert.equal(payments.mock.callCount(), 0);
    await assertFailed(await readOnlyId(user), ['RESERVED']);
    const again = await app.send(user, sendBody, { key: 'late' });
    assert.deepEqual([again.status, again.body.status], [200, 'FAILED']);
    assert.equal(again.headers.get('pix-outcome'), 'not_sent');
  });

  /** A transaction like another one, under the key `dead`, as a process that died has left it. */
  async function givenRemains(
    living: TestResponse,
    phase: 'RESERVED' | 'RESOLVED',
    claimedUntil: Date | null = null,
  ): Promise<string> {
    const id = randomUUID();
    const now = app.clock.now();
    const endToEnd = phase === 'RESOLVED' ? `E11165756${randomUUID().slice(0, 23)}` : null;
    await app.rows(
      `insert into pix_transactions (id, user_id, operation, idempotency_key, fingerprint, status,
              phase, amount, pix_key, end_to_end, claimed_until, created_at, updated_at,
              transaction_identification)
       select $1, user_id, operation, 'dead', fingerprint, 'PROCESSING', $2, amount, pix_key, $3,
              $4, $5, $5, case operation when 'CHARGE' then $7 end
         from pix_transactions where id = $6`,
      [
        id,
        phase,
        endToEnd,
        claimedUntil,
        now,
        living.body.transaction_id,
        newTransactionIdentification(),
      ],
    );
    for (const passed of phase === 'RESOLVED' ? ['RESERVED', 'RESOLVED'] : ['RESERVED']) {
      await app.rows('insert into pix_timeline (transaction_id, phase, at) values ($1, $2, $3)', [
        id,
        passed,
        now,
      ]);
    }
    return id;
  }

  for (const [phase, until] of [
    ['RESERVED', ['RESERVED']],
    ['RESOLVED', ['RESERVED', 'RESOLVED']],
  ] as const) {
    test(`a send that was left in ${phase} is not resumed: 422, not_sent, FAILED`, async (t) => {
      const user = await givenCustomer(app);
      const id = await givenRemains(await app.send(user, sendBody), phase);
      await setStatus(user, 'BLOCKED');
      const calls = watchBank(t);
      assertRefused(await app.send(user, sendBody, { key: 'dead' }));
      assert.equal(calls(), 0);
      await assertFailed(id, until);
      await setStatus(user, 'ACTIVE');
      const again = await app.send(user, sendBody, { key: 'dead' });
      assert.deepEqual([again.status, again.body.status], [200, 'FAILED']);
    });
  }

  test('a charge that was left in RESERVED is not resumed: 422, FAILED', async (t) => {
    const user = await givenCustomer(app);
    const id = await givenRemains(await app.charge(user, chargeBody), 'RESERVED');
    await setStatus(user, 'BLOCKED');
    const calls = watchBank(t);
    const again = await app.charge(user, chargeBody, { key: 'dead' });
    assert.deepEqual([again.status, again.body.errors], [422, { account: [sentences.BLOCKED[0]] }]);
    assert.equal(again.headers.has('pix-outcome'), false);
    assert.equal(calls(), 0);
    await assertFailed(id, ['RESERVED']);
  });

  test('a send that another process works on is replied as it is stored', async () => {
    const user = await givenCustomer(app);
    const soon = new Date(app.clock.now().getTime() + 1_000);
    const id = await givenRemains(await app.send(user, sendBody), 'RESERVED', soon);
    await setStatus(user, 'BLOCKED');
    const again = await app.send(user, sendBody, { key: 'dead' });
    assert.deepEqual([again.status, again.body.status], [200, 'PROCESSING']);
    assert.equal((await app.stored(id)).phase, 'RESERVED');
  });

  test('the audit finds nothing wrong with any of them', async () => {
    const { invariants } = await auditPix.run(app.context, {}, unwatched);
    const broken = invariants.filter(({ rows }) => rows.length > 0).map(({ name }) => name);
    assert.deepEqual(broken, []);
  });
});

describe('a login', () => {
  for (const onboarded of [false, true]) {
    test(`keeps the account BLOCKED, ${onboarded ? 'with' : 'without'} an approved onboarding`, async () => {
      const user = await givenCustomer(app);
      if (onboarded) await givenApplication(app, user.id, 'APPROVED');
      await setStatus(user, 'BLOCKED');
      const token = await logIn(app, user.email);
      const me = await app.call('/accounts/me', { token });
      assert.equal(me.body.account.status, 'BLOCKED');
      assert.equal((await app.send({ ...user, token }, sendBody)).status, 422);
    });
  }
});
