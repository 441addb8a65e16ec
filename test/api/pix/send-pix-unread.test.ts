/** Sends that were not read to their end: every response says what is known of the payment. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { givenCustomer } from '../../support/factories.ts';
import { rawConnection } from '../http/wire.ts';
import { startPixApp } from './pix-app.ts';

const app = await startPixApp();
const { token } = await givenCustomer(app);

const line = 'POST /api/v1/pix/send HTTP/1.1\r\n';
const head =
  `${line}Host: x\r\nAuthorization: Bearer ${token}\r\nIdempotency-Key: unread\r\n` +
  'Content-Type: application/json\r\n';

/** The response to what was sent, after as long as the slowest body may take. */
async function toAppError(text: string): Promise<string> {
  const client = await rawConnection({ port: Number(new URL(app.url).port) });
  client.send(text);
  const response = client.closed();
  await app.call('/onboarding/cep/01310100');
  await app.clock.advance(30_000);
  await client.receive('HTTP/1.1 ');
  await app.clock.advance(5_000);
  return response;
}

const unread: readonly (readonly [what: string, status: number, text: string])[] = [
  ['whose body does not come', 408, `${head}Content-Length: 40\r\n\r\n{"pix_key":`],
  ['with a head over 16 KiB', 431, `${head}X-Long: ${'x'.repeat(17 * 1024)}\r\n\r\n`],
  ['with a malformed header', 400, `${head}bad header\r\n\r\n`],
  ['with a malformed chunk', 400, `${head}Transfer-Encoding: chunked\r\n\r\n1\r\n{\r\nzz\r\n`],
  [
    'with endless chunk extensions',
    413,
    `${head}Transfer-Encoding: chunked\r\n\r\n1;${'x'.repeat(17 * 1024)}\r\n{\r\n0\r\n\r\n`,
  ],
  ['without a host', 400, `${line}Content-Length: 0\r\nConnection: close\r\n\r\n`],
  [
    'in a coding beside chunked',
    400,
    `${head}Transfer-Encoding: gzip, chunked\r\n\r\n2\r\n{}\r\n0\r\n\r\n`,
  ],
];

for (const [what, status, text] of unread) {
  test(`a send ${what} is ${status}, and its outcome is unknown`, async () => {
    const response = await toAppError(text);
    assert.match(response, new RegExp(`^HTTP/1\\.1 ${status} `));
    assert.match(response, /\r\nPix-Outcome: unknown\r\n/i);
  });
}

test('an unread request whose route is known is answered as that route', async () => {
  const login = line.replace('pix/send', 'auth/login');
  const response = await toAppError(
    `${login}Host: x\r\nContent-Type: application/json\r\nContent-Length: 40\r\n\r\n{`,
  );
  assert.match(response, /^HTTP\/1\.1 408 /);
  assert.doesNotMatch(response, /Pix-Outcome/i);
});
