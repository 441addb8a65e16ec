/**
 * What comes long after a history: days pass, what is kept for a time only is let go of, and then
 * the app asks for its payments again, the provider posts old events again, and an operator replays
 * all of them. Nothing of it changes what has ended.
 */
import type { Simulation } from './simulation.ts';

const hourMs = 60 * 60_000;
const dayMs = 24 * hourMs;

/** Every periodic job has run by then. */
const jobsRunMs = 4 * 60_000;

/** What goes on until something holds. */
export type Settle = (isOver: () => boolean) => Promise<void>;

/** Lets the days pass. */
export async function passDays({ scheduler, store }: Simulation, settle: Settle): Promise<void> {
  const { webhookPayloads, finishedJobs } = store.config.retention;
  scheduler.count('days passed');
  // What was parked is given up first: it is kept for longer then.
  for (const days of [1.1, Math.max(webhookPayloads, finishedJobs) + 2]) {
    scheduler.leap(days * dayMs);
    const leaptMs = scheduler.nowMs;
    await settle(() => scheduler.nowMs > leaptMs + jobsRunMs && scheduler.isQuiet);
  }
}

/** Asks, posts and replays again. */
export async function askAgain(simulation: Simulation, settle: Settle): Promise<void> {
  const { clients, webhooks, operator } = simulation;
  let isAsked = false;
  const asked = [...clients.map((client) => client.askAgain()), operator.replayAll()];
  void Promise.all(asked).then(() => {
    isAsked = true;
  });
  webhooks.postOldAgain();
  await settle(() => isAsked && simulation.isAtRest);
}
