/** A page of another origin calls the API in a real browser. */
import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { test } from 'node:test';
import { noBrowser, openBrowser } from './browser.ts';
import { startOwnService } from './service-process.ts';

/** Logs in, pays and reads the payment by the address of the service. */
const payFrom = `async (api) => {
  const call = (path, options) => fetch(api + path, options);
  const json = { 'Content-Type': 'application/json' };
  const login = await call('/auth/login', {
    method: 'POST',
    headers: json,
    body: JSON.stringify({ email: 'dev@ponte.test', password: 'ponte-dev-password' }),
  });
  const authorization = { Authorization: 'Bearer ' + (await login.json()).access_token };
  const sent = await call('/pix/send', {
    method: 'POST',
    headers: { ...json, ...authorization, 'Idempotency-Key': 'from-another-origin' },
    body: JSON.stringify({ pix_key: 'bruno@example.com', amount: 1.5 }),
  });
  const { transaction_id: id } = await sent.json();
  const read = await call('/pix/' + id, { headers: { ...authorization, Prefer: 'wait=5' } });
  return {
    statuses: [login.status, sent.status, read.status],
    outcome: sent.headers.get('Pix-Outcome'),
    tag: read.headers.get('ETag') !== null,
    requestId: sent.headers.get('X-Request-Id') !== null,
  };
}`;

test(
  'a page pays from an allowed origin and reads the headers; any other origin is blocked',
  { skip: noBrowser },
  async (t) => {
    const web = createServer((_request, response) => response.end('<title>an app</title>'));
    await new Promise<void>((resolve) => void web.listen(0, '127.0.0.1', resolve));
    t.after(() => web.close());
    const { port } = web.address() as AddressInfo;
    const origin = `http://localhost:${port}`;
    const service = await startOwnService({ CORS_ALLOWED_ORIGINS: origin });
    t.after(() => service.stop());
    const browser = await openBrowser();
    t.after(() => browser.close());

    const page = await browser.newPage();
    await page.goto(origin);
    const paid = await page.evaluate(`(${payFrom})('${service.url}/api/v1')`);
    assert.deepEqual(paid, {
      statuses: [200, 200, 200],
      outcome: 'accepted',
      tag: true,
      requestId: true,
    });

    await page.goto(`http://127.0.0.1:${port}`);
    await assert.rejects(page.evaluate(`(${payFrom})('${service.url}/api/v1')`), /Failed to fetch/);
  },
);
