/** `audit list`: what operators have changed. */
import type { Statement } from '../db/database.ts';
import type { Op } from './op.ts';

export interface AuditListInput {
  /** Only what this operator has done: a part of the name. */
  readonly operator?: string;
  /** Only what was done to this target, such as `user:42`. */
  readonly target?: string;
  readonly limit: number;
}

/** One action; its time is an ISO 8601 text. */
export interface ActionView {
  readonly id: string;
  readonly at: string;
  readonly operator: string;
  readonly command: string;
  readonly target: string;
  readonly reason: string | null;
  readonly outcome: string;
}

type ActionRow = Omit<ActionView, 'at'> & { readonly at: Date };

/** Parameters: part of the operator's name or null, target or null, limit. */
const statement: Statement = {
  name: 'ops-audit-list',
  text: `
    select id, at, operator, command, target, reason, outcome from operator_actions
     where ($1::text is null or position(lower($1) in lower(operator)) > 0)
       and ($2::text is null or target = $2)
     order by id desc limit $3`,
};

/** Lists the actions of operators, newest first. */
export const listActions: Op<AuditListInput, { readonly actions: readonly ActionView[] }> = {
  async run({ db }, { operator, target, limit }) {
    const rows = await db.query<ActionRow>(statement, [operator ?? null, target ?? null, limit]);
    return { actions: rows.map(viewOf) };
  },
};

function viewOf({ at, ...row }: ActionRow): ActionView {
  return { at: at.toISOString(), ...row };
}
