/** Responses with 200 whose content says that the request failed, to any call but a payment. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Provider } from '../../../../src/provider/provider.ts';
import { chargeOrder, failure, payer } from '../sandbox/bank/open-bank.ts';
import { session } from '../scripted-provider.ts';
import { notUnderstood, providerAt } from './over-http.ts';
import { responding } from './raw-server.ts';

const own = { session, account: payer };

/** Each call, with the data of a response that has not failed. */
const calls: Readonly<
  Record<string, readonly [(provider: Provider) => Promise<unknown>, Record<string, unknown>]>
> = {
  balance: [(provider) => provider.balance({ session }), { balance: 10.5 }],
  lookUpKey: [
    (provider) => provider.lookUpKey({ session, payerId: '1', key: 'k' }),
    { endToEnd: 'E1' },
  ],
  createDynamicCharge: [
    (provider) => provider.createDynamicCharge({ session, order: chargeOrder() }),
    { qrcode: 'iVBO' },
  ],
  createStaticCharge: [
    (provider) => provider.createStaticCharge({ session, order: chargeOrder() }),
    { qrcode: 'iVBO' },
  ],
  listKeys: [(provider) => provider.listKeys(own), { keys: [] }],
  createKey: [(provider) => provider.createKey({ ...own, keyType: 'CPF', key: '1' }), { key: '1' }],
  deleteKey: [(provider) => provider.deleteKey({ ...own, key: 'k' }), { key: 'k' }],
};

const failures = [
  { success: false },
  { success: 'false' },
  { status: 'ERROR' },
  { status: 'fail' },
  { status: false },
  { hasError: true },
  { statusCode: 422 },
  { error: { code: 'X' } },
  { errors: ['refused'] },
  { code: 'AC07' },
];

const noFailures = [
  { success: true, error: null, errors: [], code: '0' },
  { status: 'PENDING', statusCode: 200 },
  { status: true, hasError: false },
  { status: 0 },
  { errors: '', message: 'done' },
];

async function called(call: (provider: Provider) => Promise<unknown>, body: unknown) {
  const { url } = await responding(200, body);
  return call(providerAt(url));
}

const rejected = {
  outcome: 'rejected',
  code: 'PROVIDER_REJECTED',
  statusClass: '2xx',
  retryable: false,
};

for (const [name, [call, data]] of Object.entries(calls)) {
  describe(name, () => {
    for (const sign of failures) {
      it(`is refused by a 200 with ${JSON.stringify(sign)}`, async () => {
        for (const body of [
          { ...data, ...sign },
          { ...sign, data },
          { data: { ...data, ...sign } },
        ]) {
          const { outcome, code, statusClass, retryable } = await failure(called(call, body));
          assert.deepEqual({ outcome, code, statusClass, retryable }, rejected);
        }
      });
    }
    for (const sign of noFailures) {
      it(`is not refused by a 200 with ${JSON.stringify(sign)}`, async () => {
        await called(call, { ...data, ...sign });
      });
    }
  });
}

it('a key that is reported as cancelled is deleted', async () => {
  const [remove] = calls['deleteKey'] ?? [];
  assert.ok(remove);
  for (const status of ['CANCELLED', 'canceled', 'CANCELADA']) {
    await called(remove, { key: 'k', status });
  }
  const refused = await failure(called(remove, { success: false, status: 'CANCELLED' }));
  assert.equal(refused.outcome, 'rejected');
});

it('a statement that says that it failed is not understood', async () => {
  const read = (provider: Provider): Promise<unknown> =>
    provider.statement({ session, start: '2026-05-01', end: '2026-05-24' });
  for (const sign of failures) {
    assert.deepEqual(await failure(called(read, { ...sign, items: [] })), notUnderstood);
  }
  for (const sign of noFailures) await called(read, { ...sign, items: [] });
});

/** Signs in the response to a look-up that no other call has. */
const failedLookUps = [
  ...['NOT_FOUND', 'INVALID', 'BLOCKED', 'INACTIVE', 'NAO_ENCONTRADA', 'Removed'].map((status) => ({
    status,
  })),
  { keyStatus: 'REMOVED' },
  { entry: { status: 'DELETED' } },
  { status: { state: 'NOT_FOUND' } },
  { found: false },
  { exists: 'N' },
];

const failedCodes = [
  { code: '404', description: 'sem chave' },
  { code: 'EntryNotFound' },
  { errorCode: 'PBE304' },
  { returnCode: 99 },
  { status: { code: 404 } },
];

const usedLookUps = [
  ...['ACTIVE', 'OK', 'Success', 'CONFIRMED', 200, '00', true, 'ATIVA'].map((status) => ({
    status,
  })),
  { code: 'OK', codigo: '000', errorCode: '', returnCode: 200 },
  { found: true, message: 'Chave encontrada', state: 'SP' },
  { account: { bank: { code: '341' } }, details: { owner: { status: 'NOT_FOUND' } } },
];

describe('the look-up of a key', () => {
  const [lookUp, data] = calls['lookUpKey'] ?? [];
  assert.ok(lookUp);
  for (const sign of [...failedLookUps, ...failedCodes]) {
    it(`is refused by a 200 with ${JSON.stringify(sign)}`, async () => {
      for (const body of [
        { ...data, ...sign },
        { ...sign, data },
      ]) {
        const { outcome, code, statusClass, retryable } = await failure(called(lookUp, body));
        assert.deepEqual({ outcome, code, statusClass, retryable }, rejected);
      }
    });
  }
  for (const sign of usedLookUps) {
    it(`is used with ${JSON.stringify(sign)}`, async () => {
      await called(lookUp, { ...data, ...sign });
    });
  }
});

describe('the look-up of a code', () => {
  const read = (provider: Provider): Promise<unknown> =>
    provider.readCode({ session, payerId: '1', text: 'a code' });
  const charge = { endToEnd: 'E1', key: 'ana@example.com', txid: 'a1', amount: 1, status: 'ATIVA' };
  for (const sign of failedLookUps) {
    it(`is refused by a 200 with ${JSON.stringify(sign)}`, async () => {
      const { outcome } = await failure(called(read, { ...charge, ...sign }));
      assert.equal(outcome, 'rejected');
    });
  }
  for (const sign of [
    { code: 'a code' },
    { status: 'REMOVIDA_PELO_PSP' },
    { status: 'EXPIRADA' },
  ]) {
    it(`is used with ${JSON.stringify(sign)}`, async () => {
      await called(read, { ...charge, ...sign });
    });
  }
});
