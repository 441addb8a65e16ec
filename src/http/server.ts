/** The HTTP pipeline: the stages of a request in order, and how the service listens and stops. */
import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Context } from '../context/context.ts';
import { AppError } from '../errors.ts';
import type { OperationTable, WithRefusalHeaders } from '../context/operation.ts';
import {
  requireAllowedAddress,
  requireWebhookSignature,
  WebhookRefused,
} from './webhook-signature.ts';
import { UserThrottle } from './user-throttle.ts';
import {
  authenticate,
  requireSession,
  requireWebhookSecret,
  type Caller,
  type FindPrincipal,
} from './authenticate.ts';
import { isDatabaseTrouble } from '../db/unavailable.ts';
import { readBody } from './body.ts';
import { clientAddress, createProxyWatch } from './client-address.ts';
import type { Contract } from '../contract/contract.ts';
import { withCors } from './cors.ts';
import { ClientGone, type Exchange, ExchangeFacts } from './exchange.ts';
import { requireHost, requireLocalHost } from './host.ts';
import { InvalidPath, readInput, readPath, validHeaders } from './input.ts';
import { createListener, type Listener } from './listener.ts';
import { contractBreaches } from '../contract/reply-check.ts';
import { asAppError, errorReply, jsonReply, send, type Headers, type Reply } from './reply.ts';
import { clientGone, recordRefusal, recordRequest } from './request-log.ts';
import {
  createRouter,
  operationRoutes,
  type FoundRoute,
  type OperationRoute,
  type Router,
  type SystemRoute,
} from './router.ts';
import { loggedDigest } from '../security/sealing.ts';
import { metricsRoutes, systemRoutes, type Readiness } from './system-routes.ts';

export interface HttpServerOptions {
  readonly context: Context;
  readonly operations: OperationTable;
  readonly contract: Contract;
  /** Further routes outside the contract, such as the development pages. */
  readonly pages?: readonly SystemRoute[];
  /** Runs the checks of `GET /health/ready`. */
  readiness(): Promise<Readiness>;
  readonly findPrincipal: FindPrincipal;
  /** @throws AppError THROTTLED */
  countAddress(context: Context, scope: string, address: string): Promise<void>;
  /** Counts a public path that cannot exist. @throws AppError THROTTLED */
  countMiss(context: Context, address: string): Promise<void>;
}

export interface HttpServer {
  /**
   * Listens on the configured address, and on the metrics port if one is set.
   * @throws Error when an address cannot be listened on.
   */
  listen(): Promise<{ readonly url: string; readonly port: number }>;
  /**
   * Stops in two stages. At once, the service is not ready, accepts no connection and refuses new
   * requests (503). Requests in flight have 15 s to finish, then their connections are closed.
   * @returns a promise that resolves when every connection is closed.
   */
  drain(): Promise<void>;
}

/** @throws Error when operations and contract differ. */
export function createHttpServer(options: HttpServerOptions): HttpServer {
  const { context, contract, operations } = options;
  const { host, port, metricsHost, metricsPort } = context.config;
  let isDraining = false;
  const { clock, config } = options.context;
  const stages: StagesOptions = {
    ...options,
    userThrottle: new UserThrottle({ clock, perMinute: config.throttle.userPerMinute }),
    isDraining: () => isDraining,
    watchForProxy: createProxyWatch(context),
  };
  const pipeline: Pipeline = {
    context,
    refusalSource: everyRefusalHeader(operations),
    isDraining: () => isDraining,
    stages,
  };
  const main = listenerFor(pipeline, [
    ...operationRoutes(operations, contract),
    ...systemRoutes(stages),
    ...(options.pages ?? []),
  ]);
  const metrics = metricsPort === undefined ? null : listenerFor(pipeline, metricsRoutes(context));
  const drain = async (): Promise<void> => {
    isDraining = true;
    await Promise.all([main.stop(), metrics?.stop()]);
  };
  return {
    drain,
    async listen() {
      try {
        const address = await main.listen(host, port);
        if (metricsPort !== undefined) await metrics?.listen(metricsHost, metricsPort);
        return { url: formatUrl(address), port: address.port };
      } catch (error) {
        await drain();
        throw listenFailure(error);
      }
    },
  };
}

