/** Answers, and how they are put on the wire. */
import type { Clock } from '../clock.ts';
import { AppError, errorBody, type Locale } from '../errors.ts';
import { mayHaveMuchUnread } from './body.ts';
import { isDatabaseTrouble } from '../db/unavailable.ts';
import type { Exchange } from './exchange.ts';

export type Headers = Readonly<Record<string, string>>;

export interface Reply {
  readonly status: number;
  readonly headers: Headers;
  /** Null where the status has no body. */
  readonly content: { readonly type: string; readonly bytes: string | Buffer } | null;
}

// Not an import: see the listener.
const { STATUS_CODES } = process.getBuiltinModule('node:http');

const JSON_TYPE = 'application/json; charset=utf-8';

/** Restarts and failovers take some seconds. */
const RETRY_AFTER_SECONDS = '5';

/**
 * How long what a client still sends is read and discarded after its answer. To close at once would
 * reset the connection, and the client could lose the answer.
 */
const LINGER_MS = 5_000;

/**
 * A shorter answer is in the kernel's buffer at once, and is ended by the call that writes it: a
 * call of its own costs a tenth of a short request.
 */
const SHORT_BYTES = 16 * 1024;

/** Statuses that never carry a body (RFC 9110, sections 15.3.5 and 15.4.5). */
const BODILESS = new Set([204, 304]);

/** @param body a JSON value; undefined where the status has no body. */
export function jsonReply(status: number, body: unknown, headers: Headers = {}): Reply {
  if (body === undefined || BODILESS.has(status)) return { status, headers, content: null };
  return { status, headers, content: { type: JSON_TYPE, bytes: JSON.stringify(body) } };
}

/** The answer to an error, in the caller's language. */
export function errorReply(error: AppError, locale: Locale): Reply {
  return jsonReply(error.status, errorBody(error, locale), {
    'Content-Language': locale === 'pt' ? 'pt-BR' : 'en',
    Vary: 'Accept-Language',
    ...(error.status === 401 && { 'WWW-Authenticate': 'Bearer' }),
    ...(error.status === 503 && { 'Retry-After': RETRY_AFTER_SECONDS }),
    ...error.headers,
  });
}

/** The catalogue's error for anything that was thrown; what is not known is a defect. */
export function asAppError(thrown: unknown): AppError {
  if (thrown instanceof AppError) return thrown;
  const code = isDatabaseTrouble(thrown) ? 'DATABASE_UNAVAILABLE' : 'INTERNAL';
  return new AppError(code, { cause: thrown });
}

/** Every header of an answer, as it goes out. */
function wireHeaders(reply: Reply, requestId: string): Record<string, string | number> {
  const { content, status } = reply;
  return {
    ...reply.headers,
    'X-Request-Id': requestId,
    'Cache-Control': 'no-store',
    'X-Content-Type-Options': 'nosniff',
    // Addresses may hold the secret id of an application.
    'Referrer-Policy': 'no-referrer',
    ...(content !== null && { 'Content-Type': content.type }),
    ...(!BODILESS.has(status) && { 'Content-Length': Buffer.byteLength(content?.bytes ?? '') }),
  };
}

export interface SendOptions {
  readonly clock: Clock;
  /** Whether the connection ends with this answer. */
  readonly closes: boolean;
}

/** Sends an answer; without its body where the request was a HEAD. */
export function send(exchange: Exchange, reply: Reply, { clock, closes }: SendOptions): void {
  const { request, response } = exchange;
  const headers = wireHeaders(reply, exchange.answeredId);
  const lingers = mayHaveMuchUnread(request) && !exchange.awaitsContinue;
  // A client that still waits to send its body cannot be told otherwise that it need not.
  if (closes || lingers || exchange.awaitsContinue) headers['Connection'] = 'close';
  const bytes = request.method === 'HEAD' ? undefined : reply.content?.bytes;
  response.writeHead(reply.status, headers);
  if (lingers) endAfterRequest(exchange, bytes, clock);
  else if (bytes === undefined || bytes.length < SHORT_BYTES) response.end(bytes);
  // A server that stops closes connections whose answer has ended, also when it is not sent yet.
  else if (response.write(bytes)) response.end();
  else response.once('drain', () => response.end());
}

/** Lets the whole answer out now, and ends the connection when the request has been read. */
function endAfterRequest(
  { request, response }: Exchange,
  bytes: string | Buffer | undefined,
  clock: Clock,
): void {
  const cancel = clock.after(LINGER_MS, () => response.end());
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

/** An answer as text, for a connection on which there is no request to answer. */
export function rawAnswer(reply: Reply, requestId: string): string {
  const headers = Object.entries({ ...wireHeaders(reply, requestId), Connection: 'close' });
  const lines = headers.map(([name, value]) => `${name}: ${value}\r\n`).join('');
  const statusLine = `HTTP/1.1 ${reply.status} ${STATUS_CODES[reply.status] ?? ''}\r\n`;
  return `${statusLine}${lines}\r\n${reply.content?.bytes.toString() ?? ''}`;
}
