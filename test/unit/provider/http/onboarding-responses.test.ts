import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { wrongValidationCode, type ProviderErrorOptions } from '../../../../src/provider/errors.ts';
import type { Provider } from '../../../../src/provider/provider.ts';
import { address, applicant, makeDocument, proposal, parseSteps } from '../applicant.ts';
import { failure, rejected, unavailable } from '../sandbox/bank/open-bank.ts';
import { notUnderstood, providerAt, timedOut } from './over-http.ts';
import { responding } from './raw-server.ts';
import { reads, understandsNone, type Row } from './reads.ts';

const register = (provider: Provider) => provider.registerPerson(applicant);
const startLiveness = (provider: Provider) => provider.startLivenessCheck({ personId: 'p' });
const decide = (provider: Provider) => provider.kyc({ personId: 'p' });
const lookUp = (provider: Provider) => provider.lookUpCep({ cep: '01310100' });
const confirm = (provider: Provider) =>
  provider.confirmValidation({ personId: 'p', codigo: 'X', tipo: 1 });

const noAccount = { clientToken: null, agency: null, accountNumber: null };
const account = { clientToken: 't-1', agency: '0001', accountNumber: '123456' };
const person = { pessoaFisicaId: 'p-1', ...noAccount };

reads('a registration:', register, [
  [{ pessoa_fisica_id: 'p-1' }, person],
  [{ PessoaFisicaId: 'p-1', extra: { deep: [] } }, person],
  [{ id: 17 }, { ...person, pessoaFisicaId: '17' }],
  [{ id: 'other', pessoaFisicaId: 'p-1' }, person],
  [{ data: { id: 'p-1' } }, person],
  [
    { id: 'p-1', client_token: 't-1', agency: '0001', account_number: '123456' },
    { pessoaFisicaId: 'p-1', ...account },
  ],
  [
    { id: 'p-1', account: { agencyNumber: '0001', accountNumber: 12345, digitAccount: 6 } },
    { ...person, agency: '0001', accountNumber: '123456' },
  ],
  [{ id: 'p-1', client_token: null, agency: '' }, person],
]);

understandsNone('a registration', register, [
  '',
  '<!doctype html><title>Maintenance</title>',
  '[]',
  '"p-1"',
  'null',
  {},
  { id: '' },
  { id: '   ' },
  { id: {} },
  { id: 1.5 },
  { id: 'x'.repeat(256) },
  // As parts of a path they would lead elsewhere.
  { id: '.' },
  { id: '..' },
]);

reads('a liveness session:', startLiveness, [
  [
    { session_id: 's-1', url_iframe: 'https://live.example/s-1?a=b#c' },
    { sessionId: 's-1', urlIframe: 'https://live.example/s-1?a=b#c' },
  ],
  [
    { sessionId: 7, urlIframe: 'https://live.example' },
    { sessionId: '7', urlIframe: 'https://live.example/' },
  ],
  [
    { data: { URL_IFRAME: 'https://live.example/' } },
    { sessionId: null, urlIframe: 'https://live.example/' },
  ],
]);

understandsNone('a liveness session', startLiveness, [
  {},
  { session_id: 's-1' },
  { url_iframe: '' },
  { url_iframe: '/s-1' },
  { url_iframe: 'http://live.example/s-1' },
  { url_iframe: 7 },
  { url_iframe: 'javascript:alert(1)' },
  { url_iframe: 'data:text/html,x' },
  { url_iframe: 'file:///etc/passwd' },
  { url_iframe: 'https://' },
  { url_iframe: `https://live.example/${'x'.repeat(2_048)}` },
]);

const word = (status: string, read: string): Row => [{ status }, { status: read, ...noAccount }];

reads('a decision:', decide, [
  ...['PENDING', 'pending', 'Pendente', 'processing', 'UNDER_ANALYSIS', 'Em análise'].map((text) =>
    word(text, 'PENDING'),
  ),
  ...['APPROVED', 'aprovado', 'Aprovada '].map((text) => word(text, 'APPROVED')),
  ...['REJECTED', 'Reprovado', 'denied', 'RECUSADO'].map((text) => word(text, 'REJECTED')),
  [
    { status: 'APPROVED', client_token: 't-1', agency: '0001', account_number: '123456' },
    { status: 'APPROVED', ...account },
  ],
  [
    { status: 'success', data: { status: 'APPROVED', account: { agency: '0001' } } },
    { status: 'APPROVED', ...noAccount, agency: '0001' },
  ],
  [
    { status: 200, kyc: { status: 'REJECTED' } },
    { status: 'REJECTED', ...noAccount },
  ],
  [
    { status: 'ACTIVE', kyc_status: 'PENDING' },
    { status: 'PENDING', ...noAccount },
  ],
]);

understandsNone('a decision', decide, [
  '',
  '{}',
  '[]',
  '<html>',
  ...['SUCCESS', 'ACTIVE', 'NOT_APPROVED', 'APPROVED?', ''].map((status) => ({ status })),
  { status: 1 },
  { status: true },
  { status: ['APPROVED'] },
  // An outer field does not override the deepest one.
  { status: 'APPROVED', data: { status: 'UNDECIDED' } },
]);

