/** Events whose jobs begin where they are stored, and what becomes of those that cannot. */
import assert from 'node:assert/strict';
import { beforeEach, test, type TestContext } from 'node:test';
import type { Context } from '../../../src/context/context.ts';
import type { JobLoop } from '../../../src/jobs/loop.ts';
import type { Lease } from '../../../src/jobs/job-repository.ts';
import { settleWebhook, settleWebhookBatch } from '../../../src/settlement/settle-webhook.ts';
import { JobDispatcher } from '../../../src/process/job-dispatch.ts';
import {
  receiveEvent,
  type PostedEvent,
} from '../../../src/settlement/receive-provider-webhook.ts';
import { startTestApp } from '../../support/app.ts';
import { eventually } from '../../support/eventually.ts';
import {
  eventStatus,
  held,
  jobState,
  queueJob,
  startLoop,
  watched,
  type Watched,
} from './loops.ts';

const app = await startTestApp({ environment: { JOBS: 'off' } });

const jobs = { 'settle-webhook': settleWebhook, 'settle-webhook-batch': settleWebhookBatch };

beforeEach(async () => {
  await app.rows('delete from webhook_events');
  await app.rows('delete from jobs');
});

/** A process whose intake hands events to its loop. */
async function startProcess(t: TestContext, options: { localJobs?: number } = {}) {
  const process = watched(app);
  const loop = await startLoop(t, process, { jobs, ...options });
  await process.rest();
  return { ...process, loop, context: connected(process, loop) };
}

function connected({ context }: Watched, loop: Pick<JobLoop, 'reserve'>) {
  const dispatch = new JobDispatcher();
  dispatch.connect(loop);
  return { ...context, jobs: dispatch };
}

let postedCount = 0;

/** An event that means nothing to anybody: it ends as ignored. */
function posted(): PostedEvent {
  postedCount += 1;
  const content = { event: 'CONTA_CRIADA', nth: postedCount };
  return { payload: Buffer.from(JSON.stringify(content)), content };
}

async function readJob(eventId: string) {
  const [job] = await app.rows<{ id: string }>('select id from jobs where unique_key = $1', [
    `webhook:${eventId}`,
  ]);
  return job && jobState(app, job.id);
}

/** A job is removed when its event is settled. */
const isDone = (eventId: string) =>
  eventually(async () => (await readJob(eventId)) === undefined, 'the end of the job');

const readStatus = (eventId: string) => eventStatus(app, eventId);

test('an event begins where it is stored: it is not claimed, looked up or ended by itself', async (t) => {
  const process = await startProcess(t);
  const polls = process.polls();
  const { id } = await receiveEvent(process.context, posted());
  await isDone(id);
  await process.rest();
  assert.equal(await readStatus(id), 'ignored');
  const others = ['webhook-find', 'jobs-finish'].map((name) => process.executions(name));
  assert.deepEqual([process.polls() - polls, ...others], [0, 0, 0]);
});

test('the same bytes again begin nothing, and take no room', async (t) => {
  const process = await startProcess(t, { localJobs: 1 });
  const event = posted();
  const first = await receiveEvent(process.context, event);
  await isDone(first.id);
  for (let turn = 0; turn < 3; turn += 1) {
    assert.deepEqual(await receiveEvent(process.context, event), { ...first, duplicate: true });
  }
  const polls = process.polls();
  const next = await receiveEvent(process.context, posted());
  await isDone(next.id);
  assert.equal(process.polls(), polls, 'there was room for the next one');
});

test('what finds no room is queued, and settled all the same', async (t) => {
  const process = await startProcess(t, { localJobs: 1 });
  const polls = process.polls();
  const received = await Promise.all(
    Array.from({ length: 20 }, () => receiveEvent(process.context, posted())),
  );
  for (const { id } of received) await isDone(id);
  assert.ok(process.polls() > polls, 'the queue was looked at');
});

test('a store that fails takes no room', async (t) => {
  const process = await startProcess(t, { localJobs: 1 });
  process.fail('webhook-store');
  for (let turn = 0; turn < 3; turn += 1) {
    await assert.rejects(receiveEvent(process.context, posted()));
  }
  process.fail();
  const polls = process.polls();
  const { id } = await receiveEvent(process.context, posted());
  await isDone(id);
  assert.equal(process.polls(), polls);
});

