/** Replies, and how they are sent. */
import type { Clock } from '../clock.ts';
import type { WithRefusalHeaders } from '../context/operation.ts';
import { AppError, errorBody, type Locale } from '../errors.ts';
import { announcesBody, mayHaveMuchUnread } from './body.ts';
import { isDatabaseTrouble } from '../db/unavailable.ts';
import type { Exchange } from './exchange.ts';

export type Headers = Readonly<Record<string, string>>;

export interface Reply {
  readonly status: number;
  readonly headers: Headers;
  /** Null for a status without a body. */
  readonly content: { readonly type: string; readonly bytes: string | Buffer } | null;
}

// Not an import, see listener.ts.
const { STATUS_CODES } = process.getBuiltinModule('node:http');

const jsonType = 'application/json; charset=utf-8';

/** Restarts and failovers take some seconds. */
const retryAfterSeconds = '5';

/**
 * How long the rest of a request is read and discarded after the reply. Closing at once would
 * reset the connection, and the client could lose the reply.
 */
const lingerMs = 5_000;

/**
 * A shorter reply fits into the kernel's buffer, so one call writes and ends it: a separate call
 * costs a tenth of a short request.
 */
const shortBytes = 16 * 1024;

/** Statuses that never carry a body (RFC 9110, sections 15.3.5 and 15.4.5). */
const bodiless = new Set([204, 304]);

/** @param body a JSON value; undefined for a status without a body. */
export function jsonReply(status: number, body: unknown, headers: Headers = {}): Reply {
  if (body === undefined || bodiless.has(status)) return { status, headers, content: null };
  return { status, headers, content: { type: jsonType, bytes: JSON.stringify(body) } };
}

/**
 * The reply to an error, in the caller's language.
 * @param operation supplies further headers.
 */
export function errorReply(error: AppError, locale: Locale, operation?: WithRefusalHeaders): Reply {
  return jsonReply(error.status, errorBody(error, locale), {
    ...operation?.refusalHeaders?.(error),
    'Content-Language': locale === 'pt' ? 'pt-BR' : 'en',
    Vary: 'Accept-Language',
    ...(error.code === 'UNAUTHENTICATED' && { 'WWW-Authenticate': 'Bearer' }),
    ...(error.status === 503 && { 'Retry-After': retryAfterSeconds }),
    ...error.headers,
  });
}

/** Converts a thrown value to an error of the catalogue; an unknown one becomes INTERNAL. */
export function asAppError(thrown: unknown): AppError {
  if (thrown instanceof AppError) return thrown;
  const code = isDatabaseTrouble(thrown) ? 'DATABASE_UNAVAILABLE' : 'INTERNAL';
  return new AppError(code, { cause: thrown });
}

/** The headers that a reply cannot set. */
const ownHeaders = new Set([
  'X-Request-Id',
  'Cache-Control',
  'X-Content-Type-Options',
  'Referrer-Policy',
  'Connection',
  'Content-Type',
  'Content-Length',
]);

/** All headers of a reply on the wire: names and values in turn, as Node writes them fastest. */
function wireHeaders(reply: Reply, requestId: string, closes: boolean): string[] {
  const { content, status } = reply;
  const headers = [
    'X-Request-Id',
    requestId,
    'Cache-Control',
    'no-store',
    'X-Content-Type-Options',
    'nosniff',
    // URLs may contain the secret id of an application.
    'Referrer-Policy',
    'no-referrer',
  ];
  for (const name in reply.headers) {
    if (!ownHeaders.has(name)) headers.push(name, reply.headers[name] ?? '');
  }
  if (closes || reply.headers['Connection'] !== undefined) headers.push('Connection', 'close');
  if (content !== null) headers.push('Content-Type', content.type);
  if (!bodiless.has(status)) {
    headers.push('Content-Length', String(Buffer.byteLength(content?.bytes ?? '')));
  }
  return headers;
}

export interface SendOptions {
  readonly clock: Clock;
  /** Whether to close the connection after this reply. */
  readonly closes: boolean;
}

/** Sends a reply, without its body for HEAD. */
export function send(exchange: Exchange, reply: Reply, { clock, closes }: SendOptions): void {
  const { request, response } = exchange;
  const isUnread = closes
    ? announcesBody(request) && !request.complete
    : mayHaveMuchUnread(request);
  const lingers = isUnread && !exchange.awaitsContinue;
  // Closing is the only way to tell a client that awaits `100 Continue` not to send its body.
  const mustClose = closes || lingers || exchange.awaitsContinue;
  const bytes = request.method === 'HEAD' ? undefined : reply.content?.bytes;
  response.writeHead(reply.status, wireHeaders(reply, exchange.replyId, mustClose));
  if (lingers) endAfterRequest(exchange, bytes, clock);
  else if (bytes === undefined || bytes.length < shortBytes) response.end(bytes);
  // A stopping server closes connections whose reply has ended, even if it is not sent yet.
  else if (response.write(bytes)) response.end();
  else response.once('drain', () => response.end());
}

/** Sends the whole reply now, and ends it when the request has been read. */
function endAfterRequest(
  { request, response }: Exchange,
  bytes: string | Buffer | undefined,
  clock: Clock,
): void {
  const cancel = clock.after(lingerMs, () => response.end());
  const finish = (): void => {
    cancel();
    response.end();
  };
  request.once('end', finish);
  request.once('close', finish);
  if (bytes === undefined) response.flushHeaders();
  else response.write(bytes);
  request.resume();
}

/** A reply as text, for a socket without a parsed request. */
export function rawReply(reply: Reply, requestId: string): string {
  const headers = wireHeaders(reply, requestId, true);
  const lines = headers.map((text, place) => text + (place % 2 === 0 ? ': ' : '\r\n')).join('');
  const statusLine = `HTTP/1.1 ${reply.status} ${STATUS_CODES[reply.status] ?? ''}\r\n`;
  return `${statusLine}${lines}\r\n${reply.content?.bytes.toString() ?? ''}`;
}
