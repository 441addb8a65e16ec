/** The bank without a socket: the client reports each failure as it does over a connection. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { Api } from '../../../../src/provider/sandbox/api.ts';
import { createDispatcher } from '../../../../src/provider/sandbox/dispatcher.ts';
import type { HttpRequest } from '../../../../src/provider/http/client.ts';
import { createHttpClient } from '../../../../src/provider/http/client.ts';
import { notSentInTime, reset, timedOut } from '../http/over-http.ts';
import { makeClient, failure, openBank } from './bank/open-bank.ts';

const login: HttpRequest = {
  method: 'POST',
  path: '/internal/api/v1/auth/login',
  body: { email: 'dev@ponte.test', password: 'any' },
};

function opened() {
  const { bank, clock } = openBank();
  return { bank, clock, client: makeClient(bank, clock) };
}

describe('a request to the bank in the same process', () => {
  it('gets the status, the headers and the JSON that a connection carries', async () => {
    const { client } = opened();
    const { status, json } = await client.send(login);
    assert.equal(status, 200);
    const { access_token: token } = json as Record<string, string>;
    const path = '/internal/api/v1/keys/dict';
    const body = { payerId: '11144477735', key: 'ratelimited@ponte.test' };
    const limited = await client.send({ method: 'POST', path, body, ...(token && { token }) });
    assert.equal(limited.status, 429);
    assert.equal(limited.retryAfterMs, 30_000);
  });

  it('is checked against the contract', async () => {
    const { client } = opened();
    const { status, json } = await client.send({ ...login, body: { email: 'dev@ponte.test' } });
    assert.equal(status, 400);
    assert.equal((json as { detail: string }).detail, 'password: The field is required.');
    assert.equal((await client.send({ method: 'GET', path: '/elsewhere' })).status, 404);
    assert.equal((await client.send({ method: 'GET', path: login.path })).status, 405);
  });

  it('is not executed when its time is over before it is sent', async () => {
    const { bank, clock } = openBank();
    const api = createDispatcher(new Api({ bank }));
    let leave: () => unknown = () => undefined;
    const dispatcher = {
      ...api,
      dispatch(...call: Parameters<typeof api.dispatch>) {
        leave = () => api.dispatch(...call);
        return true;
      },
    };
    const baseUrl = 'http://bank.test';
    const client = createHttpClient({ baseUrl, timeoutMs: 5_000, clock, dispatcher });
    let logins = 0;
    bank.login = () => assert.fail(`login ${(logins += 1)}`);
    const call = failure(client.send(login));
    await clock.advance(5_000);
    leave();
    assert.deepEqual(await call, notSentInTime);
    assert.equal(logins, 0);
  });

  it('is unknown when the caller stops waiting, and is executed', async () => {
    const { bank, client } = opened();
    const entered = Promise.withResolvers<void>();
    const answered = Promise.withResolvers<ReturnType<typeof bank.login>>();
    bank.login = (() => {
      entered.resolve();
      return answered.promise;
    }) as never;
    const controller = new AbortController();
    const call = failure(client.send({ ...login, signal: controller.signal }));
    await entered.promise;
    controller.abort(new Error('time is up'));
    assert.deepEqual(await call, timedOut);
    answered.resolve({ outcome: 'faulty', fault: 'garbled' });
  });

  it('is unknown when its body breaks, and no step is taken', async () => {
    const { bank, client } = opened();
    bank.onboarding.submitDocument = () => assert.fail('it was submitted');
    async function* content() {
      yield Buffer.from('--b\r\nContent-Disposition: form-data; name="tipo_documento"\r\n\r\n1');
      throw new Error('the document is lost');
    }
    const upload = {
      contentType: 'multipart/form-data; boundary=b',
      sizeBytes: 1_000,
      content: content(),
    };
    const path = '/core/v2/onboarding/pf/1/documentos';
    assert.deepEqual(await failure(client.send({ method: 'POST', path, upload })), reset);
  });
});
