/** What an operation is told of its request, beside its input. */
import type { Locale } from '../errors.ts';
import type { Log } from '../log.ts';
import type { RequestFacts } from './operation.ts';
import type { Exchange } from './exchange.ts';

export interface ExchangeFactsOptions {
  /** The process's log; the request's is made of it. */
  readonly log: Log;
  readonly clientAddress: string;
  readonly rawBody: Buffer;
}

/**
 * What costs something is made only when the operation asks for it. This is a class because of what
 * an object literal with getters costs: V8 gives each one a hidden class of its own in the old
 * generation, and with it keeps the whole request until the next full collection.
 */
export class ExchangeFacts implements RequestFacts {
  readonly clientAddress: string;
  readonly rawBody: Buffer;
  readonly #exchange: Exchange;
  readonly #log: Log;

  constructor(exchange: Exchange, { log, clientAddress, rawBody }: ExchangeFactsOptions) {
    this.clientAddress = clientAddress;
    this.rawBody = rawBody;
    this.#exchange = exchange;
    this.#log = log;
  }

  get id(): string {
    return this.#exchange.id;
  }

  get locale(): Locale {
    return this.#exchange.locale;
  }

  get callOptions(): RequestFacts['callOptions'] {
    return { requestId: this.#exchange.id, trace: this.#exchange.trace };
  }

  get signal(): AbortSignal {
    return this.#exchange.request.signal;
  }

  get log(): Log {
    return this.#log.child(this.#exchange.names);
  }
}