/** Serves `/metrics` on METRICS_PORT, for a process that serves no requests: a worker. */
export function createMetricsServer(context: Context): Omit<HttpServer, 'listen'> & {
  /**
   * Listens on METRICS_PORT, if it is set.
   * @returns the address, or null without METRICS_PORT.
   * @throws Error when it cannot be listened on.
   */
  listen(): Promise<string | null>;
} {
  let isDraining = false;
  const { metricsHost, metricsPort } = context.config;
  const pipeline: Pipeline = { context, refusalSource: {}, isDraining: () => isDraining };
  const listener = listenerFor(pipeline, metricsRoutes(context));
  return {
    async listen() {
      if (metricsPort === undefined) return null;
      try {
        return `${formatUrl(await listener.listen(metricsHost, metricsPort))}/metrics`;
      } catch (error) {
        throw listenFailure(error);
      }
    },
    async drain() {
      isDraining = true;
      await listener.stop();
    },
  };
}

/**
 * Names the setting when its host cannot be resolved: the error would otherwise look like one of
 * the database connection.
 */
function listenFailure(error: unknown): unknown {
  const { code, syscall, hostname } = (error ?? {}) as {
    readonly code?: unknown;
    readonly syscall?: unknown;
    readonly hostname?: string;
  };
  if (syscall !== 'getaddrinfo') return error;
  return Object.assign(new Error('HOST or METRICS_HOST has no address'), {
    code,
    syscall: 'listen',
    address: hostname,
  });
}

function formatUrl({ address, family, port }: AddressInfo): string {
  return `http://${family === 'IPv6' ? `[${address}]` : address}:${port}`;
}

/** What every request of a listener passes through. */
interface Pipeline {
  readonly context: Context;
  readonly refusalSource: WithRefusalHeaders;
  isDraining(): boolean;
  /** Absent for a listener whose routes are system routes only. */
  readonly stages?: StagesOptions;
}

interface StagesOptions extends HttpServerOptions {
  readonly userThrottle: UserThrottle;
  isDraining(): boolean;
  watchForProxy(request: IncomingMessage): void;
}

type FoundOperation = FoundRoute & { readonly route: OperationRoute };

function listenerFor(pipeline: Pipeline, routes: Parameters<typeof createRouter>[0]): Listener {
  const { context } = pipeline;
  const router = createRouter(routes);
  return createListener({
    clock: context.clock,
    connectionLimits: context.config.connectionLimits,
    refusalSource: pipeline.refusalSource,
    digest: (id) => loggedDigest(context.sealer, id),
    tracing: context.tracing,
    handle: (exchange) => handle(pipeline, router, exchange),
    complete: (exchange, reply) => withCors(exchange, reply, context.config),
    onRefused({ id, status, exchange }) {
      if (exchange === null) recordRefusal(context, id, status);
      else exchange.refusedStatus = status;
    },
    onConnectionClosed: (reason) => context.metrics.closedConnections.inc({ reason }),
  });
}

/** The refusal headers of all operations, for requests whose operation is unknown. */
function everyRefusalHeader(operations: OperationTable): WithRefusalHeaders {
  const sources: readonly WithRefusalHeaders[] = Object.values(operations);
  return {
    refusalHeaders: (error) =>
      Object.assign({}, ...sources.map((source) => source.refusalHeaders?.(error))) as Headers,
  };
}

/** Answers a request and records it; it never rejects. */
async function handle(pipeline: Pipeline, router: Router, exchange: Exchange): Promise<void> {
  const { context } = pipeline;
  let status = clientGone;
  try {
    // Requests that wait on their connection are also started when it closes.
    if (exchange.hasEnded) throw new ClientGone();
    const reply = await respond(pipeline, router, exchange);
    if (exchange.refusedStatus === null) {
      // Bytes after an `Upgrade` may belong to another protocol and are not read.
      const closes = pipeline.isDraining() || exchange.request.headers.upgrade !== undefined;
      send(exchange, withCors(exchange, reply, context.config), { clock: context.clock, closes });
    }
    ({ status } = reply);
  } catch (error) {
    if (!(error instanceof ClientGone)) {
      context.log.error({ ...exchange.names, error }, 'the answer could not be sent');
    }
    // `client-errors.ts` closes the connections of the requests that it has answered.
    if (exchange.refusedStatus === null) exchange.response.destroy();
  }
  recordRequest(context, exchange, status);
}

