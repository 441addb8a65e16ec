/**
 * What every provider behind the port does alike. The stub and the real client over the sandbox
 * stand for the same bank, so the same questions get the same answers and the same failures.
 */
import assert from 'node:assert/strict';
import { after, describe, it } from 'node:test';
import type { PaymentOrder, Provider, ProviderSession } from '../../../src/provider/provider.ts';
import type { Bank } from '../../../src/provider/stub/bank.ts';
import type { Notify } from '../../../src/provider/stub/notices.ts';
import { scenarios } from '../../../src/provider/stub/scenarios.ts';
import type { ManualClock } from '../../support/clock.ts';
import { eventually } from '../../support/eventually.ts';
import {
  chargeOrder,
  failure,
  logIn,
  type Notice,
  orderFor,
  payer,
  rejected,
  sessionWith,
  TOKEN_REFUSED,
  UNAVAILABLE,
} from '../stub/open-bank.ts';

/** A provider, and the bank that it asks. */
export interface Target {
  readonly provider: Provider;
  readonly bank: Bank;
  readonly clock: ManualClock;
  close(): Promise<void>;
}

export interface TargetOptions {
  /** Receives the bank's notices. */
  readonly notify: Notify;
}

const OPENING_BALANCE_CENTS = 1_000_000;

const today = { start: '2026-05-24', end: '2026-05-24' };

const TIMED_OUT = {
  outcome: 'unknown',
  code: 'PROVIDER_TIMEOUT',
  statusClass: 'timeout',
  retryable: true,
} as const;

const KEY_NOT_FOUND = {
  outcome: 'rejected',
  code: 'PIX_KEY_NOT_FOUND',
  statusClass: '404',
  retryable: false,
  reason: 'NotFound',
} as const;

const lookUp = (key: string) => ({ key, payerId: payer.document });

const dayRange = (start: string, end: string) => ({ start, end });

