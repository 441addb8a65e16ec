/** `account block` and `account unblock`. */
import type { LocalContext } from '../context/context.ts';
import { findAccountStatus, moveAccountStatus } from '../accounts/account-repository.ts';
import type { AccountStatus } from '../domain/account.ts';
import { judgeSendsAgain } from '../ledger/spending-limit-repository.ts';
import { requireDecision, type OperatorDecision } from './decision.ts';
import { findUser } from './users.ts';
import { OpError, type Op } from './op.ts';
import { recordAction } from './operator-action-repository.ts';

export interface AccountStatusInput extends OperatorDecision {
  /** An id or an e-mail. */
  readonly user: string;
}

export interface AccountStatusSet {
  readonly id: number;
  readonly userId: number;
  readonly email: string;
  readonly status: AccountStatus;
  /** False: a send that was being claimed before may not have seen the change. */
  readonly isComplete: boolean;
}

interface StatusChange {
  readonly operator: string;
  readonly command: string;
  readonly from: AccountStatus;
  readonly to: AccountStatus;
  readonly rule: string;
}

/**
 * Blocks an ACTIVE account: it can no longer send, charge or manage keys. A payment that has been
 * sent continues.
 * @throws OpError when the user has no ACTIVE account, or the reason or the operator is missing.
 */
export const blockAccount: Op<AccountStatusInput, AccountStatusSet> = {
  run: (context, input, { operator }) =>
    change(context, input, {
      operator,
      command: 'account block',
      from: 'ACTIVE',
      to: 'BLOCKED',
      rule: 'only an ACTIVE account can be blocked',
    }),
};

/**
 * Makes a BLOCKED account ACTIVE again.
 * @throws OpError when the user has no BLOCKED account, or the reason or the operator is missing.
 */
export const unblockAccount: Op<AccountStatusInput, AccountStatusSet> = {
  run: (context, input, { operator }) =>
    change(context, input, {
      operator,
      command: 'account unblock',
      from: 'BLOCKED',
      to: 'ACTIVE',
      rule: 'only a BLOCKED account can be unblocked',
    }),
};

async function change(
  context: LocalContext,
  { user, reason }: AccountStatusInput,
  { operator, command, from, to, rule }: StatusChange,
): Promise<AccountStatusSet> {
  requireDecision({ reason }, operator);
  const { id: userId, email } = await findUser(context, user);
  const action = { operator, command, reason: reason.trim() };
  const id = await recordAction(context, action, async (transaction) => {
    const moved = await moveAccountStatus(transaction, { userId, from, to });
    if (moved === null) throw await refusal(transaction, userId, rule);
    return { result: moved, targets: [`account:${moved}`], outcome: to };
  });
  context.log.warn({ userId, accountId: id, operator, command }, 'an operator changed an account');
  const isComplete = await judgeSendsAgain(context, userId);
  if (!isComplete) {
    context.log.warn({ userId }, 'a send that was being claimed may still be paid');
  }
  return { id, userId, email, status: to, isComplete };
}

async function refusal(context: LocalContext, userId: number, rule: string): Promise<OpError> {
  const status = await findAccountStatus(context, userId);
  return status
    ? new OpError('REFUSED', `the account of user ${userId} is ${status}: ${rule}`)
    : new OpError('NOT_FOUND', `user ${userId} has no account`);
}
