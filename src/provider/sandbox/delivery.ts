/** Applies the effects of a call, and writes its response, complete or broken. */
import type { ServerResponse } from 'node:http';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { type Clock, pause } from '../../clock.ts';
import {
  encodeResponse,
  htmlPage,
  problem,
  type SandboxResponse,
  type Silence,
} from './responses.ts';
import type { Effect, effectKinds, EffectName } from './fault-language.ts';

/** What is written, and how. */
export type Delivery =
  | { readonly kind: 'whole'; readonly message: SandboxResponse }
  /**
   * Half of the response; Content-Length is that of the half, so that the response seems complete.
   */
  | { readonly kind: 'truncated'; readonly message: SandboxResponse }
  | { readonly kind: 'reset-amid'; readonly message: SandboxResponse }
  | { readonly kind: 'drip'; readonly message: SandboxResponse; readonly everyMs: number }
  | { readonly kind: 'huge'; readonly bytes: number }
  | { readonly kind: 'reset' }
  | { readonly kind: 'none' };

/** The status of a delivery; null without one. */
export function deliveryStatus(delivery: Delivery): number | null {
  if ('message' in delivery) return delivery.message.status;
  return delivery.kind === 'huge' ? 200 : null;
}

/** Writes a delivery. @returns once all of it is written, or the client has closed. */
export async function deliver(
  response: ServerResponse,
  delivery: Delivery,
  clock: Clock,
): Promise<void> {
  switch (delivery.kind) {
    case 'none':
      return;
    case 'reset':
      response.socket?.resetAndDestroy();
      return;
    case 'huge':
      return writeHuge(response, delivery.bytes);
    case 'whole':
    case 'truncated': {
      const cut = delivery.kind === 'truncated' ? firstHalf : undefined;
      const { status, headers, bytes } = encodeResponse(delivery.message, cut);
      response.writeHead(status, headers).end(bytes);
      return;
    }
    case 'reset-amid': {
      const { status, headers, bytes } = encodeResponse(delivery.message);
      response.writeHead(status, headers);
      response.write(firstHalf(bytes), () => response.socket?.resetAndDestroy());
      return;
    }
    case 'drip':
      return drip(response, delivery, clock);
  }
}

function firstHalf(bytes: Buffer): Buffer {
  return bytes.subarray(0, Math.ceil(bytes.length / 2));
}

async function drip(
  response: ServerResponse,
  { message, everyMs }: Extract<Delivery, { kind: 'drip' }>,
  clock: Clock,
): Promise<void> {
  const closed = new AbortController();
  response.once('close', () => closed.abort());
  const { status, headers, bytes } = encodeResponse(message);
  response.writeHead(status, headers);
  for (let at = 0; at < bytes.length && !closed.signal.aborted; at += 1) {
    response.write(bytes.subarray(at, at + 1));
    await pause(clock, everyMs, closed.signal);
  }
  response.end();
}

const chunkBytes = 64 * 1024;

async function writeHuge(response: ServerResponse, bytes: number): Promise<void> {
  response.writeHead(200, { 'content-type': 'application/json' });
  try {
    await pipeline(Readable.from(padding(bytes)), response);
  } catch {
    // The client refuses the rest and closes the connection, as it should.
  }
}

/** A JSON text of about this many bytes. */
function* padding(bytes: number): Generator<Buffer> {
  yield Buffer.from('{"padding":"');
  const chunk = Buffer.alloc(chunkBytes, 'x');
  for (let left = bytes; left > 0; left -= chunkBytes) yield chunk.subarray(0, left);
  yield Buffer.from('"}');
}

type NameWhen<When> = {
  [Name in EffectName]: (typeof effectKinds)[Name]['when'] extends When ? Name : never;
}[EffectName];

const noReply: Delivery = { kind: 'none' };

const faultsBefore: Readonly<Record<NameWhen<'before'>, (value: number) => Delivery>> = {
  '401': () => whole(problem(401, { code: 'InvalidToken' })),
  '429': (retryAfterMs) => whole(problem(429, { code: 'RateLimited', retryAfterMs })),
  redirect: () => whole({ status: 307, headers: { location: '/elsewhere' }, body: {} }),
  '5xx-before': (status) => whole(problem(status)),
  'reset-before': () => ({ kind: 'reset' }),
  'hang-before': () => noReply,
};

type FaultAfter = (message: SandboxResponse, value: number) => Delivery;

const faultsAfter: Readonly<Record<NameWhen<'after'>, FaultAfter>> = {
  '5xx-after': (_, status) => whole(problem(status)),
  'reset-after': () => ({ kind: 'reset' }),
  'reset-amid': (message) => ({ kind: 'reset-amid', message }),
  hang: () => noReply,
  html: () => whole(htmlPage),
  truncated: (message) => ({ kind: 'truncated', message }),
  'foreign-ids': (message) => whole({ ...message, body: withForeignIds(message.body) }),
  drip: (message, everyMs) => ({ kind: 'drip', message, everyMs }),
  huge: (_, bytes) => ({ kind: 'huge', bytes }),
};

/** The delay of the call, in milliseconds. */
export function sumLatencyMs(effects: readonly Effect[]): number {
  return effects
    .filter(({ name }) => name === 'latency')
    .reduce((sum, { value }) => sum + value, 0);
}

/** The response in place of executing the call; null when the call is executed. */
export function applyFaultBefore(effects: readonly Effect[]): Delivery | null {
  const { name, value } = findFault(effects) ?? {};
  if (name === undefined || !hasOwn(faultsBefore, name)) return null;
  return faultsBefore[name](value ?? 0);
}

/** The response to an executed call, changed by the effects. */
export function applyFaultAfter(
  effects: readonly Effect[],
  message: SandboxResponse | Silence,
): Delivery {
  if (message === 'hang') return noReply;
  const { name, value } = findFault(effects) ?? {};
  if (name === undefined || !hasOwn(faultsAfter, name)) return whole(message);
  return faultsAfter[name](message, value ?? 0);
}

/** The first effect that is not a delay. */
function findFault(effects: readonly Effect[]): Effect | undefined {
  return effects.find(({ name }) => name !== 'latency');
}

function hasOwn<Name extends string>(
  table: Readonly<Record<Name, unknown>>,
  name: string,
): name is Name {
  return Object.hasOwn(table, name);
}

function whole(message: SandboxResponse): Delivery {
  return { kind: 'whole', message };
}

const foreignIds = {
  endToEnd: 'E00000000202001010000foreign0000',
  clientRequestId: 'foreign-request',
  transactionIdentification: 'foreign0transaction0000000',
};

function withForeignIds(body: unknown): unknown {
  if (typeof body !== 'object' || body === null) return body;
  const replaced = Object.entries(foreignIds).filter(([name]) => name in body);
  return { ...body, ...Object.fromEntries(replaced) };
}
