/** One request and its response, with the facts that the pipeline collects about them. */
import { randomUUID } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { continueTrace, type TraceContext } from '../domain/trace-context.ts';
import type { Locale } from '../errors.ts';
import type { WithRefusalHeaders } from './operation.ts';
import { preferredLocale } from './locale.ts';
import { requestId, withoutSecret } from './request-id.ts';

interface Message {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
}

/** The log fields that identify a request. */
interface ExchangeNames {
  readonly requestId: string;
  /** The digest of the caller's `X-Request-Id`, if there is one. */
  readonly requestIdDigest?: string;
  readonly traceId: string;
}

/** One request and its response. */
export class Exchange {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  /** The value of `X-Request-Id` in the response. */
  readonly answeredId: string;
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

  /** The request's id in the log and at the provider, never the caller's own. */
  get id(): string {
    return this.names.requestId;
  }

  get trace(): TraceContext {
    const { headers, url } = this.request;
    this.#trace ??= withoutSecret(continueTrace(headers, this.#digest), url);
    return this.#trace;
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
    const { answeredId } = this;
    const { traceId } = this.trace;
    if (answeredId !== this.request.headers['x-request-id'])
      return { requestId: answeredId, traceId };
    return { requestId: randomUUID(), requestIdDigest: this.#digest(answeredId), traceId };
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

  /** Whether the response has been sent, or can no longer be sent. */
  get hasEnded(): boolean {
    return this.#hasEnded;
  }

  /** @param isSent whether the whole response was passed to the network. */
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
