/** Job loops on a test's database: what they ask of it is watched, and can be made to fail. */
import type { TestContext } from 'node:test';
import type { Context } from '../../../src/context/context.ts';
import type { JobHandler, LeasedJob } from '../../../src/jobs/job.ts';
import { JobLoop, type LoopOptions } from '../../../src/jobs/loop.ts';
import { EventPlaces } from '../../../src/process/event-places.ts';
import { enqueueEvent } from '../../../src/settlement/event-queue-repository.ts';
import { EventQueue, type EventQueueOptions } from '../../../src/settlement/event-queue.ts';
import type { TestApp } from '../../support/app.ts';

/** How many turns of the event loop without a statement count as rest. */
const restingTurns = 5;

export interface Watched {
  readonly context: Context;
  /** How often a loop on this context has looked at the queue. */
  polls(): number;
  /** How often a statement of this name was carried out. */
  executions(name: string): number;
  /** Makes the statements of these names fail; none: the database works again. */
  fail(...names: string[]): void;
  /** Waits until no statement is under way, no timer is due, and nothing follows. */
  rest(): Promise<void>;
  /** Lets the time pass, step by step, and what it sets going come to rest. */
  pass(ms: number, stepMs?: number): Promise<void>;
}

/** The context of a process of its own, as a job loop sees it. */
export function watched(app: TestApp): Watched {
  const { db } = app.context;
  let underWay = 0;
  const executions = new Map<string, number>();
  let failing: ReadonlySet<string> = new Set();
  const query: typeof db.query = async (statement, parameters) => {
    if (failing.has(statement.name)) throw new Error(`${statement.name} fails`);
    underWay += 1;
    try {
      return await db.query(statement, parameters);
    } finally {
      underWay -= 1;
      executions.set(statement.name, (executions.get(statement.name) ?? 0) + 1);
    }
  };
  const rest = async (): Promise<void> => {
    for (let quiet = 0; quiet < restingTurns; quiet += 1) {
      // A timer that is set for a time which has come while its statement was under way.
      await app.clock.advance(0);
      if (underWay > 0) quiet = -1;
    }
  };
  return {
    context: { ...app.context, db: { ...db, query } },
    polls: () => executions.get('jobs-claim') ?? 0,
    executions: (name) => executions.get(name) ?? 0,
    fail: (...names) => void (failing = new Set(names)),
    rest,
    async pass(ms, stepMs = 1_000) {
      for (let passed = 0; passed < ms; passed += stepMs) {
        await app.clock.advance(Math.min(stepMs, ms - passed));
        await rest();
      }
    },
  };
}

/** Settles the events of the queue for the length of a test, as a process of its own. */
export async function startEventQueue(
  t: TestContext,
  { context }: Watched,
  options: Omit<EventQueueOptions, 'context'> = {},
): Promise<EventQueue> {
  const queue = new EventQueue({ context, random: () => 0, ...options });
  t.after(() => queue.stop());
  await queue.start();
  return queue;
}

/** A context in which `work` comes before each execution of a statement, and may fail it. */
export function before(
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

/** A context whose intake gives events to a queue. */
export function storingFor(
  context: Context,
  queue: Parameters<EventPlaces['connect']>[0],
): Context {
  const eventPlaces = new EventPlaces();
  eventPlaces.connect(queue);
  return { ...context, eventPlaces };
}

export interface QueuedRow {
  readonly due_at: Date;
  readonly waiting_since: Date;
  readonly attempts: number;
  readonly waits: number;
  readonly failures: number;
  readonly last_error: string | null;
  readonly seen: string | null;
}

/** The row of an event in the queue; undefined: it is not there. */
export async function queuedEvent(app: TestApp, id: string): Promise<QueuedRow | undefined> {
  const [row] = await app.rows<QueuedRow>('select * from webhook_queue where event_id = $1', [id]);
  return row;
}

/** Makes an event due, as a delivery of the same bytes does. */
export function wakeEvent(app: TestApp, id: string): Promise<void> {
  return enqueueEvent(app.context, id, null);
}

/** Starts a loop for the length of a test. */
export async function startLoop(
  t: TestContext,
  { context }: Watched,
  options: Omit<LoopOptions, 'context'>,
): Promise<JobLoop> {
  const loop = new JobLoop({ context, random: () => 0, ...options });
  t.after(() => loop.stop());
  await loop.start();
  return loop;
}

export interface Recorder extends JobHandler {
  readonly runs: readonly LeasedJob[];
}

/** A handler that notes its runs, and then does `work`. */
export function recorder(work: JobHandler['run'] = async () => undefined): Recorder {
  const runs: LeasedJob[] = [];
  return {
    runs,
    run(context, job) {
      runs.push(job);
      return work(context, job);
    },
  };
}

/** A handler whose runs end when the test lets them, at its end at the latest. */
export function held(t: TestContext): Recorder & { release(): void } {
  const gate = Promise.withResolvers<undefined>();
  const release = () => gate.resolve(undefined);
  t.after(release);
  return { ...recorder(() => gate.promise), release };
}

export interface JobState {
  readonly id: string;
  readonly status: string;
  readonly attempts: number;
  readonly run_at: Date;
  readonly leased_until: Date | null;
  readonly leased_by: string | null;
  readonly last_error: string | null;
  readonly finished_at: Date | null;
  /** Requested again while it runs. */
  readonly wanted: boolean;
}

/** Queues a job, due now unless said otherwise, and gives its id. */
export async function queueJob(
  app: TestApp,
  kind: string,
  changes: Readonly<Record<string, unknown>> = {},
): Promise<string> {
  const now = app.clock.now();
  const row = { kind, payload: '{}', status: 'queued', run_at: now, created_at: now, ...changes };
  const columns = Object.keys(row);
  const [job] = await app.rows<{ id: string }>(
    `insert into jobs (${columns.join(', ')})
     values (${columns.map((_, index) => `$${index + 1}`).join(', ')}) returning id`,
    Object.values(row),
  );
  return job?.id ?? '';
}

/** The state of a job. */
export async function jobState(app: TestApp, id: string): Promise<JobState | undefined> {
  const [job] = await app.rows<JobState>('select * from jobs where id = $1', [id]);
  return job;
}

/** The state of an event. */
export async function eventStatus(app: TestApp, id: string): Promise<string | undefined> {
  const [event] = await app.rows<{ status: string }>(
    'select status from webhook_events where id = $1',
    [id],
  );
  return event?.status;
}
