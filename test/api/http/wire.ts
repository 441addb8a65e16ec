/** A server on a free port with small operations, and clients that may misbehave on the wire. */
import { request as httpRequest, type IncomingHttpHeaders } from 'node:http';
import { connect, type Socket } from 'node:net';
import type { TestContext } from 'node:test';
import type { Config } from '../../../src/config/config.ts';
import type { Context } from '../../../src/context/context.ts';
import { AppError } from '../../../src/errors.ts';
import type { AnyOperation } from '../../../src/http/router.ts';
import { createHttpServer, type HttpServerOptions } from '../../../src/http/server.ts';
import { createLog } from '../../../src/telemetry/log.ts';
import { createMetrics } from '../../../src/telemetry/metrics.ts';
import type { OperationTable, RequestFacts } from '../../../src/context/operation.ts';
import { createSealer } from '../../../src/security/sealing.ts';
import type { VerifiedToken } from '../../../src/process/access-tokens.ts';
import type { Principal } from '../../../src/domain/principal.ts';
import { manualClock, type ManualClock } from '../../support/clock.ts';
import { pauseAfter } from '../../support/eventually.ts';
import { parseContract, smallContract } from './small-contract.ts';

export const thingId = '3f0c1f8e-5d0b-4b5c-9a51-0f6f3c1f2a77';

/** A valid token, and one whose banking session has ended. */
export const validToken = 'valid.token.1';
export const endedToken = 'valid.token.2';

/** What an operation was called with. */
export interface SeenCall {
  readonly input: {
    readonly path: Record<string, unknown>;
    readonly query: Record<string, unknown>;
    readonly headers: Record<string, unknown>;
    readonly body: unknown;
  };
  readonly request: RequestFacts;
  readonly principal?: Principal;
  readonly token?: VerifiedToken;
}

export type Run = (call: SeenCall) => unknown;

export interface WireOptions {
  readonly config?: Partial<Config>;
  /** What operations do, by name; the others answer with their first success. */
  readonly runs?: Readonly<Record<string, Run>>;
  /** What operations do before their body is read, by name. */
  readonly admits?: Readonly<Record<string, () => Promise<void>>>;
  readonly countAddress?: (scope: string, address: string) => void;
  readonly readiness?: HttpServerOptions['readiness'];
}

export interface Wire {
  readonly port: number;
  readonly url: string;
  readonly clock: ManualClock;
  /** The calls that reached operations, in order. */
  readonly calls: SeenCall[];
  /** The log, line by line. */
  readonly lines: Record<string, unknown>[];
  readonly context: Context;
  drain(): Promise<void>;
}

/** Starts the server; it is stopped after the test. */
export async function startWire(t: TestContext, options: WireOptions = {}): Promise<Wire> {
  const lines: Record<string, unknown>[] = [];
  const calls: SeenCall[] = [];
  const clock = manualClock();
  const context = fakeContext({ clock, lines, config: options.config ?? {} });
  const server = createHttpServer({
    context,
    contract: parseContract(smallContract),
    operations: withAdmission(operationTable(options.runs ?? {}, calls), options.admits ?? {}),
    readiness:
      options.readiness ?? (() => Promise.resolve({ ready: true, version: '1.2.3', checks: {} })),
    findPrincipal: (_context, token) =>
      Promise.resolve(token.tokenId === validToken ? ({ user: { id: 7 } } as Principal) : null),
    countMiss: async () => {},
    countAddress: async (_context, scope, address) => options.countAddress?.(scope, address),
  });
  const { port, url } = await server.listen();
  t.after(async () => {
    const drained = server.drain();
    await clock.advance(15_000);
    await drained;
  });
  return { port, url, clock, calls, lines, context, drain: () => server.drain() };
}

function fakeContext(parts: {
  clock: ManualClock;
  lines: Record<string, unknown>[];
  config: Partial<Config>;
}): Context {
  const config = {
    appEnv: 'test',
    host: '127.0.0.1',
    port: 0,
    allowedHosts: [],
    webhookSecrets: [],
    webhookSigningSecrets: [],
    webhookAllowedAddresses: [],
    corsAllowedOrigins: [],
    throttle: { loginPerMinute: 5, addressPerMinute: 30 },
    trustProxyHops: 0,
    connectionLimits: { total: 1_000, perAddress: 0 },
    metricsPort: undefined,
    metricsHost: '127.0.0.1',
    uploadMaxBytes: 10_485_760,
    ...parts.config,
  };
  const destination = {
    write: (line: string) => void parts.lines.push(JSON.parse(line) as Record<string, unknown>),
  };
  return {
    config,
    clock: parts.clock,
    log: createLog({ level: 'info', pretty: false, destination }),
    metrics: createMetrics(),
    refusedWebhooks: { count: () => undefined },
    sealer: createSealer([Buffer.alloc(32, 7)]),
    accessTokens: {
      findVerified: () => null,
      verify: (token: string) =>
        [validToken, endedToken].includes(token)
          ? Promise.resolve({ userId: 7, sessionId: 's', tokenId: token })
          : Promise.reject(new AppError('UNAUTHENTICATED')),
      jwks: () => ({ keys: [{ kid: 'k1', kty: 'RSA' }] }),
    },
    tracing: null,
  } as unknown as Context;
}

