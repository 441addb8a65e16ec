/** One request and its answer, with what becomes known of them on the way. */
import { randomUUID } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { continueTrace, type TraceContext } from '../domain/trace-context.ts';
import type { Locale } from '../errors.ts';
import type { Refusing } from './operation.ts';
import { preferredLocale } from './locale.ts';
import { requestId, withoutSecret } from './request-id.ts';

interface Message {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
}

/** What ties a line of the log to a request. */
interface ExchangeNames {
  readonly requestId: string;
  /** Of the id that the caller has given, if it has. */
  readonly requestIdDigest?: string;
  readonly traceId: string;
}

/** One request and its answer, with what is known of them on the way. */
export class Exchange {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  /** What `X-Request-Id` answers. */
  readonly answeredId: string;
  readonly locale: Locale;
  readonly startedAtMs: number;
  /** What the log and the metrics call the request: an operationId, or a system route's name. */
  operation: string | null = null;
  /** The route's template; the URL itself may carry an application id. */
  path: string | null = null;
  userId: number | null = null;
  /** What the operation says with every refusal; null before the route is known. */
  refusing: Refusing | null = null;
  /** The status of an answer that went out past the response, because the message was broken. */
  refusedStatus: number | null = null;
  /** The client waits for `100 Continue` before it sends its body. */
  awaitsContinue = false;
  /** Whether the body may take the time that a document takes over a slow mobile network. */
  mayComeSlowly = false;

  #isRunning = false;
  #hasEnded = false;
  #whenEnded: ((isSent: boolean) => void) | null = null;
  readonly #digest: (callersId: string) => string;
  #names: ExchangeNames | null = null;
  #trace: TraceContext | null = null;

  constructor(
    { request, response }: Message,
    { startedAt, digest }: { startedAt: Date; digest: (callersId: string) => string },
  ) {
    this.request = request;
    this.response = response;
    this.#digest = digest;
    this.answeredId = requestId(request.headers['x-request-id']);
    this.locale = preferredLocale(request.headers['accept-language']);
    this.startedAtMs = startedAt.getTime();
  }

  /** The request in our log and at the provider: always an id of our own. */
  get id(): string {
    return this.names.requestId;
  }

  get trace(): TraceContext {
    const { headers, url } = this.request;
    this.#trace ??= withoutSecret(continueTrace(headers, this.#digest), url);
    return this.#trace;
  }

  /** Gets the body going that a client holds back until it is asked for it. */
  awaitBody(): void {
    if (!this.awaitsContinue) return;
    this.awaitsContinue = false;
    this.response.writeContinue();
  }

  get names(): ExchangeNames {
    this.#names ??= this.#ownNames();
    return this.#names;
  }

  /** A caller may write anything into an id: the log has its digest beside an id of our own. */
  #ownNames(): ExchangeNames {
    const { answeredId } = this;
    const { traceId } = this.trace;
    if (answeredId !== this.request.headers['x-request-id'])
      return { requestId: answeredId, traceId };
    return { requestId: randomUUID(), requestIdDigest: this.#digest(answeredId), traceId };
  }

  /** Whether work has begun whose outcome only the operation's own answer may tell. */
  get isRunning(): boolean {
    return this.#isRunning;
  }

  /**
   * Marks the beginning of that work.
   * @throws ClientGone when the client has left or was refused meanwhile: nothing is done then.
   */
  begin(): void {
    if (this.refusedStatus !== null || this.response.destroyed) throw new ClientGone();
    this.#isRunning = true;
  }

  /** Whether the answer has been sent, or can no longer be sent. */
  get hasEnded(): boolean {
    return this.#hasEnded;
  }

  /** @param isSent whether the whole answer was handed to the network. */
  end(isSent: boolean): void {
    this.#hasEnded = true;
    this.#whenEnded?.(isSent);
  }

  /** Calls `listener` at the end of an exchange that has not ended yet. */
  onceEnded(listener: (isSent: boolean) => void): void {
    this.#whenEnded = listener;
  }
}

/** The client closed the connection before work began: there is nobody to answer. */
export class ClientGone extends Error {
  constructor() {
    super('the client closed the connection');
    this.name = 'ClientGone';
  }
}
