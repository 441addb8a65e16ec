/**
 * Records the actions of operators in the commit of each change: who, when, what, why. The database
 * sets the time and the role, so that no writer can state another.
 */
import type { LocalContext } from '../context/context.ts';
import { sql, statement } from '../db/statement.ts';
import { containing, inTransaction, openUnit } from '../db/unit-of-work.ts';

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

/** Which actions to list; an absent field matches every action. */
export interface ActionFilter {
  /** A part of the operator's name, compared without regard to case. */
  readonly operator?: string | undefined;
  readonly target?: string | undefined;
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
export async function findActions(
  { db }: Pick<LocalContext, 'db'>,
  { operator, target, limit }: ActionFilter,
): Promise<RecordedAction[]> {
  const { em, OperatorAction: Action } = await openUnit(db);
  const actions = await em.find(
    Action,
    {
      ...(operator !== undefined && { operator: { $ilike: containing(operator) } }),
      ...(target !== undefined && { target }),
    },
    { orderBy: { id: 'desc' }, limit },
  );
  return actions.map(
    ({ id, at, operator: by, command, target: of, reason, outcome, databaseUser }) => {
      return {
        id: String(id),
        at,
        operator: by,
        command,
        target: of,
        reason: reason ?? null,
        outcome,
        databaseUser: databaseUser ?? null,
      };
    },
  );
}
