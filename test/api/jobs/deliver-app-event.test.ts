/** Events to the app's own backend: what is written, how it is signed, what follows a failure. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';
import { test, type TestContext } from 'node:test';
import { Webhook } from 'standardwebhooks';
import { deliverAppEvent } from '../../../src/app-events/deliver-app-event.ts';
import { backOffMs, JobRuns } from '../../../src/jobs/runner.ts';
import { resendEvents } from '../../../src/operator/app-events.ts';
import { startTestApp } from '../../support/app.ts';
import { givenApplication, givenCustomer, givenUser } from '../../support/factories.ts';
import { afterFile } from '../../support/suite.ts';
import { refused, unwatched } from '../operator/asking.ts';
import { runPonte } from '../operator/command-line.ts';
import { startLoop, watched } from './loops.ts';
import { confirmed, startSettlingApp } from './settling.ts';

interface Received {
  readonly url: string | undefined;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

const received: Received[] = [];
let scripted: { readonly status: number; readonly headers?: Record<string, string> } = {
  status: 204,
};

/** The app's backend. */
const backend = createServer((request, response) => {
  const chunks: Buffer[] = [];
  request.on('data', (chunk: Buffer) => chunks.push(chunk));
  request.on('end', () => {
    const body = Buffer.concat(chunks).toString();
    received.push({ url: request.url, headers: request.headers, body });
    // Nothing reads so long a response.
    response.writeHead(scripted.status, scripted.headers).end('x'.repeat(100_000));
  });
});
backend.listen(0, '127.0.0.1');
await once(backend, 'listening');
afterFile(() => {
  backend.closeAllConnections();
  backend.close();
});
const { port } = backend.address() as AddressInfo;

const secrets = ['A', 'B'].map((letter) => `whsec_${letter.repeat(32)}`);
const environment = {
  APP_EVENTS_URL: `http://127.0.0.1:${port}/events?of=ponte`,
  APP_EVENTS_SECRET: secrets.join(','),
};
const app = await startSettlingApp({ environment });

interface EventRow {
  readonly id: string;
  readonly type: string;
  readonly delivered_at: Date | null;
}

function readEvents(userId: number): Promise<EventRow[]> {
  return app.rows<EventRow>(
    'select id, type, delivered_at from app_events where user_id = $1 order by at, id',
    [userId],
  );
}

/** Delivers an event as its job does. */
async function deliver(id: string): Promise<Received> {
  received.length = 0;
  const job = { id: '0', kind: 'deliver-app-event', payload: { id }, attempt: 1, worker: 'test' };
  await deliverAppEvent.run(app.context, job);
  const [one] = received;
  assert.ok(one && received.length === 1);
  return one;
}

/** Verifies a request as an app's backend would, at the time of the service. */
function verify(t: TestContext, { headers, body }: Received, secret: string): unknown {
  t.mock.timers.enable({ apis: ['Date'], now: app.clock.now() });
  try {
    return new Webhook(secret).verify(body, headers as Record<string, string>);
  } finally {
    t.mock.timers.reset();
  }
}

test('the end of a send is posted once, signed with both secrets, with ids only', async (t) => {
  const send = await app.givenSend();
  const body = confirmed({ endToEnd: send.end_to_end });
  await app.receive(body);
  await app.receive({ ...body, repeated: true });
  const [event, ...others] = (await readEvents(app.customer.id)).filter(({ id }) =>
    id.endsWith(send.id),
  );
  assert.deepEqual([event?.id, event?.type, others], [`pix_${send.id}`, 'pix.completed', []]);
  const [job] = await app.rows(`select status from jobs where unique_key = $1`, [
    `app-event:pix_${send.id}`,
  ]);
  assert.deepEqual(job, { status: 'queued' });
  const request = await deliver(`pix_${send.id}`);
  assert.equal(request.url, '/events?of=ponte');
  assert.equal(request.headers['webhook-id'], `pix_${send.id}`);
  for (const secret of secrets) {
    assert.deepEqual(verify(t, request, secret), {
      type: 'pix.completed',
      timestamp: app.clock.now().toISOString(),
      data: {
        user_id: app.customer.id,
        transaction_id: send.id,
        transaction_type: 'SEND',
        status: 'COMPLETED',
      },
    });
  }
  assert.throws(() => verify(t, request, `whsec_${'C'.repeat(32)}`), /No matching signature/);
  const [delivered] = await readEvents(app.customer.id);
  assert.deepEqual(delivered?.delivered_at, app.clock.now());
});

test("a failure is told with its published code and sentence, never in the bank's words", async () => {
  const cases = [
    ['AC07', { code: 'AC07', message: "The payee's account is closed." }],
    [
      'Conta de Ana Souza bloqueada',
      { code: 'PROVIDER_REJECTED', message: 'The bank refused the operation.' },
    ],
  ] as const;
  for (const [stored, failure] of cases) {
    const send = await app.givenSend();
    await app.rows(
      `update pix_transactions set status = 'FAILED', phase = 'SETTLED', failure_code = $2,
                                   settled_at = $3, updated_at = $3
        where id = $1`,
      [send.id, stored, app.clock.now()],
    );
    const { data } = JSON.parse((await deliver(`pix_${send.id}`)).body);
    assert.deepEqual(data, {
      user_id: app.customer.id,
      transaction_id: send.id,
      transaction_type: 'SEND',
      status: 'FAILED',
      failure,
    });
  }
});