const known = {
  cep: '01310100',
  logradouro: 'Avenida Paulista',
  bairro: 'Bela Vista',
  cidade: 'São Paulo',
  estado: 'SP',
};
const bare = { ...known, logradouro: null, bairro: null };

reads('a postal code:', lookUp, [
  [known, known],
  [
    {
      data: {
        CEP: '01310-100',
        rua: ' Avenida Paulista',
        bairro: 'Bela Vista',
        localidade: 'São Paulo',
        uf: 'sp',
        estado: 'São Paulo',
      },
    },
    known,
  ],
  [{ cidade: 'São Paulo', estado: 'SP', logradouro: '', bairro: null }, bare],
  [{ cep: '01310100' }, { ...bare, cidade: null, estado: null }],
]);

understandsNone('a postal code', lookUp, [
  {},
  [],
  { erro: true },
  { estado: 'São Paulo' },
  { ...known, cep: '99999999' },
  { ...known, cep: {} },
]);

describe('a step is done when the response is', () => {
  const responses: readonly [number, string][] = [
    [200, '{}'],
    [200, '[]'],
    [200, ''],
    [201, '{"status":"whatever"}'],
    [202, ''],
    [204, ''],
  ];
  for (const [status, body] of responses) {
    it(`${status} ${body}`, async () => {
      const { url } = await responding(status, body);
      const provider = providerAt(url);
      await provider.submitAddress({ personId: 'p', address });
      await provider.submitDocument({ personId: 'p', document: makeDocument() });
      await provider.submitProposal({ personId: 'p', proposal });
      await provider.requestValidation({ personId: 'p', tipo: 1 });
      await confirm(provider);
    });
  }

  it('and not when it is a page or a redirect', async () => {
    for (const [status, body] of [
      [200, '<!doctype html>'],
      [307, ''],
    ] as const) {
      const { url } = await responding(status, body, { location: '/elsewhere' });
      const call = providerAt(url).submitAddress({ personId: 'p', address });
      assert.deepEqual(await failure(call), notUnderstood);
    }
  });
});

const rejection = {
  outcome: 'rejected',
  code: 'PROVIDER_REJECTED',
  statusClass: '4xx',
  retryable: false,
} as const;

/** Every call of an onboarding. */
function everyCall(provider: Provider): Promise<unknown>[] {
  const steps = Object.values(parseSteps(provider, 'p'));
  return [register(provider), decide(provider), lookUp(provider), ...steps.map((step) => step())];
}

describe('every call of an onboarding answered with', () => {
  const table: readonly [number, unknown, Partial<ProviderErrorOptions>][] = [
    [404, '', { ...rejection, statusClass: '404' }],
    [404, '<html>Not Found</html>', { ...rejection, statusClass: '404' }],
    // No token went along, so none was refused.
    [401, { code: 'Unauthorized' }, { ...rejection, reason: 'Unauthorized' }],
    [403, '', rejection],
    [409, { code: 'AlreadyThere' }, { ...rejection, reason: 'AlreadyThere' }],
    [422, { code: 'X1', message: 'O CPF é inválido.' }, { ...rejection, reason: 'X1' }],
    [429, '', { ...rejection, code: 'PROVIDER_RATE_LIMITED', statusClass: '429' }],
    [408, '', timedOut],
    [503, '', unavailable],
  ];
  for (const [status, body, expected] of table) {
    it(`${status} ${JSON.stringify(body)}: ${expected.outcome}`, async () => {
      const { url } = await responding(status, body);
      const failed = await Promise.all(everyCall(providerAt(url)).map(failure));
      for (const one of failed) assert.deepEqual(one, expected);
    });
  }
});

describe('a wrong code differs from other refusals by', () => {
  const wrong: readonly [number, unknown][] = [
    [400, { code: 'INVALID_CODE' }],
    [422, { error: { code: 'CodeMismatch' } }],
    [422, { code: 17, message: 'Código inválido.' }],
    [422, { title: 'Unprocessable', detail: 'The code has expired' }],
    [422, { message: 'O código informado está incorreto' }],
    [409, { errors: [{ message: 'Wrong confirmation code' }] }],
    [422, { message: 'The given data was invalid.', errors: { codigo: ['?'] } }],
  ];
  for (const [status, body] of wrong) {
    it(`${status} ${JSON.stringify(body)}`, async () => {
      const { url } = await responding(status, body);
      assert.deepEqual(await failure(confirm(providerAt(url))), rejected(wrongValidationCode));
    });
  }

  const others: readonly [number, unknown, string | null][] = [
    [422, { code: 'ValidationNotRequested' }, 'ValidationNotRequested'],
    [422, { message: 'Pessoa inválida' }, null],
    [422, '', null],
    [403, { code: 'INVALID_CODE' }, 'INVALID_CODE'],
  ];
  for (const [status, body, reason] of others) {
    it(`and not by ${status} ${JSON.stringify(body)}`, async () => {
      const { url } = await responding(status, body);
      const expected = reason === null ? rejection : rejected(reason);
      assert.deepEqual(await failure(confirm(providerAt(url))), expected);
    });
  }

  it('in a confirmation only', async () => {
    const { url } = await responding(422, { code: 'INVALID_CODE' });
    const call = providerAt(url).requestValidation({ personId: 'p', tipo: 1 });
    assert.deepEqual(await failure(call), rejected('INVALID_CODE'));
  });
});
