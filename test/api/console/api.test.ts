/**
 * The client of the contract: what it sends, and what it makes of responses and of their absence.
 */
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { Api, readFaults } from '../../../console/api.ts';
import { operateBy } from '../../../console/operate.ts';
import { startTestApp } from '../../support/app.ts';
import { pdfOfSize } from '../../support/documents.ts';
import { givenCustomer, givenUser, password } from '../../support/factories.ts';
import { newPerson } from '../onboarding/applicants.ts';
import { afterFile } from '../../support/suite.ts';

const app = await startTestApp();
const never = new AbortController().signal;

async function makeApi(token: string): Promise<Api> {
  const api = new Api(app.url);
  api.token = token;
  return api;
}

describe('a call', () => {
  it('sends what the operation takes, and gives what the contract lists', async () => {
    const { email } = await givenUser(app);
    const api = new Api(`${app.url}/`);
    const login = await api.call('login', { body: { email, password } }, never);
    assert.ok(login.status === 200);
    api.token = login.body.access_token;
    const headers = { 'Idempotency-Key': 'k1' };
    const body = { pix_key: 'bruno@example.com', amount: 1.5 };
    const sent = await api.call('sendPix', { headers, body }, never);
    assert.ok(sent.status === 200);
    assert.equal(sent.headers.get('pix-outcome'), 'accepted');
    const path = { transactionId: sent.body.transaction_id };
    const found = await api.call('getPixTransaction', { path }, never);
    assert.ok(found.status === 200);
    assert.equal(found.body.status, 'PROCESSING');
    const query = { start_date: '2026-05-24' };
    const statement = await api.call('getStatement', { query }, never);
    assert.ok(statement.status === 200);
    assert.equal(statement.body.items.local[0]?.amount, 1.5);
  });

  it('puts no more into a path than the path has room for', async () => {
    const response = await new Api(app.url).call(
      'lookUpCep',
      { path: { cep: '../../health' } },
      never,
    );
    assert.equal(response.status, 422);
  });

  it('gives a response without a body as none', async () => {
    const api = await makeApi((await givenCustomer(app)).token);
    const headers = { 'Idempotency-Key': 'k2' };
    const body = { pix_key: 'x@y.test', amount: 1 };
    const sent = await api.call('sendPix', { headers, body }, never);
    assert.ok(sent.status === 200);
    const path = { transactionId: sent.body.transaction_id };
    const first = await api.call('getPixTransaction', { path }, never);
    const tag = first.headers.get('etag') ?? '';
    const input = { path, headers: { 'If-None-Match': tag } };
    const again = await api.call('getPixTransaction', input, never);
    assert.deepEqual([again.status, again.body], [304, undefined]);
  });
});

describe('a refused token', () => {
  it('is forgotten, and reported once', async () => {
    const api = await makeApi('no.token.at-all');
    let refusals = 0;
    api.onRefused = () => (refusals += 1);
    const responses = await Promise.all([
      api.call('getBalance', {}, never),
      api.call('getMe', {}, never),
    ]);
    assert.deepEqual(
      responses.map(({ status }) => status),
      [401, 401],
    );
    assert.deepEqual([refusals, api.token], [1, null]);
  });

  it('is none where there was no token', async () => {
    const api = new Api(app.url);
    api.onRefused = () => assert.fail('there was nothing to refuse');
    assert.equal((await api.call('getBalance', {}, never)).status, 401);
  });
});

describe('no response', () => {
  it('of no service, or of another one, is reported in a sentence', async () => {
    await assert.rejects(new Api('http://127.0.0.1:1').call('getMe', {}, never), {
      message: 'No response from http://127.0.0.1:1. Is the service running?',
    });
    const other = createServer((_request, response) => response.end('<html>'));
    await new Promise<void>((resolve) => other.listen(0, '127.0.0.1', resolve));
    afterFile(() => other.close());
    const address = other.address();
    assert.ok(address !== null && typeof address === 'object');
    const url = `http://127.0.0.1:${address.port}`;
    await assert.rejects(new Api(url).call('getMe', {}, never), {
      message: `No response from ${url}. Is the service running?`,
    });
    await assert.rejects(new Api(`${app.url}/elsewhere`).ping(never), /^Error: No response from/);
    await new Api(app.url).ping(never);
  });

  it('is no failure when the call is cancelled', async () => {
    const controller = new AbortController();
    const call = new Api(app.url).call('getMe', {}, controller.signal);
    controller.abort();
    await assert.rejects(call, { name: 'AbortError' });
  });
});

describe('an upload', () => {
  const folder = mkdtempSync(join(tmpdir(), 'ponte-api-'));
  const file = join(folder, 'rg.pdf');
  writeFileSync(file, pdfOfSize(500_000));
  afterFile(() => rmSync(folder, { recursive: true }));

  it('streams a file from its path', async () => {
    const api = new Api(app.url);
    const begun = await api.call('startOnboarding', { body: newPerson() }, never);
    assert.ok(begun.status === 201);
    const path = { applicationId: begun.body.id };
    const body = { tipo_documento: 1, arquivo: ` ${file} ` };
    const response = await api.call('submitDocument', { path, body }, never);
    assert.equal(response.status, 201, JSON.stringify(response.body));
  });

  for (const missing of [join(folder, 'nothing.png'), folder]) {
    it(`of ${missing === folder ? 'a folder' : 'no file'} is refused before anything leaves`, async () => {
      const path = { applicationId: 'any' };
      const request = { path, body: { tipo_documento: 1, arquivo: missing } };
      const api = new Api('http://127.0.0.1:1');
      await assert.rejects(api.call('submitDocument', request, never), {
        message: `There is no file that can be read at ${missing}.`,
      });
    });
  }
});

describe('what a response refuses', () => {
  const answered = (status: number, body: unknown, headers: Record<string, string> = {}) =>
    readFaults({ status, body, headers: new Headers(headers) });

  it('is reported by field, and as a whole without one', () => {
    const errors = { amount: ['Too little.', 'And odd.'] };
    assert.deepEqual(answered(422, { message: 'Some fields are invalid.', errors }), {
      '': 'Some fields are invalid.',
      amount: 'Too little. And odd.',
    });
  });

  it('has its code, and how long to wait', () => {
    const body = { code: 'PROVIDER_RATE_LIMITED', message: 'Slowly.' };
    const { '': whole } = answered(502, body, { 'retry-after': '60' });
    assert.equal(whole, 'Slowly. (PROVIDER_RATE_LIMITED) (in 60 s)');
  });

  it('is never empty, and nothing at all of what was done', () => {
    assert.deepEqual(answered(500, undefined), { '': 'The service answered 500.' });
    assert.deepEqual(answered(200, { message: 'Fine.' }), {});
  });
});

describe("the operator's command", () => {
  it('says why it fails in its own words', async () => {
    const operate = operateBy(join(import.meta.dirname, '../../../bin/ponte'));
    await assert.rejects(operate(['nonsense'], never), /unknown command 'nonsense'/);
  });
});
