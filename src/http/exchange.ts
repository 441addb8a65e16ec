/** One request and its reply, with the facts that the pipeline collects about them. */
import { randomUUID } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { beginTrace, continueTrace, type TraceContext } from '../domain/trace-context.ts';
import type { Tracing } from '../telemetry/tracing.ts';
import type { Locale } from '../errors.ts';
import type { Log } from '../telemetry/log.ts';
import { bearerOf } from './authenticate.ts';
import { preferredLocale } from './negotiation.ts';
import type { RequestFacts, WithRefusalHeaders } from '../context/operation.ts';

interface Message {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
}

interface ExchangeOptions {
  readonly startedAt: Date;
  readonly digest: (callersId: string) => string;
  /** Null: no traces. */
  readonly tracing: Tracing | null;
}

/** The log fields that identify a request. */
interface ExchangeNames {
  readonly requestId: string;
  /** The digest of the caller's `X-Request-Id`, if there is one. */
  readonly requestIdDigest?: string;
  readonly traceId: string;
}

/** One request and its reply. */
export class Exchange {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  /** The value of `X-Request-Id` in the reply. */
  readonly replyId: string;
  readonly locale: Locale;
  readonly startedAtMs: number;
  /** The name of the request in log and metrics: an operationId, or a system route's name. */
  operation: string | null = null;
  /** The route's template; the URL itself may carry an application id. */
  path: string | null = null;
  userId: number | null = null;
  /** Supplies the operation's refusal headers; null before the route is known. */
  refusalSource: WithRefusalHeaders | null = null;
  /** The status that was written to the socket directly because the message was malformed. */
  refusedStatus: number | null = null;
  /** The client waits for `100 Continue` before it sends its body. */
  awaitsContinue = false;
  /** Whether the body has the longer time-out of uploads over slow mobile networks. */
  allowsSlowBody = false;

  #isRunning = false;
  #hasEnded = false;
  #whenEnded: ((isSent: boolean) => void) | null = null;
  readonly #digest: (callersId: string) => string;
  #names: ExchangeNames | null = null;
  #trace: TraceContext | null = null;
  readonly #tracing: Tracing | null;
  /** The transaction that the request stores, if it has said so and traces are recorded. */
  transactionId: string | null = null;

  constructor({ request, response }: Message, { startedAt, digest, tracing }: ExchangeOptions) {
    this.request = request;
    this.response = response;
    this.#digest = digest;
    this.#tracing = tracing;
    this.replyId = requestId(request.headers['x-request-id']);
    this.locale = preferredLocale(request.headers['accept-language']);
    this.startedAtMs = startedAt.getTime();
  }

  /** The request's id in the log and at the provider, never the caller's own. */
  get id(): string {
    return this.names.requestId;
  }

  get trace(): TraceContext {
    this.#trace ??= this.#ownTrace();
    return this.#trace;
  }