/** Finds the route, and returns its reply or its refusal, which the contract is checked for. */
async function respond(pipeline: Pipeline, router: Router, exchange: Exchange): Promise<Reply> {
  const { context, stages } = pipeline;
  const { request } = exchange;
  let operationRoute: OperationRoute | null = null;
  try {
    requireHost(request);
    requireLocalHost(request, context.config);
    requireHttp1(exchange);
    const found = router.find(request.method ?? '', request.url ?? '');
    if ('allow' in found) return jsonReply(204, undefined, { Allow: found.allow });
    const { route, params, query } = found;
    exchange.operation = route.name;
    exchange.path = route.path;
    exchange.refusalSource = route.kind === 'operation' ? route.operation : {};
    if (route.kind === 'system') return await route.reply(exchange);
    if (!stages) throw new Error('this listener has no operations');
    operationRoute = route;
    const reply = await runStages(stages, exchange, { route, params, query });
    return checked(context, exchange, { route, reply });
  } catch (thrown) {
    const isUnread = thrown instanceof AppError && thrown.code === 'BAD_REQUEST';
    const { operation = isUnread ? pipeline.refusalSource : undefined } = operationRoute ?? {};
    const reply = refusal(context, exchange, { thrown, ...(operation && { operation }) });
    // Statuses that the contract does not list have its `default` response.
    return operationRoute?.contract.statuses.has(reply.status)
      ? checked(context, exchange, { route: operationRoute, reply })
      : reply;
  }
}

/** Runs the stages from the route to the operation. */
async function runStages(
  options: StagesOptions,
  exchange: Exchange,
  found: FoundOperation,
): Promise<Reply> {
  const { context } = options;
  const { route, params, query } = found;
  const { contract, operation } = route;
  if (options.isDraining()) throw new AppError('SHUTTING_DOWN');

  options.watchForProxy(exchange.request);
  const address = clientAddress(exchange.request, context.config.trustProxyHops);
  if (contract.throttle !== null && !operation.countRefused) {
    await options.countAddress(context, contract.throttle, address);
  }

  const authenticated = authenticate(options, operation.access, exchange.request);
  const caller = authenticated instanceof Promise ? await authenticated : authenticated;
  const userId = caller.token?.userId ?? null;
  exchange.userId = userId;
  if (contract.limitsUsers && userId !== null) options.userThrottle.count(contract.id, userId);
  const release = userId === null ? null : options.userThrottle.enter(userId);
  try {
    return await runOperation(options, exchange, { route, params, query, caller, address });
  } finally {
    release?.();
  }
}

type AdmittedCall = FoundOperation & { readonly caller: Caller; readonly address: string };

/**
 * Reads and validates the request, and runs its operation. It waits for what takes time only: each
 * further turn would cost a short request a percent.
 */
async function runOperation(
  options: StagesOptions,
  exchange: Exchange,
  call: AdmittedCall,
): Promise<Reply> {
  const { context } = options;
  const { route, params, query, caller, address } = call;
  const { token, principal } = caller;
  const { contract, operation } = route;
  const { headers } = exchange.request;
  let isRead = false;
  try {
    if (contract.access === 'secret') {
      requireAllowedAddress(context.config.webhookAllowedAddresses, address);
      requireWebhookSecret(context.config.webhookSecrets, headers);
    }
    // If nothing is awaited before `readInput`, that function reads the path.
    if (operation.admit || contract.body) {
      const path = readPath(contract, params);
      if (operation.admit) await operation.admit(context, { path, clientAddress: address });
    }
    const reading = readBody(exchange, contract.body, context.config);
    const body = reading instanceof Promise ? await reading : reading;
    if (contract.access === 'secret') {
      const event = { headers, body: body.sent ?? body.raw };
      requireWebhookSignature(context.config.webhookSigningSecrets, event, context.clock);
    }
    const parts = { params, query, headers, body };
    const input = readInput(contract, parts, (refused) =>
      operation.checkRefused?.(context, { ...refused, token, principal }),
    );
    isRead = true;
    if (!body.isPending) exchange.begin();
    const bytes = { rawBody: body.raw, sentBody: body.sent };
    const facts = { log: context.log, clientAddress: address, ...bytes };
    const request = new ExchangeFacts(exchange, facts);
    const reply = await operation.run(context, { input, request, token, principal });
    return jsonReply(reply.status, reply.body, reply.headers);
  } catch (error) {
    const thrown = isRead ? error : await unreadRefusal(options, call, error);
    throw await completeRefusal(options, { call, headers, thrown });
  }
}

