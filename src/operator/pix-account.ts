/** `pix account`: what accounts for a payment that only the provider's statement shows. */
import { decisionError, type OperatorDecision } from './decision.ts';
import { OpError, type Op } from './op.ts';
import { recordAction } from './operator-action-repository.ts';
import {
  accountForLine,
  findUnaccounted,
  type UnaccountedLine,
} from './unaccounted-line-repository.ts';

/** A line that blocks payments; its time is an ISO 8601 text. */
export type LineView = Omit<UnaccountedLine, 'foundAt'> & { readonly foundAt: string };

/** Lists the lines of statements that block payments of their amount, the oldest first. */
export const listUnaccounted: Op<
  { readonly limit: number },
  { readonly lines: readonly LineView[] }
> = {
  async run(context, { limit }) {
    const lines = await findUnaccounted(context, limit);
    return { lines: lines.map(toView) };
  },
};

function toView({ endToEnd, userId, amount, foundAt }: UnaccountedLine): LineView {
  return { endToEnd, userId, amount, foundAt: foundAt.toISOString() };
}

export interface AccountInput extends OperatorDecision {
  readonly endToEnd: string;
}

/**
 * Accounts for a line: its user may send its amount again.
 * @throws OpError when there is no such open line, or the reason or the operator is missing.
 */
export const accountForPayment: Op<AccountInput, { readonly endToEnd: string }> = {
  async run(context, { endToEnd, reason }, { operator }) {
    const error = decisionError({ reason }, operator);
    if (error !== null) throw new OpError('REFUSED', error);
    const action = { operator, command: 'pix account', reason: reason.trim() };
    await recordAction(context, action, async (transaction) => {
      if (!(await accountForLine(transaction, endToEnd))) {
        throw new OpError('NOT_FOUND', `no open line has the end-to-end id ${endToEnd}`);
      }
      return { result: undefined, targets: [`line:${endToEnd}`], outcome: 'accounted for' };
    });
    context.log.warn({ endToEnd, operator }, 'an operator accounted for a payment');
    return { endToEnd };
  },
};
