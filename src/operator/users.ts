/** `user create`, `list`, `disable`, `enable` and `reset-password`. */
import { isCpfTaken } from '../accounts/account-repository.ts';
import { recordSecurityEvent } from '../auth/security-event-repository.ts';
import { endActiveSession, voidSessions } from '../auth/session-repository.ts';
import {
  createUser as insertUser,
  findUserByReference,
  findUsers,
  type FoundUser,
  type ListedUser,
  setPasswordHash,
  setUserStatus,
  type UserStatus,
} from '../auth/user-repository.ts';
import type { LocalContext } from '../context/context.ts';
import { newPasswordError, readPerson } from '../domain/person.ts';
import type { SecurityEventKind } from '../domain/security-event.ts';
import { type Op, OpError } from './op.ts';
import { type OperatorAction, recordReading, recordAction } from './operator-action-repository.ts';

interface UserReference {
  /** An id or an e-mail. */
  readonly user: string;
}

interface UserStatusSet extends FoundUser {
  /** Whether a banking session, and with it every access token, has ended. */
  readonly endedSession: boolean;
}

/** Finds a user, for the confirmation of a change. */
export const identifyUser: Op<UserReference, FoundUser> = {
  run: (context, { user }) => findUser(context, user),
};

/**
 * Refuses the user's logins and access tokens from now on.
 * @throws OpError when there is no such user, or the user is already disabled.
 */
export const disableUser: Op<UserReference, UserStatusSet> = {
  run: (context, { user }, { operator, reason }) =>
    changeStatus(context, user, {
      operator,
      reason,
      command: 'user disable',
      status: 'DISABLED',
    }),
};

/**
 * Allows the user to log in again.
 * @throws OpError when there is no such user, or the user is not disabled.
 */
export const enableUser: Op<UserReference, UserStatusSet> = {
  run: (context, { user }, { operator, reason }) =>
    changeStatus(context, user, {
      operator,
      reason,
      command: 'user enable',
      status: 'ACTIVE',
    }),
};

interface StatusChange extends OperatorAction {
  readonly status: UserStatus;
}

/**
 * Both changes end the session: an active one must not become valid again when the user is enabled.
 */
async function changeStatus(
  context: LocalContext,
  reference: string,
  { status, ...action }: StatusChange,
): Promise<UserStatusSet> {
  const { id, email } = await findUser(context, reference);
  const changed = await changeUser(context, {
    ...action,
    kind: status === 'ACTIVE' ? 'user_enabled' : 'user_disabled',
    user: { id, email },
    change: (unit) => setUserStatus(unit, id, status),
  });
  if (!changed) {
    const is = status === 'ACTIVE' ? 'is already active' : 'is already disabled';
    throw new OpError('REFUSED', `user ${id} ${is}`);
  }
  return { id, email, status, ...changed };
}

export interface UserCreateInput {
  readonly name: string;
  readonly email: string;
  readonly document: string;
  readonly phone: string;
  readonly password: string;
}

interface UserCreated {
  readonly id: number;
  readonly email: string;
}

/**
 * Creates a user by the rules of a registration, without an onboarding.
 * @throws OpError when a field is invalid, another user has the e-mail, or an account the document.
 */
export const createUser: Op<UserCreateInput, UserCreated> = {
  async run(context, input, { operator, reason }) {
    const reading = readPerson({ ...input, password_confirmation: input.password });
    if (reading.errors) {
      const errors = Object.entries(reading.errors).map(([field, [text]]) => [field, text?.en]);
      throw new OpError('INVALID', errors.map((error) => error.join(': ')).join(' '));
    }
    const person = reading.value;
    const passwordHash = await context.passwords.hash(person.password);
    const action = { operator, reason, command: 'user create' };
    const id = await recordAction(context, action, async (transaction) => {
      const created = await insertUser(transaction, { ...person, passwordHash, personType: 'PF' });
      if (created === null) throw await emailConflict(transaction, person.email);
      if (await isCpfTaken(transaction, { userId: created, document: person.document })) {
        throw new OpError('REFUSED', 'the document already belongs to an account');
      }
      return { result: created, targets: [`user:${created}`], outcome: 'made' };
    });
    return { id, email: person.email };
  },
};

