/** Shared parts of the handlers of the grouped server: replies, bodies and validators. */
import type { IncomingMessage } from 'node:http';
import { Ajv } from 'ajv';
import addFormatsModule from 'ajv-formats';
import type { Query } from '../database.ts';
import type { Provider } from '../provider.ts';
import type { Sealer } from '../security.ts';
import type { Claims } from './tokens.ts';

export interface Reply {
  readonly status: number;
  readonly body?: object;
  /** Names and values alternately. */
  readonly headers?: readonly string[];
}

export interface Parts {
  readonly query: Query;
  readonly provider: Provider;
  readonly sealer: Sealer;
  sign(claims: Claims): string;
  /** @returns null without a valid token; the session is checked in the request's statement. */
  decodeClaims(request: IncomingMessage): Claims | null;
}

export const unauthenticated: Reply = {
  status: 401,
  body: { message: 'Your session is missing, invalid or has ended.' },
};
export const invalid: Reply = { status: 400, body: { message: 'The request is invalid.' } };
export const notFound: Reply = { status: 404, body: { message: 'There is no such thing.' } };

export const ajv = new Ajv();
// The cast: its types describe an ES module, but the package is CommonJS.
(addFormatsModule as unknown as (target: Ajv) => void)(ajv);

const maxBytes = 262_144;

export function readBytes(request: IncomingMessage): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let size = 0;
    request.on('data', (chunk: Buffer) => {
      size += chunk.length;
      if (size > maxBytes) request.destroy(new Error('the body is too large'));
      chunks.push(chunk);
    });
    request.on('end', () => resolve(Buffer.concat(chunks)));
    request.on('error', reject);
  });
}

/** @returns undefined for invalid JSON. */
export function parsed(bytes: Buffer): unknown {
  try {
    return JSON.parse(bytes.toString());
  } catch {
    return undefined;
  }
}
