/**
 * Users in the database. Logins and registrations use SQL: it compares e-mails by the expression of
 * their unique index, and reports a taken e-mail without an error, whose detail would write the
 * e-mail to the server's log. Commands of operators use the entity.
 */
import type { FilterQuery, InferEntity } from '@mikro-orm/core';
import { dayMs } from '../clock.ts';
import type { LocalContext } from '../context/context.ts';
import { columnsOf, type RowOf } from '../db/rows.ts';
import { sql, statement } from '../db/statement.ts';
import type { User } from '../db/entities/user.ts';
import { containing, openUnit } from '../db/unit-of-work.ts';

const ofLogin = columnsOf('users', 'id, email, passwordHash, document');

export interface LoginUser extends RowOf<typeof ofLogin> {
  /** Whether the user has logged in from the address within {@link knownAddressDays}. */
  readonly knowsAddress: boolean;
}

/** How long an address stays known after a login. */
export const knownAddressDays = 30;

const byEmail = statement({
  name: 'user-by-email',
  parameters: { email: 'text', addressDigests: 'bytea[]', since: 'timestamptz' },
  text: ({ email, addressDigests, since }) => sql<LoginUser>`
    select ${ofLogin.select()},
           exists (select from login_addresses
                    where user_id = users.id and address_digest = any(${addressDigests})
                      and last_login_at > ${since}) as "knowsAddress"
      from users
     where lower(email) = lower(${email}) and status = 'ACTIVE'`,
});

/**
 * @param clientAddress the address of a login.
 * @returns the active user with an e-mail, compared without regard to case, or null.
 */
export async function findLoginUser(
  { db, clock, sealer }: Pick<LocalContext, 'db' | 'clock' | 'sealer'>,
  email: string,
  clientAddress = '',
): Promise<LoginUser | null> {
  const since = new Date(clock.now().getTime() - knownAddressDays * dayMs);
  const [user] = await db.query(byEmail, {
    email,
    addressDigests: sealer.identities(clientAddress),
    since,
  });
  return user ?? null;
}

const ofIdentity = columnsOf('users', 'name, document');

/** Who a user is. */
export type UserIdentity = RowOf<typeof ofIdentity>;

const identity = statement({
  name: 'user-identity',
  parameters: { email: 'text' },
  text: ({ email }) => sql<UserIdentity>`
    select ${ofIdentity.select()} from users
     where lower(email) = lower(${email}) and status = 'ACTIVE'`,
});

/** @returns who the active user with an e-mail is, or null. */
export async function findIdentity(
  { db }: Pick<LocalContext, 'db'>,
  email: string,
): Promise<UserIdentity | null> {
  const [found] = await db.query(identity, { email });
  return found ?? null;
}

const replaceHash = statement({
  name: 'user-renew-hash',
  parameters: { userId: 'int', from: 'text', to: 'text', now: 'timestamptz' },
  text: ({ userId, from, to, now }) => sql`
    update users set password_hash = ${to}, updated_at = ${now} where id = ${userId}
      and password_hash = ${from}`,
});

export interface HashChange {
  readonly userId: number;
  readonly from: string;
  readonly to: string;
}

/** Replaces the password hash of a user, unless it has changed meanwhile. */
export async function replacePasswordHash(
  { db, clock }: Pick<LocalContext, 'db' | 'clock'>,
  { userId, from, to }: HashChange,
): Promise<void> {
  await db.query(replaceHash, { userId, from, to, now: clock.now() });
}

const lockHash = statement({
  name: 'user-lock-hash',
  parameters: { id: 'int', passwordHash: 'text' },
  text: ({ id, passwordHash }) => sql<{ id: number }>`
    select id from users where id = ${id} and password_hash = ${passwordHash}
       and status = 'ACTIVE' for share`,
});

/**
 * Locks the password of an active user until the transaction ends.
 * @returns false when the user has another one.
 */
export async function lockPassword(
  { db }: Pick<LocalContext, 'db'>,
  { id, passwordHash }: Pick<LoginUser, 'id' | 'passwordHash'>,
): Promise<boolean> {
  return (await db.query(lockHash, { id, passwordHash })).length > 0;
}

const asNew = columnsOf('users', 'name, email, document, personType, phone, passwordHash');

export type NewUser = RowOf<typeof asNew>;

