/** Runs one seed: a phase with faults, a phase without, and the checks at rest. */
import { nextTurn } from '../../src/clock.ts';
import { releaseSignals } from './abandoned-signals.ts';
import { saveSession } from '../../src/auth/banking-sessions.ts';
import { defaultHazards, type Hazards } from './hazards.ts';
import { repeatRequests, passDays, type Settle } from './later.ts';
import { storeOldPayment } from './old-payment.ts';
import type { Client } from './clients.ts';
import { closeDays } from './closing.ts';
import { beginIds } from './random-ids.ts';
import { checkAtRest } from './oracle/invariants.ts';
import { findBegun, findQueuedInVain } from './oracle/queued-events.ts';
import { checkReconciled } from './oracle/reconciled.ts';
import type { FinalRow } from './oracle/stored-rows.ts';
import { checkRetention } from './oracle/retention.ts';
import type { Store } from './store.ts';
import type { Deviation } from './deviation.ts';
import { Simulation } from './simulation.ts';

export interface Verdict {
  readonly seed: number;
  /** The violated invariants; empty when the seed passes. */
  readonly violations: readonly string[];
  /** The trace: one line for each step. */
  readonly trace: readonly string[];
  readonly rows: readonly FinalRow[];
  readonly tally: ReadonlyMap<string, number>;
  /** The clients and their requests, by the names that `Deviation` can leave out. */
  readonly clients: readonly { readonly name: string; readonly wished: readonly string[] }[];
}

/** The most steps with faults. */
const maxSteps = 2_500;

/**
 * The most steps without faults: a service that needs more will never be at rest. Of 50,000
 * histories one, with some hundred waiting events, needs 21,000.
 */
const maxQuietSteps = 60_000;

/** Enough time for leases to expire and for every queue to be polled. */
const pollsMs = 95_000;

/** Two minutes until a payment is stale, two sweeps, and time for the work that they start. */
const restMs = 4 * 60_000;

/** Ten minutes from the first sight of a debit to the reading that proves it, and a sweep. */
const sightMs = 12 * 60_000;

/** Ten minutes until the service looks up an accepted payment, and as above. */
const acceptedRestMs = 14 * 60_000 + sightMs;

/** Fifteen minutes until a failure that may belong to an earlier attempt settles, and a sweep. */
const doubtRestMs = 20 * 60_000 + sightMs;

/** The longest pause between two calls about a dispute, and the most calls without faults. */
const maxRepeatPauseMs = 60 * 60_000;
const maxRepeats = 3;

/** The first login after the faults may find the circuit breaker open. */
const loginPauseMs = 15_000;
const maxLogins = 10;

export interface SimulateOptions {
  /** The hazards to draw from. */
  readonly hazards?: Hazards;
  /** The parts of the service that are broken on purpose. */
  readonly deviation?: Deviation;
  /** Whether all customers pay by the client of the contract; by default some do. */
  readonly client?: boolean;
  /** Whether there are dynamic codes to pay; by default in some seeds. */
  readonly codes?: boolean;
}

/** Runs one history. */
export async function simulate(
  store: Store,
  seed: number,
  { hazards = defaultHazards, deviation = {}, client = false, codes = false }: SimulateOptions = {},
): Promise<Verdict> {
  beginIds(seed);
  const simulation = new Simulation(store, { seed, hazards, deviation, client, codes });
  const { scheduler, oracle } = simulation;
  const { violations } = oracle;
  store.time.begin(() => scheduler.elapsedMs);
  const stopWatching = watchUnhandled((error) => oracle.violated(describeUnhandled(error)));
  let rows: readonly FinalRow[] = [];
  try {
    rows = await runHistory(simulation);
  } catch (error) {
    oracle.violated(describeUnhandled(error));
  }
  simulation.processes.abandon();
  releaseSignals();
  // Node reports an unhandled rejection one turn later.
  await nextTurn();
  stopWatching();
  store.time.end();
  const clients = simulation.clients.map(({ customer: { name }, wished }) => ({ name, wished }));
  return { seed, violations, trace: scheduler.trace, rows, tally: scheduler.tally, clients };
}

function describeUnhandled(error: unknown): string {
  return `an error was not handled: ${error instanceof Error ? error.stack : String(error)}`;
}

/**
 * Watches for unhandled errors, which would otherwise end the run.
 * @returns a function that ends the watch.
 */
