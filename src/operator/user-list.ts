/** `user list`: who may log in. */
import { findUsers, type ListedUser, type UserStatus } from '../auth/user-repository.ts';
import type { Op } from './op.ts';

export interface UserListInput {
  readonly status?: UserStatus;
  /** A part of the e-mail. */
  readonly email?: string;
  /** Only users with a smaller id, to go on from a list before. */
  readonly before?: number;
  readonly limit: number;
}

/** A user as an operator sees it; times are ISO 8601 texts. */
export interface UserView {
  readonly id: number;
  readonly name: string;
  readonly email: string;
  readonly personType: string | null;
  readonly status: UserStatus;
  /** Whether a banking session is active. */
  readonly loggedIn: boolean;
  readonly createdAt: string;
}

/** Gives users, newest first. */
export const listUsers: Op<UserListInput, { readonly users: readonly UserView[] }> = {
  async run(context, filter) {
    const users = await findUsers(context, filter);
    return { users: users.map(viewOf) };
  },
};

function viewOf({ createdAt, ...user }: ListedUser): UserView {
  return { ...user, createdAt: createdAt.toISOString() };
}
