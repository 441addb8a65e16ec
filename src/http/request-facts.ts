/** The facts that an operation receives about its request, beside its input. */
import type { Locale } from '../errors.ts';
import type { Log } from '../log.ts';
import type { RequestFacts } from './operation.ts';
import type { Exchange } from './exchange.ts';

export interface ExchangeFactsOptions {
  /** The log of the process, from which the request's log is derived. */
  readonly log: Log;
  readonly clientAddress: string;
  readonly rawBody: Buffer;
}

/**
 * Computes expensive facts on first use. It is a class because V8 gives every object literal with
 * getters its own hidden class in the old generation, which keeps the whole request alive until the
 * next full collection.
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