/** Runs the suite against what `open` opens, anew for every test. */
export function conformance(open: (options: TargetOptions) => Promise<Target>): void {
  async function opened(notify?: Notify) {
    const payloads: Buffer[] = [];
    const receive: Notify = async (payload) => void payloads.push(payload);
    const target = await open({ notify: notify ?? receive });
    after(() => target.close());
    const notices = () => payloads.map((payload) => JSON.parse(payload.toString('utf8')) as Notice);
    return { ...target, notices };
  }

  async function customer(email?: string) {
    const target = await opened();
    return { ...target, session: await logIn(target.provider, email) };
  }

  /** Orders a payment to a magic key. */
  async function ordered(name: string) {
    const target = await customer();
    const key = `${name}@ponte.test`;
    const order = await orderFor(target.provider, target.session, { key });
    return { ...target, order };
  }

  /** Pays, and gives up once the bank has executed it. */
  async function paidInVain(target: Awaited<ReturnType<typeof ordered>>) {
    const { provider, session, order } = target;
    const controller = new AbortController();
    const call = failure(provider.pay(session, order, { signal: controller.signal }));
    await eventually(() => isExecuted(target), 'the payment');
    controller.abort(new Error('time is up'));
    return call;
  }

  async function isExecuted(target: { provider: Provider; session: ProviderSession }) {
    return (await target.provider.balance(target.session)) < OPENING_BALANCE_CENTS;
  }

  async function debited({ provider, session }: { provider: Provider; session: ProviderSession }) {
    return OPENING_BALANCE_CENTS - (await provider.balance(session));
  }

  describe('login', () => {
    it('gives a token that works and the complete account', async () => {
      const { provider } = await opened();
      const { token, expiresAt, account } = await provider.login({
        email: 'Dev@Ponte.test',
        password: 'any password',
      });
      assert.equal(expiresAt, null);
      assert.equal(account.document, '11144477735');
      assert.equal(account.agency, '0001');
      assert.match(account.accountNumber ?? '', /^\d{9}$/);
      assert.match(account.companyId ?? '', /^\d+$/);
      assert.match(account.clientToken ?? '', /^[0-9a-f-]{36}$/);
      assert.equal(await provider.balance(sessionWith(token)), OPENING_BALANCE_CENTS);
    });
  });

  describe('balance and statement', () => {
    it('shows what a payment and a paid charge have moved', async () => {
      const target = await ordered('maria');
      const { provider, session, bank, order, clock } = target;
      const receipt = await provider.pay(session, order);
      await provider.createDynamicCharge(session, chargeOrder());
      await clock.advance(1_500);
      await bank.payCharge(chargeOrder().transactionIdentification);
      assert.equal(await provider.balance(session), OPENING_BALANCE_CENTS - 1_050 + 2_599);
      const { items, payments } = await provider.statement(session, today);
      assert.deepEqual(payments, [{ endToEnd: order.endToEnd, amountCents: 1_050 }]);
      assert.equal(items.length, 2);
      assert.deepEqual(items[1], {
        id: receipt.providerTxid,
        type: 'PIX_PAYMENT_OUT',
        direction: 'DEBIT',
        endToEnd: order.endToEnd,
        clientRequestId: 'request-1',
        description: 'Almoço',
        amount: 10.5,
        status: 'CONFIRMED',
        createdAt: '2026-05-24T12:00:00.000Z',
      });
      assert.equal(items[0]?.['type'], 'PIX_RECEIVED');
    });

    it('gives an empty statement for days without movements', async () => {
      const { provider, session } = await customer();
      const statement = await provider.statement(session, dayRange('2026-01-01', '2026-01-31'));
      assert.deepEqual(statement, { items: [], payments: [] });
    });

    it('refuses days in the wrong order', async () => {
      const { provider, session } = await customer();
      const call = provider.statement(session, dayRange('2026-05-24', '2026-05-23'));
      assert.deepEqual(await failure(call), rejected('InvalidRange'));
    });
  });

  describe('look-up', () => {
    it('gives a new end-to-end id each time', async () => {
      const { provider, session } = await customer();
      const first = await provider.lookUpKey(session, lookUp('maria@example.com'));
      const second = await provider.lookUpKey(session, lookUp('maria@example.com'));
      assert.deepEqual(Object.keys(first), ['endToEnd']);
      assert.match(first.endToEnd, /^E11165756202605241200\w{11}$/);
      assert.notEqual(first.endToEnd, second.endToEnd);
    });
  });

  describe('payment', () => {
    it('is accepted with its ids and told once', async () => {
      const target = await ordered('maria');
      const receipt = await target.provider.pay(target.session, target.order);
      const { endToEnd, clientRequestId } = target.order;
      const { providerTxid, ...rest } = receipt;
      assert.deepEqual(rest, { endToEnd, clientRequestId, status: 'PROCESSING' });
      assert.match(providerTxid ?? '', /^[0-9a-f-]{36}$/);
      await target.clock.advance(1_500);
      assert.deepEqual(
        target.notices().map(({ id, status }) => ({ id, status })),
        [{ id: providerTxid, status: 'CONFIRMED' }],
      );
    });

    it('is executed once, however often it is asked for', async () => {
      const target = await ordered('maria');
      const { provider, session, order } = target;
      const receipts = await Promise.all(
        Array.from({ length: 10 }, () => provider.pay(session, order)),
      );
      assert.equal(new Set(receipts.map(({ providerTxid }) => providerTxid)).size, 1);
      assert.deepEqual(await provider.pay(session, order), receipts[0]);
      assert.equal(await debited(target), 1_050);
    });

    it('carries amounts to the centavo and a description in any script', async () => {
      const { provider, session } = await customer();
      for (const [nth, amountCents] of [1, 10, 99, 435, 100_001].entries()) {
        const clientRequestId = `request-${nth}`;
        const order = await orderFor(provider, session, { amountCents, clientRequestId });
        await provider.pay(session, { ...order, description: 'Café ☕ "à vista"\n' });
      }
      const { items, payments } = await provider.statement(session, today);
      assert.deepEqual(
        payments.map(({ amountCents }) => amountCents),
        [100_001, 435, 99, 10, 1],
      );
      assert.equal(items[0]?.['description'], 'Café ☕ "à vista"\n');
    });

    it('goes without a description', async () => {
      const target = await ordered('maria');
      await target.provider.pay(target.session, { ...target.order, description: null });
      const { items } = await target.provider.statement(target.session, today);
      assert.equal('description' in (items[0] ?? {}), false);
    });

    const wrong: readonly [string, Partial<PaymentOrder>, string][] = [
      ['an id that was not given out', { endToEnd: 'E1' }, 'EndToEndIdNotIssued'],
      ['a key that was not looked up', { key: 'other@example.com' }, 'EndToEndIdNotIssued'],
      ['no amount', { amountCents: 0 }, 'AM12'],
      ['too large an amount', { amountCents: 100_000_000_000 }, 'AM12'],
    ];
    for (const [title, change, reason] of wrong) {
      it(`is refused with ${title}`, async () => {
        const { provider, session, order } = await ordered('maria');
        assert.deepEqual(
          await failure(provider.pay(session, { ...order, ...change })),
          rejected(reason),
        );
      });
    }
  });

  describe('charge', () => {
    it('dynamic: gives a picture, the text and the bank id, the same for a repeat', async () => {
      const { provider, session } = await customer();
      const order = chargeOrder({
        payerName: 'José',
        payerDocument: '11144477735',
        additionalData: [{ name: 'Pedido', value: '42' }],
        categoryCode: '0000',
      });
      const code = await provider.createDynamicCharge(session, order);
      assert.equal(Buffer.from(code.qrCode ?? '', 'base64').toString('latin1', 1, 4), 'PNG');
      assert.match(code.copyPaste ?? '', /^000201/);
      assert.match(code.providerTxid ?? '', /^[0-9a-f-]{36}$/);
      assert.deepEqual(await provider.createDynamicCharge(session, order), code);
    });

    it('static: gives a picture and the text', async () => {
      const { provider, session } = await customer();
      const code = await provider.createStaticCharge(session, chargeOrder({ zipcode: null }));
      assert.equal(Buffer.from(code.qrCode ?? '', 'base64').toString('latin1', 1, 4), 'PNG');
      assert.match(code.copyPaste ?? '', /^000201.*dev@ponte\.test/);
    });

    it('static: is refused when a BR Code cannot carry it', async () => {
      const { provider, session } = await customer();
      const order = chargeOrder({ key: `${'a'.repeat(78)}@ponte.test` });
      const call = provider.createStaticCharge(session, order);
      assert.deepEqual(await failure(call), rejected('InvalidQrCode'));
    });

    it("takes a company's document for the payer", async () => {
      const { provider, session } = await customer();
      await provider.createDynamicCharge(session, chargeOrder({ payerDocument: '12ABC34501DE35' }));
    });

    const wrong = [
      ['another amount for the same id', { amountCents: 1 }, 'DuplicatedTransactionIdentification'],
      [
        'an id of other signs',
        { transactionIdentification: 'a-b' },
        'InvalidTransactionIdentification',
      ],
      ['no amount', { transactionIdentification: 'x1', amountCents: 0 }, 'InvalidAmount'],
      [
        'no document for a payer',
        { transactionIdentification: 'x2', payerDocument: '123' },
        'InvalidPayerDocument',
      ],
      ['no time', { transactionIdentification: 'x3', expirationSeconds: 0 }, 'InvalidExpiration'],
    ] as const;
    for (const [title, change, reason] of wrong) {
      it(`is refused with ${title}`, async () => {
        const { provider, session } = await customer();
        await provider.createDynamicCharge(session, chargeOrder());
        const call = provider.createDynamicCharge(session, chargeOrder(change));
        assert.deepEqual(await failure(call), rejected(reason));
      });
    }
  });

  describe('keys', () => {
    it('are created, listed and deleted, with the payload of the directory', async () => {
      const { provider, session } = await customer();
      const key = { keyType: 'E_MAIL', key: 'dev@ponte.test', account: payer } as const;
      const created = await provider.createKey(session, key);
      assert.deepEqual(created, {
        key: 'dev@ponte.test',
        keyType: 'E_MAIL',
        account: {
          participant: '11165756',
          branch: '0001',
          accountNumber: '123456789',
          accountType: 'TRAN',
        },
        owner: { type: 'NATURAL_PERSON', taxIdNumber: payer.document },
        creationDate: '2026-05-24T12:00:00.000Z',
        keyOwnershipDate: '2026-05-24T12:00:00.000Z',
      });
      const evp = await provider.createKey(session, {
        keyType: 'EVP_ENDERECO_VIRTUAL_DE_PAGAMENTO',
        key: null,
        account: payer,
      });
      assert.match(String(evp['key']), /^[0-9a-f-]{36}$/);
      const listed = await provider.listKeys(session, payer);
      assert.deepEqual(listed['keys'], [created, evp]);
      assert.deepEqual(
        await provider.deleteKey(session, { key: 'dev@ponte.test', account: payer }),
        { key: 'dev@ponte.test', participant: '11165756', reason: 'USER_REQUESTED' },
      );
      assert.deepEqual((await provider.listKeys(session, payer))['keys'], [evp]);
    });

    it('are refused when they are taken or have another form', async () => {
      const { provider, session } = await customer();
      const key = { keyType: 'CELULAR', key: '+5511987654321', account: payer } as const;
      await provider.createKey(session, key);
      assert.deepEqual(
        await failure(provider.createKey(session, key)),
        rejected('EntryAlreadyExists'),
      );
      const wrong = provider.createKey(session, { ...key, key: '11987654321' });
      assert.deepEqual(await failure(wrong), rejected('EntryInvalid'));
    });

    it('are not found when they are not the account’s', async () => {
      const { provider, session } = await customer();
      const call = provider.deleteKey(session, { key: 'maria@example.com', account: payer });
      assert.deepEqual(await failure(call), KEY_NOT_FOUND);
    });
  });

  /** Every method with a session, called in some way. */
  function everyCall(provider: Provider, session: ProviderSession) {
    const key = 'maria@example.com';
    const order = { endToEnd: 'E', clientRequestId: 'r', key, amountCents: 1, payer };
    return [
      provider.balance(session),
      provider.statement(session, today),
      provider.lookUpKey(session, lookUp(key)),
      provider.pay(session, { ...order, description: null }),
      provider.createDynamicCharge(session, chargeOrder()),
      provider.createStaticCharge(session, chargeOrder()),
      provider.listKeys(session, payer),
      provider.createKey(session, { keyType: 'CPF', key: payer.document, account: payer }),
      provider.deleteKey(session, { key, account: payer }),
    ];
  }

  describe('token', () => {
    it('of nobody is refused by every method', async () => {
      const { provider } = await opened();
      for (const token of ['', 'x', 'stub.Zm9v.0.']) {
        for (const failed of await Promise.all(
          everyCall(provider, sessionWith(token)).map(failure),
        )) {
          assert.deepEqual(failed, TOKEN_REFUSED);
        }
      }
    });
  });

  describe('signal', () => {
    it('that has aborted already: nothing is sent', async () => {
      const target = await ordered('maria');
      const signal = AbortSignal.abort(new Error('gone'));
      const call = target.provider.pay(target.session, target.order, { signal });
      assert.deepEqual(await failure(call), { ...TIMED_OUT, outcome: 'not_sent' });
      assert.equal(await debited(target), 0);
    });

    it('that never aborts changes nothing', async () => {
      const { provider, session } = await customer();
      const { signal } = new AbortController();
      assert.equal(await provider.balance(session, { signal }), OPENING_BALANCE_CENTS);
    });
  });

  const cases: Readonly<Record<string, () => Promise<void>>> = {
    'notfound@ponte.test': () => lookUpFails('notfound', KEY_NOT_FOUND),
    'ratelimited@ponte.test': () =>
      lookUpFails('ratelimited', {
        outcome: 'rejected',
        code: 'PROVIDER_RATE_LIMITED',
        statusClass: '429',
        retryable: false,
        retryAfterMs: 30_000,
        reason: 'RateLimited',
      }),
    async 'unavailable@ponte.test'() {
      const { provider, session } = await customer();
      for (let attempt = 0; attempt < 3; attempt += 1) {
        const call = provider.lookUpKey(session, lookUp('unavailable@ponte.test'));
        assert.deepEqual(await failure(call), UNAVAILABLE);
      }
    },
    async 'flaky@ponte.test'() {
      const { provider, session } = await customer();
      const key = lookUp('flaky@ponte.test');
      assert.deepEqual(await failure(provider.lookUpKey(session, key)), UNAVAILABLE);
      await provider.lookUpKey(session, key);
    },
    async 'reject@ponte.test'() {
      const target = await ordered('reject');
      const call = target.provider.pay(target.session, target.order);
      assert.deepEqual(await failure(call), rejected('AC03'));
      assert.equal(await debited(target), 0);
    },
    async 'timeout@ponte.test'() {
      const target = await ordered('timeout');
      assert.deepEqual(await paidInVain(target), TIMED_OUT);
      assert.equal(await debited(target), target.order.amountCents);
      await target.clock.advance(1_500);
      assert.equal(target.notices()[0]?.['status'], 'CONFIRMED');
    },
    'lost@ponte.test': () => executedInVain('lost', UNAVAILABLE),
    'html@ponte.test': () =>
      executedInVain('html', {
        outcome: 'unknown',
        code: 'PROVIDER_INVALID_RESPONSE',
        statusClass: 'invalid',
        retryable: false,
      }),
    async 'fail@ponte.test'() {
      const target = await ordered('fail');
      await target.provider.pay(target.session, target.order);
      await target.clock.advance(1_500);
      assert.deepEqual(target.notices()[0]?.['error'], { code: 'BE17' });
      assert.equal(await debited(target), 0);
      const { items, payments } = await target.provider.statement(target.session, today);
      assert.deepEqual(payments, []);
      assert.deepEqual(
        items.map(({ type }) => type),
        ['PIX_PAYMENT_REVERSAL', 'PIX_PAYMENT_OUT'],
      );
    },
    async 'slow@ponte.test'() {
      const { provider, session, order, clock, notices } = await ordered('slow');
      await provider.pay(session, order);
      await clock.advance(29_999);
      assert.equal(notices().length, 0);
      await clock.advance(1);
      assert.equal(notices().length, 1);
    },
    async 'silent@ponte.test'() {
      const { provider, session, order, clock, notices } = await ordered('silent');
      assert.equal((await provider.pay(session, order)).status, 'PROCESSING');
      await clock.advance(60_000);
      assert.equal(notices().length, 0);
      const { payments } = await provider.statement(session, today);
      assert.deepEqual(payments, [{ endToEnd: order.endToEnd, amountCents: order.amountCents }]);
    },
    async 'early@ponte.test'() {
      const story: string[] = [];
      const { provider } = await opened(async () => void story.push('webhook'));
      const session = await logIn(provider);
      const order = await orderFor(provider, session, { key: 'early@ponte.test' });
      story.push((await provider.pay(session, order)).status);
      assert.deepEqual(story, ['webhook', 'PROCESSING']);
    },
    async 'twice@ponte.test'() {
      const { provider, session, order, clock, notices } = await ordered('twice');
      await provider.pay(session, order);
      await clock.advance(1_500);
      assert.deepEqual(
        notices().map(({ status }) => status),
        ['CONFIRMED', 'CONFIRMED', 'ERROR'],
      );
    },
    async 'more than the balance'() {
      const { provider, session } = await customer();
      const order = await orderFor(provider, session, { amountCents: OPENING_BALANCE_CENTS + 1 });
      assert.deepEqual(await failure(provider.pay(session, order)), {
        outcome: 'rejected',
        code: 'INSUFFICIENT_FUNDS',
        statusClass: '4xx',
        retryable: false,
        reason: 'NOT_ENOUGH_BALANCE',
      });
    },
    async 'refused@ponte.test'() {
      const { provider } = await opened();
      const call = logIn(provider, 'refused@ponte.test');
      assert.deepEqual(await failure(call), rejected('InvalidCredentials'));
    },
    async 'down@ponte.test'() {
      const { provider } = await opened();
      assert.deepEqual(await failure(logIn(provider, 'down@ponte.test')), UNAVAILABLE);
    },
    async 'offline@ponte.test'() {
      const { provider, session } = await customer('offline@ponte.test');
      for (const failed of await Promise.all(everyCall(provider, session).map(failure))) {
        assert.deepEqual(failed, UNAVAILABLE);
      }
    },
    async 'expired@ponte.test'() {
      const { provider, session } = await customer('expired@ponte.test');
      assert.equal(await provider.balance(session), OPENING_BALANCE_CENTS);
      assert.deepEqual(await failure(provider.balance(session)), TOKEN_REFUSED);
    },
    async "expired through the bank's control path"() {
      const { provider, session, bank } = await customer();
      bank.expireTokensOf('dev@ponte.test');
      for (const failed of await Promise.all(everyCall(provider, session).map(failure))) {
        assert.deepEqual(failed, TOKEN_REFUSED);
      }
      assert.equal(await provider.balance(await logIn(provider)), OPENING_BALANCE_CENTS);
    },
  };

  async function lookUpFails(name: string, expected: object) {
    const { provider, session } = await customer();
    const call = provider.lookUpKey(session, lookUp(`${name}@ponte.test`));
    assert.deepEqual(await failure(call), expected);
  }

  async function executedInVain(name: string, expected: object) {
    const target = await ordered(name);
    const { provider, session, order } = target;
    assert.deepEqual(await failure(provider.pay(session, order)), expected);
    assert.deepEqual(await failure(provider.pay(session, order)), expected);
    assert.equal(await debited(target), order.amountCents);
  }

  describe('scenario', () => {
    // The port has no onboarding yet.
    const known = scenarios.filter(({ given }) => given !== 'onboarding phone');
    for (const { value, happens } of known) {
      it(`${value}: ${happens}`, async () => {
        const run = cases[value];
        assert.ok(run, 'the table has a scenario that the suite does not know');
        await run();
      });
    }
  });
}
