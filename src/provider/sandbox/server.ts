/**
 * The sandbox: the simulated bank behind the provider's HTTP API (contract/provider.yaml), with
 * faults on request, so that the real client is tested over a real connection.
 */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type Clock, pause } from '../../clock.ts';
import type { Bank } from '../stub/bank.ts';
import { toAnswer, problem, type SandboxAnswer, type Silence } from './answers.ts';
import { Calls, readIds, type OpenCall } from './calls.ts';
import { createRouter, type ProviderOperation } from './contract.ts';
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
import type { LedgerView } from './ledger.ts';
import { serve } from './operations.ts';
import { BadRequest, readBody, readJson } from './request.ts';

export interface SandboxOptions {
  readonly bank: Bank;
  /** The bank's ledger, for the control path. */
  readonly ledger: () => LedgerView;
  readonly clock: Clock;
  readonly host: string;
  /** 0 takes any free port. */
  readonly port: number;
  /** The fault rules of all calls, as fault-language.ts reads them; none by default. */
  readonly faults?: string;
  /** The random seed: the same seed produces the same faults. */
  readonly seed?: string;
  /** Whether it serves the onboarding paths, which tested hosts do not; true by default. */
  readonly hasOnboarding?: boolean;
  /** How long a connection may be idle, in milliseconds; 5,000 by default. */
  readonly keepAliveMs?: number;
  /** Receives the errors of the sandbox itself. */
  readonly onFault?: (fault: unknown) => void;
}

export interface Sandbox {
  /** Where it listens, such as `http://127.0.0.1:9090`; known once {@link listen} has resolved. */
  readonly url: string;
  readonly calls: Calls;
  /** @throws Error when the port is taken. */
  listen(): Promise<void>;
  /** Queues faults for the next calls. @throws BadRequest for invalid rules. */
  queueFaults(faults: string): void;
  /** Stops at once; open connections are closed. */
  close(): Promise<void>;
}

/**
 * Creates the sandbox; {@link Sandbox.listen} starts it.
 *
 * @throws FaultSyntaxError for invalid fault rules.
 */
export function createSandbox(options: SandboxOptions): Sandbox {
  const rules = parseFaults(options.faults ?? '');
  const plan = new FaultPlan({ rules, seed: options.seed ?? '1' });
  const calls = new Calls();
  const closing = new AbortController();
  const router = createRouter(options.hasOnboarding ?? true);
  const handler = new RequestHandler({ ...options, plan, calls, router, closing: closing.signal });
  const server = createServer((request, response) => void handler.handle(request, response));
  if (options.keepAliveMs !== undefined) server.keepAliveTimeout = options.keepAliveMs;
  let url = '';
  return {
    get url() {
      return url;
    },
    calls,
    async listen() {
      url = await listening(server, options);
    },
    queueFaults: (faults) => plan.enqueue(readFaults(faults)),
    async close() {
      closing.abort();
      const closed = new Promise((resolve) => server.close(resolve));
      server.closeAllConnections();
      await closed;
    },
  };
}

async function listening(server: Server, { host, port }: SandboxOptions): Promise<string> {
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
  Pick<SandboxOptions, 'clock' | 'onFault'> & {
    readonly router: ReturnType<typeof createRouter>;
    readonly closing: AbortSignal;
  };

/** Answers the requests. */
class RequestHandler {
  readonly #options: HandlerOptions;

  constructor(options: HandlerOptions) {
    this.#options = options;
  }

  /** Answers a request, unless its fault is the lack of an answer. It never rejects. */
  async handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    try {
      const delivery = await this.#answer(request);
      await deliver(response, delivery, this.#options.clock);
    } catch (fault) {
      // A client that closes its connection early is no error of the sandbox.
      if (request.socket.destroyed) return;
      this.#options.onFault?.(fault);
      response.destroy();
    }
  }

  async #answer(request: IncomingMessage): Promise<Delivery> {
    const { url = '/', method = 'GET' } = request;
    if (/^\/sandbox(?:[/?]|$)/.test(url)) {
      const answer = await orProblem(async () =>
        control(this.#options, { method, url, body: await readJson(request) }),
      );
      return { kind: 'whole', answer };
    }
    const found = this.#options.router.find(url);
    if (typeof found === 'string') return refused(request, problem(404, { code: 'NotFound' }));
    const operation = found.entry.find(({ contract }) => contract.method === method);
    if (operation === undefined) return refused(request, notAllowed(found.entry));
    return this.#call({ operation, request, path: found.params, query: found.query });
  }

  async #call(incoming: Incoming): Promise<Delivery> {
    const { calls, clock, plan } = this.#options;
    const { operation, request } = incoming;
    const effects = plan.next(operation.name);
    const call = calls.begin({
      at: clock.now().toISOString(),
      method: operation.contract.method,
      path: operation.name,
      requestId: getHeader(request, 'x-request-id'),
      traceparent: getHeader(request, 'traceparent'),
      tracestate: getHeader(request, 'tracestate'),
      faults: effects.map(formatEffect),
    });
    const delivery = await this.#execute(incoming, effects, call);
    call.status = deliveryStatus(delivery);
    return delivery;
  }

  async #execute(
    { operation, request, path, query }: Incoming,
    effects: readonly Effect[],
    call: OpenCall,
  ): Promise<Delivery> {
    const { bank, clock, closing } = this.#options;
    const latencyMs = sumLatencyMs(effects);
    const answer = await orProblem(async (): Promise<SandboxAnswer | Silence | Delivery> => {
      const body = await readBody(request, operation.contract.body);
      call.ids = readIds(body);
      // A delayed call is executed even if the client no longer waits for its answer.
      if (latencyMs > 0) await pause(clock, latencyMs, closing);
      if (closing.aborted) return 'hang';
      const fault = applyFaultBefore(effects);
      if (fault !== null) return fault;
      const token = /^Bearer (.+)$/i.exec(getHeader(request, 'authorization') ?? '')?.[1] ?? '';
      const queried = Object.fromEntries(new URLSearchParams(query));
      return toAnswer(await serve(bank, operation, { token, path, query: queried, body }));
    });
    if (typeof answer === 'object' && 'kind' in answer) return answer;
    return applyFaultAfter(effects, answer);
  }
}

/** A request, and its operation. */
interface Incoming {
  readonly operation: ProviderOperation;
  readonly request: IncomingMessage;
  /** The path's parameters. */
  readonly path: Readonly<Record<string, string | undefined>>;
  /** Still encoded. */
  readonly query: string;
}

async function orProblem<T>(work: () => Promise<T>): Promise<T | SandboxAnswer> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof BadRequest)) throw error;
    return problem(error.status, { code: 'InvalidRequest', detail: error.message });
  }
}

/** The body is dropped. */
function refused(request: IncomingMessage, answer: SandboxAnswer): Delivery {
  request.resume();
  return { kind: 'whole', answer };
}

function notAllowed(operations: readonly ProviderOperation[]): SandboxAnswer {
  const answer = problem(405, { code: 'MethodNotAllowed' });
  const allow = operations.map(({ contract }) => contract.method).join(', ');
  return { ...answer, headers: { ...answer.headers, allow } };
}

function getHeader(request: IncomingMessage, name: string): string | null {
  const header = request.headers[name];
  return typeof header === 'string' ? header : null;
}
