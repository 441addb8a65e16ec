/**
 * Codes as other people's generators write them and as chat applications pass them on, through
 * `POST /pix/decode` and `POST /pix/send`.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { crc16Ccitt } from '../../../src/domain/br-code.ts';
import { givenCustomer } from '../../support/factories.ts';
import { startPixApp } from './pix-app.ts';

const app = await startPixApp();

const evp = '123e4567-e12b-12d1-a456-426655440000';
const account = `26580014br.gov.bcb.pix0136${evp}`;
const head = `000201${account}520400005303986`;
const tail = '5802BR5913Fulano de Tal6008BRASILIA';
const noTxid = '62070503***';
const recurrence = '80450014br.gov.bcb.pix2523pix.example.com/rec/abc';
const urlAccount = '26440014br.gov.bcb.pix2522pix.example.com/v2/abc';
const cash = '26510014br.gov.bcb.pix0117silent@ponte.test030812345678';

const withCrc = (text: string) => `${text}6304${crc16Ccitt(`${text}6304`)}`;
const manual = withCrc(`${head}${tail}${noTxid}`);

const readName = { kind: 'static', one_time: false, payee_name: 'Fulano de Tal' };
const keyType = 'EVP_ENDERECO_VIRTUAL_DE_PAGAMENTO';
const readKey = { pix_key: evp, key_type: keyType, pix_key_type: keyType };
const read = { ...readName, payee_city: 'BRASILIA', ...readKey };

const decode = (token: string, code: string) =>
  app.call('/pix/decode', { token, body: { copy_paste: code } });

const payable: [what: string, code: string, reading: object][] = [
  ['an amount without decimals', withCrc(`${head}540210${tail}${noTxid}`), { ...read, amount: 10 }],
  [
    'an amount of one decimal',
    withCrc(`${head}5405308.9${tail}${noTxid}`),
    { ...read, amount: 308.9 },
  ],
  [
    'an amount that ends in a point',
    withCrc(`${head}540310.${tail}${noTxid}`),
    { ...read, amount: 10 },
  ],
  ['an amount of 0', withCrc(`${head}54010${tail}${noTxid}`), read],
  ['an amount of 0.00', withCrc(`${head}54040.00${tail}${noTxid}`), read],
  ['a CEP with a hyphen', withCrc(`${head}${tail}610901310-100${noTxid}`), read],
  ['a CEP of five digits', withCrc(`${head}${tail}610501310${noTxid}`), read],
  [
    'accents, counted in characters',
    withCrc(`${head}5802BR5913João da Silva6008BRASILIA${noTxid}`),
    { ...read, payee_name: 'João da Silva' },
  ],
  [
    'accents, counted in bytes',
    withCrc(`${head}5802BR5914João da Silva6009BRASÍLIA${noTxid}`),
    { ...read, payee_name: 'João da Silva', payee_city: 'BRASÍLIA' },
  ],
  ['a direction mark before it', `\u200e${manual}`, read],
  ['a zero-width space after it', `${manual}\u200b`, read],
  ['a byte order mark before it', `\ufeff${manual}`, read],
  ['no-break spaces around it', `\u00a0${manual}\u00a0`, read],
  ['line breaks in it', manual.replace(/.{40}/g, '$&\r\n'), read],
  ['soft hyphens and joiners in it', manual.replaceAll('0', '0\u00ad\u200d'), read],
  [
    'an account of another arrangement',
    withCrc(`00020126149988776655443327${account.slice(2)}520400005303986${tail}${noTxid}`),
    read,
  ],
];
for (const [what, code, reading] of payable) {
  test(`a static code with ${what} is read, and pays`, async () => {
    const user = await givenCustomer(app);
    const { status, body } = await decode(user.token, code);
    assert.deepEqual([status, body], [200, reading]);
    const sent = await app.send(user, {
      copy_paste: code,
      ...(body.amount === undefined && { amount: 3 }),
    });
    assert.equal(sent.status, 200);
    const stored = await app.stored(sent.body.transaction_id);
    assert.equal(stored.pix_key, evp);
    assert.equal(Number(stored.amount), body.amount ?? 3);
  });
}

const url = 'pix.example.com/v2/8b3da2f39a4140d1a91abd93113bd441';
const oneTime = { kind: 'dynamic', one_time: true, payee_name: 'Fulano de Tal' };
const charge = { ...oneTime, payee_city: 'BRASILIA' };
/** The simulated bank does not know these charges. */
const unread = { unread: 'PROVIDER_REJECTED' };
const shortUrl = { ...charge, url: 'pix.example.com/v2/abc' };
const withSaque = {
  ...read,
  purpose: 'PIX_SAQUE',
  pix_key: 'silent@ponte.test',
  key_type: 'E_MAIL',
  pix_key_type: 'E_MAIL',
};