function watchUnhandled(found: (error: unknown) => void): () => void {
  const events = ['unhandledRejection', 'uncaughtException'] as const;
  for (const event of events) process.on(event, found);
  return () => {
    for (const event of events) process.off(event, found);
  };
}

/** Runs a history from its beginning to the last check. */
async function runHistory(simulation: Simulation): Promise<readonly FinalRow[]> {
  const { store, oracle } = simulation;
  await store.reset({
    notified: (channel, payload) => simulation.statements.notified(channel, payload),
    logged: (line) => checkLog(simulation, line),
  });
  await openSessions(simulation);
  await storeOldPayment(simulation);
  await runWithFaults(simulation);
  const isAtRest = await comeToRest(simulation);
  if (!isAtRest) oracle.violated('the service did not come to rest');
  const rows = await checkAtRest(simulation);
  if (!isAtRest) return rows;
  if (!simulation.goesOn) {
    await close(simulation);
    return rows;
  }
  await goOn(simulation);
  const later = await checkAtRest(simulation);
  await close(simulation);
  return later;
}

/** Reconciles all days, and checks that every movement of the bank is stored or listed. */
async function close(simulation: Simulation): Promise<void> {
  const { scheduler, oracle } = simulation;
  const lastStep = scheduler.taken + maxQuietSteps;
  await closeDays(simulation, async (isOver) => {
    while (!isOver() && scheduler.taken < lastStep) await scheduler.step();
  });
  if (scheduler.taken >= lastStep) oracle.violated('reconciliation did not come to rest');
  await checkReconciled(simulation);
}

