/** Routes outside the contract: health, metrics, public keys, and the contract itself. */
import type { Context } from '../context/context.ts';
import { AppError } from '../errors.ts';
import { isLoopback } from './client-address.ts';
import type { Contract } from '../contract/contract.ts';
import type { Exchange } from './exchange.ts';
import { isForLoopback } from './host.ts';
import { jsonReply, type Reply } from './reply.ts';
import type { SystemRoute } from './router.ts';
import { staticReply } from './static-reply.ts';

export interface Readiness {
  readonly ready: boolean;
  /** The result of each check by name, such as `database`. */
  readonly checks: Readonly<Record<string, boolean>>;
  /** The running release, such as `1.2.0`. */
  readonly version: string;
}

export interface SystemRoutesOptions {
  readonly context: Context;
  readonly contract: Contract;
  readiness(): Promise<Readiness>;
  /** Whether the service is stopping and therefore not ready, regardless of the checks. */
  isDraining(): boolean;
}

/**
 * Returns the routes of the main listener. They include `/metrics` unless it has its own port, or
 * the service is behind a proxy, whose address could appear to be a local caller's.
 */
export function systemRoutes(options: SystemRoutesOptions): SystemRoute[] {
  const { context, contract } = options;
  const openapi = staticReply({
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

/** Returns the only route of the metrics listener. */
export function metricsRoutes(context: Context): SystemRoute[] {
  return [metricsRoute(context, () => undefined)];
}

function route(name: string, path: string, reply: SystemRoute['reply']): SystemRoute {
  return { kind: 'system', name, method: 'GET', path, reply };
}

async function readinessReply({ readiness, isDraining }: SystemRoutesOptions): Promise<Reply> {
  const { ready, checks, version } = await readiness();
  return ready && !isDraining()
    ? jsonReply(200, { status: 'ok', version, checks })
    : jsonReply(503, { status: 'unavailable', version, checks });
}

function metricsRoute(context: Context, admit: (exchange: Exchange) => void): SystemRoute {
  const { registry } = context.metrics;
  return route('metrics', '/metrics', async (exchange) => {
    admit(exchange);
    const text = await registry.metrics();
    return { status: 200, headers: {}, content: { type: registry.contentType, bytes: text } };
  });
}

/** Headers that proxies add to forwarded requests. */
const proxyHeaders: readonly string[] = [
  'forwarded',
  'via',
  'x-forwarded-for',
  'x-forwarded-host',
  'x-forwarded-proto',
  'x-forwarded-port',
  'x-forwarded-server',
  'x-original-host',
  'x-real-ip',
  'x-client-ip',
  'x-cluster-client-ip',
  'true-client-ip',
  'cf-connecting-ip',
  'fly-client-ip',
];

/**
 * Refuses callers from other machines. A proxy on this machine also has a loopback address, but is
 * recognised by its headers or by the requested host.
 */
function requireLocalCaller({ request }: Exchange): void {
  const isForwarded = proxyHeaders.some((name) => request.headers[name] !== undefined);
  const isLocal = isLoopback(request.socket.remoteAddress) && isForLoopback(request);
  if (isForwarded || !isLocal) throw new AppError('NOT_FOUND');
}
