/** Runs one seed: the trouble, the calm after it, and the check of what is left. */
import { nextTurn } from '../../src/clock.ts';
import { keepProviderLogin } from '../../src/auth/banking-sessions.ts';
import { defaultHazards, type Hazards } from './hazards.ts';
import { askAgain, passDays, type Settle } from './later.ts';
import { leaveOldPayment } from './old-payment.ts';
import { checkAtRest } from './oracle/invariants.ts';
import type { FinalRow } from './oracle/stored-rows.ts';
import { checkRetention } from './oracle/retention.ts';
import type { Store } from './store.ts';
import type { Deviation } from './deviation.ts';
import { Simulation } from './simulation.ts';

export interface Verdict {
  readonly seed: number;
  /** What did not hold; empty when all did. */
  readonly violations: readonly string[];
  /** Everything that happened, a line a step. */
  readonly trace: readonly string[];
  readonly rows: readonly FinalRow[];
  readonly tally: ReadonlyMap<string, number>;
  /** The clients, and what they have wanted, by names that can be left out (`Deviation`). */
  readonly clients: readonly { readonly name: string; readonly wished: readonly string[] }[];
}

/** So many steps of trouble are enough for anybody. */
const mostSteps = 2_500;

/** Whatever is not at rest after so many quiet steps never will be. */
const mostQuietSteps = 20_000;

/** Leases have run out by then, and every loop has looked: what is dead stays dead. */
const untilOperatorMs = 95_000;

/** Two minutes until something counts as stale, two sweeps, and time for what they set going. */
const restMs = 4 * 60_000;

/** Ten minutes until what was accepted is looked up, and the same. */
const acceptedRestMs = 14 * 60_000;

/** A quarter of an hour until a failure that may be an earlier attempt's settles, and its look. */
const doubtRestMs = 20 * 60_000;

/** The first login after a storm may find the breaker open. */
const loginPauseMs = 15_000;
const mostLogins = 10;

export interface SimulateOptions {
  /** What may happen beyond what is always drawn. */
  readonly hazards?: Hazards;
  /** A part that was broken on purpose. */
  readonly deviation?: Deviation;
}

/** Runs one history. */
export async function simulate(
  store: Store,
  seed: number,
  { hazards = defaultHazards, deviation = {} }: SimulateOptions = {},
): Promise<Verdict> {
  const simulation = new Simulation(store, { seed, hazards, deviation });
  const { scheduler, oracle } = simulation;
  const { violations } = oracle;
  store.time.begin(() => scheduler.elapsedMs);
  const stopWatching = watchUnhandled((error) => oracle.violated(brokenOff(error)));
  let rows: readonly FinalRow[] = [];
  try {
    rows = await runHistory(simulation);
  } catch (error) {
    oracle.violated(brokenOff(error));
  }
  simulation.processes.abandon();
  // A rejection is known to be unhandled a turn later.
  await nextTurn();
  stopWatching();
  store.time.end();
  const clients = simulation.clients.map(({ customer: { name }, wished }) => ({ name, wished }));
  return { seed, violations, trace: scheduler.trace, rows, tally: scheduler.tally, clients };
}

function brokenOff(error: unknown): string {
  return `nobody has handled an error: ${error instanceof Error ? error.stack : String(error)}`;
}

/**
 * Errors that nobody waits for would end the run, and with it all seeds that are left.
 * @returns what ends the watch.
 */
function watchUnhandled(found: (error: unknown) => void): () => void {
  const events = ['unhandledRejection', 'uncaughtException'] as const;
  for (const event of events) process.on(event, found);
  return () => {
    for (const event of events) process.off(event, found);
  };
}

/** From the beginning to the last check. */
async function runHistory(simulation: Simulation): Promise<readonly FinalRow[]> {
  const { store, oracle } = simulation;
  await store.reset({
    notified: (channel, payload) => simulation.statements.notified(channel, payload),
    logged: (line) => checkLog(simulation, line),
  });
  await openSessions(simulation);
  await leaveOldPayment(simulation);
  await runWithFaults(simulation);
  const isAtRest = await comeToRest(simulation);
  if (!isAtRest) oracle.violated('the service did not come to rest');
  const rows = await checkAtRest(simulation);
  if (!isAtRest || !simulation.goesOn) return rows;
  await goOn(simulation);
  return checkAtRest(simulation);
}

async function openSessions({ store, bank, clients, scheduler }: Simulation): Promise<void> {
  const { db, sealer } = store;
  const clock = scheduler.clockOf({ name: 'set-up' });
  for (const client of clients) {
    const { customer } = client;
    const from = { ...customer, clientAddress: '127.0.0.1' };
    const account = { agency: null, accountNumber: null, document: null };
    const sessionId = await keepProviderLogin({ db, sealer, clock } as never, from, {
      token: bank.open(customer),
      expiresAt: null,
      account: { ...account, companyId: null, clientToken: null },
    });
    if (sessionId === null) throw new Error('a session was not opened');
    client.phone.sessionId = sessionId;
  }
}

async function runWithFaults(simulation: Simulation): Promise<void> {
  simulation.begin();
  while (!simulation.isAtRest && simulation.scheduler.taken < mostSteps)
    await simulation.scheduler.step();
  simulation.endFaults();
}

