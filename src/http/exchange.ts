/** One request and its answer, with what becomes known of them on the way. */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { continueTrace, type TraceContext } from '../domain/trace-context.ts';
import type { Locale } from '../errors.ts';
import type { Refusing } from '../operations/operation.ts';
import { preferredLocale } from './locale.ts';
import { loggableId, loggableTrace, requestId } from './request-id.ts';

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
  #id: string | null = null;
  #trace: TraceContext | null = null;

  constructor(request: IncomingMessage, response: ServerResponse, startedAt: Date) {
    this.request = request;
    this.response = response;
    this.answeredId = requestId(request.headers['x-request-id']);
    this.locale = preferredLocale(request.headers['accept-language']);
    this.startedAtMs = startedAt.getTime();
  }

  /** The same request in our log and at the provider; made when one of them is told. */
  get id(): string {
    const isGiven = this.answeredId === this.request.headers['x-request-id'];
    this.#id ??= isGiven ? loggableId(this.answeredId, this.request.url) : this.answeredId;
    return this.#id;
  }

  get trace(): TraceContext {
    this.#trace ??= loggableTrace(continueTrace(this.request.headers), this.request.url);
    return this.#trace;
  }

  /** Gets the body going that a client holds back until it is asked for it. */
  awaitBody(): void {
    if (!this.awaitsContinue) return;
    this.awaitsContinue = false;
    this.response.writeContinue();
  }

  /** What ties a line of the log to the request. */
  get names(): { readonly requestId: string; readonly traceId: string } {
    return { requestId: this.id, traceId: this.trace.traceId };
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
