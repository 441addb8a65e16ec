/**
 * Banking sessions and their users in the database. The statements are SQL: each request with a
 * token runs the session check, and each of the others decides in one round trip and one commit
 * whether a session may live on. Lists for operators use the entity.
 */
import type { LocalContext } from '../context/context.ts';
import { columnsOf, type RowOf } from '../db/rows.ts';
import { batchedStatement, sql, statement } from '../db/statement.ts';
import { openUnit } from '../db/unit-of-work.ts';
import type { AccountStatus } from '../domain/account.ts';
import { centsFromDecimal } from '../domain/money.ts';
import type { EventDigests } from './security-event-repository.ts';
import { orRequestAgain } from '../jobs/job-repository.ts';
import type { VerifiedToken } from '../process/access-tokens.ts';
import type { Principal, PrincipalAccount } from '../domain/principal.ts';

type Store = Pick<LocalContext, 'db' | 'clock'>;

/** A condition: a banking session is active at a time. */
export function isActiveSession(session: string, now: string): string {
  return `${session}.status = 'ACTIVE'
         and (${session}.token_expires_at is null or ${session}.token_expires_at > ${now})`;
}

/**
 * The end of a join: the requested sessions by id, user and time, if they are active, and their
 * users. It finds them by their ids, whatever the planner assumes of active ones.
 */
export const activeSessions = `
      lateral (select * from banking_sessions where id = requested.session_id limit 1) s
          on s.user_id = requested.user_id and ${isActiveSession('s', 'requested.now')}
        join users u on u.id = s.user_id and u.status = 'ACTIVE'`;

/** The document of the account `a` of the user `u`: that of the user, if the account has none. */
export const accountDocument = 'coalesce(a.document, u.document)';

const ofUser = columnsOf('users', 'name, email, personType, phone');
const ofAccount = columnsOf(
  'accounts',
  'provider, agency, accountNumber, providerCompanyId, balance',
);