async function openSessions({ store, bank, clients, scheduler }: Simulation): Promise<void> {
  const { db, sealer } = store;
  const clock = scheduler.getClock({ name: 'set-up' });
  for (const client of clients) {
    const { customer } = client;
    const from = { ...customer, clientAddress: '127.0.0.1' };
    const account = { agency: null, accountNumber: null, document: null };
    const sessionId = await saveSession({ db, sealer, clock } as never, from, {
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
  while (!simulation.isAtRest && simulation.scheduler.taken < maxSteps)
    await simulation.scheduler.step();
  simulation.endFaults();
}

/** @returns whether the history has come to rest. */
async function comeToRest(simulation: Simulation): Promise<boolean> {
  const { scheduler } = simulation;
  const lastStep = scheduler.taken + maxQuietSteps;
  const settle: Settle = async (isOver) => {
    while (!isOver() && scheduler.taken < lastStep) await scheduler.step();
  };
  await settle(() => simulation.isAtRest);
  await settleWork(settle, () => logInAll(simulation));
  if (simulation.lost.failedOverAt !== null) await replayAgain(simulation, settle);
  await settleWork(settle, () => each(simulation, (client) => client.app?.resumeAll()));
  // The service reads a statement only in an active session, so the last sweeps follow the logins.
  const begunMs = scheduler.nowMs;
  // Times that a process with a fast clock has stored are due later by its skew.
  const { clockSkewMs } = simulation.processes;
  const polledMs = begunMs + pollsMs + clockSkewMs;
  await settle(() => scheduler.nowMs > polledMs && scheduler.isQuiet);
  // If nothing is left to sweep, more minutes would find nothing and take most of the run's time.
  const pauseMs = await sweepsNeedMs(simulation);
  const untilMs = Math.max(begunMs + pauseMs, await settlementsNeedUntilMs(simulation));
  await settle(() => scheduler.nowMs > untilMs + clockSkewMs && scheduler.isQuiet);
  await settleDisputes(simulation, settle);
  await settleWork(settle, () => checkFinalResults(simulation));
  // What the bank has done meanwhile is processed, too.
  await settle(() => scheduler.isQuiet);
  return scheduler.taken < lastStep;
}

/** Continues days later: final payments must stay final. */
async function goOn(simulation: Simulation): Promise<void> {
  const { scheduler, oracle } = simulation;
  const lastStep = scheduler.taken + maxQuietSteps;
  const settle: Settle = async (isOver) => {
    while (!isOver() && scheduler.taken < lastStep) await scheduler.step();
  };
  await passDays(simulation, settle);
  await checkRetention(simulation);
  await repeatRequests(simulation, settle);
  const begunMs = scheduler.nowMs;
  const pauseMs = Math.max(pollsMs, await sweepsNeedMs(simulation));
  await settle(() => scheduler.nowMs > begunMs + pauseMs && scheduler.isQuiet);
  await settleDisputes(simulation, settle);
  if (scheduler.taken >= lastStep) oracle.violated('the service did not come to rest days later');
}

/** How long the sweeps may still have work. */
async function sweepsNeedMs({ store, hazards }: Simulation): Promise<number> {
  const rows = await store.rows<{ phase: string }>(
    `select distinct phase from pix_transactions
      where status = 'PROCESSING' and (operation = 'SEND' or phase <> 'ACCEPTED')`,
  );
  const held = await store.rows(
    `select from webhook_events
      where status = 'parked' and (results @> '[{"reason": "may_be_another_attempt"}]'
                                   or results @> '[{"reason": "return_in_progress"}]')`,
  );
  if (held.length > 0) return doubtRestMs;
  const isAccepted = rows.some(({ phase }) => phase === 'ACCEPTED');
  if (isAccepted && hazards.has('accepted_lookups')) return acceptedRestMs;
  return rows.some(({ phase }) => phase !== 'ACCEPTED') ? restMs + sightMs : 0;
}

/** The time by which only events that wait for a transaction are in the queue. */
async function settlementsNeedUntilMs({ store }: Simulation): Promise<number> {
  const queued = [...(await findQueuedInVain(store)), ...(await findBegun(store))];
  const times = queued.map(({ due_at: dueAt }) => dueAt.getTime());
  return Math.max(...times.map((dueMs) => dueMs + restMs), -Infinity);
}

/** Waits until the calls about disputes are repeated, and what the bank then does is processed. */
async function settleDisputes(simulation: Simulation, settle: Settle): Promise<void> {
  const { scheduler, disputes, processes } = simulation;
  for (let rounds = 0; rounds < maxRepeats; rounds += 1) {
    const pending = await disputes.listPending();
    if (pending.length === 0) break;
    const dueMs = Math.max(
      ...pending.map((row) => {
        const waitedMs = row.updated_at.getTime() - row.requested_at.getTime();
        const pauseMs = Math.min(waitedMs / 10, maxRepeatPauseMs);
        return Math.max(row.claimed_until?.getTime() ?? 0, row.updated_at.getTime() + pauseMs);
      }),
    );
    const untilMs = Math.max(dueMs, scheduler.nowMs) + restMs + processes.clockSkewMs;
    await settle(() => scheduler.nowMs > untilMs && scheduler.isQuiet);
  }
  await settle(() => simulation.isAtRest);
}

/** Begins work, and takes steps until it is done. */
async function settleWork(settle: Settle, work: () => Promise<unknown>): Promise<void> {
  let isDone = false;
  void work().then(() => {
    isDone = true;
  });
  await settle(() => isDone);
}

async function each(
  { clients }: Simulation,
  work: (client: Client) => Promise<void> | undefined,
): Promise<void> {
  await Promise.all(clients.map(async (client) => work(client)));
}

/** The client of the contract tells each final status. */
async function checkFinalResults(simulation: Simulation): Promise<void> {
  const rows = await simulation.store.rows<{ user_id: number; key: string; status: string }>(
    `select user_id, idempotency_key as key, status from pix_transactions
      where operation = 'SEND' and status <> 'PROCESSING'`,
  );
  await each(simulation, ({ app, customer }) => {
    const own = rows.filter((row) => row.user_id === customer.id);
    return app?.checkFinal(new Map(own.map(({ key, status }) => [key, status])));
  });
}

async function logInAll({ clients, scheduler }: Simulation): Promise<void> {
  for (const client of clients) {
    for (let tries = 0; tries < maxLogins && !(await client.phone.logIn()); tries += 1) {
      await scheduler.sleep(client.owner, loginPauseMs);
    }
  }
}

/**
 * An event that has settled the payee's side alone settles a send that the payer's statement has
 * stored again since.
 */
async function replayAgain({ operator }: Simulation, settle: Settle): Promise<void> {
  await settleWork(settle, () => operator.replayAll());
}

/** The errors that the faults of the simulation cause may be logged. */
const expected = new Set(['DatabaseFault', 'ProviderError', 'ProcessGone']);

interface LogLine {
  readonly msg: string;
  readonly error?: { readonly name: string; readonly sqlstate?: string };
}

function checkLog({ oracle, scheduler, lost }: Simulation, line: string): void {
  const { msg, error } = JSON.parse(line) as LogLine;
  scheduler.note(`logged: ${msg}`);
  // A process may still hold a transaction that a failover has lost.
  if (error?.sqlstate === '23503' && lost.failedOverAt !== null) return;
  if (error && !expected.has(error.name)) oracle.violated(`a defect, logged as "${msg}": ${line}`);
}
