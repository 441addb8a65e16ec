import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Provider } from '../../../../src/provider/provider.ts';
import { chargeOrder } from '../sandbox/bank/open-bank.ts';
import { order, session } from '../scripted-provider.ts';
import { wireText, written } from './written.ts';

function post(path: string, body: string): string {
  return wireText(`POST /internal/api/v1/${path}`, { body, token: 'token-1' });
}

function get(path: string): string {
  return wireText(`GET /internal/api/v1/${path}`, { token: 'token-1' });
}

const account = '"agency":"0001","account":"123456","document":"11144477735"';

const charge = chargeOrder({
  transactionIdentification: 'aB3dE6gH9jK2mN5pQ8sT1vW4yZ',
  amountCents: 1_000,
});

const cases: readonly [string, (provider: Provider) => Promise<unknown>, string][] = [
  [
    'a login',
    (provider) => provider.login({ email: 'a@b.c', password: 'p"ä' }),
    wireText('POST /internal/api/v1/auth/login', {
      body: String.raw`{"email":"a@b.c","password":"p\"ä"}`,
    }),
  ],
  ['a balance', (provider) => provider.balance({ session }), get('account/balance')],
  [
    'a statement',
    (provider) => provider.statement({ session, start: '2026-05-01', end: '2026-05-24' }),
    get('account/statement?startDate=2026-05-01&endDate=2026-05-24'),
  ],
  [
    'a look-up',
    (provider) => provider.lookUpKey({ session, payerId: '11144477735', key: '+5511987654321' }),
    post('keys/dict', '{"payerId":"11144477735","key":"+5511987654321"}'),
  ],
  [
    'a payment',
    (provider) =>
      provider.pay({ session, order: { ...order, amountCents: 1_050, description: 'Café ☕' } }),
    post(
      'payments',
      `{"initiationType":"DICT","endToEnd":"${order.endToEnd}","clientRequestId":"key-1",` +
        '"key":"ana@ponte.test","amount":10.5,"description":"Café ☕",' +
        `"debitParty":{${account}}}`,
    ),
  ],
  [
    'a payment without a description',
    (provider) => provider.pay({ session, order: { ...order, amountCents: 99_999_999_999 } }),
    post(
      'payments',
      `{"initiationType":"DICT","endToEnd":"${order.endToEnd}","clientRequestId":"key-1",` +
        `"key":"ana@ponte.test","amount":999999999.99,"debitParty":{${account}}}`,
    ),
  ],
  [
    'a payment of a static code',
    (provider) => provider.pay({ session, order: { ...order, txid: 'Pedido123' } }),
    post(
      'payments',
      `{"initiationType":"DICT","endToEnd":"${order.endToEnd}","clientRequestId":"key-1",` +
        '"key":"ana@ponte.test","amount":10.5,"transactionIdentification":"Pedido123",' +
        `"debitParty":{${account}}}`,
    ),
  ],
  [
    'a dynamic charge',
    (provider) =>
      provider.createDynamicCharge({
        session,
        order: {
          ...charge,
          payerName: 'José',
          payerDocument: '11144477735',
          categoryCode: '0000',
          additionalData: [{ name: 'Pedido', value: '42' }],
        },
      }),
    post(
      'payments/qrcode/dynamic',
      '{"key":"dev@ponte.test","receiverName":"João da Conceição","city":"São Paulo",' +
        '"initialAmount":10,"expirationQR":"3600",' +
        '"transactionIdentification":"aB3dE6gH9jK2mN5pQ8sT1vW4yZ","reusable":false,' +
        '"codeCategory":"0000","payerRequest":"Mensalidade de março","payerCPF":"11144477735",' +
        '"payerName":"José","zipcode":"01310100",' +
        '"additionalData":[{"name":"Pedido","value":"42"}]}',
    ),
  ],
  [
    'a dynamic charge for a company, with the least that it has to have',
    (provider) =>
      provider.createDynamicCharge({
        session,
        order: {
          ...charge,
          payerDocument: '12ABC34501DE35',
          description: null,
          zipcode: null,
          reusable: true,
        },
      }),
    post(
      'payments/qrcode/dynamic',
      '{"key":"dev@ponte.test","receiverName":"João da Conceição","city":"São Paulo",' +
        '"initialAmount":10,"expirationQR":"3600",' +
        '"transactionIdentification":"aB3dE6gH9jK2mN5pQ8sT1vW4yZ","reusable":true,' +
        '"payerCNPJ":"12ABC34501DE35"}',
    ),
  ],
  [
    'a static charge',
    (provider) =>
      provider.createStaticCharge({ session, order: { ...charge, categoryCode: '0000' } }),
    post(
      'payments/qrcode/static',
      '{"key":"dev@ponte.test","amount":10,' +
        '"transactionIdentification":"aB3dE6gH9jK2mN5pQ8sT1vW4yZ",' +
        '"receiverName":"João da Conceição","city":"São Paulo",' +
        '"additionalInformation":"Mensalidade de março","zipcode":"01310100",' +
        '"codeCategory":"0000"}',
    ),
  ],
  [
    'a list of keys',
    (provider) => provider.listKeys({ session, account: order.payer }),
    post('keys/list', `{"ispb":"11165756",${account}}`),
  ],
  [
    'a new key',
    (provider) =>
      provider.createKey({ session, keyType: 'E_MAIL', key: 'a@b.c', account: order.payer }),
    post('keys/create', `{"keyType":"E_MAIL","key":"a@b.c",${account}}`),
  ],
  [
    'a new random key',
    (provider) =>
      provider.createKey({
        session,
        keyType: 'EVP_ENDERECO_VIRTUAL_DE_PAGAMENTO',
        key: null,
        account: order.payer,
      }),
    post('keys/create', `{"keyType":"EVP_ENDERECO_VIRTUAL_DE_PAGAMENTO",${account}}`),
  ],
  [
    'the end of a key',
    (provider) => provider.deleteKey({ session, key: 'a@b.c', account: order.payer }),
    wireText('DELETE /internal/api/v1/keys', {
      body: `{"key":"a@b.c","ispb":"11165756",${account}}`,
      token: 'token-1',
    }),
  ],
];

describe('what is written, byte by byte:', () => {
  for (const [title, call, expected] of cases) {
    it(title, async () => assert.equal(await written(call), expected));
  }

  it('the id of the request goes along', async () => {
    const text = await written((provider) => provider.balance({ session, requestId: 'r-1' }));
    assert.match(text, /\r\nx-request-id: r-1\r\n/);
  });

  for (const path of ['/gateway/v2', '/gateway/v2/', '/gateway/v2//']) {
    it(`the paths hang on a base address with the path ${path}`, async () => {
      const text = await written((provider) => provider.balance({ session }), path);
      assert.match(text, /^GET \/gateway\/v2\/internal\/api\/v1\/account\/balance HTTP/);
    });
  }
});