/** @returns whether everything that was begun has ended. */
async function comeToRest(simulation: Simulation): Promise<boolean> {
  const { scheduler } = simulation;
  const lastStep = scheduler.taken + mostQuietSteps;
  const settle: Settle = async (isOver) => {
    while (!isOver() && scheduler.taken < lastStep) await scheduler.step();
  };
  await settle(() => simulation.isAtRest);
  let loggedIn = false;
  void logInAll(simulation).then(() => {
    loggedIn = true;
  });
  await settle(() => loggedIn);
  // A statement is read in an active session only, so the last sweeps come after the logins.
  const begunMs = scheduler.nowMs;
  // What a process has dated whose clock was ahead comes due so much later.
  const { clockSkewMs } = simulation.processes;
  const operatorAtMs = begunMs + untilOperatorMs + clockSkewMs;
  await settle(() => scheduler.nowMs > operatorAtMs && scheduler.isQuiet);
  const retried = await retryDeadJobs(simulation, settle);
  // Where nothing is left to sweep, the quiet minutes would show nothing and take most of the time.
  const pauseMs = Math.max(retried ? restMs : untilOperatorMs, await sweepsNeedMs(simulation));
  const untilMs = Math.max(begunMs + pauseMs, await settlementsNeedUntilMs(simulation));
  await settle(() => scheduler.nowMs > untilMs + clockSkewMs && scheduler.isQuiet);
  return scheduler.taken < lastStep;
}

/** Days later: what is final stays so. */
async function goOn(simulation: Simulation): Promise<void> {
  const { scheduler, oracle } = simulation;
  const lastStep = scheduler.taken + mostQuietSteps;
  const settle: Settle = async (isOver) => {
    while (!isOver() && scheduler.taken < lastStep) await scheduler.step();
  };
  await passDays(simulation, settle);
  await checkRetention(simulation);
  await askAgain(simulation, settle);
  const begunMs = scheduler.nowMs;
  const pauseMs = Math.max(untilOperatorMs, await sweepsNeedMs(simulation));
  await settle(() => scheduler.nowMs > begunMs + pauseMs && scheduler.isQuiet);
  if (scheduler.taken >= lastStep) oracle.violated('the service did not come to rest days later');
}

/** How long a sweep may still have something to do. */
async function sweepsNeedMs({ store, hazards }: Simulation): Promise<number> {
  const rows = await store.rows<{ phase: string }>(
    `select distinct phase from pix_transactions
      where status = 'PROCESSING' and (operation = 'SEND' or phase <> 'ACCEPTED')`,
  );
  const held = await store.rows(
    `select from webhook_events
      where status = 'parked' and results @> '[{"reason": "may_be_another_attempt"}]'`,
  );
  if (held.length > 0) return doubtRestMs;
  const isAccepted = rows.some(({ phase }) => phase === 'ACCEPTED');
  if (isAccepted && hazards.has('accepted_lookups')) return acceptedRestMs;
  return rows.some(({ phase }) => phase !== 'ACCEPTED') ? restMs : 0;
}

/** When the last event is settled whose job is put back, after so many failures in the storm. */
async function settlementsNeedUntilMs({ store }: Simulation): Promise<number> {
  const [last] = await store.rows<{ run_at: Date }>(
    `select jobs.run_at from webhook_events event
       join jobs on jobs.unique_key = 'webhook:' || event.id and jobs.status = 'queued'
      where event.status = 'received' order by jobs.run_at desc limit 1`,
  );
  return last ? last.run_at.getTime() + restMs : -Infinity;
}

async function logInAll({ clients, scheduler }: Simulation): Promise<void> {
  for (const client of clients) {
    for (let tries = 0; tries < mostLogins && !(await client.phone.logIn()); tries += 1) {
      await scheduler.sleep(client.owner, loginPauseMs);
    }
  }
}

/**
 * An event whose job has died with its process eight times is for an operator, who lets it run
 * again. Nobody does that for the sweep.
 * @returns whether there was one.
 */
async function retryDeadJobs({ store, operator }: Simulation, settle: Settle): Promise<boolean> {
  const dead = await store.rows(
    `select from jobs where status = 'dead' and kind = 'settle-webhook'`,
  );
  if (dead.length === 0) return false;
  let isAsked = false;
  void operator.retryDeadJobs().then(() => {
    isAsked = true;
  });
  await settle(() => isAsked);
  return true;
}

/** What the simulation has done itself, or the provider, may be logged as an error. */
const expected = new Set(['DatabaseFault', 'ProviderError', 'ProcessGone']);

interface LogLine {
  readonly msg: string;
  readonly error?: { readonly name: string; readonly sqlstate?: string };
}

function checkLog({ oracle, scheduler, lost }: Simulation, line: string): void {
  const { msg, error } = JSON.parse(line) as LogLine;
  scheduler.note(`logged: ${msg}`);
  // A process may have a transaction in hand that a failover has lost.
  if (error?.sqlstate === '23503' && lost.failedOverAt !== null) return;
  if (error && !expected.has(error.name)) oracle.violated(`a defect, logged as "${msg}": ${line}`);
}