/**
 * The refusal of a request that is not valid. A caller without a session receives 401 rather than
 * the validation errors.
 */
async function unreadRefusal(
  options: StagesOptions,
  { route: { operation }, caller: { token }, address }: AdmittedCall,
  thrown: unknown,
): Promise<unknown> {
  if (!(thrown instanceof AppError)) return thrown;
  try {
    if (thrown instanceof WebhookRefused) await countRefusedEvent(options, address, thrown);
    const isMiss = thrown instanceof InvalidPath && operation.access === 'public';
    if (isMiss) await options.countMiss(options.context, address);
    await operation.countRefused?.(options.context, address);
    if (operation.checksSession && token) await requireSession(options, token);
    return thrown;
  } catch (error) {
    return error;
  }
}

/**
 * Throttles refused events only. A flood from an address that the provider shares thus does not
 * block the provider's own events. Without a database the refusal stands, and is not counted.
 * @throws AppError THROTTLED
 */
async function countRefusedEvent(
  { context, countAddress }: StagesOptions,
  address: string,
  { reason }: WebhookRefused,
): Promise<void> {
  context.refusedWebhooks.count(reason);
  if (reason === 'wrong_address') return;
  await countAddress(context, 'webhook-refused', address).catch((failure: unknown) => {
    if (!isDatabaseTrouble(failure)) throw failure;
  });
}

/** Adds what is stored to the refusal of a caller with a valid token. */
async function completeRefusal(
  { context }: StagesOptions,
  refused: {
    readonly call: AdmittedCall;
    readonly headers: IncomingHttpHeaders;
    readonly thrown: unknown;
  },
): Promise<unknown> {
  const { call, headers: sent, thrown: error } = refused;
  const { operation, contract } = call.route;
  const { token } = call.caller;
  if (!(error instanceof AppError) || !token || !operation.completeRefusal) return error;
  const headers = validHeaders(contract, sent);
  return operation.completeRefusal(context, { error, token, headers });
}

/**
 * Refuses what Node accepts: other versions of HTTP, and transfer codings that Node does not
 * decode. The connection closes, because the start of the next request is unknown.
 */
function requireHttp1({ request }: Exchange): void {
  const coding = request.headers['transfer-encoding'];
  const isHttp1 = request.httpVersion === '1.1' || request.httpVersion === '1.0';
  if (isHttp1 && (coding === undefined || coding.trim().toLowerCase() === 'chunked')) return;
  throw new AppError('BAD_REQUEST', { headers: { Connection: 'close' } });
}

/** The reply to a thrown error. An unexpected error is logged with the request's id. */
function refusal(
  context: Context,
  exchange: Exchange,
  { thrown, operation }: { readonly thrown: unknown; readonly operation?: WithRefusalHeaders },
): Reply {
  if (thrown instanceof ClientGone) throw thrown;
  const error = asAppError(thrown);
  if (error !== thrown || error.code === 'INTERNAL') {
    const facts = { ...exchange.names, operation: exchange.operation, error: thrown };
    context.log.error(facts, 'the request failed');
  }
  return errorReply(error, exchange.locale, operation);
}

/**
 * Replaces a reply that violates the contract by a 500: it is a defect of the service. Only in
 * `local` and `test`: elsewhere the reply stays.
 */
function checked(
  context: Context,
  exchange: Exchange,
  { route, reply }: { readonly route: OperationRoute; readonly reply: Reply },
): Reply {
  const { appEnv } = context.config;
  if (appEnv !== 'local' && appEnv !== 'test') return reply;
  const { contract, operation } = route;
  const { status, content } = reply;
  // Check the JSON that the client will parse, not the object it was made from.
  const body: unknown = content === null ? undefined : JSON.parse(content.bytes.toString());
  const fields = contractBreaches(contract, { status, body });
  if (fields.length === 0) return reply;
  const facts = { ...exchange.names, operation: contract.id, status, fields };
  context.log.error(facts, 'the answer violates the contract');
  return errorReply(new AppError('INTERNAL'), exchange.locale, operation);
}
