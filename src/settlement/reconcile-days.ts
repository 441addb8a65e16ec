/**
 * Reconciles yesterday for every user with an active account, a few users at a time, and reads days
 * again that wait for a session or have open differences. Each user's result is stored as soon as
 * it is known: a run that was interrupted goes on where it stopped.
 */
import type { Context } from '../context/context.ts';
import { shiftDay } from '../domain/calendar.ts';
import { lastClosedDay } from '../domain/reconciliation.ts';
import type { CallOptions } from '../provider/provider.ts';
import { reconcileUser, type ReconciledUser } from './reconcile-user.ts';
import {
  findDaysAgain,
  findDueUsers,
  findStatementUser,
  findWaitingDays,
  storeMissedDays,
  storeUnreadDays,
  type StatementUser,
} from './reconciliation-repository.ts';
import { startBudget } from './sweep-part.ts';

/** The users whose statements are read at once: reconciliation must not load the provider. */
const usersAtOnce = 4;

/** The users that are read from the database at a time. */
const pageSize = 100;

/** How long a run starts further users, in ms: much shorter than a job may take. */
const budgetMs = 10 * 60_000;

/** For how many days an unread day waits for a login, and an open difference is checked again. */
const maxWaitDays = 31;

/** After this number of unreadable statements in a row, a run ends. */
const maxFailures = 5;

/**
 * Runs until all is done, the time is over or the provider fails.
 * @returns whether users remain that a run can go on with now.
 */
export async function reconcileDaily(context: Context, options: CallOptions): Promise<boolean> {
  const run = new Run(context);
  const day = lastClosedDay(context.clock.now());
  const isDone = (await reconcileDay(context, run, { day, options })) && !run.isOver();
  if (isDone) await readAgain(context, run, { day, options });
  return !isDone && !run.isFailing;
}

/**
 * Reconciles the days of a user that wait for a login. The user may have no account any more, or
 * may have logged out.
 */
export async function reconcileWaiting(
  context: Context,
  userId: number,
  options: CallOptions,
): Promise<void> {
  const oldest = shiftDay(lastClosedDay(context.clock.now()), -maxWaitDays);
  const days = await findWaitingDays(context, userId, oldest);
  const user = days && (await findStatementUser(context, userId));
  if (days && user) await reconcileUser(context, user, { ...days, options });
}

/** The limits of one run. */
class Run {
  readonly #isBudgetOver: () => boolean;
  #failures = 0;

  constructor(context: Context) {
    this.#isBudgetOver = startBudget(context, budgetMs);
  }

  /** Whether the provider does not answer. */
  get isFailing(): boolean {
    return this.#failures >= maxFailures;
  }

  /** Whether no further user is started. */
  isOver(): boolean {
    return this.#isBudgetOver() || this.isFailing;
  }

  count(result: ReconciledUser): void {
    const isFailure = result.state === 'UNREAD' && result.reason !== 'NO_SESSION';
    if (!isFailure) this.#failures = 0;
    else if (result.reason !== 'TOKEN_REFUSED') this.#failures += 1;
  }
}

interface DayRun {
  readonly day: string;
  readonly options: CallOptions;
}

/** @returns whether every user of the day has been attempted. */
async function reconcileDay(
  context: Context,
  run: Run,
  { day, options }: DayRun,
): Promise<boolean> {
  let afterUser = 0;
  while (!run.isOver()) {
    const users = await findDueUsers(context, { day, afterUser, limit: pageSize });
    await storeMissed(context, users, day);
    const away = users.filter(({ session }) => session === null).map(({ userId }) => userId);
    const unread = { first: day, last: day, reason: 'NO_SESSION' } as const;
    if (away.length > 0) await storeUnreadDays(context, away, unread);
    const present = users.filter(({ session }) => session !== null);
    await eachAtOnce(present, run, async (user) => {
      run.count(await reconcileUser(context, user, { first: day, last: day, options }));
    });
    const last = users.at(-1);
    if (!last || users.length < pageSize) return !run.isOver();
    afterUser = last.userId;
  }
  return false;
}

/** No run has attempted a day on which no process ran, or on which an account was not active. */
async function storeMissed(
  context: Context,
  users: readonly StatementUser[],
  day: string,
): Promise<void> {
  if (users.length === 0) return;
  const days = { oldest: shiftDay(day, -maxWaitDays), until: shiftDay(day, -1) };
  const userIds = users.map(({ userId }) => userId);
  await storeMissedDays(context, userIds, days);
}

async function readAgain(context: Context, run: Run, { day, options }: DayRun): Promise<void> {
  const oldest = shiftDay(day, -maxWaitDays);
  const again = await findDaysAgain(context, { oldest, limit: pageSize });
  const ofUsers = [...Map.groupBy(again, ({ userId }) => userId)];
  await eachAtOnce(ofUsers, run, async ([userId, days]) => {
    const user = await findStatementUser(context, userId);
    if (!user) return;
    for (const { first, last } of days) {
      if (run.isOver()) return;
      run.count(await reconcileUser(context, user, { first, last, options }));
    }
  });
}

/** Does work for each element, for {@link usersAtOnce} of them at once. */
export async function eachAtOnce<Element>(
  elements: readonly Element[],
  run: Pick<Run, 'isOver'>,
  work: (element: Element) => Promise<void>,
): Promise<void> {
  const rest = [...elements];
  const worker = async (): Promise<void> => {
    for (let one = rest.shift(); one !== undefined && !run.isOver(); one = rest.shift()) {
      await work(one);
    }
  };
  await Promise.all(Array.from({ length: usersAtOnce }, worker));
}
