/** `user list`: who may log in. */
import type { Statement } from '../db/database.ts';
import type { UserStatus } from './find-user.ts';
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

interface UserRow extends Omit<UserView, 'createdAt'> {
  readonly createdAt: Date;
}

const list: Statement = {
  name: 'ops-user-list',
  text: `
    select u.id, u.name, u.email, u.person_type as "personType", u.status,
           s.id is not null as "loggedIn", u.created_at as "createdAt"
      from users u
      left join banking_sessions s
        on s.user_id = u.id and s.status = 'ACTIVE'
       and (s.token_expires_at is null or s.token_expires_at > $5)
     where ($1::text is null or u.status = $1)
       and ($2::text is null or strpos(lower(u.email), lower($2)) > 0)
       and ($3::int is null or u.id < $3)
     order by u.id desc limit $4`,
};

/** Gives users, newest first. */
export const listUsers: Op<UserListInput, { readonly users: readonly UserView[] }> = {
  async run({ db, clock }, { status, email, before, limit }) {
    const parameters = [status ?? null, email ?? null, before ?? null, limit, clock.now()];
    const rows = await db.query<UserRow>(list, parameters);
    return { users: rows.map(viewOf) };
  },
};

function viewOf({ id, name, email, personType, status, loggedIn, createdAt }: UserRow): UserView {
  return { id, name, email, personType, status, loggedIn, createdAt: createdAt.toISOString() };
}
