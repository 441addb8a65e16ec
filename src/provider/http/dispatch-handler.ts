/**
 * One request and its answer, as undici's lowest layer tells of them (a `DispatchHandler`). There
 * it is known whether anything of the request can have left, an answer is cut as soon as it is too
 * long, and the signal is obeyed at once, also while the request still waits for a connection.
 */
import type { IncomingHttpHeaders } from 'node:http';
import { notUnderstood, type ProviderError } from '../errors.ts';
import { broken, notSent, timedOut } from './failure.ts';

export interface HttpAnswer {
  readonly status: number;
  /** What the provider asks to wait before the next try, in milliseconds. */
  readonly retryAfterMs: number | undefined;
  /** The parsed JSON; undefined when the body is empty, no JSON, or nested too deeply. */
  readonly json: unknown;
  /** Whether there was no body at all. */
  readonly isEmpty: boolean;
}

/** Undici's handle on a request that is being written or answered. */
interface Controller {
  abort(reason: Error): void;
}

/** No answer that is of use is longer: a statement's page has some hundred KiB. */
const maxAnswerBytes = 1024 * 1024;

/** Deeper nesting serves no one and exhausts the stack of who walks it (RFC 8259, section 9). */
const maxDepth = 100;

const utf8 = new TextDecoder('utf-8');

/** Follows one request; undici calls the methods whose names begin with `on`. */
export class Exchange {
  readonly #settled = Promise.withResolvers<HttpAnswer>();
  readonly #signal: AbortSignal | undefined;
  /** Set from the moment in which bytes may leave: it is the proof of `not_sent` that it is not. */
  #controller: Controller | null = null;
  #isOver = false;
  #status = 0;
  #retryAfterMs: number | undefined;
  readonly #chunks: Buffer[] = [];
  #size = 0;

  /** Whether the request may still leave. */
  readonly #isInTime: () => boolean;

  /** @param isInTime is asked right before the first byte is written. */
  constructor(signal: AbortSignal | undefined, isInTime: () => boolean = () => true) {
    this.#signal = signal;
    this.#isInTime = isInTime;
  }

  /** Rejects with a ProviderError when no whole answer has come. */
  get answer(): Promise<HttpAnswer> {
    return this.#settled.promise;
  }

  /**
   * Sends the request, unless the signal has aborted already.
   *
   * @param dispatch hands the request to undici, with this exchange as its handler.
   */
  begin(dispatch: () => void): void {
    if (this.#signal?.aborted) return this.#giveUp();
    this.#signal?.addEventListener('abort', this.#giveUp, { once: true });
    dispatch();
  }

  /** Comes right before the first byte is written. */
  onRequestStart(controller: Controller): void {
    // A process that was frozen reads its sockets before its timers: the signal comes too late.
    if (!this.#isInTime()) this.#giveUp();
    // It has been told that nothing was sent, so nothing may be: throwing takes it off the queue.
    if (this.#isOver) throw new Error('given up before it left');
    this.#controller = controller;
  }

  onResponseStart(_controller: Controller, status: number, headers: IncomingHttpHeaders): void {
    if (this.#isOver) return;
    // After interim answers (1xx) the last one counts.
    this.#status = status;
    this.#retryAfterMs = retryAfter(headers['retry-after']);
    if (Number(headers['content-length'] ?? 0) > maxAnswerBytes) this.#cut();
  }

  onResponseData(_controller: Controller, chunk: Buffer): void {
    if (this.#isOver) return;
    this.#size += chunk.length;
    if (this.#size > maxAnswerBytes) return this.#cut();
    this.#chunks.push(chunk);
  }

  onResponseEnd(): void {
    if (!this.#end()) return;
    const json = parseJson(Buffer.concat(this.#chunks, this.#size));
    this.#settled.resolve({
      status: this.#status,
      retryAfterMs: this.#retryAfterMs,
      json,
      isEmpty: this.#size === 0,
    });
  }

  onResponseError(_controller: Controller | null, error: Error): void {
    this.#fail(this.#controller === null ? notSent(error) : broken(error));
  }

  readonly #giveUp = (): void => {
    const outcome = this.#controller === null ? 'not_sent' : 'unknown';
    this.#fail(timedOut(outcome, this.#signal?.reason));
    this.#controller?.abort(new Error('the caller waited no longer'));
  };

  /** Closes the connection too: the rest of the answer would have to be read otherwise. */
  #cut(): void {
    const cause = new Error(`an answer of more than ${maxAnswerBytes} bytes`);
    this.#fail(notUnderstood(cause));
    this.#controller?.abort(cause);
  }

  #fail(error: ProviderError): void {
    if (this.#end()) this.#settled.reject(error);
  }

  /** @returns false when it is over already: what comes then counts for nothing. */
  #end(): boolean {
    if (this.#isOver) return false;
    this.#isOver = true;
    this.#signal?.removeEventListener('abort', this.#giveUp);
    return true;
  }
}

/** RFC 9110, section 10.2.3, in its form as seconds; a date would need the provider's clock. */
function retryAfter(header: string | readonly string[] | undefined): number | undefined {
  const text = typeof header === 'string' ? header : header?.[0];
  return text !== undefined && /^\d{1,6}$/.test(text) ? Number(text) * 1_000 : undefined;
}

function parseJson(bytes: Buffer): unknown {
  try {
    const json: unknown = JSON.parse(utf8.decode(bytes));
    return isDeeperThan(maxDepth, json) ? undefined : json;
  } catch {
    return undefined;
  }
}

function isDeeperThan(levels: number, value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return false;
  if (levels === 0) return true;
  return Object.values(value).some((part) => isDeeperThan(levels - 1, part));
}
