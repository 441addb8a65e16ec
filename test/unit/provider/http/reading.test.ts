import type { Provider } from '../../../../src/provider/provider.ts';
import { qrCodePng } from '../../../../src/provider/qr-code.ts';
import { chargeOrder, payer } from '../sandbox/bank/open-bank.ts';
import { order, receipt, session } from '../scripted-provider.ts';
import { reads, understandsNone, type Row } from './reads.ts';

const credentials = { email: 'a@b.c', password: 'x' };

function jwt(claims: object): string {
  return `h.${Buffer.from(JSON.stringify(claims)).toString('base64url')}.s`;
}

/** The clock is at 2026-05-24T12:00:00Z. */
const inAnHour = new Date('2026-05-24T13:00:00Z');
const anHourFromNow = inAnHour.getTime() / 1_000;

reads(
  'the token of a login:',
  async (provider) => {
    const { token, expiresAt } = await provider.login(credentials);
    return { token, expiresAt };
  },
  [
    [{ access_token: 't' }, { token: 't', expiresAt: null }],
    [{ accessToken: 't' }, { token: 't', expiresAt: null }],
    [{ Token: 't' }, { token: 't', expiresAt: null }],
    [{ data: { token: 't' } }, { token: 't', expiresAt: null }],
    [{ result: { ACCESS_TOKEN: 't' } }, { token: 't', expiresAt: null }],
    [
      { token: 't', expires_in: 3_600 },
      { token: 't', expiresAt: inAnHour },
    ],
    [
      { token: 't', expiresIn: '3600' },
      { token: 't', expiresAt: inAnHour },
    ],
    [
      { token: 't', expires_in: 0 },
      { token: 't', expiresAt: null },
    ],
    [
      { token: 't', expires_in: true },
      { token: 't', expiresAt: null },
    ],
    [
      { token: 't', expires_in: 1e300 },
      { token: 't', expiresAt: null },
    ],
    [
      { token: 't', expiresAt: '2026-05-24T13:00:00Z' },
      { token: 't', expiresAt: inAnHour },
    ],
    [
      { token: 't', expires_at: '2026-05-24T10:00:00-03:00' },
      { token: 't', expiresAt: inAnHour },
    ],
    // Without an offset it could be any of 24 hours.
    [
      { token: 't', expiresAt: '2026-05-24T13:00:00' },
      { token: 't', expiresAt: null },
    ],
    [
      { token: 't', expiresAt: '2026-05-24' },
      { token: 't', expiresAt: null },
    ],
    [
      { token: 't', expiresAt: 'tomorrow' },
      { token: 't', expiresAt: null },
    ],
    // It has just been issued: the clocks do not agree.
    [
      { token: 't', expiresAt: '2026-05-24T11:59:00Z' },
      { token: 't', expiresAt: null },
    ],
    [
      { token: jwt({ exp: anHourFromNow }) },
      { token: jwt({ exp: anHourFromNow }), expiresAt: inAnHour },
    ],
    [{ token: jwt({ exp: 'x' }) }, { token: jwt({ exp: 'x' }), expiresAt: null }],
    [{ token: 'a.b.c' }, { token: 'a.b.c', expiresAt: null }],
  ],
);

const noAccount = {
  agency: null,
  accountNumber: null,
  document: null,
  companyId: null,
  clientToken: null,
};

reads('the account of a login:', async (provider) => (await provider.login(credentials)).account, [
  [{ token: 't' }, noAccount],
  [
    { token: 't', agency: '0001' },
    { ...noAccount, agency: '0001' },
  ],
  [
    { token: 't', agencyNumber: 1 },
    { ...noAccount, agency: '1' },
  ],
  [
    { token: 't', accountNumber: '12345', digitAccount: '6' },
    { ...noAccount, accountNumber: '123456' },
  ],
  [
    { token: 't', account_number: 12345, digit_account: 0 },
    { ...noAccount, accountNumber: '123450' },
  ],
  [
    { token: 't', accountNumber: '123456' },
    { ...noAccount, accountNumber: '123456' },
  ],
  [{ token: 't', digitAccount: '6' }, noAccount],
  [
    { token: 't', document: '111.444.777-35' },
    { ...noAccount, document: '11144477735' },
  ],
  // A number has lost its leading zeros.
  [
    { token: 't', document: 1234567890 },
    { ...noAccount, document: '01234567890' },
  ],
  [
    { token: 't', cpfCnpj: 1234567000195 },
    { ...noAccount, document: '01234567000195' },
  ],
  [
    { token: 't', document: 123 },
    { ...noAccount, document: '123' },
  ],
  [
    { token: 't', cpfCnpj: '12.ABC.345/01DE-35' },
    { ...noAccount, document: '12ABC34501DE35' },
  ],
  [
    { data: { token: 't', account: { agency: '0001', companyId: 7, clientToken: 'c' } } },
    { ...noAccount, agency: '0001', companyId: '7', clientToken: 'c' },
  ],
  [{ token: 't', agency: { number: '1' }, document: ['1'] }, noAccount],
  [{ token: 't', agency: null, account: 'none' }, noAccount],
]);

