import assert from 'node:assert/strict';
import { test } from 'node:test';
import jsQRModule from 'jsqr';
import { PNG } from 'pngjs';
import type { ChargeCode } from '../../../../../src/provider/provider.ts';
import { decodeBrCode } from '../../../../../src/domain/br-code.ts';
import { chargeOrder, failure, logIn, openBank, rejected } from './open-bank.ts';

// The package is CommonJS with a `default` of its own, which Node does not unwrap.
const jsQR = jsQRModule as unknown as typeof jsQRModule.default;

const openingBalanceCents = 1_000_000;

const staticTxid = 'aB3dE6gH9jK2mN5pQ8sT1vW4y';

async function atTheTill() {
  const open = openBank();
  return { ...open, session: await logIn(open.provider) };
}

/** What a phone's camera reads. */
function scan({ qrCode }: ChargeCode): string | undefined {
  const { data, width, height } = PNG.sync.read(Buffer.from(qrCode ?? '', 'base64'));
  return jsQR(new Uint8ClampedArray(data), width, height)?.data;
}

test('a dynamic charge is a BR Code with an address, and its picture says the same', async () => {
  const { provider, session } = await atTheTill();
  const code = await provider.createDynamicCharge({ session, order: chargeOrder() });
  const { url, ...decoded } = { url: '', ...decodeBrCode(code.copyPaste ?? '') };
  assert.deepEqual(decoded, {
    kind: 'dynamic',
    oneTime: true,
    isRecurring: false,
    receiverName: 'JOAO DA CONCEICAO',
    city: 'SAO PAULO',
  });
  assert.match(code.copyPaste ?? '', /540525\.99/);
  assert.equal(url, `pix.ponte.test/qr/${code.providerTxid}`);
  assert.equal(scan(code), code.copyPaste);
});

test('a static charge is a BR Code with the key and 25 characters of its id', async () => {
  const { provider, session } = await atTheTill();
  const code = await provider.createStaticCharge({ session, order: chargeOrder() });
  assert.deepEqual(decodeBrCode(code.copyPaste ?? ''), {
    kind: 'static',
    key: 'dev@ponte.test',
    description: 'Mensalidade de marco',
    isWithdrawal: false,
    oneTime: false,
    amountCents: 2_599,
    receiverName: 'JOAO DA CONCEICAO',
    city: 'SAO PAULO',
    txid: staticTxid,
  });
  assert.equal(scan(code), code.copyPaste);
});

test('a reusable dynamic charge is not marked as payable once', async () => {
  const { provider, session } = await atTheTill();
  const code = await provider.createDynamicCharge({
    session,
    order: chargeOrder({ reusable: true }),
  });
  assert.equal(decodeBrCode(code.copyPaste ?? '').oneTime, false);
});

test('the same transaction identification gets the same charge, also at once', async () => {
  const { provider, session } = await atTheTill();
  const codes = await Promise.all(
    Array.from({ length: 3 }, () =>
      provider.createDynamicCharge({ session, order: chargeOrder() }),
    ),
  );
  assert.deepEqual(codes[1], codes[0]);
  assert.deepEqual(codes[2], codes[0]);
});

test('a transaction identification that another charge has is refused', async () => {
  const { provider, session } = await atTheTill();
  const other = await logIn(provider, 'other@ponte.test');
  await provider.createDynamicCharge({ session, order: chargeOrder() });
  const calls = [
    provider.createDynamicCharge({ session, order: chargeOrder({ amountCents: 1 }) }),
    provider.createStaticCharge({ session, order: chargeOrder() }),
    provider.createDynamicCharge({ session: other, order: chargeOrder() }),
  ];
  for (const failed of await Promise.all(calls.map(failure))) {
    assert.deepEqual(failed, rejected('DuplicatedTransactionIdentification'));
  }
});

test('a charge that cannot be is refused', async () => {
  const { provider, session } = await atTheTill();
  const faults = {
    InvalidTransactionIdentification: { transactionIdentification: 'with-a-hyphen' },
    InvalidAmount: { amountCents: 0 },
    InvalidPayerDocument: { payerDocument: '111.444.777-35' },
    InvalidExpiration: { expirationSeconds: 0 },
  };
  for (const [reason, fault] of Object.entries(faults)) {
    const call = provider.createDynamicCharge({ session, order: chargeOrder(fault) });
    assert.deepEqual(await failure(call), rejected(reason));
  }
  const longKey = chargeOrder({ key: `${'a'.repeat(78)}@ponte.test` });
  assert.deepEqual(
    await failure(provider.createStaticCharge({ session, order: longKey })),
    rejected('InvalidQrCode'),
  );
});

test('a paid charge is credited and reported by a webhook', async () => {
  const { provider, session, bank, notices } = await atTheTill();
  const order = chargeOrder();
  await provider.createDynamicCharge({ session, order });
  const payment = await bank.payCharge(order.transactionIdentification);
  assert.ok(payment.outcome === 'done');
  const [notice] = notices();
  assert.match(payment.value.endToEnd, /^E99999999202605241200/);
  assert.deepEqual(
    { ...notice, id: null },
    {
      event: 'PIX_RECEIVED',
      id: null,
      endToEnd: payment.value.endToEnd,
      transactionIdentification: order.transactionIdentification,
      status: 'CONFIRMED',
      amount: 25.99,
      key: 'dev@ponte.test',
      account: notice?.['account'],
      payer: { name: 'Pagador de Teste', document: '12345678909' },
      createdAt: '2026-05-24T12:00:00.000Z',
    },
  );
  const { account } = await provider.login({ email: 'dev@ponte.test', password: '' });
  const { agency, accountNumber, document } = account;
  assert.deepEqual(notice?.['account'], { agency, accountNumber, document });
  assert.equal((await provider.balance({ session })).cents, openingBalanceCents + 2_599);
});

test('a dynamic charge is paid once, a reusable or a static one again and again', async () => {
  const { provider, session, bank } = await atTheTill();
  const charges = [
    { transactionIdentification: 'once00000000000000000000aa', reusable: false },
    { transactionIdentification: 'again0000000000000000000aa', reusable: true },
  ];
  for (const charge of charges)
    await provider.createDynamicCharge({ session, order: chargeOrder(charge) });
  const fixed = chargeOrder({ transactionIdentification: 'fixed0000000000000000000aa' });
  await provider.createStaticCharge({ session, order: fixed });
  const outcomes: Record<string, string> = {};
  for (const name of ['once0', 'again', 'fixed']) {
    const id = `${name}0000000000000000000aa`;
    await bank.payCharge(id);
    outcomes[name] = (await bank.payCharge(id)).outcome;
  }
  assert.deepEqual(outcomes, { once0: 'refused', again: 'done', fixed: 'done' });
});

test('a dynamic charge ends with its expiration; one that is unknown cannot be paid', async () => {
  const { provider, session, bank, clock, notices } = await atTheTill();
  const order = chargeOrder({ expirationSeconds: 60 });
  await provider.createDynamicCharge({ session, order });
  await clock.advance(60_001);
  assert.deepEqual(await bank.payCharge(order.transactionIdentification), {
    outcome: 'refused',
    refusal: { kind: 'rule', reason: 'ChargeExpired' },
  });
  assert.deepEqual(await bank.payCharge('unknown'), {
    outcome: 'refused',
    refusal: { kind: 'not_found', reason: 'ChargeNotFound' },
  });
  assert.deepEqual(
    notices().map(({ event }) => event),
    ['CHARGE_EXPIRED'],
  );
});
