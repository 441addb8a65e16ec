/**
 * The sandbox: the simulated bank behind the provider's own paths, over HTTP. What the stub does in
 * process it does on a wire that can be made to break, so that the real client has something real
 * to be tested against.
 */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type Clock, pause } from '../../clock.ts';
import type { Bank } from '../stub/bank.ts';
import { Calls, idsOf, type OpenCall } from './calls.ts';
import { control, type Controlled, nameOfEffect, readFaults } from './control.ts';
import { deliver, type Delivery, statusOf } from './delivery.ts';
import { type Effect, parseFaults } from './fault-language.ts';
import { FaultPlan } from './fault-plan.ts';
import { distortion, latencyMsOf, obstruction } from './faults.ts';
import type { LedgerView } from './ledger.ts';
import { answerOf, BadRequest, problem, type SandboxAnswer } from './messages.ts';
import { readForm, readJson } from './request-body.ts';
import { createRouter, type Match, routePaths, type Router } from './routes.ts';

export interface SandboxOptions {
  readonly bank: Bank;
  /** What the bank has done, for the control path. */
  readonly ledger: () => LedgerView;
  readonly clock: Clock;
  readonly host: string;
  /** 0 takes any free one. */
  readonly port: number;
  /** The schedule of faults, in their language; none unless given. */
  readonly faults?: string;
  /** What chance is drawn from: the same seed gives the same faults. */
  readonly seed?: string;
  /** Whether it offers the opening of accounts, which the hosts that were tried do not; it does. */
  readonly hasOnboarding?: boolean;
  /** How long a connection may stand idle; five seconds, as Node's servers do, unless given. */
  readonly keepAliveMs?: number;
  /** Is told of what should not go wrong. */
  readonly onFault?: (fault: unknown) => void;
}

export interface Sandbox {
  /** Where it listens, such as `http://127.0.0.1:9090`; known once {@link listen} has resolved. */
  readonly url: string;
  readonly calls: Calls;
  /** @throws Error when the port is taken. */
  listen(): Promise<void>;
  /** Makes the next calls go wrong. @throws BadRequest when it cannot read the rules. */
  queueFaults(faults: string): void;
  /** Stops at once: calls that hang are cut. */
  close(): Promise<void>;
}

/**
 * Makes the sandbox; {@link Sandbox.listen} opens it.
 *
 * @throws FaultSyntaxError when it cannot read the faults.
 */
export function createSandbox(options: SandboxOptions): Sandbox {
  const rules = parseFaults(options.faults ?? '', routePaths);
  const plan = new FaultPlan({ rules, seed: options.seed ?? '1' });
  const calls = new Calls();
  const closing = new AbortController();
  const router = createRouter(options.hasOnboarding ?? true);
  const desk = new Desk({ ...options, plan, calls, router, closing: closing.signal });
  const server = createServer((request, response) => void desk.handle(request, response));
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

type DeskOptions = Controlled &
  Pick<SandboxOptions, 'clock' | 'onFault'> & {
    readonly router: Router;
    readonly closing: AbortSignal;
  };

/** Where requests come in. */
class Desk {
  readonly #options: DeskOptions;

  constructor(options: DeskOptions) {
    this.#options = options;
  }

  /** Answers a request, or does not: it never rejects. */
  async handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    try {
      const delivery = await this.#answer(request);
      await deliver(response, delivery, this.#options.clock);
    } catch (fault) {
      // A client that has gone in the middle of its request is nothing to report.
      if (request.socket.destroyed) return;
      this.#options.onFault?.(fault);
      response.destroy();
    }
  }

  async #answer(request: IncomingMessage): Promise<Delivery> {
    const url = new URL(request.url ?? '/', 'http://sandbox');
    const method = request.method ?? 'GET';
    if (/^\/sandbox(?:\/|$)/.test(url.pathname)) {
      const answer = await unlessBad(async () => {
        const body = await readJson(request);
        return control(this.#options, { method, path: url.pathname, body });
      });
      return { how: 'whole', answer };
    }
    const candidates = this.#options.router(url.pathname);
    const match = candidates.find(({ route }) => route.method === method);
    if (match !== undefined) return this.#call(match, request, url);
    const allow = candidates.map(({ route }) => route.method).join(', ');
    const refusal = allow === '' ? problem(404, { code: 'NotFound' }) : notAllowed(allow);
    request.resume();
    return { how: 'whole', answer: refusal };
  }

  async #call(match: Match, request: IncomingMessage, url: URL): Promise<Delivery> {
    const { calls, clock, plan } = this.#options;
    const { route } = match;
    const effects = plan.next(route.path);
    const call = calls.begin({
      at: clock.now().toISOString(),
      method: route.method,
      path: route.path,
      requestId: headerOf(request, 'x-request-id'),
      traceparent: headerOf(request, 'traceparent'),
      tracestate: headerOf(request, 'tracestate'),
      faults: effects.map(nameOfEffect),
    });
    const delivery = await this.#execute({ ...match, request, url, effects, call });
    call.status = statusOf(delivery);
    return delivery;
  }

  async #execute(execution: Execution): Promise<Delivery> {
    const { route, parameters, request, url, effects, call } = execution;
    const { bank, clock, closing } = this.#options;
    const latencyMs = latencyMsOf(effects);
    const answer = await unlessBad(async () => {
      const body = await (route.takes === 'form' ? readForm(request) : readJson(request));
      call.ids = idsOf(body);
      // Late is late: what the client has given up meanwhile is executed all the same.
      if (latencyMs > 0) await pause(clock, latencyMs, closing);
      if (closing.aborted) return 'hang';
      const obstructed = obstruction(effects);
      if (obstructed !== null) return obstructed;
      const token = /^Bearer (.+)$/i.exec(headerOf(request, 'authorization') ?? '')?.[1] ?? '';
      const asked = { token, query: url.searchParams, parameters, body };
      return answerOf(await route.serve(bank, asked));
    });
    if (typeof answer === 'object' && 'how' in answer) return answer;
    return distortion(effects, answer);
  }
}

interface Execution extends Match {
  readonly request: IncomingMessage;
  readonly url: URL;
  readonly effects: readonly Effect[];
  readonly call: OpenCall;
}

async function unlessBad<T>(work: () => Promise<T>): Promise<T | SandboxAnswer> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof BadRequest)) throw error;
    return problem(error.status, { code: 'InvalidRequest', detail: error.message });
  }
}

function notAllowed(allow: string): SandboxAnswer {
  const answer = problem(405, { code: 'MethodNotAllowed' });
  return { ...answer, headers: { ...answer.headers, allow } };
}

function headerOf(request: IncomingMessage, name: string): string | null {
  const header = request.headers[name];
  return typeof header === 'string' ? header : null;
}
