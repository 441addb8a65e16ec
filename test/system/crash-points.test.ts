/**
 * A real process dies by SIGKILL at each named point of a send, with the sandbox as its provider.
 * Then the ledger, the state after a restart, and the response to a repeat with the same key must
 * agree.
 */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';
import { describe, it, type TestContext } from 'node:test';
import { setTimeout as wait } from 'node:timers/promises';
import { systemClock } from '../../src/clock.ts';
import { openSandbox, type Sandbox } from '../../src/provider/sandbox/open.ts';
import { createTestDatabase, serverUrl } from '../support/db.ts';
import { crashPoints, type CrashPoint } from './crash-points.ts';
import {
  settingsFor,
  startService,
  type Environment,
  type ServiceResponse,
  type ServiceProcess,
} from './service-process.ts';

const deadly = new URL('die-at-point.ts', import.meta.url).href;

const key = 'the-one-payment';
const body = { pix_key: 'ana@example.com', amount: 12.34 };

/** The number of executed payments after a crash at each point, and after the repeat. */
const left: Readonly<Record<CrashPoint, { executed: 0 | 1; afterRepeat: 0 | 1 }>> = {
  'before-reserved': { executed: 0, afterRepeat: 1 },
  'after-reserved': { executed: 0, afterRepeat: 1 },
  'after-look-up': { executed: 0, afterRepeat: 1 },
  // The service cannot know whether the payment has left, so it never sends it again.
  'after-paying': { executed: 0, afterRepeat: 0 },
  'after-payment': { executed: 1, afterRepeat: 1 },
  'after-recorded': { executed: 1, afterRepeat: 1 },
};

interface World {
  readonly sandbox: Sandbox;
  start(environment?: Environment): Promise<ServiceProcess>;
}

/** Opens a database and a sandbox; `start` starts the service that the sandbox posts events to. */
async function openWorld(t: TestContext): Promise<World> {
  const database = await createTestDatabase();
  t.after(() => database.drop());
  const relay = await startRelay(t);
  const sandbox = await openSandbox({
    clock: systemClock,
    host: '127.0.0.1',
    port: 0,
    ispb: '11165756',
    settleMs: 20,
    webhook: { url: `${relay.url}/api/v1/webhooks/provider` },
  });
  t.after(() => sandbox.close());
  return {
    sandbox,
    async start(environment = {}) {
      const service = startService(t, {
        ...settingsFor(database),
        PROVIDER_STUB: 'false',
        PROVIDER_BASE_URL: sandbox.url,
        PROVIDER_TIMEOUT_MS: '2000',
        PROVIDER_RETRIES: '0',
        ...environment,
      });
      relay.target = await service.ready();
      return service;
    },
  };
}

interface Relay {
  readonly url: string;
  /** The address of the running service; while none runs, the relay answers 503. */
  target: string;
}

/** A fixed address for the sandbox's events: the address of the service changes at each start. */
async function startRelay(t: TestContext): Promise<Relay> {
  const relay = { url: '', target: '' };
  const headers = { 'content-type': 'application/json' };
  const pass = async (request: IncomingMessage): Promise<number> => {
    const sent = { method: 'POST', headers, body: await buffer(request) };
    return (await fetch(`${relay.target}${request.url}`, sent)).status;
  };
  const server = createServer((request, response) => {
    const status = pass(request).catch(() => 503);
    void status.then((taken) => response.writeHead(taken).end());
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.after(() => server.close());
  relay.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return relay;
}

interface LedgerPayment {
  readonly endToEnd: string;
  readonly clientRequestId: string;
  readonly amount: number;
}

async function executed(sandbox: Sandbox): Promise<readonly LedgerPayment[]> {
  const response = await fetch(`${sandbox.url}/sandbox/ledger`);
  const ledger = (await response.json()) as { payments: readonly LedgerPayment[] };
  return ledger.payments;
}

function send(service: ServiceProcess, token: string): Promise<ServiceResponse> {
  return service.call('/pix/send', { token, key, body });
}

/** Repeats until the claim of the dead process has expired and another process has continued. */
async function repeat(service: ServiceProcess, token: string): Promise<ServiceResponse> {
  const deadline = systemClock.now().getTime() + 60_000;
  for (;;) {
    const response = await send(service, token);
    assert.equal(response.status, 200, JSON.stringify(response.body));
    const isSure = response.headers.get('pix-outcome') !== 'unknown';
    if (isSure || systemClock.now().getTime() > deadline) return response;
    await wait(100);
  }
}

const skip = serverUrl ? false : 'runs on PostgreSQL; set DATABASE_URL';

// Concurrent, because they mostly wait: for a start, an expiring claim, a retried event.
const options = { timeout: 120_000, concurrency: 3, skip };

describe('a process that is killed', options, () => {
  for (const point of crashPoints) {
    const { executed: before, afterRepeat } = left[point];
    it(`${point}: ${before} executed, and ${afterRepeat} after a repeat`, async (t) => {
      const { sandbox, start } = await openWorld(t);
      const dying = await start({ CRASH_POINT: point, NODE_OPTIONS: `--import=${deadly}` });
      const token = await dying.logIn();
      await assert.rejects(send(dying, token));
      assert.equal((await dying.ended).signal, 'SIGKILL');
      assert.equal((await executed(sandbox)).length, before);

      const service = await start();
      if (afterRepeat === 0) return assertNeverSent(service, sandbox, token);
      const response = await repeat(service, token);
      const settled = await service.call(`/pix/${response.body.transaction_id}`, {
        token,
        headers: { prefer: 'wait=20' },
      });
      assert.equal(settled.body.status, 'COMPLETED');
      const [payment, ...more] = await executed(sandbox);
      assert.deepEqual(more, []);
      assert.equal(payment?.clientRequestId, key);
      assert.equal(payment.amount, body.amount);
      const last = await send(service, token);
      assert.equal(last.headers.get('idempotency-replayed'), 'true');
      assert.equal(last.body.end_to_end, payment.endToEnd);
    });
  }
});

/** The service cannot know whether the payment was sent: it neither fails it nor sends it again. */
async function assertNeverSent(
  service: ServiceProcess,
  sandbox: Sandbox,
  token: string,
): Promise<void> {
  const response = await send(service, token);
  assert.deepEqual([response.status, response.body.status], [200, 'PROCESSING']);
  assert.equal(response.headers.get('pix-outcome'), 'unknown');
  assert.deepEqual(await executed(sandbox), []);
}