const insert = statement({
  name: 'user-create',
  parameters: { ...asNew.types, now: 'timestamptz' },
  text: ({ name, email, document, personType, phone, passwordHash, now }) => sql<{ id: number }>`
    insert into users (${asNew.list()}, created_at, updated_at)
    values (${name}, ${email}, ${document}, ${personType}, ${phone}, ${passwordHash}, ${now},
      ${now})
        on conflict do nothing
    returning id`,
});

/** @returns the new user's id, or null when the e-mail is taken. */
export async function createUser(
  { db, clock }: Pick<LocalContext, 'db' | 'clock'>,
  user: NewUser,
): Promise<number | null> {
  const [row] = await db.query(insert, { ...user, now: clock.now() });
  return row?.id ?? null;
}

export type UserStatus = InferEntity<typeof User>['status'];

const found = columnsOf('users', 'id, email, status');

/** The fields that identify a user. */
export type FoundUser = RowOf<typeof found>;

const byReference = statement({
  name: 'user-by-reference',
  parameters: { id: 'int null', email: 'text null' },
  text: ({ id, email }) => sql<FoundUser>`
    select ${found.select()} from users where id = ${id} or lower(email) = lower(${email})`,
});

/**
 * @param reference an id, or an e-mail, compared without regard to case.
 * @returns the user, whatever their status, or null.
 */
export async function findUserByReference(
  { db }: Pick<LocalContext, 'db'>,
  reference: string,
): Promise<FoundUser | null> {
  const isId = /^[1-9]\d{0,8}$/.test(reference);
  const parameters = isId ? { id: Number(reference), email: null } : { id: null, email: reference };
  const [user] = await db.query(byReference, parameters);
  return user ?? null;
}

/** Which users to list; an absent field matches every user. */
export interface UserFilter {
  readonly status?: UserStatus | undefined;
  /** A part of the e-mail, compared without regard to case. */
  readonly email?: string | undefined;
  /** Only users with a smaller id. */
  readonly before?: number | undefined;
  readonly limit: number;
}

export interface ListedUser extends FoundUser {
  readonly name: string;
  readonly personType: string | null;
  readonly createdAt: Date;
  /** Whether a banking session is active. */
  readonly loggedIn: boolean;
}

/** Lists users, newest first. */
export async function findUsers(
  { db, clock }: Pick<LocalContext, 'db' | 'clock'>,
  { status, email, before, limit }: UserFilter,
): Promise<ListedUser[]> {
  const { em, BankingSession, User } = await openUnit(db);
  const where: FilterQuery<InferEntity<typeof User>> = {
    ...(status !== undefined && { status }),
    ...(email !== undefined && { email: { $ilike: containing(email) } }),
    ...(before !== undefined && { id: { $lt: before } }),
  };
  const users = await em.find(User, where, {
    fields: ['name', 'email', 'personType', 'status', 'createdAt'],
    orderBy: { id: 'desc' },
    limit,
  });
  const isOpen = [{ tokenExpiresAt: null }, { tokenExpiresAt: { $gt: clock.now() } }];
  const sessions = await em.find(
    BankingSession,
    { user: users.map(({ id }) => id), status: 'ACTIVE', $or: isOpen },
    { fields: ['user'] },
  );
  const loggedIn = new Set(sessions.map(({ user }) => user.id));
  return users.map((user) => ({
    id: user.id,
    name: user.name,
    email: user.email,
    personType: user.personType ?? null,
    status: user.status,
    createdAt: user.createdAt,
    loggedIn: loggedIn.has(user.id),
  }));
}

/** @returns false when the user had the status already, or does not exist. */
export async function setUserStatus(
  { db, clock }: Pick<LocalContext, 'db' | 'clock'>,
  userId: number,
  status: UserStatus,
): Promise<boolean> {
  const { em, User } = await openUnit(db);
  const other = { id: userId, status: { $ne: status } };
  return (await em.nativeUpdate(User, other, { status, updatedAt: clock.now() })) === 1;
}

/** @returns false when the user does not exist. */
export async function setPasswordHash(
  { db, clock }: Pick<LocalContext, 'db' | 'clock'>,
  userId: number,
  passwordHash: string,
): Promise<boolean> {
  const { em, User } = await openUnit(db);
  const change = { passwordHash, updatedAt: clock.now() };
  return (await em.nativeUpdate(User, { id: userId }, change)) === 1;
}