const accessById: Readonly<Record<string, [AnyOperation['access'], number]>> = {
  createThing: ['session', 201],
  searchThings: ['public', 200],
  getThing: ['session', 200],
  readCode: ['public', 200],
  addNote: ['public', 202],
  receiveEvent: ['secret', 200],
  upload: ['public', 201],
  endToken: ['token', 200],
};

/** Operations that record their calls; by default they answer "done". */
export function operationTable(
  runs: Readonly<Record<string, Run>>,
  calls: SeenCall[] = [],
): OperationTable {
  const entries = Object.entries(accessById).map(([name, [access, status]]) => {
    const run = async (_context: Context, seen: SeenCall): Promise<unknown> => {
      calls.push(seen);
      return (await runs[name]?.(seen)) ?? { status, body: { message: 'done' } };
    };
    return [name, { access, run }];
  });
  return Object.fromEntries(entries) as OperationTable;
}

function withAdmission(
  table: OperationTable,
  admits: Readonly<Record<string, () => Promise<void>>>,
): OperationTable {
  const entries = Object.entries(table).map(([name, operation]) => {
    const admit = admits[name];
    return [name, admit ? { ...operation, admit } : operation];
  });
  return Object.fromEntries(entries) as OperationTable;
}

export interface SentRequest {
  readonly method?: string;
  readonly path: string;
  readonly headers?: Readonly<Record<string, string | string[]>>;
  readonly body?: string | Buffer;
}

export interface WireResponse {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly text: string;
  readonly json: { message?: string; code?: string; errors?: Record<string, string[]> };
}

/** Sends one request on a connection of its own. A body is JSON unless headers say otherwise. */
export function call(wire: Wire, sent: SentRequest): Promise<WireResponse> {
  const { method = 'GET', path, body } = sent;
  const json = body === undefined ? {} : { 'Content-Type': 'application/json' };
  const headers = { ...json, ...sent.headers };
  return new Promise((resolve, reject) => {
    const request = httpRequest(
      { port: wire.port, host: '127.0.0.1', method, path, headers, agent: false },
      (response) => {
        const chunks: Buffer[] = [];
        response.on('data', (chunk: Buffer) => chunks.push(chunk));
        response.on('error', reject);
        response.on('end', () => {
          const text = Buffer.concat(chunks).toString();
          const isJson = response.headers['content-type']?.startsWith('application/json');
          const parsed = isJson && text ? (JSON.parse(text) as WireResponse['json']) : {};
          const { statusCode: status = 0, headers: received } = response;
          resolve({ status, headers: received, text, json: parsed });
        });
      },
    );
    request.on('error', reject);
    request.end(body);
  });
}

/** The headers of a caller who is logged in. */
export const loggedIn = { Authorization: `Bearer ${validToken}` };

/** A valid request for a thing, or one with other parts. */
export function createThing(wire: Wire, parts: Partial<SentRequest> = {}): Promise<WireResponse> {
  return call(wire, {
    method: 'POST',
    path: '/api/v1/things',
    body: JSON.stringify({ email: 'ana@example.com', amount: 10 }),
    ...parts,
    headers: { ...loggedIn, 'Idempotency-Key': 'k-1', ...parts.headers },
  });
}

/** A connection that sends any bytes, well-formed or not. */
export interface RawConnection {
  readonly socket: Socket;
  send(text: string): void;
  /** Resolves once what came holds the text; rejects when the connection closes without it. */
  receive(text: string): Promise<string>;
  /** Resolves with all that came when the server closes the connection. */
  closed(): Promise<string>;
}

export async function rawConnection(wire: Pick<Wire, 'port'>): Promise<RawConnection> {
  const socket = connect({ port: wire.port, host: '127.0.0.1', allowHalfOpen: true });
  let received = '';
  let isClosed = false;
  socket.setEncoding('latin1');
  socket.on('data', (chunk: string) => (received += chunk));
  socket.on('error', () => undefined);
  socket.on('end', () => socket.end());
  socket.on('close', () => (isClosed = true));
  await new Promise((resolve) => socket.once('connect', resolve));
  return {
    socket,
    send: (text) => void socket.write(text, 'latin1'),
    async receive(text) {
      await until(() => isClosed || received.includes(text));
      if (!received.includes(text)) throw new Error(`closed without ${text}: ${received}`);
      return received;
    },
    async closed() {
      await until(() => isClosed);
      return received;
    },
  };
}

/** A promise and what keeps it. */
export function gate(): { readonly opened: Promise<void>; open(): void } {
  const { promise, resolve } = Promise.withResolvers<void>();
  return { opened: promise, open: () => resolve() };
}

/** Waits until something has become true. */
export async function until(condition: () => boolean): Promise<void> {
  for (let looks = 0; !condition(); looks += 1) await pauseAfter(looks);
}
