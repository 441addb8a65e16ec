/**
 * Records the actions of operators in the commit of each change: who, when, what, why. The database
 * sets the time and the role, so that no writer can state another.
 */
import type { LocalContext } from '../context/context.ts';
import { sql, statement } from '../db/statement.ts';
import { containing, inTransaction } from '../db/unit-of-work.ts';

export interface OperatorAction {
  readonly operator: string;
  /** The command, such as `user disable`. */
  readonly command: string;
  readonly reason?: string | undefined;
}

/** The result of a change. */
export interface Changed<Result> {
  readonly result: Result;
  /** The changed objects, such as `user:42`; one action is recorded for each. */
  readonly targets: readonly string[];
  /** The outcome in a word or two, without personal data. */
  readonly outcome: string;
}

/**
 * A change by an operator. It must use the context of the transaction and must not wait for the
 * network. An error rolls everything back.
 */
export type Change<Result> = (transaction: LocalContext) => Promise<Changed<Result>>;

/**
 * Makes a change and records it in the same transaction.
 * @returns the change's result.
 */
export function recordAction<Result>(
  context: LocalContext,
  action: OperatorAction,
  change: Change<Result>,
): Promise<Result> {
  return inTransaction(context, (transaction) => record(transaction, action, change));
}

/**
 * Records that an operator has read personal data, before it is shown.
 * @param targets what was read, such as `pix:…`.
 */
export async function recordReading(
  context: LocalContext,
  action: OperatorAction,
  targets: readonly string[],
): Promise<void> {
  await recordAction(context, action, () =>
    Promise.resolve({ result: undefined, targets, outcome: 'read' }),
  );
}

const insert = statement({
  name: 'ops-operator-actions-insert',
  parameters: {
    now: 'timestamptz',
    operator: 'text',
    command: 'text',
    targets: 'text[]',
    reason: 'text null',
    outcome: 'text',
  },
  text: ({ now, operator, command, targets, reason, outcome }) => sql`
    insert into operator_actions (at, operator, command, target, reason, outcome)
    select ${now}, ${operator}, ${command}, target, ${reason}, ${outcome}
     from unnest(${targets}) as target`,
});

async function record<Result>(
  transaction: LocalContext,
  { operator, command, reason }: OperatorAction,
  change: Change<Result>,
): Promise<Result> {
  const { result, targets, outcome } = await change(transaction);
  if (targets.length > 0) {
    const now = transaction.clock.now();
    await transaction.db.query(insert, {
      now,
      operator,
      command,
      targets,
      reason: reason ?? null,
      outcome,
    });
  }
  return result;
}

const findRecent = statement({
  name: 'ops-operator-actions-recent',
  parameters: { command: 'text', target: 'text', withinMs: 'int' },
  text: ({ command, target, withinMs }) => sql<RecentAction>`
    select operator, at, database_user is not distinct from session_user as "isOwn"
      from operator_actions
     where target = ${target} and command = ${command}
       and at > clock_timestamp() - ${withinMs} * interval '1 ms'
     order by id desc`,
});

/** An action that another run of the command may follow. */
export interface RecentAction {
  readonly operator: string;
  readonly at: Date;
  /** Whether the caller has the login of the database that it was recorded with. */
  readonly isOwn: boolean;
}

/** @returns the actions of a command on an object, newest first, by the clock of the database. */
export function findRecentActions(
  { db }: Pick<LocalContext, 'db'>,
  action: { readonly command: string; readonly target: string; readonly withinMs: number },
): Promise<RecentAction[]> {
  return db.query(findRecent, action);
}

/**
 * The targets that are about a user, as a query: what the record of an action names is the account,
 * the session or the payment that was changed or read, and not always its user.
 */
export function targetsAbout(userId: string): string {
  return `select 'user:' || ${userId}
           union all select 'account:' || id from accounts where user_id = ${userId}
           union all select 'session:' || id from banking_sessions where user_id = ${userId}
           union all select 'pix:' || id from pix_transactions where user_id = ${userId}
           union all select 'app-event:' || id from app_events where user_id = ${userId}
           union all select 'difference:' || id from reconciliation_differences
                      where user_id = ${userId}
           union all select 'event:' || l.event_id from pix_timeline l
                       join pix_transactions t on t.id = l.transaction_id
                      where t.user_id = ${userId} and l.event_id is not null`;
}

const find = statement({
  name: 'ops-operator-actions-find',
  parameters: {
    operator: 'text null',
    target: 'text null',
    userId: 'int null',
    limit: 'int',
  },
  text: ({ operator, target, userId, limit }) => sql<RecordedAction>`
    select id, at, operator, command, target, reason, outcome, database_user as "databaseUser"
      from operator_actions
     where (${operator} is null or operator ilike ${operator})
       and (${target} is null or target = ${target})
       and (${userId} is null or target in (${targetsAbout(userId)}))
     order by id desc limit ${limit}`,
});

/** Which actions to list; an absent field matches every action. */
export interface ActionFilter {
  /** A part of the operator's name, compared without regard to case. */
  readonly operator?: string | undefined;
  readonly target?: string | undefined;
  /** Of a user: also what was done to the account, the sessions and the payments of the user. */
  readonly userId?: number | undefined;
  readonly limit: number;
}

export interface RecordedAction {
  readonly id: string;
  readonly at: Date;
  readonly operator: string;
  readonly command: string;
  readonly target: string;
  readonly reason: string | null;
  readonly outcome: string;
  /** The role that has written the record; null for one of a release before it was recorded. */
  readonly databaseUser: string | null;
}

/** Lists the actions of operators, newest first. */
export function findActions(
  { db }: Pick<LocalContext, 'db'>,
  { operator, target, userId, limit }: ActionFilter,
): Promise<RecordedAction[]> {
  return db.query(find, {
    operator: operator === undefined ? null : containing(operator),
    target: target ?? null,
    userId: userId ?? null,
    limit,
  });
}
