/** The local user store. */
import type { LocalContext } from '../context.ts';
import type { Statement } from '../db/database.ts';

export interface LoginUser {
  readonly id: number;
  readonly email: string;
  readonly passwordHash: string;
}

const byEmail: Statement = {
  name: 'user-by-email',
  text: `
    select id, email, password_hash as "passwordHash" from users
     where lower(email) = lower($1) and status = 'ACTIVE'`,
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

/** @returns the active user with an e-mail, compared without regard to case, or null. */
export async function findLoginUser(
  context: LocalContext,
  email: string,
): Promise<LoginUser | null> {
  const [user] = await context.db.query<LoginUser>(byEmail, [email]);
  return user ?? null;
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
