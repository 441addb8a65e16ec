/** Cross-origin requests of browsers to the API (Fetch Standard, section 3.2). */
import type { Config } from '../config/config.ts';
import type { Exchange } from './exchange.ts';
import type { Headers, Reply } from './reply.ts';

/** The paths that pages of other origins may call. */
const apiPaths = '/api/';

/** The headers of requests that the contract names, and those of HTTP that its clients send. */
export const allowedHeaders = [
  'Authorization',
  'Content-Type',
  'Accept-Language',
  'Idempotency-Key',
  'If-None-Match',
  'Prefer',
  'X-Request-Id',
  'traceparent',
];

/** The headers of replies that the contract names; a page reads no other. */
export const exposedHeaders = [
  'Pix-Outcome',
  'Pix-Next',
  'Idempotency-Replayed',
  'Retry-After',
  'ETag',
  'Preference-Applied',
  'X-Statement-Local',
  'X-Statement-Remote',
  'X-Request-Id',
  'Content-Language',
  'WWW-Authenticate',
  'Allow',
];

/** How long a browser may keep the reply to a preflight. */
const maxAgeSeconds = 600;

/**
 * Adds the headers that let a page of an allowed origin read a reply of the API. Tokens travel in
 * `Authorization`, so credentials of the browser are not allowed.
 *
 * @param config with CORS_ALLOWED_ORIGINS; empty: no reply changes.
 * @returns the reply, with its headers changed for an allowed origin; for every other one it only
 *   says that it depends on the origin.
 */
export function withCors(
  { request: { method, url = '', headers } }: Exchange,
  reply: Reply,
  { corsAllowedOrigins: origins }: Pick<Config, 'corsAllowedOrigins'>,
): Reply {
  if (origins.length === 0 || !url.startsWith(apiPaths)) return reply;
  const vary = [reply.headers['Vary'], 'Origin'].filter((name) => name !== undefined).join(', ');
  const { origin } = headers;
  if (origin === undefined || !origins.includes(origin)) {
    return { ...reply, headers: { ...reply.headers, Vary: vary } };
  }
  const isPreflight =
    method === 'OPTIONS' && headers['access-control-request-method'] !== undefined;
  const added = isPreflight
    ? preflightHeaders(reply)
    : { 'Access-Control-Expose-Headers': exposedHeaders.join(', ') };
  return {
    ...reply,
    headers: { ...reply.headers, ...added, 'Access-Control-Allow-Origin': origin, Vary: vary },
  };
}

function preflightHeaders({ headers: { Allow = '' } }: Reply): Headers {
  return {
    'Access-Control-Allow-Methods': Allow,
    'Access-Control-Allow-Headers': allowedHeaders.join(', '),
    'Access-Control-Max-Age': String(maxAgeSeconds),
  };
}
