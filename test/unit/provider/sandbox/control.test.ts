import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { applicant, applied } from '../applicant.ts';
import { chargeOrder, failure, logIn, orderFor, tokenRefused } from './bank/open-bank.ts';
import { testSandbox } from './sandbox.ts';

async function withPayments(...names: string[]) {
  const sandbox = await testSandbox({ settleMs: 0 });
  const session = await logIn(sandbox.provider);
  const orders = [];
  for (const name of names) {
    const clientRequestId = `request-${name}`;
    const key = `${name}@ponte.test`;
    const order = await orderFor(sandbox.provider, session, { key, clientRequestId });
    await sandbox.provider.pay({ session, order }).catch(() => null);
    orders.push(order);
  }
  return { ...sandbox, session, orders };
}

describe('the control path', () => {
  it('lists the control requests, each with a body', async () => {
    const { call } = await testSandbox();
    const { body } = await call('GET', '/sandbox');
    const charge = 'POST /sandbox/charges/{transactionIdentification}/pay';
    const bodies = new Map<string, object | null>(
      body.control.map((offer: { call: string; body: object | null }) => [offer.call, offer.body]),
    );
    assert.equal(bodies.get(charge), null);
    assert.deepEqual(bodies.get('POST /sandbox/expire-tokens'), { email: 'dev@ponte.test' });
    assert.deepEqual(Object.keys(bodies.get('POST /sandbox/settle') ?? {}), [
      'endToEnd',
      'outcome',
    ]);
    assert.ok(body.faults.some((line: string) => line.includes('reset-amid')));
    assert.ok(body.faults.some((line: string) => line.includes('onboarding/pf/{id}/kyc')));
    // A queued rule applies once; only those of the option apply to every call.
    const [, queued = '', option = ''] = body.faults;
    assert.match(queued, /^each for one call, or with #times/);
    assert.match(option, /^of the option --faults: each for every call/);
    // Each listed body is a valid request.
    const example = bodies.get('POST /sandbox/faults');
    assert.equal((await call('POST', '/sandbox/faults', example)).body.queued.length, 2);
  });

  it('makes a dynamic code, which can be read and paid once', async () => {
    const { call, provider, session } = await withPayments();
    const wish = { amount: '100.00', interest: '1.50', dueDate: '2026-05-20', maximum: '200.00' };
    const { status, body } = await call('POST', '/sandbox/codes', wish);
    assert.equal(status, 200);
    const lookUp = { session, payerId: '11144477735', text: body.copyPaste };
    const read = await provider.readCode(lookUp);
    assert.deepEqual(
      [read.state, read.txid, read.amounts, read.dueDate, read.expiresAt],
      [
        'payable',
        body.txid,
        { amountCents: 10_150, isChangeable: true, minCents: null, maxCents: 20_000 },
        '2026-05-20',
        null,
      ],
    );
    const order = {
      ...(await orderFor(provider, session, {})),
      endToEnd: read.endToEnd ?? '',
      key: read.key,
      txid: read.txid,
      isByDynamicCode: true as const,
    };
    const tooMuch = { ...order, amountCents: 20_001 };
    assert.equal((await failure(provider.pay({ session, order: tooMuch }))).reason, 'BE17');
    const again = await provider.readCode(lookUp);
    const payable = { ...order, endToEnd: again.endToEnd ?? '', clientRequestId: 'second' };
    await provider.pay({ session, order: { ...payable, amountCents: 20_000 } });
    await call('POST', '/sandbox/settle', {});
    assert.equal((await provider.readCode(lookUp)).state, 'paid');
    assert.equal((await call('POST', '/sandbox/codes', { amount: 'x' })).status, 422);
    assert.equal((await call('POST', '/sandbox/codes', { state: 'lost' })).status, 400);
    const open = await call('POST', '/sandbox/codes', { amount: '', state: 'removed' });
    const removed = await provider.readCode({ ...lookUp, text: open.body.copyPaste });
    assert.deepEqual([removed.state, removed.amounts.amountCents], ['removed', null]);
  });

  it('shows the charges that were made, and which of them are paid', async () => {
    const { call, provider, session, ledger } = await withPayments();
    const { transactionIdentification } = chargeOrder();
    await provider.createDynamicCharge({ session, order: chargeOrder() });
    await provider.createStaticCharge({
      session,
      order: chargeOrder({ transactionIdentification: 'other', amountCents: 1 }),
    });
    await call('POST', `/sandbox/charges/${transactionIdentification}/pay`);
    const { charges } = await ledger();
    const at = '2026-05-24T12:00:00.000Z';
    const key = 'dev@ponte.test';
    assert.deepEqual(
      charges.map((charge) => Object.assign(charge, { id: typeof charge.id })),
      [
        {
          at,
          id: 'string',
          type: 'dynamic',
          transactionIdentification,
          key,
          amount: 25.99,
          isPaid: true,
        },
        {
          at,
          id: 'string',
          type: 'static',
          transactionIdentification: 'other',
          key,
          amount: 0.01,
          isPaid: false,
        },
      ],
    );
  });

  it('shows how far each person has come, and nothing of who they are', async () => {
    const { provider, ledger } = await testSandbox();
    const id = await applied(provider);
    const maria = { ...applicant, document: '12345678909', email: 'maria@example.com' };
    await provider.registerPerson(maria);
    const { persons } = await ledger();
    assert.deepEqual(
      persons.map(({ steps, kyc }) => [steps.length, kyc]),
      [
        [8, 'APPROVED'],
        [0, 'PENDING'],
      ],
    );
    assert.deepEqual(Object.keys(persons[0] ?? {}), ['at', 'id', 'steps', 'documents', 'kyc']);
    assert.equal(persons[0]?.id, id);
    assert.deepEqual(
      persons[0]?.documents.map(({ tipoDocumento, sizeBytes }) => [tipoDocumento, sizeBytes]),
      [
        [2, 13],
        [5, 13],
        [6, 13],
      ],
    );
    const shown = JSON.stringify(persons);
    const { name, email, document, phone } = applicant;
    for (const personal of [name, email.toLowerCase(), document, phone, 'Paulista', 'maria']) {
      assert.ok(!shown.includes(personal), personal);
    }
  });

  it('shows what was executed, whatever was answered', async () => {
    const { ledger, orders } = await withPayments('maria', 'lost', 'reject');
    const { payments, refused, received } = await ledger();
    assert.deepEqual(
      payments.map((payment) => Object.assign(payment, { id: typeof payment.id })),
      ['maria', 'lost'].map((name, nth) => ({
        at: '2026-05-24T12:00:00.000Z',
        id: 'string',
        endToEnd: orders[nth]?.endToEnd,
        clientRequestId: `request-${name}`,
        key: `${name}@ponte.test`,
        amount: 10.5,
        status: 'PROCESSING',
      })),
    );
    assert.deepEqual(
      refused.map(({ code, endToEnd }) => [code, endToEnd]),
      [['AC03', orders[2]?.endToEnd]],
    );
    assert.deepEqual(received, []);
  });

  it('lists the calls, and deletes them on request', async () => {
    const { call, provider, session } = await withPayments('maria');
    await provider.balance({ session, requestId: 'the-request' });
    const { calls } = (await call('GET', '/sandbox/calls')).body;
    assert.deepEqual(
      calls.map(({ path, status }: { path: string; status: number }) => [path, status]),
      [
        ['auth/login', 200],
        ['keys/dict', 200],
        ['payments', 200],
        ['account/balance', 200],
      ],
    );
    assert.deepEqual(calls[3], {
      nth: 4,
      at: '2026-05-24T12:00:00.000Z',
      method: 'GET',
      path: 'account/balance',
      requestId: 'the-request',
      traceparent: null,
      tracestate: null,
      faults: [],
      ids: {},
      status: 200,
    });
    assert.deepEqual(Object.keys(calls[2].ids), ['endToEnd', 'clientRequestId']);
    assert.doesNotMatch(JSON.stringify(calls), /stub\.|password/);
    await call('DELETE', '/sandbox/calls');
    assert.deepEqual((await call('GET', '/sandbox/calls')).body, { calls: [] });
  });

  it('remembers a thousand calls at most', async () => {
    const { calls } = await testSandbox();
    const names = { requestId: null, traceparent: null, tracestate: null };
    const call = { at: '', method: 'GET', path: 'x', ...names, faults: [] };
    for (let nth = 0; nth < 1_005; nth += 1) calls.begin(call);
    assert.equal(calls.list().length, 1_000);
    assert.equal(calls.list()[0]?.nth, 6);
  });

  it('queues faults for the next calls', async () => {
    const { call, provider, session } = await withPayments();
    const queued = await call('POST', '/sandbox/faults', {
      faults: 'account/balance:5xx-before=502#2, *:401',
    });
    assert.deepEqual(queued.body, {
      queued: [
        { path: 'account/balance', effects: ['5xx-before=502'], left: 2 },
        { path: '*', effects: ['401'], left: 1 },
      ],
    });
    const codes: unknown[] = [];
    for (let nth = 0; nth < 3; nth += 1) {
      codes.push((await failure(provider.balance({ session }))).statusClass);
    }
    assert.deepEqual(codes, ['5xx', '5xx', '401']);
    assert.equal((await provider.balance({ session })).cents, 1_000_000);
    assert.deepEqual((await call('GET', '/sandbox/faults')).body, { queued: [] });
  });

  it('forgets queued faults', async () => {
    const { call, provider, session } = await withPayments();
    await call('POST', '/sandbox/faults', { faults: '*:hang' });
    assert.deepEqual((await call('DELETE', '/sandbox/faults')).body, { queued: [] });
    assert.equal((await provider.balance({ session })).cents, 1_000_000);
  });

  it('refuses faults that it cannot read, or that are left to chance', async () => {
    const { call } = await testSandbox();
    const unread = await call('POST', '/sandbox/faults', { faults: 'payments:explode' });
    assert.equal(unread.status, 400);
    assert.match(unread.body.detail, /"explode" is none of/);
    const chance = await call('POST', '/sandbox/faults', { faults: 'payments:401@0.5' });
    assert.match(chance.body.detail, /valid in --faults only/);
    assert.equal((await call('POST', '/sandbox/faults', {})).status, 400);
  });

  it('expires the tokens of a customer until a new login', async () => {
    const { call, provider, session } = await withPayments();
    await call('POST', '/sandbox/expire-tokens', { email: 'Dev@ponte.test' });
    assert.deepEqual(await failure(provider.balance({ session })), tokenRefused);
    assert.equal((await provider.balance({ session: await logIn(provider) })).cents, 1_000_000);
    assert.equal((await call('POST', '/sandbox/expire-tokens', { email: 1 })).status, 400);
  });

  it('pays a charge', async () => {
    const { call, provider, session, ledger } = await withPayments();
    await provider.createDynamicCharge({ session, order: chargeOrder() });
    const { transactionIdentification } = chargeOrder();
    const path = `/sandbox/charges/${transactionIdentification}/pay`;
    const paid = await call('POST', path);
    assert.equal(paid.status, 200);
    assert.deepEqual((await ledger()).received, [
      {
        at: '2026-05-24T12:00:00.000Z',
        endToEnd: paid.body.endToEnd,
        transactionIdentification,
        amount: 25.99,
      },
    ]);
    assert.equal((await call('POST', path)).body.code, 'ChargeAlreadyPaid');
    assert.equal((await call('POST', '/sandbox/charges/none/pay')).status, 404);
    assert.equal((await call('GET', path)).status, 404);
  });

  it('settles every payment that is under way, as its key provides for', async () => {
    const { call, ledger, orders } = await withPayments('maria', 'fail', 'silent', 'reject');
    const { body } = await call('POST', '/sandbox/settle');
    assert.deepEqual(
      body.settled,
      orders.slice(0, 3).map(({ endToEnd }) => endToEnd),
    );
    const { payments } = await ledger();
    assert.deepEqual(
      payments.map(({ status }) => status),
      ['COMPLETED', 'FAILED', 'COMPLETED'],
    );
    assert.deepEqual((await call('POST', '/sandbox/settle')).body, { settled: [] });
  });

  it('settles one payment with the requested outcome', async () => {
    const { call, ledger, orders } = await withPayments('maria', 'silent');
    const endToEnd = orders[0]?.endToEnd;
    await call('POST', '/sandbox/settle', { endToEnd, outcome: 'FAILED' });
    const { payments } = await ledger();
    assert.deepEqual(
      payments.map(({ status }) => status),
      ['FAILED', 'PROCESSING'],
    );
    const other = await call('POST', '/sandbox/settle', { endToEnd, outcome: 'COMPLETED' });
    assert.deepEqual([other.status, other.body.code], [422, 'NotSettled']);
    assert.equal((await call('POST', '/sandbox/settle', { endToEnd: 'E1' })).status, 404);
    assert.equal((await call('POST', '/sandbox/settle', { outcome: 'LOST' })).status, 400);
  });

  it('answers 404 to anything else', async () => {
    const { call } = await testSandbox();
    assert.equal((await call('GET', '/sandbox/nothing')).status, 404);
    assert.equal((await call('PUT', '/sandbox/faults', {})).status, 404);
  });
});
