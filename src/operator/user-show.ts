/** `user show`: one user with account, onboarding, session and open payments. */
import { OpError, type Op } from './op.ts';
import { findInspectedUser, type InspectedUser } from './user-inspection-repository.ts';
import { findUser } from './users.ts';

/** Times are ISO 8601 texts; document, phone and account number show their last digits only. */
export interface UserShown extends Omit<
  InspectedUser,
  'createdAt' | 'loggedInAt' | 'tokenExpiresAt'
> {
  readonly createdAt: string;
  readonly loggedInAt: string | null;
  readonly tokenExpiresAt: string | null;
}

/**
 * Shows a user.
 * @throws OpError when there is no such user.
 */
export const showUser: Op<{ readonly user: string }, UserShown> = {
  async run(context, { user: reference }) {
    const { id } = await findUser(context, reference);
    const user = await findInspectedUser(context, id);
    if (!user) throw new OpError('NOT_FOUND', `there is no user ${reference}`);
    return {
      ...user,
      document: masked(user.document),
      phone: masked(user.phone),
      accountNumber: masked(user.accountNumber),
      createdAt: user.createdAt.toISOString(),
      loggedInAt: user.loggedInAt?.toISOString() ?? null,
      tokenExpiresAt: user.tokenExpiresAt?.toISOString() ?? null,
    };
  },
};

const shownAtEnd = 2;

function masked(digits: string | null): string | null {
  return digits && '*'.repeat(Math.max(0, digits.length - shownAtEnd)) + digits.slice(-shownAtEnd);
}
