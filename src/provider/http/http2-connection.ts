/**
 * A connection of HTTP/2: each of its streams carries one request, and a response belongs to its
 * stream, so that payments can share it. undici's client for HTTP/2 cannot carry them: after a
 * GOAWAY it sends requests again by itself, also those that the bank executes on an earlier
 * connection.
 */
import { validateHeaderValue } from 'node:http';
import {
  connect,
  constants,
  type ClientHttp2Session,
  type ClientHttp2Stream,
  type Settings,
} from 'node:http2';
import type { Socket } from 'node:net';
import { errors } from 'undici';
import type { Clock } from '../../clock.ts';
import type { WireRequest } from './client.ts';
import type { Controller, DispatchHandler } from './dispatch-handler.ts';

/** A connection on which nothing has arrived for longer may be dead, and gets no request. */
const maxSilenceMs = 5_000;

/** A longer use would hold on to one address and one machine of the bank. */
const maxAgeMs = 60_000;

/** The largest number of requests at a time; the bank may allow fewer. */
const maxStreams = 100;

/** With these a bank says that it does not understand, or does not want, HTTP/2. */
const refusals: ReadonlySet<number | undefined> = new Set([
  constants.NGHTTP2_PROTOCOL_ERROR,
  constants.NGHTTP2_HTTP_1_1_REQUIRED,
]);

export interface Http2ConnectionOptions {
  readonly origin: URL;
  readonly clock: Clock;
  /** The longest silence of one stream. */
  readonly timeoutMs: number;
  /** Called when one of the two sides does not keep to the protocol. */
  readonly onFault: () => void;
  readonly onClose: () => void;
}

/** A connection that carries several requests at a time. */
export class Http2Connection {
  /** Resolves when it is known how many requests it carries at a time, or when it is closed. */
  readonly ready: Promise<void>;
  readonly #socket: Socket;
  readonly #session: ClientHttp2Session;
  readonly #options: Http2ConnectionOptions;
  readonly #openedAtMs: number;
  #heardAtMs: number;
  #streams = 0;
  /** Not more than the first one until the bank has said how many it takes. */
  #maxStreams = 1;
  /** Whether the bank has ended it because of an error. */
  #hasFailed = false;
  #cancelRest: () => void = () => undefined;

  /** @param socket is connected, and HTTP/2 is negotiated. */
  constructor(socket: Socket, options: Http2ConnectionOptions) {
    const { origin, onClose } = options;
    this.#socket = socket;
    this.#options = options;
    this.#openedAtMs = this.#nowMs();
    this.#heardAtMs = this.#openedAtMs;
    const createConnection = (): Socket => socket;
    this.#session = connect(origin, { createConnection, settings: { enablePush: false } });
    this.#session.on('goaway', (code) => {
      this.#hasFailed ||= code !== constants.NGHTTP2_NO_ERROR;
    });
    this.#session.on('error', (error) => this.#blame(error));
    this.ready = new Promise((resolve) => {
      this.#session.on('remoteSettings', (settings: Settings) => {
        this.#maxStreams = Math.min(settings.maxConcurrentStreams ?? maxStreams, maxStreams);
        resolve();
      });
      this.#session.on('close', () => {
        this.#cancelRest();
        resolve();
        onClose();
      });
    });
    this.#rest();
  }

  /** Whether it carries a further request. */
  get isFree(): boolean {
    if (this.#session.closed || this.#session.destroyed) return false;
    const nowMs = this.#nowMs();
    const isAlive = nowMs - this.#heardAtMs < maxSilenceMs && nowMs - this.#openedAtMs < maxAgeMs;
    return isAlive && this.#streams < this.#maxStreams;
  }

  /** Whether it has failed: what came is not in the protocol, or one of the sides said so. */
  hasSurplus(): boolean {
    return this.#hasFailed || (this.#session.destroyed && !this.#session.closed);
  }

  dispatch({ method, path, headers, body }: WireRequest, handler: DispatchHandler): void {
    const begun: { stream?: ClientHttp2Stream } = {};
    const controller = {
      abort(): void {
        begun.stream?.close(constants.NGHTTP2_CANCEL);
        // Does not wait for a bank that takes nothing more.
        begun.stream?.destroy();
      },
    };
    try {
      if (!Buffer.isBuffer(body)) throw new TypeError('a stream carries JSON only');
      // node sends any value.
      for (const [name, value] of Object.entries(headers)) validateHeaderValue(name, value);
      handler.onRequestStart(controller);
      const pseudo = { ':method': method, ':path': path };
      const length = { 'content-length': String(body.length) };
      begun.stream = this.#session.request({ ...pseudo, ...headers, ...length });
    } catch (error) {
      return handler.onRequestRefused(error as Error);
    }
    this.#follow(begun.stream, handler, controller);
    begun.stream.end(body);
  }

  /** Closes it at once: the end of a session would wait for a bank that takes nothing more. */
  close(): void {
    this.#socket.destroy();
  }

  /** Passes what comes on a stream to the handler of its request. */
  #follow(stream: ClientHttp2Stream, handler: DispatchHandler, controller: Controller): void {
    let failure: Error | null = null;
    let isBegun = false;
    let hasResponse = false;
    this.#begin();
    stream.setTimeout(this.#options.timeoutMs, () => stream.destroy(new errors.BodyTimeoutError()));
    stream.on('continue', () => stream.destroy(new Error('a 100 that was not asked for')));
    stream.on('headers', () => {
      isBegun = true;
    });
    stream.on('response', (headers) => {
      isBegun = true;
      hasResponse = true;
      this.#heardAtMs = this.#nowMs();
      handler.onResponseStart(controller, Number(headers[':status']), headers);
    });
    stream.on('data', (chunk: Buffer) => handler.onResponseData(controller, chunk));
    stream.on('error', (error) => {
      failure = error;
      this.#blame(error);
    });
    // node says `end` of a response that was cut off, too; the code is known at `close`.
    stream.on('close', () => {
      this.#end();
      const code = stream.rstCode;
      if (refusals.has(code)) this.#options.onFault();
      // The end of a connection that has failed has the code of the failure for each stream.
      const isRefused = code === constants.NGHTTP2_REFUSED_STREAM && !this.hasSurplus();
      const error = failure ?? new Error(`the stream was closed with the code ${code}`);
      if (hasResponse && failure === null && code === constants.NGHTTP2_NO_ERROR) {
        handler.onResponseEnd();
      } else if (isRefused && !isBegun) {
        handler.onRequestRefused(error);
      } else {
        handler.onResponseError(controller, error);
      }
    });
  }

  /** Tells of a failure of the connection that the protocol has a name for. */
  #blame(error: Error): void {
    const code = 'code' in error ? String(error.code) : '';
    if (/^ERR_HTTP2_(?:SESSION_)?ERROR$/.test(code)) this.#options.onFault();
  }

  #begin(): void {
    this.#streams += 1;
    this.#cancelRest();
    this.#session.ref();
  }

  #end(): void {
    this.#streams -= 1;
    if (this.#streams === 0) this.#rest();
  }

  /** Closes it after a silence. While it carries nothing, it does not keep the process alive. */
  #rest(): void {
    this.#session.unref();
    this.#cancelRest = this.#options.clock.after(maxSilenceMs, () => this.close());
  }

  #nowMs(): number {
    return this.#options.clock.now().getTime();
  }
}
