/**
 * The sandbox: the simulated bank behind the provider's HTTP API (contract/provider.yaml), with
 * faults on request, so that the real client is tested over a real connection.
 */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type Clock, pause } from '../../clock.ts';
import type { SandboxResponse } from './responses.ts';
import { Api, type ApiOptions, type Call, toRefusal } from './api.ts';
import { Calls, readIds, type OpenCall } from './calls.ts';
import { control, type Controlled, formatEffect, readFaults } from './control.ts';
import {
  deliver,
  type Delivery,
  applyFaultAfter,
  applyFaultBefore,
  deliveryStatus,
  sumLatencyMs,
} from './delivery.ts';
import { type Effect, parseFaults } from './fault-language.ts';
import { FaultPlan } from './fault-plan.ts';
import type { Bank } from './bank/bank.ts';
import { type ApiRequest, readBody, readJson } from './request.ts';

export interface ServerOptions extends ApiOptions {
  readonly clock: Clock;
  readonly host: string;
  /** 0 takes any free port. */
  readonly port: number;
  /** The fault rules of all calls, as fault-language.ts reads them; none by default. */
  readonly faults?: string;
  /** The random seed: the same seed produces the same faults. */
  readonly seed?: string;
  /** How long a connection may be idle, in milliseconds; 5,000 by default. */
  readonly keepAliveMs?: number;
}

export interface Sandbox {
  readonly bank: Bank;
  /** Where it listens, such as `http://127.0.0.1:9090`. */
  readonly url: string;
  readonly calls: Calls;
  /** Queues faults for the next calls. @throws BadRequest for invalid rules. */
  queueFaults(faults: string): void;
  /** Stops at once; open connections are closed. */
  close(): Promise<void>;
}

/**
 * Serves a bank.
 *
 * @throws FaultSyntaxError for invalid fault rules, Error when the port is taken.
 */
export async function serveBank(options: ServerOptions): Promise<Sandbox> {
  const { bank, faults = '', seed = '1', keepAliveMs } = options;
  const plan = new FaultPlan({ rules: parseFaults(faults), seed });
  const calls = new Calls();
  const closing = new AbortController();
  const api = new Api(options);
  const handler = new RequestHandler({ ...options, plan, calls, api, closing: closing.signal });
  const server = createServer((request, response) => void handler.handle(request, response));
  if (keepAliveMs !== undefined) server.keepAliveTimeout = keepAliveMs;
  return {
    bank,
    url: await listening(server, options),
    calls,
    queueFaults: (rules) => plan.enqueue(readFaults(rules)),
    async close() {
      closing.abort();
      const closed = new Promise((resolve) => server.close(resolve));
      server.closeAllConnections();
      await closed;
    },
  };
}

async function listening(server: Server, { host, port }: ServerOptions): Promise<string> {
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, host, () => {
      server.off('error', reject);
      resolve();
    });
  });
  const { address, family, port: bound } = server.address() as AddressInfo;
  return `http://${family === 'IPv6' ? `[${address}]` : address}:${bound}`;
}

type HandlerOptions = Controlled &
  Pick<ServerOptions, 'clock' | 'onFault'> & {
    readonly api: Api;
    readonly closing: AbortSignal;
  };

/** Answers the requests. */
class RequestHandler {
  readonly #options: HandlerOptions;

  constructor(options: HandlerOptions) {
    this.#options = options;
  }

  /** Answers a request, unless its fault is the lack of a response. It never rejects. */
  async handle(incoming: IncomingMessage, response: ServerResponse): Promise<void> {
    const { method = 'GET', url = '/', headers } = incoming;
    try {
      const delivery = await this.#respond({ method, url, headers, body: incoming });
      // The body of a request that has no operation is dropped.
      incoming.resume();
      await deliver(response, delivery, this.#options.clock);
    } catch (fault) {
      // A client that closes its connection early is no error of the sandbox.
      if (incoming.socket.destroyed) return;
      this.#options.onFault?.(fault);
      response.destroy();
    }
  }

  async #respond(request: ApiRequest): Promise<Delivery> {
    const { api, calls, clock, plan } = this.#options;
    if (/^\/sandbox(?:[/?]|$)/.test(request.url)) {
      return { kind: 'whole', message: await this.#control(request) };
    }
    const found = api.find(request);
    if ('status' in found) return { kind: 'whole', message: found };
    const { contract, name } = found.operation;
    const effects = plan.next(name);
    const call = calls.begin({
      at: clock.now().toISOString(),
      method: contract.method,
      path: name,
      requestId: getHeader(request, 'x-request-id'),
      traceparent: getHeader(request, 'traceparent'),
      tracestate: getHeader(request, 'tracestate'),
      faults: effects.map(formatEffect),
    });
    const delivery = await this.#execute(found, effects, call);
    call.status = deliveryStatus(delivery);
    return delivery;
  }

  async #control(request: ApiRequest): Promise<SandboxResponse> {
    try {
      const { method, url } = request;
      return await control(this.#options, { method, url, body: await readJson(request) });
    } catch (error) {
      return toRefusal(error);
    }
  }

  async #execute(call: Call, effects: readonly Effect[], recorded: OpenCall): Promise<Delivery> {
    const { api, clock, closing } = this.#options;
    const latencyMs = sumLatencyMs(effects);
    try {
      const body = await readBody(call.request, call.operation.contract.body);
      recorded.ids = readIds(body);
      // A delayed call is executed even if the client no longer waits for its response.
      if (latencyMs > 0) await pause(clock, latencyMs, closing);
      if (closing.aborted) return { kind: 'none' };
      const fault = applyFaultBefore(effects);
      return fault ?? applyFaultAfter(effects, await api.execute(call, body));
    } catch (error) {
      return applyFaultAfter(effects, toRefusal(error));
    }
  }
}

function getHeader({ headers }: ApiRequest, name: string): string | null {
  const header = headers[name];
  return typeof header === 'string' ? header : null;
}