const unblocked = (cents: number) => ({ cents, blockedCents: null });

reads('a balance:', (provider) => provider.balance({ session }), [
  [{ balance: 10.5 }, unblocked(1_050)],
  [{ Balance: '10.50' }, unblocked(1_050)],
  [{ available: 0 }, unblocked(0)],
  [{ balance: null, available: 1 }, unblocked(100)],
  [{ data: { balance: 99.99 } }, unblocked(9_999)],
  [{ data: { available: '7' } }, unblocked(700)],
  [{ balance: 10.299999999999999 }, unblocked(1_030)],
  [{ balance: 0.1 + 0.2 }, unblocked(30)],
  [{ balance: -0.01 }, unblocked(-1)],
  [{ balance: '-3.5' }, unblocked(-350)],
  [{ balance: 9_999_999_999_999.99 }, unblocked(999_999_999_999_999)],
  [
    { balance: 10.5, blocked: 2 },
    { cents: 1_050, blockedCents: 200 },
  ],
  [{ data: { balance: 1, Blocked: '0.00' } }, { cents: 100, blockedCents: 0 }],
  [{ balance: 1, blocked: -2 }, unblocked(100)],
  [{ balance: 1, blocked: true }, unblocked(100)],
]);

const item = { endToEnd: 'E1', amount: 10.5, status: 'CONFIRMED', direction: 'DEBIT' };
const line = {
  ids: {
    endToEnd: 'E1',
    clientRequestId: null,
    transactionIdentification: null,
    providerTxid: null,
    returnId: null,
  },
  amountCents: 1_050,
  direction: 'out',
  status: 'COMPLETED',
};
const statement = { items: [item], lines: [line], isWhole: true, isFinal: false };

reads(
  'a statement:',
  (provider) => provider.statement({ session, start: '2026-05-01', end: '2026-05-24' }),
  [
    [[item], statement],
    [{ items: [item] }, statement],
    [{ data: [item] }, statement],
    [{ list: [] }, { items: [], lines: [], isWhole: true, isFinal: false }],
    [{ data: { items: [item] } }, statement],
    [{ data: { List: [item] } }, statement],
    // What is no line may stand for one.
    [[1, 'a', null, [], item], { ...statement, isWhole: false }],
  ],
);

const lookUp = { payerId: '1', key: 'maria@ponte.test' };

const e1 = { endToEnd: 'E1', name: null, document: null, ispb: null };
const owned = { ...e1, name: 'Maria', document: '12345678909', ispb: '11165756' };

reads('a look-up:', (provider) => provider.lookUpKey({ session, ...lookUp }), [
  [{ endToEnd: 'E1' }, e1],
  [
    { endToEndId: 'E1', key: lookUp.key, owner: { name: 'X' } },
    { ...e1, name: 'X' },
  ],
  [{ end_to_end: 'E1' }, e1],
  [{ data: { EndToEndId: 'E1' } }, e1],
  [{ endToEnd: 'E1', key: 'Maria@Ponte.test' }, e1],
  [
    {
      data: {
        endToEnd: 'E1',
        Account: { Participant: '11165756' },
        Owner: { Name: 'Maria', TaxIdNumber: '12345678909' },
      },
    },
    owned,
  ],
  [
    { endToEnd: 'E1', owner: { name: 'x'.repeat(256), taxIdNumber: `${'*'.repeat(100_000)}x` } },
    e1,
  ],
  [{ endToEnd: 'E1', owner: 'Maria', account: { participant: 'somewhere' } }, e1],
  [{ endToEnd: 'E1', owner: { name: 7, taxIdNumber: ['1'] }, account: [] }, e1],
  // The database cannot store these.
  [{ endToEnd: 'E1', owner: { name: 'Ana \uD800', taxIdNumber: '\uDC00' } }, e1],
  // These name no other key: masked, of no form that is known, no text.
  ...['m***@ponte.test', 'some-new-kind', '', 7].map((key): Row => [{ endToEnd: 'E1', key }, e1]),
]);

