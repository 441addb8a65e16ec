/** The service that is measured, a customer, and the work that a test does in its place. */
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { providerFeatures } from '../../../../src/config/formats.ts';
import { jobs } from '../../../../src/app/jobs.ts';
import { claimJobs } from '../../../../src/jobs/job-repository.ts';
import { JobRuns } from '../../../../src/jobs/runner.ts';
import type { LeasedJob } from '../../../../src/jobs/job.ts';
import { takeEvents, type QueuedEvent } from '../../../../src/settlement/event-queue-repository.ts';
import { settleQueued } from '../../../../src/settlement/settle-event.ts';
import type { TestRequest } from '../../../support/app.ts';
import { givenCustomer, type TestUser } from '../../../support/factories.ts';
import { startSandboxedApp, type SandboxedApp } from '../../../support/sandboxed-app.ts';
import { confirmed } from '../../jobs/settling.ts';

export interface Scene {
  readonly app: SandboxedApp;
  readonly user: TestUser;
  /** A customer who sets limits, to which sends are then held. */
  readonly limited: TestUser;
  /** The first pass warms the service up. */
  readonly pass: number;
  /** The ids of what this pass has made, by what it is. */
  readonly made: Map<string, string>;
}

export type Request = TestRequest & { readonly path: string };

/** Limits are on, and high. No loop looks at the queue: each look would be counted. */
const environment = {
  JOBS: 'off',
  ONBOARDING_LOCAL_ONLY: 'false',
  PROVIDER_FEATURES: providerFeatures.join(),
  THROTTLE_LOGIN_PER_MINUTE: '1000',
  THROTTLE_ADDRESS_PER_MINUTE: '1000',
  THROTTLE_USER_PER_MINUTE: '1000',
};

export async function startScene(): Promise<Pick<Scene, 'app' | 'user' | 'limited'>> {
  const app = await startSandboxedApp(environment);
  return { app, user: await givenCustomer(app), limited: await givenCustomer(app) };
}

/** Makes a request as the customer. @returns the body of its response. */
export async function ask({ app, user }: Scene, { path, ...request }: Request) {
  const { status, body } = await app.call(path, { token: user.token, ...request });
  assert.ok(status < 300, `${path}: ${status} ${JSON.stringify(body)}`);
  return body;
}

/** @returns what a pass has made once. */
export async function once(
  { made }: Scene,
  what: string,
  make: () => Promise<string>,
): Promise<string> {
  const id = made.get(what) ?? (await make());
  made.set(what, id);
  return id;
}

export const order = () => ({
  path: '/pix/send',
  key: randomUUID(),
  body: { pix_key: 'ana@example.com', amount: 10 },
});

/** A send that the bank has settled, and the webhook that says so. */
export async function givenSettled(scene: Scene) {
  const { transaction_id: id, end_to_end: endToEnd } = await ask(scene, order());
  await scene.app.bank.settle(endToEnd);
  const body = confirmed({ endToEnd, amount: 10 });
  return { id: String(id), webhook: { path: '/webhooks/provider', body } };
}

export async function claim({ app }: Scene, kind: string): Promise<readonly LeasedJob[]> {
  const leasedUntil = new Date(app.clock.now().getTime() + 60_000);
  const lease = { worker: randomUUID(), leasedUntil };
  const { jobs: claimed } = await claimJobs(app.context, lease, new Map([[kind, 64]]));
  return claimed;
}

export function run({ app: { context } }: Scene, job: LeasedJob): Promise<boolean> {
  return new JobRuns({ context, jobs, random: () => 0 }).run(job);
}

/** Runs the due jobs of a kind, and those that they queue. */
export async function runJobs(scene: Scene, kind: string): Promise<void> {
  for (;;) {
    const claimed = await claim(scene, kind);
    if (claimed.length === 0) return;
    for (const job of claimed) await run(scene, job);
  }
}

/** Takes the events of the queue that are due. */
export async function takeDue({ app: { context, clock } }: Scene): Promise<readonly QueuedEvent[]> {
  const nextAt = new Date(clock.now().getTime() + 60_000);
  const { events } = await takeEvents(context, {
    nextAt,
    rareAt: nextAt,
    underWay: [],
    room: 64,
  });
  return events;
}

/** Settles the events of the queue that are due. */
export async function settleDue(scene: Scene): Promise<void> {
  for (const event of await takeDue(scene)) await settleQueued(scene.app.context, event);
}

/** Settles each event of `work` where it is received, as a process does that settles events. */
export async function settling({ app }: Scene, work: () => Promise<unknown>): Promise<void> {
  const { context, clock } = app;
  const begun: Promise<boolean>[] = [];
  context.eventPlaces.connect({
    reserve: () => ({
      dueAt: new Date(clock.now().getTime() + 60_000),
      release: () => undefined,
      begin: (_eventId, settle) => void begun.push(settle()),
    }),
  });
  await work();
  assert.deepEqual(await Promise.all(begun), [false]);
  context.eventPlaces.connect({ reserve: () => null });
}