test('an event whose process dies before it is settled is taken up when its lease has run out', async (t) => {
  // It stores the event under its lease, and nothing follows.
  const loop = {
    reserve: () => ({
      worker: 'the-dead',
      leasedUntil: new Date(app.clock.now().getTime() + 30_000),
      begin: () => undefined,
      release: () => undefined,
    }),
  };
  const { id } = await receiveEvent(connected(watched(app), loop), posted());
  assert.equal((await readJob(id))?.leased_by, 'the-dead');
  const other = await startProcess(t);
  await other.pass(29_000);
  assert.equal(await readStatus(id), 'received');
  await other.pass(7_000);
  await isDone(id);
  assert.equal(await readStatus(id), 'ignored');
});

test('a first run that fails is put back, and the next one looks the event up', async (t) => {
  const process = await startProcess(t);
  process.fail('webhook-finish');
  const { id } = await receiveEvent(process.context, posted());
  await eventually(async () => (await readJob(id))?.status === 'queued', 'the failed run');
  assert.equal((await readJob(id))?.attempts, 1);
  process.fail();
  await process.pass(2_000);
  await isDone(id);
  assert.deepEqual([process.executions('webhook-find'), await readStatus(id)], [1, 'ignored']);
});

test('a job that is requested again while it runs is queued by the commit that would end it', async (t) => {
  const process = await startProcess(t);
  const context = before(process.context, 'webhook-finish', () =>
    app.rows('update jobs set wanted = true'),
  );
  const polls = process.polls();
  const { id } = await receiveEvent(context, posted());
  await isDone(id);
  assert.ok(process.polls() > polls, 'it went through the queue');
});

test('a loop that stops waits for what has begun, takes no more, and puts back what comes late', async (t) => {
  const process = await startProcess(t);
  const early = process.loop.reserve();
  const late = process.loop.reserve();
  assert.ok(early && late);
  const work = held(t);
  const leasedTo = ({ worker, leasedUntil }: Lease) => {
    const lease = { leased_by: worker, leased_until: leasedUntil };
    return queueJob(app, 'work', { status: 'running', attempts: 1, ...lease });
  };
  const ids = [await leasedTo(early), await leasedTo(late)];
  const [begun = '', put = ''] = ids;
  const kept = { kind: 'work', payload: {}, sharedBy: null };
  early.begin({ ...kept, id: begun }, (job) => work.run(process.context, job));
  const stopped = process.loop.stop();
  assert.equal(process.loop.reserve(), null);
  late.begin({ ...kept, id: put }, () => assert.fail('it has begun'));
  await eventually(async () => (await jobState(app, put))?.status === 'queued', 'the job put back');
  work.release();
  await stopped;
  assert.deepEqual(
    [(await jobState(app, begun))?.status, (await jobState(app, put))?.leased_by],
    ['done', null],
  );
});

/** Receives events that are stored in one commit. */
async function receiveTogether(
  context: Context,
  events: readonly PostedEvent[],
): Promise<readonly string[]> {
  const received = await Promise.all(events.map((event) => receiveEvent(context, event)));
  return received.map(({ id }) => id);
}

const threeEvents = (): PostedEvent[] => [posted(), posted(), posted()];

const listJobs = () =>
  app.rows(`select kind, status, jsonb_array_length(payload->'eventIds') as events
              from jobs where kind like 'settle-%' order by id`);

const areSettled = (ids: readonly string[]) =>
  eventually(async () => {
    const statuses = await Promise.all(ids.map(readStatus));
    return statuses.every((status) => status === 'ignored');
  }, 'the end of the events');

test('events that are stored together share a job, which ends with the last of them', async (t) => {
  const process = await startProcess(t);
  const polls = process.polls();
  const during: unknown[] = [];
  const context = before(process.context, 'webhook-finish', async () => {
    during.push(...(await listJobs()));
  });
  const ids = await receiveTogether(context, threeEvents());
  await areSettled(ids);
  await process.rest();
  assert.deepEqual(during[0], { kind: 'settle-webhook-batch', status: 'running', events: 3 });
  assert.deepEqual(await listJobs(), [], 'its row is removed');
  assert.equal(process.polls(), polls);
});