test('a correction is an event of its own, and names the payment that was made again', async (t) => {
  const send = await app.givenSend(undefined, 31);
  const failed = { status: 'ERROR', endToEnd: send.end_to_end, error: { code: 'AC03' } };
  await app.receive(confirmed(failed));
  await app.clock.advance(1_000);
  const again = await app.givenSend(undefined, 31);
  await app.receive(confirmed({ endToEnd: send.end_to_end, amount: 31 }));
  const events = (await readEvents(app.customer.id)).filter(({ id }) => id.includes(send.id));
  assert.deepEqual(
    events.map(({ id, type }) => [id, type]),
    [
      [`pix_${send.id}`, 'pix.failed'],
      [`pix_${send.id}_corrected`, 'pix.completed'],
    ],
  );
  const data = { user_id: app.customer.id, transaction_id: send.id, transaction_type: 'SEND' };
  const bodies = [];
  for (const { id } of events) bodies.push(verify(t, await deliver(id), secrets[0] ?? ''));
  assert.deepEqual(
    bodies.map((body) => (body as { data: unknown }).data),
    [
      // Its transaction is not FAILED any more.
      { ...data, status: 'FAILED' },
      { ...data, status: 'COMPLETED', corrected: true, paid_again_by: again.id },
    ],
  );
});

test('each end is posted: a failure, a decision, a received Pix, an onboarding', async () => {
  const user = await givenCustomer(app);
  await app.listEmail(user);
  const body = { pix_key: 'notfound@ponte.test', amount: 1 };
  await app.send(user, body);
  const { body: unknown } = await app.send(user, { pix_key: 'ana@example.com', amount: 2 });
  const decision = [
    '--as',
    'completed',
    '--reason',
    'ticket 7',
    '--yes',
    '--confirm',
    'money has moved',
  ];
  const resolved = await runPonte(app, ['pix', 'resolve', unknown.transaction_id, ...decision], {
    environment,
  });
  await app.receive(app.pix({ chave: user.email, valor: '3.00' }));
  await givenApplication(app, user.id, 'UNDER_ANALYSIS');
  await app.rows(
    `update onboarding_applications set status = 'REJECTED', updated_at = $2 where user_id = $1`,
    [user.id, app.clock.now()],
  );
  const types = (await readEvents(user.id)).map(({ type }) => type);
  const ends = await app.rows<{ status: string }>(
    `select status from pix_transactions where user_id = $1 and status <> 'PROCESSING'`,
    [user.id],
  );
  const expected = ends.map(({ status }) => `pix.${status.toLowerCase()}`);
  assert.deepEqual([resolved.code, expected.length], [0, 3], resolved.stderr);
  assert.deepEqual(types.toSorted(), [...expected, 'onboarding.rejected'].toSorted());
});

test('a status other than 2xx is a failure, a redirect is not followed', async () => {
  const send = await app.givenSend();
  await app.receive(confirmed({ endToEnd: send.end_to_end }));
  const id = `pix_${send.id}`;
  for (const [status, headers] of [
    [503, {}],
    [400, {}],
    [302, { location: `http://127.0.0.1:${port}/elsewhere` }],
  ] as const) {
    scripted = { status, headers };
    const failure = { name: 'DeliveryError', code: `status_${status}` };
    await assert.rejects(deliver(id), failure);
    assert.deepEqual(
      received.map(({ url }) => url),
      ['/events?of=ponte'],
    );
  }
  scripted = { status: 200 };
  await deliver(id);
});

test('a backend that cannot be reached, or is silent for ten seconds, is a failure', async () => {
  const send = await app.givenSend();
  await app.receive(confirmed({ endToEnd: send.end_to_end }));
  const job = { id: '0', kind: '', payload: { id: `pix_${send.id}` }, attempt: 1, worker: 'test' };
  const at = (url: string) => ({
    ...app.context,
    config: { ...app.context.config, appEvents: { url, secrets } },
  });
  const away = deliverAppEvent.run(at('http://127.0.0.1:1/'), job);
  await assert.rejects(away, { code: 'unreachable' });
  const silent = createServer();
  silent.listen(0, '127.0.0.1');
  await once(silent, 'listening');
  const { port: silentPort } = silent.address() as AddressInfo;
  const arrived = once(silent, 'request');
  const late = deliverAppEvent.run(at(`http://127.0.0.1:${silentPort}/`), job);
  const timedOut = assert.rejects(late, { code: 'timeout' });
  await arrived;
  await app.clock.advance(10_000);
  await timedOut;
  silent.closeAllConnections();
  silent.close();
});

