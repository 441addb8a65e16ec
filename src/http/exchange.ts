/** One request and its answer, with what becomes known of them on the way. */
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Locale } from '../errors.ts';
import { preferredLocale } from './locale.ts';
import { requestId } from './request-id.ts';

/** One request and its answer, with what is known of them on the way. */
export class Exchange {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly id: string;
  readonly locale: Locale;
  readonly startedAtMs: number;
  /** What the log and the metrics call the request: an operationId, or a system route's name. */
  operation: string | null = null;
  /** The route's template; the URL itself may carry an application id. */
  path: string | null = null;
  userId: number | null = null;
  /** The status of an answer that went out past the response, because the message was broken. */
  refusedStatus: number | null = null;
  /** The client waits for `100 Continue` before it sends its body. */
  awaitsContinue = false;

  #isRunning = false;

  constructor(request: IncomingMessage, response: ServerResponse, startedAt: Date) {
    this.request = request;
    this.response = response;
    this.id = requestId(request.headers['x-request-id']);
    this.locale = preferredLocale(request.headers['accept-language']);
    this.startedAtMs = startedAt.getTime();
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
}

/** The client closed the connection before work began: there is nobody to answer. */
export class ClientGone extends Error {
  constructor() {
    super('the client closed the connection');
    this.name = 'ClientGone';
  }
}