test('events whose process dies with their shared job each get a job', async (t) => {
  const lease = { worker: 'the-dead', leasedUntil: new Date(app.clock.now().getTime() + 30_000) };
  const loop = { reserve: () => ({ ...lease, begin: () => undefined, release: () => undefined }) };
  const ids = await receiveTogether(connected(watched(app), loop), threeEvents());
  assert.deepEqual(await listJobs(), [
    { kind: 'settle-webhook-batch', status: 'running', events: 3 },
  ]);
  const other = await startProcess(t);
  await other.pass(29_000);
  assert.equal(await readStatus(ids[0] ?? ''), 'received');
  await other.pass(7_000);
  await areSettled(ids);
});

test('of a shared job, only the event that fails gets a job of its own', async (t) => {
  const process = await startProcess(t);
  let failing = '';
  const context = before(process.context, 'webhook-finish', ({ id }) => {
    if (failing !== '') return;
    failing = String(id);
    throw new Error('it fails');
  });
  const ids = await receiveTogether(context, threeEvents());
  await eventually(async () => {
    return (await listJobs()).some((job) => job['status'] === 'queued');
  }, 'the failed run');
  await areSettled(ids.filter((id) => id !== failing));
  assert.equal(await readStatus(failing), 'received');
  await process.pass(2_000);
  await areSettled(ids);
  const found = process.executions('webhook-find');
  assert.equal(found, 1, 'the others are not settled again');
});

test('an event that waits leaves the shared job, and gets one of its own', async (t) => {
  const process = await startProcess(t);
  const content = { event: 'PIX_PAYMENT', endToEnd: 'E-none', status: 'CONFIRMED', amount: 1 };
  const parked = { payload: Buffer.from(JSON.stringify(content)), content };
  const [id = '', ...others] = await receiveTogether(process.context, [parked, posted(), posted()]);
  await areSettled(others);
  await process.rest();
  assert.equal(await readStatus(id), 'parked');
  assert.equal((await readJob(id))?.status, 'queued');
  assert.deepEqual(await listJobs(), [{ kind: 'settle-webhook', status: 'queued', events: null }]);
});

test('a shared job that has begun runs the parts that come during the stop', async (t) => {
  const process = await startProcess(t);
  const [early, late] = [process.loop.reserve(), process.loop.reserve()];
  assert.ok(early && late);
  const lease = { leased_by: early.worker, leased_until: early.leasedUntil };
  const id = await queueJob(app, 'work', { status: 'running', attempts: 1, ...lease });
  const job = { id, kind: 'work', payload: {}, sharedBy: early.worker };
  const work = held(t);
  early.begin(job, (leased) => work.run(process.context, leased));
  const stopped = process.loop.stop();
  let isRun = false;
  late.begin(job, async () => void (isRun = true));
  work.release();
  await stopped;
  assert.deepEqual([isRun, await jobState(app, id)], [true, undefined]);
});

test('a shared job whose parts come after the stop is put back', async (t) => {
  const process = await startProcess(t);
  const slots = [process.loop.reserve(), process.loop.reserve()];
  const [first] = slots;
  assert.ok(first);
  const lease = { leased_by: first.worker, leased_until: first.leasedUntil };
  const id = await queueJob(app, 'work', { status: 'running', attempts: 1, ...lease });
  await process.loop.stop();
  for (const slot of slots) {
    const job = { id, kind: 'work', payload: {}, sharedBy: first.worker };
    slot?.begin(job, () => assert.fail('it has begun'));
  }
  await eventually(async () => (await jobState(app, id))?.status === 'queued', 'the job put back');
});

/** A context in which `work` comes before each execution of a statement, and may fail it. */
function before(
  context: Context,
  name: string,
  work: (parameters: Readonly<Record<string, unknown>>) => unknown,
): Context {
  const { query } = context.db;
  const watching: typeof query = async (statement, parameters) => {
    if (statement.name === name) await work(parameters as Readonly<Record<string, unknown>>);
    return query(statement, parameters);
  };
  return { ...context, db: { ...context.db, query: watching } };
}
