/** `account block`, `account unblock`: whether an account may send, charge and manage keys. */
import type { LocalContext } from '../context.ts';
import type { Statement } from '../db/database.ts';
import type { AccountStatus } from '../domain/account.ts';
import { mistakeInDecision, type Decision } from './decision.ts';
import { findUser } from './find-user.ts';
import { OpError, type Op } from './op.ts';

export interface AccountStatusInput extends Decision {
  /** An id or an e-mail. */
  readonly user: string;
}

export interface AccountStatusSet {
  readonly id: number;
  readonly userId: number;
  readonly email: string;
  readonly status: AccountStatus;
}

/** Parameters: user id, status to leave, status to set, now. */
const moveStatus: Statement = {
  name: 'ops-account-move-status',
  text: `
    update accounts set status = $3, updated_at = $4 where user_id = $1 and status = $2
    returning id`,
};

/** Parameters: user id. */
const findStatus: Statement = {
  name: 'ops-account-status',
  text: `select status from accounts where user_id = $1`,
};

interface StatusChange {
  readonly from: AccountStatus;
  readonly to: AccountStatus;
  readonly done: string;
  readonly rule: string;
}

/**
 * Blocks an ACTIVE account: it sends, charges and manages no keys. A payment that has left goes on.
 * @throws OpError when the user has no ACTIVE account, or the reason or the operator is missing.
 */
export const blockAccount: Op<AccountStatusInput, AccountStatusSet> = {
  run: (context, input) =>
    change(context, input, {
      from: 'ACTIVE',
      to: 'BLOCKED',
      done: 'blocked',
      rule: 'only an ACTIVE account can be blocked',
    }),
};

/**
 * Makes a BLOCKED account ACTIVE again.
 * @throws OpError when the user has no BLOCKED account, or the reason or the operator is missing.
 */
export const unblockAccount: Op<AccountStatusInput, AccountStatusSet> = {
  run: (context, input) =>
    change(context, input, {
      from: 'BLOCKED',
      to: 'ACTIVE',
      done: 'unblocked',
      rule: 'only a BLOCKED account can be unblocked',
    }),
};

async function change(
  context: LocalContext,
  { user, reason, by }: AccountStatusInput,
  { from, to, done, rule }: StatusChange,
): Promise<AccountStatusSet> {
  const mistake = mistakeInDecision({ reason, by });
  if (mistake !== null) throw new OpError('REFUSED', mistake);
  const { id: userId, email } = await findUser(context, user);
  const parameters = [userId, from, to, context.clock.now()];
  const [moved] = await context.db.query<{ id: number }>(moveStatus, parameters);
  if (!moved) throw await refusal(context, userId, rule);
  const facts = { userId, accountId: moved.id, by: by.trim(), reason: reason.trim() };
  context.log.warn(facts, `an operator has ${done} an account`);
  return { id: moved.id, userId, email, status: to };
}

async function refusal(context: LocalContext, userId: number, rule: string): Promise<OpError> {
  const [account] = await context.db.query<{ status: AccountStatus }>(findStatus, [userId]);
  return account
    ? new OpError('REFUSED', `the account of user ${userId} is ${account.status}: ${rule}`)
    : new OpError('NOT_FOUND', `user ${userId} has no account`);
}