understandsNone('a look-up', (provider) => provider.lookUpKey({ session, ...lookUp }), [
  {},
  { endToEnd: '' },
  { endToEnd: { id: 'E1' } },
  { endToEnd: 'E1', endToEndId: 'E2' },
  { endToEnd: 'E1', data: { endToEnd: 'E2' } },
  { endToEnd: 'E1', key: 'other@ponte.test' },
]);

const { endToEnd, clientRequestId } = order;
const bare = { ...receipt, providerTxid: null };

reads('a receipt:', (provider) => provider.pay({ session, order }), [
  [{ id: 'p-1', status: 'PROCESSING', endToEnd, clientRequestId }, receipt],
  [{ Id: 'p-1', endToEndId: endToEnd, clientCode: clientRequestId }, receipt],
  [{ transactionId: 'p-1', end_to_end_id: endToEnd, correlationID: clientRequestId }, receipt],
  [{ data: { paymentId: 'p-1', endToEnd, clientRequestId } }, receipt],
  [
    { id: 7, clientRequestId },
    { ...receipt, providerTxid: '7', isByRequestAlone: true },
  ],
  // The id around the payment may be that of the request.
  [{ id: 'r-1', status: 'SUCCESS', data: { id: 'p-1', endToEnd, status: 'PENDING' } }, receipt],
  [{ id: 'p-1', data: { endToEnd } }, receipt],
  [{ endToEnd }, bare],
  [
    { clientRequestId, endToEnd: null },
    { ...bare, isByRequestAlone: true },
  ],
  [{ id: 'p-1', endToEnd, clientRequestId: '' }, receipt],
  [{ id: { value: 'p-1' }, endToEnd }, bare],
  ...['PENDING', 'created', 'APPROVED', 'IN_TRANSIT', '', null, {}].map((status): Row => [
    { id: 'p-1', endToEnd, status },
    receipt,
  ]),
  // A bare number means one thing here and another there, and success may be that of the request.
  ...[0, '1', 2, '2', 3, '3', 4, 'SUCCESS', ' success '].map((status): Row => [
    { id: 'p-1', endToEnd, status },
    receipt,
  ]),
  ...['CONFIRMED', 'Completed', 'SETTLED', 'PAID'].map((status): Row => [
    { id: 'p-1', endToEnd, status },
    { ...receipt, status: 'COMPLETED' },
  ]),
  // The object that names the payment has its status; where another one disagrees, none counts.
  ...[
    [{ status: 'SUCCESS', data: { id: 'p-1', endToEnd, status: 'PROCESSING' } }, 'PROCESSING'],
    [{ status: 'SUCCESS', data: { id: 'p-1', endToEnd, status: 'ERROR' } }, 'PROCESSING'],
    [{ status: 'SUCCESS', data: { id: 'p-1', endToEnd } }, 'PROCESSING'],
    [{ status: 2, result: { id: 'p-1', endToEnd, status: 'IN_TRANSIT' } }, 'PROCESSING'],
    [{ status: 'SUCCESS', data: { id: 'p-1', endToEnd, status: 'PAID' } }, 'COMPLETED'],
    [
      { id: 'p-1', endToEnd, status: 'SUCCESS', data: { id: 'p-1', endToEnd, status: 'PAID' } },
      'COMPLETED',
    ],
    [
      { id: 'p-1', endToEnd, status: 'SUCCESS', data: { id: 'p-1', endToEnd, status: 'ERROR' } },
      'PROCESSING',
    ],
    ...[200, '201', 'ok'].map((status) => [
      { status, data: { id: 'p-1', endToEnd, status: 'PAID' } },
      'COMPLETED',
    ]),
    ...[422, 2, 'DENIED', '', {}].map((status) => [
      { status, data: { id: 'p-1', endToEnd, status: 'PAID' } },
      'PROCESSING',
    ]),
    ...[10.5, '10.50'].map((amount) => [
      { id: 'p-1', endToEnd, status: 'PAID', amount },
      'COMPLETED',
    ]),
    // Another amount, and perhaps another unit.
    ...[10.51, 1050, '10,50', { value: 10.5 }].map((amount) => [
      { id: 'p-1', endToEnd, status: 'PAID', amount },
      'PROCESSING',
    ]),
    // A success that also says that something has failed.
    ...[
      { valor: 10.51 },
      { value: 1050 },
      { paymentStatus: 'FAILED' },
      { isSuccess: false },
      { statusCode: 422 },
      { payment: { status: 'rejected' } },
    ].map((doubt) => [{ id: 'p-1', endToEnd, status: 'PAID', ...doubt }, 'PROCESSING']),
    [{ id: 'p-1', endToEnd, status: 'PAID', success: true, error: null, errors: [] }, 'COMPLETED'],
    [{ id: 'p-1', endToEnd, status: 'PAID', error: { code: null, message: '' } }, 'COMPLETED'],
    [{ id: 'p-1', endToEnd, status: 'PAID', error: 'false', errors: [null] }, 'COMPLETED'],
  ].map(([body, status]): Row => [body, { ...receipt, status }]),
  // Foreign ids are passed on, and refused by the next layer, also beside one of ours.
  [
    { endToEnd: 'E-other', clientRequestId },
    { ...bare, endToEnd: 'E-other' },
  ],
  [
    { id: 'p-1', clientCode: 'other' },
    { ...receipt, clientRequestId: 'other', isByRequestAlone: true },
  ],
  [
    { endToEnd, clientCode: 'other' },
    { ...bare, clientRequestId: 'other' },
  ],
  [
    { endToEnd, endToEndId: 'E-other' },
    { ...bare, endToEnd: 'E-other' },
  ],
  [
    { endToEnd, data: { endToEnd: 'E-other' } },
    { ...bare, endToEnd: 'E-other' },
  ],
  [
    { endToEnd, payment: { endToEndId: 'E-other' } },
    { ...bare, endToEnd: 'E-other' },
  ],
  [
    { data: { endToEnd }, Data: { endToEnd: 'E-other' } },
    { ...bare, endToEnd: 'E-other' },
  ],
]);