test('it is tried for a day, then dead, listed, and resent with the same id', async (t) => {
  const send = await app.givenSend();
  await app.rows(`delete from jobs where kind = 'deliver-app-event'`);
  await app.receive(confirmed({ endToEnd: send.end_to_end }));
  const id = `pix_${send.id}`;
  scripted = { status: 500 };
  received.length = 0;
  const jobs = { 'deliver-app-event': deliverAppEvent };
  const { context } = watched(app);
  const random = () => 0;
  const attempts = deliverAppEvent.maxAttempts ?? 0;
  const pauses = Array.from({ length: attempts - 1 }, (_, nth) => backOffMs(nth + 1, random));
  const triedMs = pauses.reduce((sum, pauseMs) => sum + pauseMs, 0);
  assert.ok(triedMs >= 24 * 3_600_000, 'it is tried for a day');
  // Each attempt as soon as it is due, and of many equal ones the last.
  const runs = new JobRuns({ context, jobs, random });
  let now = app.clock.now();
  t.mock.method(app.clock, 'now', () => now);
  const tried = [1, 2, 3, 30, attempts - 1, attempts];
  for (const [nth, attempt] of tried.entries()) {
    const [row] = await app.rows<{ id: string; run_at: Date }>(
      `update jobs set status = 'running', leased_by = 'test', leased_until = 'infinity',
                       attempts = $2
        where unique_key = $1 and status = 'queued' returning id, run_at`,
      [`app-event:${id}`, attempt],
    );
    assert.ok(row, `attempt ${attempt}`);
    const pauseMs = row.run_at.getTime() - now.getTime();
    if (nth > 0) assert.equal(pauseMs, pauses[(tried[nth - 1] ?? 0) - 1]);
    now = row.run_at;
    const leased = { kind: 'deliver-app-event', payload: { id }, worker: 'test' };
    await runs.run({ ...leased, id: row.id, attempt });
  }
  assert.deepEqual(
    received.map(({ headers }) => headers['webhook-id']),
    tried.map(() => id),
  );
  const log = app.logLines.join('');
  assert.ok([...secrets, app.customer.email].every((hidden) => !log.includes(hidden)));
  const dead = await runPonte(app, ['events', 'list', '--state', 'dead', '--json']);
  const { events } = JSON.parse(dead.stdout);
  assert.deepEqual(
    events.map((one: Record<string, unknown>) => [one['id'], one['state'], one['lastError']]),
    [[id, 'dead', 'DeliveryError status_500']],
  );
  scripted = { status: 200 };
  const resend = ['events', 'resend', '--all-dead', '--yes'];
  const resent = await runPonte(app, resend, { environment });
  assert.equal(resent.stdout, '1 event is queued to be delivered again.\n', resent.stderr);
  t.mock.restoreAll();
  const loop = watched(app);
  received.length = 0;
  await app.rows(`update jobs set run_at = $1 where kind = 'deliver-app-event'`, [app.clock.now()]);
  await startLoop(t, loop, { jobs });
  await app.settled(send.id);
  while (received.length === 0) await loop.rest();
  assert.equal(received[0]?.headers['webhook-id'], id);
  const [action] = await app.rows(
    'select command, outcome from operator_actions where target = $1',
    [`app-event:${id}`],
  );
  assert.deepEqual(action, { command: 'events resend', outcome: 'queued' });
});

test('events resend names what does not exist, and wants to know which', async () => {
  const missing = await runPonte(app, ['events', 'resend', ' pix_none ', '--yes'], { environment });
  assert.deepEqual([missing.code, missing.stderr], [1, 'There is no event pix_none.\n']);
  assert.equal((await runPonte(app, ['events', 'resend', '--yes'])).code, 2);
});

test('events resend is refused where no address is set, and the event stays delivered', async () => {
  const send = await app.givenSend();
  await app.receive(confirmed({ endToEnd: send.end_to_end }));
  const id = `pix_${send.id}`;
  await app.rows('update app_events set delivered_at = now() where id = $1', [id]);
  const { context } = app;
  const without = { ...context, config: { ...context.config, appEvents: null } };
  const resend = resendEvents.run(without, { ids: [id] }, unwatched);
  await refused(resend, /no event would be delivered: set APP_EVENTS_URL/);
  const [event] = await app.rows<{ delivered_at: Date | null }>(
    'select delivered_at from app_events where id = $1',
    [id],
  );
  assert.ok(event?.delivered_at);
});

test('without an address nothing is written, and no job is queued', async () => {
  const off = await startTestApp({ environment: { JOBS: 'off' } });
  const { id } = await givenUser(off);
  await off.rows(
    `insert into pix_transactions (id, user_id, operation, status, phase, amount, created_at,
                                   updated_at, settled_at)
     values (gen_random_uuid(), $1, 'RECEIVED', 'COMPLETED', 'SETTLED', 1, now(), now(), now())`,
    [id],
  );
  assert.deepEqual(await off.rows('select id from app_events where user_id = $1', [id]), []);
});
