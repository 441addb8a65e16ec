/**
 * The time long after a history: days pass, the retention job deletes old data, and then the app
 * repeats its requests, the provider posts old events again, and an operator replays all events.
 * None of it changes a final payment.
 */
import type { Simulation } from './simulation.ts';

const hourMs = 60 * 60_000;
const dayMs = 24 * hourMs;

/** Enough time for every periodic job to run. */
const jobsRunMs = 4 * 60_000;

/** Takes steps until a condition holds. */
export type Settle = (isOver: () => boolean) => Promise<void>;

/** Advances the clock by days. */
export async function passDays({ scheduler, store }: Simulation, settle: Settle): Promise<void> {
  const { webhookPayloads, finishedJobs } = store.config.retention;
  scheduler.count('days passed');
  // The first pass gives up parked events; they are kept for some days after that.
  for (const days of [1.1, Math.max(webhookPayloads, finishedJobs) + 2]) {
    scheduler.leap(days * dayMs);
    const leaptMs = scheduler.nowMs;
    await settle(() => scheduler.nowMs > leaptMs + jobsRunMs && scheduler.isQuiet);
  }
}

/** Repeats requests, events and replays. */
export async function repeatRequests(simulation: Simulation, settle: Settle): Promise<void> {
  const { clients, webhooks, operator } = simulation;
  let isDone = false;
  const repeats = [...clients.map((client) => client.repeatRequests()), operator.replayAll()];
  void Promise.all(repeats).then(() => {
    isDone = true;
  });
  webhooks.postOldAgain();
  await settle(() => isDone && simulation.isAtRest);
}