  #ownTrace(): TraceContext {
    const { headers, url } = this.request;
    const begin = (): TraceContext => this.#beginTrace();
    return withoutSecret(continueTrace(headers, this.#digest, begin), url, begin);
  }

  #beginTrace(): TraceContext {
    if (this.#tracing === null) return beginTrace();
    return this.transactionId === null
      ? this.#tracing.begin()
      : this.#tracing.ofTransaction(this.transactionId);
  }

  /** Names the transaction that the request stores: a trace that begins here has its id. */
  traceTransaction(id: string): void {
    if (this.#tracing !== null) this.transactionId = id;
  }

  /** Sends `100 Continue` if the client waits for it. */
  sendContinue(): void {
    if (!this.awaitsContinue) return;
    this.awaitsContinue = false;
    this.response.writeContinue();
  }

  get names(): ExchangeNames {
    this.#names ??= this.#ownNames();
    return this.#names;
  }

  /** A caller's id may contain anything, so the log shows its digest beside a generated id. */
  #ownNames(): ExchangeNames {
    const { replyId } = this;
    const { traceId } = this.trace;
    if (replyId !== this.request.headers['x-request-id']) return { requestId: replyId, traceId };
    return { requestId: randomUUID(), requestIdDigest: this.#digest(replyId), traceId };
  }

  /** Whether the operation has begun: from then on, only its own reply may be sent. */
  get isRunning(): boolean {
    return this.#isRunning;
  }

  /**
   * Marks the start of the operation.
   * @throws ClientGone when the client has disconnected or was refused: the operation must not run.
   */
  begin(): void {
    if (this.refusedStatus !== null || this.response.destroyed) throw new ClientGone();
    this.#isRunning = true;
  }

  /** Whether the reply has been sent, or can no longer be sent. */
  get hasEnded(): boolean {
    return this.#hasEnded;
  }

  /** @param isSent whether the whole reply was passed to the network. */
  end(isSent: boolean): void {
    this.#hasEnded = true;
    this.#whenEnded?.(isSent);
  }

  /** Calls `listener` at the end of an exchange that has not ended yet. */
  onceEnded(listener: (isSent: boolean) => void): void {
    this.#whenEnded = listener;
  }
}

/** The client closed the connection before the operation began. */
export class ClientGone extends Error {
  constructor() {
    super('the client closed the connection');
    this.name = 'ClientGone';
  }
}

const usableId = /^[\x21-\x7e]{1,128}$/;

/** The caller's id when it is 1 to 128 visible ASCII characters, otherwise a new UUID. */
export function requestId(header: string | string[] | undefined): string {
  return typeof header === 'string' && usableId.test(header) ? header : randomUUID();
}

/** The trace of a request, or a new one if its id contains the secret application id of the URL. */
export function withoutSecret(
  trace: TraceContext,
  url: string | undefined,
  begin: () => TraceContext = beginTrace,
): TraceContext {
  return holdsSecret(trace.traceparent, url) ? begin() : trace;
}

/** Whether an id contains the application id of the URL, in any notation. */
function holdsSecret(id: string, url: string | undefined): boolean {
  const [, named] = applicationPath.exec(url ?? '') ?? [];
  if (named === undefined) return false;
  const secret = hexDigits(decoded(named));
  return secret.length === uuidDigits && hexDigits(id).includes(secret);
}

/** Matches unknown routes as well, because they are also logged. */
const applicationPath = /\/onboarding\/([^/?#]+)/;

const uuidDigits = 32;

function hexDigits(text: string): string {
  return text.toLowerCase().replaceAll(/[^\da-f]/g, '');
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

interface ExchangeFactsOptions {
  /** The log of the process, from which the request's log is derived. */
  readonly log: Log;
  readonly clientAddress: string;
  readonly rawBody: Buffer;
  readonly sentBody: Buffer | undefined;
}

/**
 * Computes expensive facts on first use. It is a class because V8 gives every object literal with
 * getters its own hidden class in the old generation, which keeps the whole request alive until the
 * next full collection.
 */
export class ExchangeFacts implements RequestFacts {
  readonly clientAddress: string;
  readonly rawBody: Buffer;
  readonly sentBody: Buffer | undefined;
  readonly #exchange: Exchange;
  readonly #log: Log;

  constructor(exchange: Exchange, { log, clientAddress, ...body }: ExchangeFactsOptions) {
    this.clientAddress = clientAddress;
    this.rawBody = body.rawBody;
    this.sentBody = body.sentBody;
    this.#exchange = exchange;
    this.#log = log;
  }

  get id(): string {
    return this.#exchange.id;
  }

  get locale(): Locale {
    return this.#exchange.locale;
  }

  get bearer(): string | null {
    return bearerOf(this.#exchange.request.headers.authorization);
  }

  get callOptions(): RequestFacts['callOptions'] {
    return { requestId: this.#exchange.id, trace: this.#exchange.trace };
  }

  traceTransaction(id: string): void {
    this.#exchange.traceTransaction(id);
  }

  get signal(): AbortSignal {
    return this.#exchange.request.signal;
  }

  get log(): Log {
    return this.#log.child(this.#exchange.names);
  }
}
