import type { LocalContext } from '../context.ts';
import type { Statement } from '../db/database.ts';
import { OpError } from './op.ts';

export type UserStatus = 'ACTIVE' | 'DISABLED';

export interface FoundUser {
  readonly id: number;
  readonly email: string;
  readonly status: UserStatus;
}

const byId: Statement = {
  name: 'ops-user-by-id',
  text: `select id, email, status from users where id = $1`,
};

const byEmail: Statement = {
  name: 'ops-user-by-email',
  text: `select id, email, status from users where lower(email) = lower($1)`,
};

/**
 * @param reference an id, or an e-mail without regard to case.
 * @throws OpError when there is no such user.
 */
export async function findUser(context: LocalContext, reference: string): Promise<FoundUser> {
  const isId = /^[1-9]\d{0,8}$/.test(reference);
  const [user] = await context.db.query<FoundUser>(isId ? byId : byEmail, [
    isId ? Number(reference) : reference,
  ]);
  if (!user) throw new OpError('NOT_FOUND', `there is no user ${reference}`);
  return user;
}
