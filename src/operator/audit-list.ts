/** `audit list`: what operators have changed. */
import type { Op } from './op.ts';
import { findActions, type RecordedAction } from './operator-action-repository.ts';

export interface AuditListInput {
  /** Only what this operator has done: a part of the name. */
  readonly operator?: string;
  /** Only what was done to this target, such as `user:42`. */
  readonly target?: string;
  readonly limit: number;
}

/** One action; its time is an ISO 8601 text. */
export type ActionView = Omit<RecordedAction, 'at'> & { readonly at: string };

/** Lists the actions of operators, newest first. */
export const listActions: Op<AuditListInput, { readonly actions: readonly ActionView[] }> = {
  async run(context, filter) {
    const actions = await findActions(context, filter);
    return { actions: actions.map(viewOf) };
  },
};

function viewOf({ at, ...action }: RecordedAction): ActionView {
  return { at: at.toISOString(), ...action };
}
