/**
 * The simulated bank of `reference/bank.ts`, which is frozen and speaks plain HTTP, behind TLS:
 * with HTTP/1.1 only, or with HTTP/2 as well when the argument is `h2`.
 */
import http, { type RequestListener } from 'node:http';
import { createSecureServer } from 'node:http2';
import https from 'node:https';
import { syncBuiltinESMExports } from 'node:module';
import { forAddress as cert, serverKey as key } from '../api/db/certificates.ts';

const identity = { cert, key };

function createServer(handle: RequestListener) {
  return process.argv[2] === 'h2'
    ? createSecureServer({ ...identity, allowHTTP1: true }, handle as never)
    : https.createServer(identity, handle);
}

Object.assign(http, { createServer });
syncBuiltinESMExports();
await import('./reference/bank.ts');
