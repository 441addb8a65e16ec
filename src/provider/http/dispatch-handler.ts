/**
 * Handles one request at undici's lowest level (`DispatchHandler`). Only there it is known whether
 * any byte of the request can have been sent. It also truncates oversized responses at once, and
 * obeys the signal while the request still waits for a connection.
 */
import type { IncomingHttpHeaders } from 'node:http';
import { findContradictions, repeatsMembers } from '../../domain/json-members.ts';
import { notSent, notUnderstood, ProviderError, timedOut } from '../errors.ts';

export interface HttpResponse {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  /** `Retry-After` of the response, in milliseconds. */
  readonly retryAfterMs: number | undefined;
  /**
   * The parsed JSON; undefined when the body is empty, not JSON, or nested too deeply, or has two
   * members with one name and different values.
   */
  readonly json: unknown;
  /** Whether there was no body at all. */
  readonly isEmpty: boolean;
  /** Whether more has come with it on a connection of its own; false by default. */
  readonly hasSurplus?: boolean;
}

/** The header in which a response repeats the id of its request, and this id. */
export interface Echo {
  /** In lower case. */
  readonly header: string;
  readonly id: string;
}

/** undici's handle of a request in flight. */
export interface Controller {
  abort(reason: Error): void;
}

/** Valid responses are shorter: a statement has some hundred KiB. */
const maxResponseBytes = 1024 * 1024;

/** Deeper nesting could overflow the stack of a recursive walk (RFC 8259, section 9). */
const maxDepth = 100;

const utf8 = new TextDecoder('utf-8');

/** The handler of one request; undici calls the methods whose names begin with `on`. */
export class DispatchHandler {
  readonly #settled = Promise.withResolvers<HttpResponse>();
  readonly #signal: AbortSignal | undefined;
  /** Set before the first byte is sent: null proves `not_sent`. */
  #controller: Controller | null = null;
  #isOver = false;
  #status = 0;
  #headers: IncomingHttpHeaders = {};
  readonly #chunks: Buffer[] = [];
  #size = 0;

  /** Whether the request may still be sent. */
  readonly #isInTime: () => boolean;

  /** What the response must repeat; null: nothing. */
  readonly #echo: Echo | null;

  /** @param isInTime is checked immediately before the first byte is written. */
  constructor(
    signal: AbortSignal | undefined,
    isInTime: () => boolean = () => true,
    echo: Echo | null = null,
  ) {
    this.#signal = signal;
    this.#isInTime = isInTime;
    this.#echo = echo;
  }

  /** Rejects with a ProviderError when there is no complete response. */
  get response(): Promise<HttpResponse> {
    return this.#settled.promise;
  }