async function emailConflict(context: LocalContext, email: string): Promise<OpError> {
  const other = await findUserByReference(context, email);
  const whose = `user ${other?.id ?? '(deleted since)'}`;
  return new OpError('REFUSED', `the e-mail already belongs to ${whose}`);
}

export interface UserListInput {
  readonly status?: UserStatus;
  /** A part of the e-mail. */
  readonly email?: string;
  /** Only users with a smaller id, to continue a list. */
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

/** Lists users, newest first. */
export const listUsers: Op<UserListInput, { readonly users: readonly UserView[] }> = {
  async run(context, filter, { operator, reason }) {
    await recordReading(context, { operator, reason, command: 'user list' }, ['users']);
    const users = await findUsers(context, filter);
    return { users: users.map(toUserView) };
  },
};

function toUserView({ createdAt, ...user }: ListedUser): UserView {
  return { ...user, createdAt: createdAt.toISOString() };
}

interface ResetPasswordInput {
  /** An id or an e-mail. */
  readonly user: string;
  readonly password: string;
}

interface PasswordReset {
  readonly id: number;
  readonly email: string;
  readonly endedSession: boolean;
}

/**
 * Sets a password and ends the banking session. The old password is invalid at once, even for a
 * login in progress.
 * @throws OpError when there is no such user, or the password is refused at a registration, too.
 */
export const resetPassword: Op<ResetPasswordInput, PasswordReset> = {
  async run(context, { user, password }, { operator, reason }) {
    const { id, email } = await findUser(context, user);
    const error = newPasswordError(password, email);
    if (error) throw new OpError('INVALID', `the password is refused: ${error.en}`);
    const hash = await context.passwords.hash(password);
    const changed = await changeUser(context, {
      operator,
      reason,
      command: 'user reset-password',
      kind: 'password_reset',
      user: { id, email },
      change: (unit) => setPasswordHash(unit, id, hash),
    });
    if (!changed) throw new OpError('NOT_FOUND', `there is no user ${user}`);
    return { id, email, ...changed };
  },
};

interface UserChange extends OperatorAction {
  readonly kind: SecurityEventKind;
  readonly user: { readonly id: number; readonly email: string };
  /** Changes the user in the unit of work, and returns whether it did. */
  readonly change: (unit: LocalContext) => Promise<boolean>;
}

/**
 * Changes a user and ends the banking session in one commit. The session ends after the change,
 * which may wait for a login that holds the user's row: that login has opened a session.
 * @returns whether a session was active, or null when nothing was changed.
 */
async function changeUser(
  context: LocalContext,
  { change, kind, user: { id: userId, email }, ...action }: UserChange,
): Promise<{ readonly endedSession: boolean } | null> {
  return recordAction(context, action, async (unit) => {
    if (!(await change(unit))) return { result: null, targets: [], outcome: 'nothing' };
    const endedSession = (await endActiveSession(unit, { user: userId })) !== null;
    await voidSessions(unit, userId);
    await recordSecurityEvent(unit, { kind, userId, email, clientAddress: null });
    const outcome = endedSession ? 'done, session ended' : 'done';
    return { result: { endedSession }, targets: [`user:${userId}`], outcome };
  });
}

/**
 * @param reference an id, or an e-mail without regard to case.
 * @throws OpError when there is no such user.
 */
export async function findUser(context: LocalContext, reference: string): Promise<FoundUser> {
  const user = await findUserByReference(context, reference);
  if (!user) throw new OpError('NOT_FOUND', `there is no user ${reference}`);
  return user;
}
