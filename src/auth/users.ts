/** The local user store. */
import { dayMs } from '../clock.ts';
import type { LocalContext } from '../context.ts';
import type { Statement } from '../db/database.ts';
import { AppError } from '../errors.ts';

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

/** Parameters: e-mail, keyed digest of the address, the oldest login that counts. */
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

/** Parameters: user id, the hash that was checked, the new one, now. */
const renewHash: Statement = {
  name: 'user-renew-hash',
  text: `
    update users set password_hash = $3, updated_at = $4 where id = $1 and password_hash = $2`,
};

/**
 * Parameters: name, email, document, person type, phone, password hash, now. Answers the id; no row
 * when the e-mail or the document is taken.
 */
export const insertUser: Statement = {
  name: 'user-create',
  text: `
    insert into users
           (name, email, document, person_type, phone, password_hash, created_at, updated_at)
    values ($1, $2, $3, $4, $5, $6, $7, $7)
        on conflict do nothing
    returning id`,
};

/**
 * @param clientAddress where the user logs in from, if anywhere.
 * @returns the active user with an e-mail, compared without regard to case, or null.
 */
export async function findLoginUser(
  { db, clock, sealer }: LocalContext,
  email: string,
  clientAddress = '',
): Promise<LoginUser | null> {
  const since = new Date(clock.now().getTime() - knownAddressDays * dayMs);
  const [user] = await db.query<LoginUser>(byEmail, [email, sealer.digest(clientAddress), since]);
  return user ?? null;
}

/**
 * Hashes the password again when its hash has other parameters than new hashes. If the queue is
 * full, the next login does it.
 * @param user with the hash that was checked against the password.
 */
export async function renewOldHash(
  { db, clock, passwords }: LocalContext,
  { id, passwordHash }: Pick<LoginUser, 'id' | 'passwordHash'>,
  password: string,
): Promise<void> {
  if (!passwords.isOld(passwordHash)) return;
  try {
    const renewed = await passwords.hash(password);
    await db.query(renewHash, [id, passwordHash, renewed, clock.now()]);
  } catch (error) {
    if (!(error instanceof AppError) || error.code !== 'BUSY') throw error;
  }
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

/** @returns the new user's id, or null when the e-mail or the document is taken. */
export async function createUser(context: LocalContext, user: NewUser): Promise<number | null> {
  const [row] = await context.db.query<{ id: number }>(insertUser, [
    user.name,
    user.email,
    user.document,
    user.personType,
    user.phone,
    user.passwordHash,
    context.clock.now(),
  ]);
  return row?.id ?? null;
}
