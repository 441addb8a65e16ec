import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { request } from 'node:http';
import { describe, it } from 'node:test';
import type { ProviderErrorOptions } from '../../../../src/provider/errors.ts';
import { operationNames } from '../../../../src/provider/sandbox/contract.ts';
import { withResilience } from '../../../../src/provider/resilience/resilient-provider.ts';
import { eventually } from '../../../support/eventually.ts';
import { address, applicant, applied, makeDocument, parseSteps } from '../applicant.ts';
import { notUnderstood, reset } from '../http/over-http.ts';
import { failure, logIn, unavailable } from './bank/open-bank.ts';
import { testSandbox, type TestSandbox } from './sandbox.ts';

const base = '/core/v2/onboarding';

const documentos = 'onboarding/pf/{id}/documentos';

/** A sandbox with a registered person. */
async function ready(options: Parameters<typeof testSandbox>[0] = {}) {
  const sandbox = await testSandbox(options);
  const { pessoaFisicaId: id } = await sandbox.provider.registerPerson(applicant);
  return { ...sandbox, id };
}

/** The provider with retries and without waits between them. */
function resilient({ provider, clock }: TestSandbox) {
  return withResilience(provider, {
    clock,
    timeoutMs: 60_000,
    retries: 2,
    backoff: { baseMs: 0, maxMs: 0 },
  });
}

describe('what the sandbox answers an applicant', () => {
  it('the wire of the provider, under its names', async () => {
    const { call, provider } = await testSandbox();
    const registered = await call('POST', `${base}/pf`, applicant);
    const { pessoa_fisica_id: id, ...rest } = registered.body;
    assert.match(id, /^[0-9a-f-]{36}$/);
    assert.deepEqual(rest, { client_token: null, agency: null, account_number: null });
    const pending = await call('GET', `${base}/pf/${id}/kyc`);
    assert.deepEqual(pending.body, { status: 'PENDING', ...rest });
    await applied(provider);
    const decided = await call('GET', `${base}/pf/${id}/kyc`);
    assert.deepEqual(Object.keys(decided.body), Object.keys(pending.body));
    assert.equal(decided.body.status, 'APPROVED');
    const session = await call('POST', `${base}/pf/${id}/prova-vida`);
    assert.deepEqual(Object.keys(session.body), ['session_id', 'url_iframe']);
    const requested = await call('POST', `${base}/pf/${id}/validacao-eletronica`, { tipo: 1 });
    assert.deepEqual([requested.status, requested.body], [200, {}]);
    const login = { email: applicant.email, password: 'x' };
    const { body } = await call('POST', '/internal/api/v1/auth/login', login);
    assert.deepEqual([body.name, body.document], [applicant.name, applicant.document]);
  });
});

describe('what the sandbox refuses from an applicant', () => {
  const cases: readonly [string, unknown, string][] = [
    ['pf', { ...applicant, phone: undefined }, 'phone: The field is required.'],
    ['pf', { ...applicant, document: 52_998_224_725 }, 'document: The value must be a text.'],
    [
      'pf/x/endereco',
      { ...address, complemento: undefined, logradouro: undefined },
      'logradouro: The field is required.',
    ],
    ['pf/x/proposta', {}, 'tipo: The field is required.'],
    [
      'pf/x/proposta',
      { tipo: 'X', valor_solicitado: '10' },
      'valor_solicitado: The value must be a number.',
    ],
    ['pf/x/validacao-eletronica', { tipo: '1' }, 'tipo: The value must be a whole number.'],
    ['pf/x/validacao-eletronica/confirmar', { tipo: 1 }, 'codigo: The field is required.'],
  ];
  for (const [path, body, detail] of cases) {
    it(`${path}: ${detail}`, async () => {
      const { call } = await testSandbox();
      const response = await call('POST', `${base}/${path}`, body);
      assert.deepEqual([response.status, response.body.detail], [400, detail]);
    });
  }

  const file = (type: string) => new Blob(['%PDF'], { type });
  const forms: readonly [string, Record<string, string | Blob>, number, string][] = [
    ['no file', { tipo_documento: '1' }, 400, 'arquivo: The field is required.'],
    [
      'a file that is a text',
      { tipo_documento: '1', arquivo: 'x' },
      400,
      'arquivo: The field is required.',
    ],
    ['no type', { arquivo: file('image/png') }, 400, 'tipo_documento: The field is required.'],
    ...['0', '22', '01', 'RG'].map(
      (type): [string, Record<string, string | Blob>, number, string] => [
        `the type ${type}`,
        { tipo_documento: type, arquivo: file('image/png') },
        400,
        'tipo_documento: The value does not have the expected format.',
      ],
    ),
    [
      'another media type',
      { tipo_documento: '1', arquivo: file('text/html') },
      415,
      'arquivo is neither PDF nor JPEG nor PNG',
    ],
  ];
  for (const [title, fields, status, detail] of forms) {
    it(`a document: ${title}`, async () => {
      const { url } = await testSandbox();
      const form = new FormData();
      for (const [name, value] of Object.entries(fields)) {
        if (typeof value === 'string') form.append(name, value);
        else form.append(name, value, 'documento.png');
      }
      const init = { method: 'POST', body: form };
      const response = await fetch(`${url}${base}/pf/x/documentos`, init);
      const body = (await response.json()) as { detail: string };
      assert.deepEqual([response.status, body.detail], [status, detail]);
    });
  }

  const bodies: readonly [string, Record<string, string>, string, number][] = [
    ['JSON in place of a form', { 'content-type': 'application/json' }, '{}', 415],
    ['a form without a boundary', { 'content-type': 'multipart/form-data' }, 'x', 415],
    [
      'a form without an end',
      { 'content-type': 'multipart/form-data; boundary=b' },
      '--b\r\n',
      400,
    ],
    [
      'a file without an end',
      { 'content-type': 'multipart/form-data; boundary=b' },
      '--b\r\nContent-Disposition: form-data; name="arquivo"; filename="a"\r\n\r\nxyz',
      400,
    ],
  ];
  for (const [title, headers, body, status] of bodies) {
    it(`a document: ${title}`, async () => {
      const { url, reported } = await testSandbox();
      const init = { method: 'POST', headers, body };
      const response = await fetch(`${url}${base}/pf/x/documentos`, init);
      await response.text();
      assert.equal(response.status, status);
      assert.deepEqual(reported, []);
    });
  }

  it('a document whose sender goes away in the middle, and serves the next', async () => {
    const { url, provider, calls, reported, id } = await ready();
    const sent = request(`${url}${base}/pf/${id}/documentos`, {
      method: 'POST',
      headers: { 'content-type': 'multipart/form-data; boundary=b', 'content-length': '1000' },
    });
    sent.on('error', () => {
      // It is cut here on purpose.
    });
    sent.write('--b\r\nContent-Disposition: form-data; name="arquivo"; filename="a"\r\n\r\nxyz');
    await eventually(() => calls.list().at(-1)?.path === documentos, 'the upload');
    sent.destroy();
    await provider.submitDocument({ personId: id, document: makeDocument() });
    assert.deepEqual(reported, []);
  });
});