/** Exported for the tests of plans and of the simulation. */
export const sessionStatements = {
  /** The active session of a token, its user and account: one indexed read for many requests. */
  findPrincipal: batchedStatement({
    name: 'find-principal',
    parameters: { sessionId: 'uuid', userId: 'int', now: 'timestamptz' },
    batching: { lane: 'principals' },
    text: (requested) => sql<PrincipalRow>`
      select requested.ordinal, s.sealed_token as "sealedToken", ${ofUser.select('u')},
             u.document as "userDocument", a.id as "accountId", ${ofAccount.select('a')},
             ${accountDocument} as "accountDocument", a.status as "accountStatus"
        from ${requested}
        join ${activeSessions}
        left join accounts a on a.user_id = u.id`,
  }),
  /**
   * The lock on the user serialises this statement with changes of the user. The login queues the
   * reconciliation of days whose statement could not be read without a session.
   */
  renew: statement({
    name: 'renew-session',
    parameters: {
      newId: 'uuid',
      userId: 'int',
      sealedToken: 'bytea',
      tokenExpiresAt: 'timestamptz null',
      now: 'timestamptz',
      passwordHash: 'text',
      addressDigest: 'bytea',
      identity: 'text',
      address: 'text null',
    },
    text: ({
      newId,
      userId,
      sealedToken,
      tokenExpiresAt,
      now,
      passwordHash,
      addressDigest,
      identity,
      address,
    }) => sql<{ id: string }>`
      with owner as (
        select id from users
         where id = ${userId} and status = 'ACTIVE' and password_hash = ${passwordHash} for share
      ), known as (
        insert into login_addresses (user_id, address_digest, last_login_at)
        select owner.id, ${addressDigest}, ${now} from owner
            on conflict (user_id, address_digest)
            do update set last_login_at = excluded.last_login_at
      ), waiting as (
        insert into jobs (kind, payload, unique_key, status, run_at, created_at)
        select 'reconcile-user', jsonb_build_object('userId', owner.id),
               'reconcile:' || owner.id, 'queued', ${now}, ${now}
          from owner
         where exists (select from reconciliations
                        where user_id = owner.id and state = 'UNREAD')
        ${orRequestAgain}
      ), event as (
        insert into security_events (at, kind, user_id, identity, address)
        select ${now}, 'login', owner.id, ${identity}, ${address} from owner
      )
      insert into banking_sessions
             (id, user_id, status, sealed_token, token_expires_at, created_at, renewed_at)
      select ${newId}, owner.id, 'ACTIVE', ${sealedToken}, ${tokenExpiresAt}, ${now}, ${now}
       from owner
          on conflict (user_id) where status = 'ACTIVE'
          do update set sealed_token = excluded.sealed_token,
                        token_expires_at = excluded.token_expires_at,
                        renewed_at = excluded.renewed_at
      returning id`,
  }),
  /** After a logout the tokens of a session identify no device, also if it has expired before. */
  end: statement({
    name: 'end-session',
    parameters: { sessionId: 'uuid', userId: 'int', now: 'timestamptz' },
    text: ({ sessionId, userId, now }) => sql`
      update banking_sessions
         set status = case when status = 'ACTIVE' then 'ENDED' else status end,
             sealed_token = null,
             ended_at = coalesce(ended_at, ${now}),
             voided_at = ${now}
       where id = ${sessionId} and user_id = ${userId} and voided_at is null`,
  }),
  void: statement({
    name: 'void-sessions',
    parameters: { userId: 'int', now: 'timestamptz' },
    text: ({ userId, now }) => sql`
      update banking_sessions set voided_at = ${now}
       where user_id = ${userId} and voided_at is null`,
  }),
  identifiesDevice: statement({
    name: 'session-identifies-device',
    parameters: { sessionId: 'uuid', userId: 'int' },
    text: ({ sessionId, userId }) => sql<{ id: string }>`
      select id from banking_sessions
       where id = ${sessionId} and user_id = ${userId}
         and status <> 'ENDED' and voided_at is null`,
  }),
  expire: statement({
    name: 'expire-session',
    parameters: { sessionId: 'uuid', sealedToken: 'bytea', now: 'timestamptz' },
    text: ({ sessionId, sealedToken, now }) => sql`
      update banking_sessions set status = 'EXPIRED', sealed_token = null, ended_at = ${now}
       where id = ${sessionId} and status = 'ACTIVE' and sealed_token = ${sealedToken}`,
  }),
  sealedToken: statement({
    name: 'sealed-token',
    parameters: { sessionId: 'uuid' },
    text: ({ sessionId }) => sql<{ sealedToken: Buffer }>`
      select sealed_token as "sealedToken" from banking_sessions
       where id = ${sessionId} and status = 'ACTIVE'`,
  }),
};

/** Without an id of the account there is none. */
interface PrincipalRow extends RowOf<typeof ofUser>, RowOf<typeof ofAccount> {
  readonly sealedToken: Buffer;
  readonly userDocument: string | null;
  readonly accountId: number | null;
  readonly accountDocument: string | null;
  readonly accountStatus: AccountStatus;
}

/** @returns the caller, or null when the session that the token names is not active. */
export async function readPrincipal(
  { db, clock }: Store,
  { sessionId, userId }: VerifiedToken,
): Promise<Principal | null> {
  const [row] = await db.query(sessionStatements.findPrincipal, {
    sessionId,
    userId,
    now: clock.now(),
  });
  if (!row) return null;
  const { sealedToken, name, email, userDocument: document, personType, phone } = row;
  const user = { id: userId, name, email, document, personType, phone };
  return { sessionId, sealedToken, user, account: toAccount(row) };
}

function toAccount(row: PrincipalRow): PrincipalAccount | null {
  const { accountId: id, accountDocument: document, accountStatus: status, balance } = row;
  if (id === null) return null;
  const { provider, agency, accountNumber, providerCompanyId } = row;
  const balanceCents = balance === null ? null : centsFromDecimal(balance);
  return { id, provider, agency, accountNumber, document, status, providerCompanyId, balanceCents };
}

export interface SessionRenewal extends EventDigests {
  /** The id of the session if it is a new one. */
  readonly newId: string;
  readonly userId: number;
  readonly sealedToken: Buffer;
  /** When the provider's token expires; null when the provider does not report it. */
  readonly tokenExpiresAt: Date | null;
  /** The hash that the password was verified against. */
  readonly passwordHash: string;
  /** The keyed digest of the client's address, which is known from now on. */
  readonly addressDigest: Buffer;
}

/**
 * Renews the one active session of a user, or opens it, with the security event of the login.
 * @returns the session's id, or null when the user is not active or has another password hash.
 */
