/**
 * Measures how much longer customers' reads and logins take during an anonymous flood. The flood
 * uses the same processors as the service, so it runs all the time: in turn against the service and
 * against a server that refuses every request.
 */
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import type { FloodResponses } from './flood-client.ts';
import { readCpuMs } from './meters.ts';
import type { Options } from './options.ts';
import { openStage } from './stage.ts';
import { password, type Customer, type Target } from './target.ts';
import { takeTurn } from './turn.ts';

/** The rates of all customers together, in requests per second, independent of the responses. */
const readsPerSecond = 50;
const loginsPerSecond = 2;

const tickMs = 10;

/** The factor by which the p99 of customers may grow. */
const goal = 1.5;

/** The default limits, except more requests per address: all customers first log in from one. */
const limits = {
  THROTTLE_LOGIN_PER_MINUTE: '5',
  THROTTLE_ADDRESS_PER_MINUTE: '40',
  THROTTLE_USER_PER_MINUTE: '120',
  TRUST_PROXY_HOPS: '1',
};

const paths = ['/accounts/me', '/accounts/balance', '/accounts/me', '/pix/keys'] as const;

interface Latencies {
  readonly reads: number[];
  readonly logins: number[];
  failed: number;
}

interface Phase extends Latencies {
  floodCpuMs: number;
  serverCpuMs: number;
  readonly responses: Record<string, number>;
}

/** @returns the results as text. */
export async function flood(options: Options, print: (line: string) => void): Promise<string> {
  await using parts = new AsyncDisposableStack();
  const { databaseUrl, rounds, seconds, warmUpSeconds } = options;
  await takeTurn(databaseUrl, print, parts);
  const stage = await openStage('ponte', { databaseUrl, env: limits }, parts);
  const { target } = stage;
  const standIn = createServer((_request, response) => response.writeHead(429).end('{}'));
  standIn.listen(0, '127.0.0.1');
  await once(standIn, 'listening');
  parts.defer(() => standIn.closeAllConnections());
  parts.defer(() => void standIn.close());
  const elsewhere = `http://127.0.0.1:${(standIn.address() as AddressInfo).port}`;
  const client = fork(join(import.meta.dirname, 'flood-client.ts'));
  parts.defer(() => void client.kill());
  const aim = async (url: string | null): Promise<FloodResponses> => {
    const response = once(client, 'message');
    client.send({ url });
    const [responses] = (await response) as [FloodResponses];
    return responses;
  };

  const before = newPhase();
  const during = newPhase();
  const measured = async (phase: Phase, url: string, forSeconds: number): Promise<void> => {
    await aim(url);
    const cpuMs = [client.pid ?? 0, target.server.pid].map(readCpuMs);
    await serveCustomers(target, phase, forSeconds);
    const [floodMs = 0, serverMs = 0] = [client.pid ?? 0, target.server.pid].map(readCpuMs);
    phase.floodCpuMs += (floodMs ?? 0) - (cpuMs[0] ?? 0);
    phase.serverCpuMs += (serverMs ?? 0) - (cpuMs[1] ?? 0);
    for (const [status, count] of Object.entries(await aim(url))) {
      phase.responses[status] = (phase.responses[status] ?? 0) + count;
    }
  };
  print('warming up');
  await measured(newPhase(), elsewhere, warmUpSeconds);
  await measured(newPhase(), target.server.url, warmUpSeconds);
  for (let round = 1; round <= rounds; round += 1) {
    print(`round ${round} of ${rounds}`);
    await measured(before, elsewhere, seconds);
    await measured(during, target.server.url, seconds);
  }
  return report(before, during, rounds * seconds);
}

function newPhase(): Phase {
  return { reads: [], logins: [], failed: 0, floodCpuMs: 0, serverCpuMs: 0, responses: {} };
}

/** Starts each request on schedule, whether or not earlier ones have ended. */
async function serveCustomers(target: Target, phase: Phase, seconds: number): Promise<void> {
  const pending: Promise<void>[] = [];
  const { promise, resolve } = Promise.withResolvers<void>();
  const start = performance.now();
  let [reads, logins] = [0, 0];
  const timer = setInterval(() => {
    const elapsed = (performance.now() - start) / 1_000;
    for (; reads < elapsed * readsPerSecond; reads += 1) pending.push(read(target, phase, reads));
    for (; logins < elapsed * loginsPerSecond; logins += 1)
      pending.push(logIn(target, phase, logins));
    if (elapsed < seconds) return;
    clearInterval(timer);
    resolve();
  }, tickMs);
  await promise;
  await Promise.all(pending);
}

function read(target: Target, phase: Phase, nth: number): Promise<void> {
  const path = paths[nth % paths.length] ?? paths[0];
  return timed(target, nth, (url, { token }, headers) => ({
    into: phase.reads,
    phase,
    response: fetch(url + path, { headers: { ...headers, authorization: `Bearer ${token}` } }),
  }));
}

function logIn(target: Target, phase: Phase, nth: number): Promise<void> {
  return timed(target, nth, (url, { email }, headers) => ({
    into: phase.logins,
    phase,
    response: fetch(`${url}/auth/login`, {
      method: 'POST',
      headers: { ...headers, 'content-type': 'application/json' },
      body: JSON.stringify({ email, password }),
    }),
  }));
}

interface SentRequest {
  readonly into: number[];
  readonly phase: Phase;
  readonly response: Promise<Response>;
}

async function timed(
  { server, customers }: Target,
  nth: number,
  send: (url: string, customer: Customer, headers: Record<string, string>) => SentRequest,
): Promise<void> {
  const customer = customers[nth % customers.length];
  if (!customer) return;
  const start = performance.now();
  const address = { 'x-forwarded-for': `203.0.113.${1 + (nth % customers.length)}` };
  const { into, phase, response } = send(`${server.url}/api/v1`, customer, address);
  const got = await response;
  await got.arrayBuffer();
  into.push(performance.now() - start);
  if (got.status !== 200) phase.failed += 1;
}

function p99(values: readonly number[]): number {
  const sorted = values.toSorted((left, right) => left - right);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * 0.99))] ?? NaN;
}

function report(before: Phase, during: Phase, seconds: number): string {
  const line = (name: string, of: (phase: Phase) => readonly number[]): string => {
    const [calm, flooded] = [p99(of(before)), p99(of(during))];
    const ratio = flooded / calm;
    const verdict = ratio <= goal ? 'met' : 'NOT met';
    const times = `${calm.toFixed(1)} ms before, ${flooded.toFixed(1)} ms during`;
    return `p99 of ${name}: ${times}, ratio ${ratio.toFixed(2)} (goal ${goal}: ${verdict})`;
  };
  const cpu = ({ floodCpuMs, serverCpuMs }: Phase): string => {
    const share = (ms: number): string => `${(ms / seconds / 10).toFixed(0)} %`;
    return `flood ${share(floodCpuMs)}, server ${share(serverCpuMs)} of a processor`;
  };
  const responses = Object.entries(during.responses).map(
    ([status, count]) => `${status}: ${count}`,
  );
  return [
    line('reads', ({ reads }) => reads),
    line('logins', ({ logins }) => logins),
    `before: ${cpu(before)}; during: ${cpu(during)}`,
    `the flood was answered ${responses.join(', ')}`,
    `customers not served: ${before.failed} before, ${during.failed} during`,
  ].join('\n');
}
