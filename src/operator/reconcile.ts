/** `reconcile`: compares the provider's statement with what is stored, for an operator. */
import { accept, type Accepted, type AcceptInput } from './accept.ts';
import type { LocalContext } from '../context/context.ts';
import { calendarDay, dayRange } from '../domain/calendar.ts';
import { decimalFromCents } from '../domain/money.ts';
import { lastClosedDay } from '../domain/reconciliation.ts';
import type { Provider } from '../provider/provider.ts';
import { eachAtOnce } from '../settlement/reconcile-days.ts';
import { reconcileUser, type ReconciledUser } from '../settlement/reconcile-user.ts';
import {
  countDueUsers,
  findDueUsers,
  findStatementUser,
  type FoundDifference,
  type StatementUser,
} from '../settlement/reconciliation-repository.ts';
import type { SettledLine } from '../settlement/settle-line.ts';
import { explainDifference, type Explanation } from './difference-next-step.ts';
import { OpError, requireRowIds, type Op, type OpCaller } from './op.ts';
import { recordAction } from './operator-action-repository.ts';
import {
  acceptDifferences,
  findDifferences,
  findUnreadDays,
  type StoredDifference,
  type UnreadDay,
} from './reconcile-repository.ts';
import { findUser } from './users.ts';
import { withProvider } from './with-provider.ts';

export interface ReconcileInput {
  /** `yyyy-mm-dd`; by default the last one that is closed. */
  readonly day?: string;
  /** An id or an e-mail: only this user, whether the day was read before or not. */
  readonly user?: string;
  /** Users whose statement was read before this time are read again, ISO 8601. */
  readonly readBefore?: string;
  /** Shows what would be settled, and writes nothing. */
  readonly dryRun?: boolean;
  /** The `next` of an earlier call, with its `done`. */
  readonly after?: { readonly userId: number; readonly done: number };
}

/** What a line has settled, or would in a dry run; the amount is a decimal of reais. */
export interface SettledView {
  readonly action: string;
  readonly transactionId: string | null;
  readonly endToEnd: string | null;
  readonly amount: string;
}

/** A difference that a run has found. */
export interface FoundView extends Explanation {
  readonly day: string;
  readonly kind: string;
  readonly reason: string;
  readonly subject: string;
  readonly transactionId: string | null;
  readonly endToEnd: string | null;
  readonly amount: string | null;
  readonly storedAmount: string | null;
}

export interface ReconciledView {
  readonly userId: number;
  readonly state: 'READ' | 'UNREAD';
  /** Why it is UNREAD. */
  readonly reason: string | null;
  readonly lines: number;
  readonly settled: readonly SettledView[];
  readonly differences: readonly FoundView[];
  /** How many earlier differences are explained. */
  readonly explained: number;
}

export interface ReconcileResult {
  readonly day: string;
  readonly users: readonly ReconciledView[];
  /** The `after` of the next call; null when every user is done. */
  readonly next: { readonly userId: number; readonly done: number } | null;
}

/** The users of one call: a command that is killed loses no more than their report. */
const usersOfCall = 20;

/**
 * Reconciles a day for some users. It goes on where an earlier run of the day stopped: a user whose
 * statement was read and who has no open difference is left out.
 * @throws OpError when the day has not ended, or only the service can reach the provider.
 */
export const reconcileOp: Op<ReconcileInput, ReconcileResult> = {
  needsDialects: true,
  async run(context, input, caller) {
    const day = input.day ?? lastClosedDay(context.clock.now());
    const refusal = refusalOfDay(day, context.clock.now());
    if (refusal !== null) throw new OpError('REFUSED', refusal);
    const { users, done, total, isLast } = await findUsers(context, day, input);
    const results = await withProvider(context, async (provider) => {
      if (provider === null) throw new OpError('REFUSED', noProvider);
      const count = (number: number): void => caller.progress(done + number, total);
      return reconcileUsers({ ...context, provider }, users, { ...input, day, count });
    });
    for (const result of input.dryRun ? [] : results) {
      await recordSettled(context, result, caller);
    }
    const last = users.at(-1);
    const next = isLast || !last ? null : { userId: last.userId, done: done + users.length };
    return { day, users: results.map((one) => toView(one)), next };
  },
};

const noProvider = 'only the service reaches the simulated bank: run it while the service runs';

function refusalOfDay(day: string, now: Date): string | null {
  if ('errors' in dayRange(day, day, now)) return 'the day must be a date such as 2026-11-25';
  return day >= calendarDay(now) ? 'the day has not ended: its statement is not complete' : null;
}

interface UsersOfCall {
  readonly users: readonly StatementUser[];
  /** How many users earlier calls of the run have done. */
  readonly done: number;
  readonly total: number;
  readonly isLast: boolean;
}