const dispute = { disputeId: '0197020c-7d2f-7c4a-9c1d-2f5f0f6b7a10', endToEnd };
const readDispute = (provider: Provider) => provider.readDispute({ session, dispute });

reads('a dispute:', readDispute, [
  [{ ...dispute, status: 'open' }, 'OPEN'],
  [{ status: 'OPEN', data: { ...dispute, status: 'OPEN' } }, 'OPEN'],
]);

understandsNone('a dispute', readDispute, [
  { status: 'ACCEPTED', data: { ...dispute, status: 'OPEN' } },
  { status: 'OPEN', Status: 'REJECTED' },
  { endToEnd: 'E-other', status: 'OPEN' },
]);

const code = { qrCode: null, copyPaste: null, providerTxid: null };
const text = '00020101021226';
const png = 'iVBORw0KGgoAAAA';
/** The image of `text`. */
const drawn = qrCodePng(text);

reads(
  'a dynamic charge:',
  (provider) => provider.createDynamicCharge({ session, order: chargeOrder() }),
  [
    [{ qrcode: png }, { ...code, qrCode: png }],
    [
      { QRCode: png, emv: text },
      { ...code, qrCode: png, copyPaste: text },
    ],
    [
      { qrcode: png, copyPaste: text, id: 9 },
      { qrCode: png, copyPaste: text, providerTxid: '9' },
    ],
    [
      { qrcode: png, pixCopiaECola: text },
      { ...code, qrCode: png, copyPaste: text },
    ],
    [{ data: { qr_code: png, pix_copia_e_cola: text } }, { ...code, qrCode: png, copyPaste: text }],
    [
      {
        qrcode: png,
        transactionIdentification: chargeOrder().transactionIdentification,
        transactionId: 'p',
      },
      { ...code, qrCode: png, providerTxid: 'p' },
    ],
    [
      { qrcode: 'iVBO\uD800', emv: text },
      { ...code, qrCode: drawn, copyPaste: text },
    ],
  ],
);

reads(
  'a static charge:',
  (provider) => provider.createStaticCharge({ session, order: chargeOrder() }),
  [
    [
      { qrcode: png, emv: text },
      { ...code, qrCode: png, copyPaste: text },
    ],
    [{ qrcode: `data:image/png;base64,${png}` }, { ...code, qrCode: png }],
    [{ emv: text }, { ...code, qrCode: drawn, copyPaste: text }],
    [{ emvqrcps: text }, { ...code, qrCode: drawn, copyPaste: text }],
    [{ qrcode: text }, { ...code, qrCode: drawn, copyPaste: text }],
    [
      { qrcode: text, transactionIdentification: 'theProvidersOwn' },
      { ...code, qrCode: drawn, copyPaste: text },
    ],
  ],
);

reads('keys, as they come:', (provider) => provider.listKeys({ session, account: payer }), [
  [
    { keys: [{ key: 'a' }], extra: 1 },
    { keys: [{ key: 'a' }], extra: 1 },
  ],
  [[{ key: 'a' }], { items: [{ key: 'a' }] }],
  [{}, {}],
]);
