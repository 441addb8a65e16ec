/** Routes outside the contract: health, metrics, public keys, and the contract itself. */
import type { Context } from '../context.ts';
import { AppError } from '../errors.ts';
import { isLoopback } from './client-address.ts';
import type { Contract } from '../contract/contract.ts';
import type { Exchange } from './exchange.ts';
import { isForLoopback } from './host.ts';
import { jsonReply, type Reply } from './reply.ts';
import type { SystemRoute } from './router.ts';
import { staticAnswer } from './static-answer.ts';

export interface Readiness {
  readonly ready: boolean;
  /** What was looked at, by name, such as `database`. */
  readonly checks: Readonly<Record<string, boolean>>;
}

export interface SystemRoutesOptions {
  readonly context: Context;
  readonly contract: Contract;
  readiness(): Promise<Readiness>;
  /** Whether the service has begun to stop: then it is not ready, whatever the checks say. */
  isDraining(): boolean;
}

/**
 * The routes of the main listener. `/metrics` is among them unless it has a port of its own, or a
 * proxy stands in front, whose address would pass for a local caller's.
 */
export function systemRoutes(options: SystemRoutesOptions): SystemRoute[] {
  const { context, contract } = options;
  const openapi = staticAnswer({
    type: 'application/yaml',
    load: () => Promise.resolve(contract.bytes),
  });
  const routes = [
    route('health.live', '/health/live', () => jsonReply(200, { status: 'ok' })),
    route('health.ready', '/health/ready', () => readinessReply(options)),
    route('jwks', '/.well-known/jwks.json', () => jsonReply(200, context.accessTokens.jwks())),
    route('openapi', '/openapi.yaml', openapi),
  ];
  const { metricsPort, trustProxyHops } = context.config;
  if (metricsPort !== undefined || trustProxyHops > 0) return routes;
  return [...routes, metricsRoute(context, requireLocalCaller)];
}

/** The only route of a listener for metrics. */
export function metricsRoutes(context: Context): SystemRoute[] {
  return [metricsRoute(context, () => undefined)];
}

function route(name: string, path: string, answer: SystemRoute['answer']): SystemRoute {
  return { kind: 'system', name, method: 'GET', path, answer };
}

async function readinessReply({ readiness, isDraining }: SystemRoutesOptions): Promise<Reply> {
  const { ready, checks } = await readiness();
  return ready && !isDraining()
    ? jsonReply(200, { status: 'ok', checks })
    : jsonReply(503, { status: 'unavailable', checks });
}

function metricsRoute(context: Context, admit: (exchange: Exchange) => void): SystemRoute {
  const { registry } = context.metrics;
  return route('metrics', '/metrics', async (exchange) => {
    admit(exchange);
    const text = await registry.metrics();
    return { status: 200, headers: {}, content: { type: registry.contentType, bytes: text } };
  });
}

/** Headers that proxies add to what they pass on. */
const proxyHeaders: readonly string[] = [
  ...['forwarded', 'via', 'x-forwarded-for', 'x-forwarded-host', 'x-forwarded-proto'],
  ...['x-forwarded-port', 'x-forwarded-server', 'x-original-host', 'x-real-ip', 'x-client-ip'],
  ...['x-cluster-client-ip', 'true-client-ip', 'cf-connecting-ip', 'fly-client-ip'],
];

/** A proxy on this machine also calls from a loopback address, but says so, or for which host. */
function requireLocalCaller({ request }: Exchange): void {
  const isForwarded = proxyHeaders.some((name) => request.headers[name] !== undefined);
  const isLocal = isLoopback(request.socket.remoteAddress) && isForLoopback(request);
  if (isForwarded || !isLocal) throw new AppError('NOT_FOUND');
}