  /**
   * Sends the request, unless the signal has already aborted.
   *
   * @param dispatch passes the request to undici with this handler.
   */
  begin(dispatch: () => void): void {
    if (this.#signal?.aborted) return this.#giveUp();
    this.#signal?.addEventListener('abort', this.#giveUp, { once: true });
    dispatch();
  }

  /** Called immediately before the first byte is written. */
  onRequestStart(controller: Controller): void {
    // A process that was suspended handles its sockets before its timers, so the signal is late.
    if (!this.#isInTime()) this.#giveUp();
    // `not_sent` was already reported, so nothing may be sent: throwing removes it from the queue.
    if (this.#isOver) throw new Error('aborted before it was sent');
    this.#controller = controller;
  }

  onResponseStart(_controller: Controller, status: number, headers: IncomingHttpHeaders): void {
    if (this.#isOver) return;
    // Interim responses (1xx) precede the final one.
    this.#status = status;
    this.#headers = headers;
    if (status >= 200 && !this.#isOurs(headers)) return this.#cut(foreign(status));
    if (Number(headers['content-length'] ?? 0) > maxResponseBytes) this.#cut(oversized());
  }

  onResponseData(_controller: Controller, chunk: Buffer): void {
    if (this.#isOver) return;
    this.#size += chunk.length;
    if (this.#size > maxResponseBytes) return this.#cut(oversized());
    this.#chunks.push(chunk);
  }

  onResponseEnd(): void {
    if (!this.#end()) return;
    const json = parseJson(Buffer.concat(this.#chunks, this.#size));
    this.#settled.resolve({
      status: this.#status,
      headers: this.#headers,
      retryAfterMs: retryAfter(this.#headers['retry-after']),
      json,
      isEmpty: this.#size === 0,
    });
  }

  onResponseError(_controller: Controller | null, error: Error): void {
    this.#fail(this.#controller === null ? unconnected(error) : broken(error));
  }

  /** Called when no response has begun, and the request was provably not processed. */
  onRequestRefused(error: Error): void {
    this.#fail(unconnected(error));
  }

  readonly #giveUp = (): void => {
    const outcome = this.#controller === null ? 'not_sent' : 'unknown';
    this.#fail(timedOut(outcome, this.#signal?.reason));
    this.#controller?.abort(new Error('the caller stopped waiting'));
  };

  /** Also closes the connection; otherwise the rest of the response would have to be read. */
  #cut(error: ProviderError): void {
    this.#fail(error);
    this.#controller?.abort(error);
  }

  #isOurs(headers: IncomingHttpHeaders): boolean {
    return this.#echo === null || headers[this.#echo.header] === this.#echo.id;
  }

  #fail(error: ProviderError): void {
    if (this.#end()) this.#settled.reject(error);
  }

  /** @returns false when the request has already ended: later results are ignored. */
  #end(): boolean {
    if (this.#isOver) return false;
    this.#isOver = true;
    this.#signal?.removeEventListener('abort', this.#giveUp);
    return true;
  }
}

/**
 * Reads `Retry-After` in seconds (RFC 9110, section 10.2.3); a date depends on synchronous clocks.
 */
function retryAfter(header: string | readonly string[] | undefined): number | undefined {
  const text = typeof header === 'string' ? header : header?.[0];
  return text !== undefined && /^\d{1,6}$/.test(text) ? Number(text) * 1_000 : undefined;
}

function parseJson(bytes: Buffer): unknown {
  try {
    const text = utf8.decode(bytes);
    const json: unknown = JSON.parse(text);
    return isDeeperThan(maxDepth, json) || isContradictory(text, json) ? undefined : json;
  } catch {
    return undefined;
  }
}

function isContradictory(text: string, json: unknown): boolean {
  return repeatsMembers(text, json) && findContradictions(text).length > 0;
}

function isDeeperThan(levels: number, value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return false;
  if (levels === 0) return true;
  for (const part of Object.values(value)) if (isDeeperThan(levels - 1, part)) return true;
  return false;
}

function oversized(): ProviderError {
  return notUnderstood(new Error(`a response of more than ${maxResponseBytes} bytes`));
}

/**
 * A response that does not repeat the id of its request proves nothing. One of 5xx comes from a
 * gateway that fails: the request may be repeated as after a broken connection.
 */
function foreign(status: number): ProviderError {
  const cause = new Error(`a response ${status} without the id of its request`);
  return status >= 500 ? broken(cause) : notUnderstood(cause);
}

/** The client is closed. */
export function closed(): ProviderError {
  return notSent('connect', new Error('the HTTP client is closed'), false);
}

/**
 * No byte was sent: a connection could not be established (DNS, TCP, TLS), or none was free; or the
 * bank has refused a stream before it looked at its request (RFC 9113, section 8.7). Error
 * codes do not tell, because `ECONNRESET` and `EHOSTUNREACH` occur in both cases.
 */
function unconnected(cause: unknown): ProviderError {
  // An invalid request fails again.
  return notSent('connect', cause, !/_INVALID_(?:ARG|CHAR)/.test(errorCode(cause) ?? ''));
}

/** The connection broke after bytes may have been sent: the outcome is unknown. */
function broken(cause: unknown): ProviderError {
  const code = errorCode(cause);
  if (code?.endsWith('_TIMEOUT')) return timedOut('unknown', cause);
  if (code === 'UND_ERR_HEADERS_OVERFLOW' || isNoHttp(cause)) return notUnderstood(cause);
  return new ProviderError({
    outcome: 'unknown',
    code: 'PROVIDER_UNAVAILABLE',
    statusClass: 'reset',
    retryable: true,
    cause,
  });
}

/**
 * undici's parser errors have no code; at the end of a connection they mean a broken connection.
 */
function isNoHttp(error: unknown): boolean {
  if (!(error instanceof Error) || error.name !== 'HTTPParserError') return false;
  return !error.message.includes('EOF');
}

function errorCode(error: unknown): string | null {
  const isCoded = error instanceof Error && 'code' in error && typeof error.code === 'string';
  return isCoded ? (error.code as string) : null;
}