async function findUsers(
  context: LocalContext,
  day: string,
  { user: reference, readBefore, after }: ReconcileInput,
): Promise<UsersOfCall> {
  if (reference !== undefined) {
    const { id } = await findUser(context, reference);
    const user = await findStatementUser(context, id);
    if (!user) throw new OpError('REFUSED', 'the user has no active account at the provider');
    return { users: [user], done: 0, total: 1, isLast: true };
  }
  const { userId: afterUser, done } = after ?? { userId: 0, done: 0 };
  const again = { readBefore: readBefore === undefined ? null : new Date(readBefore) };
  const search = { day, afterUser, again };
  const users = await findDueUsers(context, { ...search, limit: usersOfCall });
  const total = done + (await countDueUsers(context, search));
  return { users, done, total, isLast: users.length < usersOfCall };
}

interface RunOfDay extends ReconcileInput {
  readonly day: string;
  readonly count: (done: number) => void;
}

async function reconcileUsers(
  context: LocalContext & { readonly provider: Provider },
  users: readonly StatementUser[],
  { day, dryRun = false, count }: RunOfDay,
): Promise<ReconciledUser[]> {
  const results: ReconciledUser[] = [];
  const options = { isBackground: true };
  await eachAtOnce(users, { isOver: () => context.stopping.aborted }, async (user) => {
    const days = { first: day, last: day, options, isDryRun: dryRun };
    const result = await reconcileUser(context, user, days);
    results.push(result);
    count(results.length);
  });
  return results.toSorted((one, other) => one.userId - other.userId);
}

/** The timeline has each write already; this records who caused it. */
async function recordSettled(
  context: LocalContext,
  result: ReconciledUser,
  { operator, reason }: OpCaller,
): Promise<void> {
  if (result.state === 'UNREAD') return;
  const ids = result.settled.flatMap(({ transactionId }) => transactionId ?? []);
  const targets = [...new Set(ids)].map((id) => `pix:${id}`);
  const action = { operator, reason, command: 'reconcile' };
  const outcome = 'settled from the statement';
  await recordAction(context, action, () =>
    Promise.resolve({ result: undefined, targets, outcome }),
  );
}

function toView(result: ReconciledUser): ReconciledView {
  const { userId, state } = result;
  if (result.state === 'UNREAD') {
    const nothing = { lines: 0, settled: [], differences: [], explained: 0 };
    return { userId, state, reason: result.reason, ...nothing };
  }
  const { lines, settled, differences, explained } = result;
  return {
    userId,
    state,
    reason: null,
    lines,
    settled: settled.map(toSettledView),
    differences: differences.map((one) => toFoundView(userId, one)),
    explained,
  };
}

function toSettledView({ amountCents, ...line }: SettledLine): SettledView {
  return { ...line, amount: decimalFromCents(amountCents) };
}

function toFoundView(userId: number, { amountCents, ...found }: FoundDifference): FoundView {
  const amount = amountCents === null ? null : decimalFromCents(amountCents);
  return { ...found, amount, ...explainDifference({ ...found, userId, amount }) };
}

export interface DifferencesInput {
  /** An id or an e-mail. */
  readonly user?: string;
  readonly day?: string;
  /** Closed ones, too. */
  readonly all?: boolean;
  /** Only those that block orders. */
  readonly blocking?: boolean;
  readonly limit: number;
}

/** A stored difference; times are ISO 8601. */
export interface DifferenceView extends Omit<StoredDifference, 'foundAt'>, Explanation {
  readonly foundAt: string;
}

export interface DifferencesListed {
  readonly differences: readonly DifferenceView[];
}

/** Lists differences, the oldest first. */
export const listDifferences: Op<DifferencesInput, DifferencesListed> = {
  async run(context, { user, day, all = false, blocking = false, limit }) {
    const userId = user === undefined ? undefined : (await findUser(context, user)).id;
    const found = await findDifferences(context, { userId, day, all, blocking, limit });
    return { differences: found.map(toDifferenceView) };
  },
};

function toDifferenceView({ foundAt, ...difference }: StoredDifference): DifferenceView {
  return { ...difference, ...explainDifference(difference), foundAt: foundAt.toISOString() };
}

export interface WaitingView extends Omit<UnreadDay, 'triedAt'> {
  readonly triedAt: string;
}

/** Lists the users and days whose statement could not be read, the oldest first. */
export const listWaiting: Op<
  Pick<DifferencesInput, 'user' | 'limit'>,
  { readonly days: readonly WaitingView[] }
> = {
  async run(context, { user, limit }) {
    const userId = user === undefined ? undefined : (await findUser(context, user)).id;
    const days = await findUnreadDays(context, { userId, limit });
    return { days: days.map(toWaitingView) };
  },
};

function toWaitingView({ triedAt, ...day }: UnreadDay): WaitingView {
  return { ...day, triedAt: triedAt.toISOString() };
}

/**
 * Closes differences that an operator has explained; runs leave them closed.
 * @throws OpError when the reason or the operator is missing, or an id is invalid.
 */
export const acceptOp: Op<AcceptInput, Accepted> = {
  run(context, input, { operator }) {
    return accept(context, input, {
      operator,
      command: 'reconcile accept',
      target: 'difference',
      checkIds: (ids) => requireRowIds(ids, 'a difference'),
      close: acceptDifferences,
    });
  },
};
