/** What operators change is recorded in the commit of the change: who, when, what, why. */
import type { LocalContext } from '../context.ts';
import type { Statement } from '../db/database.ts';

export interface OperatorAction {
  readonly operator: string;
  /** The command, such as `user disable`. */
  readonly command: string;
  readonly reason?: string;
}

/** What a change has done. */
export interface Changed<Result> {
  readonly result: Result;
  /** What was changed, such as `user:42`; one action is recorded for each. */
  readonly targets: readonly string[];
  /** How it ended, in a word or two; no personal data. */
  readonly outcome: string;
}

/** Parameters: at, operator, command, targets, reason, outcome. */
const insertActions: Statement = {
  name: 'ops-operator-actions-insert',
  text: `
    insert into operator_actions (at, operator, command, target, reason, outcome)
    select $1, $2, $3, target, $5, $6 from unnest($4::text[]) as target`,
};

/**
 * Makes a change and records it, both in one transaction.
 * @param change gets a context whose statements belong to the transaction; it must not use another
 *   one, and must not wait for the network. What it throws undoes everything.
 * @returns the change's result.
 */
export async function recordAction<Result>(
  context: LocalContext,
  { operator, command, reason }: OperatorAction,
  change: (transaction: LocalContext) => Promise<Changed<Result>>,
): Promise<Result> {
  const { clock, db } = context;
  return db.transaction(async (query) => {
    const { result, targets, outcome } = await change({ ...context, db: { ...db, query } });
    if (targets.length > 0) {
      const parameters = [clock.now(), operator, command, targets, reason ?? null, outcome];
      await query(insertActions, parameters);
    }
    return result;
  });
}
