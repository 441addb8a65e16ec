/**
 * `node main.ts <client> <url>`: logs in, sends a Pix and waits for its end, with the client that a
 * generator has made of the contract. Prints the final status.
 */
import createClient from 'openapi-fetch';
import * as heyApi from './generated/hey-api/index.ts';
import { client as heyApiClient } from './generated/hey-api/client.gen.ts';
import type { paths } from './generated/openapi-typescript.ts';
import * as orval from './generated/orval.ts';
import { createApiClient } from './generated/zod.ts';
import { service } from './orval-fetch.ts';

const credentials = { email: 'dev@ponte.test', password: 'ponte-dev-password' };
const payment = { pix_key: 'bruno@example.com', amount: 12.5, description: 'Lunch' };
const waiting = { Prefer: 'wait=10' };

/** Walks with each client; the result is the final status of the payment. */
const walks: Readonly<Record<string, (url: string, key: string) => Promise<string>>> = {
  'openapi-typescript': async (url, key) => {
    const client = createClient<paths>({ baseUrl: `${url}/api/v1` });
    const login = await client.POST('/auth/login', { body: credentials });
    const headers = { Authorization: `Bearer ${present(login.data).access_token}` };
    const sent = await client.POST('/pix/send', {
      params: { header: { 'Idempotency-Key': key } },
      body: payment,
      headers,
    });
    const transactionId = present(sent.data).transaction_id;
    const ended = await client.GET('/pix/{transactionId}', {
      params: { path: { transactionId }, header: waiting },
      headers,
    });
    return present(ended.data).status;
  },

  'hey-api': async (url, key) => {
    heyApiClient.setConfig({ baseUrl: `${url}/api/v1` });
    const login = await heyApi.login({ body: credentials });
    heyApiClient.setConfig({ auth: present(login.data).access_token });
    const sent = await heyApi.sendPix({ body: payment, headers: { 'Idempotency-Key': key } });
    const path = { transactionId: present(sent.data).transaction_id };
    const ended = await heyApi.getPixTransaction({ path, headers: waiting });
    return present(ended.data).status;
  },

  orval: async (url, key) => {
    service.url = `${url}/api/v1`;
    const login = await orval.login(credentials);
    if (login.status !== 200) throw refused(login);
    service.token = login.data.access_token;
    const sent = await orval.sendPix(payment, { headers: { 'Idempotency-Key': key } });
    if (sent.status !== 200) throw refused(sent);
    const ended = await orval.getPixTransaction(sent.data.transaction_id, { headers: waiting });
    if (ended.status !== 200) throw refused(ended);
    return ended.data.status;
  },

  'openapi-zod-client': async (url, key) => {
    const client = createApiClient(`${url}/api/v1`);
    const login = await client.login(credentials);
    const Authorization = `Bearer ${login.access_token}`;
    const headers = { Authorization, 'Idempotency-Key': key };
    const { transaction_id: transactionId } = await client.sendPix(payment, { headers });
    const ended = await client.getPixTransaction({
      params: { transactionId },
      headers: { Authorization, ...waiting },
    });
    return ended.status;
  },
};

function present<T>(data: T | undefined): T {
  if (data === undefined) throw new Error('the service has refused the request');
  return data;
}

function refused(response: { status: number }): Error {
  return new Error(`the service has answered ${response.status}`);
}

const [, , name = '', url = ''] = process.argv;
const walk = walks[name];
if (!walk) throw new Error(`name one of ${Object.keys(walks).join(', ')}`);
process.stdout.write(`${await walk(url, `${name}-${Date.now()}`)}\n`);
