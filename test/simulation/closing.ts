/**
 * The end of a history: everyone has logged in, and each statement shows everything. The real
 * reconciliation reads all days of every customer; after a loss of commits the customers' next
 * sends have read the statements before.
 */
import { calendarDay, shiftDay } from '../../src/domain/calendar.ts';
import type { Settle } from './later.ts';
import type { Simulation } from './simulation.ts';

/** A debit proves a send only if a second reading still shows it without a reversal. */
const readings = 2;
const betweenReadingsMs = 16 * 60_000;

const triesPauseMs = 15_000;
const maxTries = 10;

/** Enough time for the jobs of what reconciliation has brought: events wait for it. */
const jobsRunMs = 2 * 60_000;

/** Reconciles all days of every customer who has a phone. */
export async function closeDays(simulation: Simulation, settle: Settle): Promise<void> {
  const { scheduler, bank, ledger } = simulation;
  bank.isClear = true;
  ledger.isClosed = true;
  if (simulation.policy.statement.takesBack) ledger.takeBack();
  let isDone = false;
  void reconcileAll(simulation).then(() => {
    isDone = true;
  });
  await settle(() => isDone);
  const doneMs = scheduler.nowMs;
  await settle(() => scheduler.nowMs > doneMs + jobsRunMs && scheduler.isQuiet);
}

async function reconcileAll(simulation: Simulation): Promise<void> {
  const { scheduler, operator, store } = simulation;
  // A failover may have lost that an account was unblocked, and only ACTIVE ones are reconciled.
  await operator.unblockAll();
  for (let reading = 1; reading <= readings; reading += 1) {
    if (reading > 1) await scheduler.sleep({ name: 'closing' }, betweenReadingsMs);
    await readAll(simulation);
  }
  const blocking = await store.rows<{ id: string }>(readBlocking);
  if (blocking.length > 0) await operator.accountFor(blocking.map(({ id }) => id));
}

const readBlocking = `
  select id::text as id from reconciliation_differences
   where blocks is not null and closed_at is null`;

async function readAll(simulation: Simulation): Promise<void> {
  const { clients, operator, oracle, scheduler, began } = simulation;
  const days = {
    first: shiftDay(calendarDay(began), -1),
    last: calendarDay(new Date(scheduler.nowMs)),
  };
  for (const { customer, phone, owner } of clients) {
    let result: Awaited<ReturnType<typeof operator.reconcile>> = null;
    for (let tries = 0; tries < maxTries; tries += 1) {
      await phone.logIn();
      result = await operator.reconcile(customer.id, days);
      if (result && result !== 'no account' && result.state === 'READ') break;
      await scheduler.sleep(owner, triesPauseMs);
    }
    if (!result || result === 'no account' || result.state === 'UNREAD') {
      const why = result && result !== 'no account' ? result.reason : String(result);
      oracle.violated(`the statement of ${customer.name} could not be reconciled: ${why}`);
    } else {
      for (const { action } of result.settled) scheduler.count(`reconciliation: ${action}`);
      for (const { kind, reason } of result.differences) {
        scheduler.count(`reconciliation lists ${kind} ${reason}`);
      }
    }
  }
}
