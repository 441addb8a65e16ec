/**
 * Users in the database. What a login and a registration read and write is SQL: it compares
 * e-mails by the expression of their unique index, and reports a taken e-mail without an error,
 * whose detail would put the e-mail into the server's log.
 */
import { dayMs } from '../clock.ts';
import type { LocalContext } from '../context.ts';
import type { Statement } from '../db/database.ts';

export interface LoginUser {
  readonly id: number;
  readonly email: string;
  readonly passwordHash: string;
  /** CPF or CNPJ, without punctuation. */
  readonly document: string | null;
  /** Whether the user has logged in from the address within {@link knownAddressDays}. */
  readonly knowsAddress: boolean;
}

/** How long an address stays known after a login. */
export const knownAddressDays = 30;

const byEmail: Statement = {
  name: 'user-by-email',
  text: `
    select id, email, password_hash as "passwordHash", document,
           exists (select from login_addresses
                    where user_id = users.id and address_digest = $2
                      and last_login_at > $3) as "knowsAddress"
      from users
     where lower(email) = lower($1) and status = 'ACTIVE'`,
};

/**
 * @param clientAddress where the user logs in from, if anywhere.
 * @returns the active user with an e-mail, compared without regard to case, or null.
 */
export async function findLoginUser(
  { db, clock, sealer }: Pick<LocalContext, 'db' | 'clock' | 'sealer'>,
  email: string,
  clientAddress = '',
): Promise<LoginUser | null> {
  const since = new Date(clock.now().getTime() - knownAddressDays * dayMs);
  const [user] = await db.query<LoginUser>(byEmail, [email, sealer.digest(clientAddress), since]);
  return user ?? null;
}

const replaceHash: Statement = {
  name: 'user-renew-hash',
  text: `
    update users set password_hash = $3, updated_at = $4 where id = $1 and password_hash = $2`,
};

export interface HashChange {
  readonly userId: number;
  readonly from: string;
  readonly to: string;
}

/** Replaces the password hash of a user, unless it is another one by now. */
export async function replacePasswordHash(
  { db, clock }: Pick<LocalContext, 'db' | 'clock'>,
  { userId, from, to }: HashChange,
): Promise<void> {
  await db.query(replaceHash, [userId, from, to, clock.now()]);
}

export interface NewUser {
  readonly name: string;
  readonly email: string;
  readonly passwordHash: string;
  /** CPF or CNPJ, without punctuation. */
  readonly document: string | null;
  readonly personType: 'PF' | 'PJ' | null;
  /** E.164. */
  readonly phone: string | null;
}

const insert: Statement = {
  name: 'user-create',
  text: `
    insert into users
           (name, email, document, person_type, phone, password_hash, created_at, updated_at)
    values ($1, $2, $3, $4, $5, $6, $7, $7)
        on conflict do nothing
    returning id`,
};

/** @returns the new user's id, or null when the e-mail or the document is taken. */
export async function createUser(
  { db, clock }: Pick<LocalContext, 'db' | 'clock'>,
  { name, email, document, personType, phone, passwordHash }: NewUser,
): Promise<number | null> {
  const parameters = [name, email, document, personType, phone, passwordHash, clock.now()];
  const [row] = await db.query<{ id: number }>(insert, parameters);
  return row?.id ?? null;
}