const notPayable: [what: string, code: string, reading: object, refusal: RegExp][] = [
  [
    'a dynamic code with an amount and an id',
    withCrc(
      `00020101021226730014br.gov.bcb.pix2551${url}5204000053039865406123.45${tail}62190515RP12345678-2019`,
    ),
    { ...charge, url, ...unread },
    /dynamic code/,
  ],
  [
    'a dynamic code whose id is malformed',
    withCrc(`000201010212${urlAccount}520400005303986${tail}62190515RP12345678-2019`),
    { ...shortUrl, ...unread },
    /dynamic code/,
  ],
  [
    'a dynamic code whose other fields are of no use',
    withCrc(`000201010212${urlAccount}5303840540510,005802US`),
    { ...shortUrl, ...unread, payee_name: '', payee_city: '' },
    /dynamic code/,
  ],
  [
    'a dynamic code with a recurrence',
    withCrc(`000201010212${urlAccount}520400005303986${tail}${noTxid}${recurrence}`),
    { ...shortUrl, purpose: 'PIX_AUTOMATICO' },
    /Pix Automático/,
  ],
  [
    'a code for cash',
    withCrc(`000201${cash}520400005303986${tail}${noTxid}`),
    withSaque,
    /Pix Saque/,
  ],
  [
    'a code for cash with an amount',
    withCrc(`000201${cash}520400005303986540550.00${tail}${noTxid}`),
    { ...withSaque, amount: 50 },
    /Pix Saque/,
  ],
];
for (const [what, code, reading, refusal] of notPayable) {
  test(`${what} is read, and never paid`, async (t) => {
    const user = await givenCustomer(app);
    const { status, body } = await decode(user.token, code);
    assert.deepEqual([status, body], [200, reading]);
    const lookUps = t.mock.method(app.bank, 'lookUpKey');
    const refused = await app.send(user, {
      copy_paste: code,
      ...(body.amount === undefined && { amount: 3 }),
    });
    assert.equal(refused.status, 422);
    assert.deepEqual(Object.keys(refused.body.errors), ['copy_paste']);
    assert.match(refused.body.errors.copy_paste[0], refusal);
    assert.equal(lookUps.mock.callCount(), 0);
    assert.equal(await app.countRows(user), 0);
  });
}

const unreadable: [what: string, code: string, error: RegExp][] = [
  [
    'a recurrence alone',
    withCrc(`00020126180014br.gov.bcb.pix5204000053039865802BR5901A6001B${noTxid}${recurrence}`),
    /Pix Automático.*cannot be paid as a transfer/,
  ],
  [
    'a recurrence beside a key',
    withCrc(`${head}${tail}${noTxid}${recurrence}`),
    /Pix Automático.*cannot be paid as a transfer/,
  ],
  ['a character less', manual.replace('5204', '524'), /incomplete or was changed/],
  ['an amount with a comma', withCrc(`${head}540510,00${tail}${noTxid}`), /field 54/],
  ['an amount of three decimals', withCrc(`${head}540610.000${tail}${noTxid}`), /field 54/],
  [
    'neither a key nor a URL',
    withCrc(`00020126180014br.gov.bcb.pix520400005303986${tail}${noTxid}`),
    /either a key or an address/,
  ],
];
for (const [what, code, error] of unreadable) {
  test(`a code with ${what} is refused for that reason`, async () => {
    const user = await givenCustomer(app);
    for (const { status, body } of [
      await decode(user.token, code),
      await app.send(user, { copy_paste: code, amount: 1 }),
    ]) {
      assert.equal(status, 422);
      assert.match(body.errors.copy_paste[0], error);
    }
    assert.equal(await app.countRows(user), 0);
  });
}

const pastedKeys: [what: string, key: string][] = [
  ['a byte order mark', `\ufeff${evp}`],
  ['zero-width spaces', evp.replaceAll('-', '\u200b-\u200b')],
  ['a soft hyphen', evp.replace('e12b', 'e1\u00ad2b')],
  ['a line break in it', evp.replace('-12d1', '-\r\n12d1')],
  ['no-break spaces around it', `\u00a0${evp}\u202f`],
];
for (const [what, key] of pastedKeys) {
  test(`a pasted key with ${what} is paid like the key`, async () => {
    const user = await givenCustomer(app);
    const { status, body } = await app.send(user, { pix_key: key, amount: 1 });
    assert.equal(status, 200);
    assert.equal((await app.stored(body.transaction_id)).pix_key, evp);
  });
}