export async function renewSession(
  { db, clock }: Store,
  renewal: SessionRenewal,
): Promise<string | null> {
  const [session] = await db.query(sessionStatements.renew, { ...renewal, now: clock.now() });
  return session?.id ?? null;
}

/**
 * @returns whether the session of a token has not been ended, by a logout, a reset or an operator;
 *   one whose provider token has expired has not.
 */
export async function identifiesDevice(
  { db }: Pick<LocalContext, 'db'>,
  { sessionId, userId }: VerifiedToken,
): Promise<boolean> {
  return (await db.query(sessionStatements.identifiesDevice, { sessionId, userId })).length > 0;
}

/** From now on the tokens of a user's sessions identify no device, whatever their status. */
export async function voidSessions({ db, clock }: Store, userId: number): Promise<void> {
  await db.query(sessionStatements.void, { userId, now: clock.now() });
}

/** Ends the session of a token and destroys the provider's token; an ended one is unchanged. */
export async function endSession(
  { db, clock }: Store,
  { sessionId, userId }: VerifiedToken,
): Promise<void> {
  await db.query(sessionStatements.end, { sessionId, userId, now: clock.now() });
}

/** Marks a session as expired, unless its token is no longer the one that was refused. */
export async function expireSession(
  { db, clock }: Store,
  { sessionId, sealedToken }: { readonly sessionId: string; readonly sealedToken: Buffer },
): Promise<void> {
  await db.query(sessionStatements.expire, { sessionId, sealedToken, now: clock.now() });
}

/** @returns the sealed token of a session, or null when the session is not active. */
export async function readSealedToken(
  { db }: Pick<LocalContext, 'db'>,
  sessionId: string,
): Promise<Buffer | null> {
  const [row] = await db.query(sessionStatements.sealedToken, { sessionId });
  return row?.sealedToken ?? null;
}

/** An active session without the provider's token. */
export interface ListedSession {
  readonly id: string;
  readonly userId: number;
  readonly email: string;
  /** The first login. */
  readonly createdAt: Date;
  /** The last login. */
  readonly renewedAt: Date;
  /** When the provider's token expires; null when the provider does not report it. */
  readonly tokenExpiresAt: Date | null;
}

/**
 * Lists active sessions, the last login first.
 * @param filter the id of a session or of a user; without one, of every user.
 */
export async function listActiveSessions(
  { db }: Pick<LocalContext, 'db'>,
  { limit, ...which }: { readonly id?: string; readonly user?: number; readonly limit: number },
): Promise<ListedSession[]> {
  const { em, BankingSession } = await openUnit(db);
  const sessions = await em.find(
    BankingSession,
    { status: 'ACTIVE', ...which },
    {
      fields: ['user.email', 'createdAt', 'renewedAt', 'tokenExpiresAt'],
      orderBy: { renewedAt: 'desc', id: 'asc' },
      limit,
    },
  );
  return sessions.map(({ id, user, createdAt, renewedAt, tokenExpiresAt }) => ({
    id,
    userId: user.id,
    email: user.email,
    createdAt,
    renewedAt,
    tokenExpiresAt: tokenExpiresAt ?? null,
  }));
}

/** A session that was ended, and its user. */
export type EndedSession = Pick<ListedSession, 'id' | 'userId' | 'email'>;

const endActive = statement({
  name: 'session-end-active',
  parameters: { id: 'uuid null', userId: 'int null', now: 'timestamptz' },
  text: ({ id, userId, now }) => sql<EndedSession>`
    update banking_sessions s set status = 'ENDED', sealed_token = null, ended_at = ${now}
      from users u
     where u.id = s.user_id and s.status = 'ACTIVE' and (s.id = ${id} or s.user_id = ${userId})
    returning s.id, s.user_id as "userId", u.email`,
});

/**
 * Ends an active session and destroys the provider's token.
 * @param which the session's id, or its user's.
 * @returns null when there is no such active session.
 */
export async function endActiveSession(
  { db, clock }: Store,
  which: { readonly id: string } | { readonly user: number },
): Promise<EndedSession | null> {
  const [id, userId] = 'id' in which ? [which.id, null] : [null, which.user];
  const [ended] = await db.query(endActive, { id, userId, now: clock.now() });
  return ended ?? null;
}