describe('a document with a fault', () => {
  const cases: readonly [string, Partial<ProviderErrorOptions>, number][] = [
    ['5xx-before', unavailable, 0],
    ['5xx-after', unavailable, 1],
    ['reset-before', reset, 0],
    ['reset-after', reset, 1],
    ['html', notUnderstood, 1],
  ];
  for (const [fault, expected, taken] of cases) {
    it(`${fault}: ${expected.outcome}, taken ${taken} times`, async () => {
      const { provider, queueFaults, ledger, id } = await ready();
      queueFaults(`${documentos}:${fault}`);
      assert.deepEqual(
        await failure(provider.submitDocument({ personId: id, document: makeDocument() })),
        expected,
      );
      assert.equal((await ledger()).persons[0]?.documents.length, taken);
    });
  }

  it('is read again for each attempt, and is stored once', async () => {
    const sandbox = await ready();
    const { queueFaults, ledger, clock, id } = sandbox;
    queueFaults(`${documentos}:5xx-after,${documentos}:reset-after`);
    const chunks = [Buffer.alloc(200_000, 'a'), Buffer.alloc(7, 'b')];
    const document = makeDocument({ chunks, tipoDocumento: 6 });
    let isOver = false;
    const call = resilient(sandbox).provider.submitDocument({ personId: id, document });
    const watched = call.finally(() => (isOver = true));
    await eventually(async () => {
      await clock.advance(0);
      return isOver;
    }, 'the call to end');
    await watched;
    assert.deepEqual(document.opened, { times: 3, closed: 3 });
    const sha256 = createHash('sha256').update(Buffer.concat(chunks)).digest('hex');
    assert.deepEqual((await ledger()).persons[0]?.documents, [
      { tipoDocumento: 6, sizeBytes: 200_007, sha256 },
    ]);
  });
});

describe('faults', () => {
  it('are for every path of an onboarding, by the name that the calls show', async () => {
    const { provider, queueFaults, calls, id } = await ready();
    const paths = [...operationNames].filter((name) => name.startsWith('onboarding/'));
    queueFaults(paths.map((path) => `${path}:5xx-before`).join(','));
    const steps = parseSteps(provider, id);
    const made = [
      () => provider.registerPerson(applicant),
      steps['address'],
      steps['selfie'],
      steps['proposal'],
      steps['validation'],
      steps['confirmation'],
      steps['liveness'],
      () => provider.kyc({ personId: id }),
      () => provider.lookUpCep({ cep: '01310100' }),
    ];
    for (const call of made)
      assert.deepEqual(await failure(call?.() ?? assert.fail()), unavailable);
    const recorded = calls.list().slice(1);
    assert.deepEqual(
      recorded.map(({ path }) => path),
      paths,
    );
    assert.doesNotMatch(JSON.stringify(recorded), new RegExp(id));
  });
});

describe('a host without the onboarding', () => {
  it('answers 404 to all of it, and serves the rest', async () => {
    const sandbox = await testSandbox({ hasOnboarding: false });
    const { provider, breakerState } = resilient(sandbox);
    const calls = [
      () => provider.registerPerson(applicant),
      ...Object.values(parseSteps(provider, 'p')),
      () => provider.kyc({ personId: 'p' }),
      () => provider.lookUpCep({ cep: '01310100' }),
    ];
    for (let round = 0; round < 2; round += 1) {
      for (const call of calls) {
        const { outcome, code, statusClass } = await failure(call());
        assert.deepEqual([outcome, code, statusClass], ['rejected', 'PROVIDER_REJECTED', '404']);
      }
    }
    assert.equal(breakerState('onboarding'), 'closed');
    assert.equal((await provider.balance({ session: await logIn(provider) })).cents, 1_000_000);
  });
});
