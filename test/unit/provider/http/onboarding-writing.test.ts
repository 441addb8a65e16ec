import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Provider } from '../../../../src/provider/provider.ts';
import { address, applicant, makeDocument, proposal } from '../applicant.ts';
import { wireText, written } from './written.ts';

const base = '/core/v2/onboarding';

const post = (path: string, body: string) => wireText(`POST ${base}/${path}`, { body });

const cases: readonly [string, (provider: Provider) => Promise<unknown>, string][] = [
  [
    'a registration, without any password',
    (provider) => provider.registerPerson(applicant),
    post(
      'pf',
      '{"name":"João da Conceição","email":"Joao@Example.com","document":"52998224725",' +
        '"phone":"+5511987654321"}',
    ),
  ],
  [
    'an address',
    (provider) =>
      provider.submitAddress({ personId: 'p-1', address: { ...address, complemento: 'apto. 7' } }),
    post(
      'pf/p-1/endereco',
      '{"cep":"01310100","logradouro":"Avenida Paulista","numero":"1000",' +
        '"complemento":"apto. 7","bairro":"Bela Vista","cidade":"São Paulo","estado":"SP"}',
    ),
  ],
  [
    'an address without a complement',
    (provider) => provider.submitAddress({ personId: 'p-1', address }),
    post(
      'pf/p-1/endereco',
      '{"cep":"01310100","logradouro":"Avenida Paulista","numero":"1000",' +
        '"bairro":"Bela Vista","cidade":"São Paulo","estado":"SP"}',
    ),
  ],
  [
    'a proposal',
    (provider) => {
      const more = { observacoes: 'à vista', valorSolicitado: 1500.5 };
      return provider.submitProposal({ personId: 'p-1', proposal: { ...proposal, ...more } });
    },
    post(
      'pf/p-1/proposta',
      '{"tipo":"CONTA_CORRENTE","observacoes":"à vista","valor_solicitado":1500.5}',
    ),
  ],
  [
    'a proposal that says nothing more',
    (provider) => provider.submitProposal({ personId: 'p-1', proposal }),
    post('pf/p-1/proposta', '{"tipo":"CONTA_CORRENTE"}'),
  ],
  [
    'an electronic validation',
    (provider) => provider.requestValidation({ personId: 'p-1', tipo: 1 }),
    post('pf/p-1/validacao-eletronica', '{"tipo":1}'),
  ],
  [
    'the confirmation of its code',
    (provider) => provider.confirmValidation({ personId: 'p-1', codigo: 'ABC123', tipo: 2 }),
    post('pf/p-1/validacao-eletronica/confirmar', '{"codigo":"ABC123","tipo":2}'),
  ],
  [
    'a decision',
    (provider) => provider.kyc({ personId: 'p-1' }),
    wireText(`GET ${base}/pf/p-1/kyc`),
  ],
  [
    'a postal code',
    (provider) => provider.lookUpCep({ cep: '01310100' }),
    wireText(`GET ${base}/cep/01310100`),
  ],
  [
    'an id that is no plain part of a path',
    (provider) => provider.kyc({ personId: 'a/b?c#d é%' }),
    wireText(`GET ${base}/pf/a%2Fb%3Fc%23d%20%C3%A9%25/kyc`),
  ],
];

describe('what an onboarding writes, byte by byte:', () => {
  for (const [title, call, expected] of cases) {
    it(title, async () => assert.equal(await written(call), expected));
  }

  it('a liveness session, without a body', async () => {
    const text = await written((provider) => provider.startLivenessCheck({ personId: 'p-1' }));
    const empty = wireText(`POST ${base}/pf/p-1/prova-vida`);
    assert.equal(text, empty.replace('\r\n\r\n', '\r\ncontent-length: 0\r\n\r\n'));
  });

  const files = [
    ['application/pdf', 'documento.pdf'],
    ['image/jpeg', 'documento.jpg'],
    ['image/png', 'documento.png'],
  ] as const;
  for (const [contentType, fileName] of files) {
    it(`a document of the type ${contentType}`, async () => {
      const document = makeDocument({
        contentType,
        tipoDocumento: 21,
        chunks: [Buffer.from('ação')],
      });
      const text = await written((provider) =>
        provider.submitDocument({ personId: 'p-1', document }),
      );
      const [, boundary = ''] = /boundary=(ponte-[0-9a-f-]{36})\r\n/.exec(text) ?? [];
      const body = [
        `--${boundary}`,
        'Content-Disposition: form-data; name="tipo_documento"',
        '',
        '21',
        `--${boundary}`,
        `Content-Disposition: form-data; name="arquivo"; filename="${fileName}"`,
        `Content-Type: ${contentType}`,
        '',
        'ação',
        `--${boundary}--`,
        '',
      ].join('\r\n');
      const type = `multipart/form-data; boundary=${boundary}`;
      const expected = wireText(`POST ${base}/pf/p-1/documentos`, { body, contentType: type });
      assert.equal(text, expected);
    });
  }

  it('the id of the request goes along', async () => {
    const text = await written((provider) => provider.kyc({ personId: 'p-1', requestId: 'r-1' }));
    assert.match(text, /\r\nx-request-id: r-1\r\n/);
  });
});
