/** What the real client writes, byte by byte, and what that is to be. */
import assert from 'node:assert/strict';
import type { Provider } from '../../../../src/provider/provider.ts';
import { order } from '../scripted-provider.ts';
import { providerAt } from './over-http.ts';
import { responding } from './raw-server.ts';

/** A response that every call can read. */
const anyResponse = {
  token: 't',
  balance: 1,
  items: [],
  endToEnd: order.endToEnd,
  qrcode: 'iVBORw0KGgo=',
  id: 'p',
  status: 'PENDING',
  url_iframe: 'https://a.b/',
  cidade: 'C',
};

/** What a call writes. */
export async function written(
  call: (provider: Provider) => Promise<unknown>,
  path = '',
): Promise<string> {
  const server = await responding(200, anyResponse);
  await call(providerAt(server.url + path));
  const [request] = server.requests;
  assert.equal(server.requests.length, 1);
  return Buffer.from(request?.text ?? '', 'latin1')
    .toString('utf8')
    .replace(String(server.port), 'PORT');
}

interface Parts {
  /** JSON, unless the type says otherwise. */
  readonly body?: string;
  readonly contentType?: string;
  readonly token?: string;
}

/** A whole request as it is to be written. */
export function wireText(what: string, { body, contentType, token }: Parts = {}): string {
  const type = contentType ?? 'application/json';
  const lines = [
    `${what} HTTP/1.1`,
    'host: 127.0.0.1:PORT',
    'connection: keep-alive',
    'accept: application/json',
    ...(body === undefined ? [] : [`content-type: ${type}`]),
    ...(token === undefined ? [] : [`authorization: Bearer ${token}`]),
    ...(body === undefined ? [] : [`content-length: ${Buffer.byteLength(body)}`]),
  ];
  return `${lines.join('\r\n')}\r\n\r\n${body ?? ''}`;
}
