import { findUserByReference, type FoundUser } from '../auth/user-repository.ts';
import type { LocalContext } from '../context.ts';
import { OpError } from './op.ts';

/**
 * @param reference an id, or an e-mail without regard to case.
 * @throws OpError when there is no such user.
 */
export async function findUser(context: LocalContext, reference: string): Promise<FoundUser> {
  const user = await findUserByReference(context, reference);
  if (!user) throw new OpError('NOT_FOUND', `there is no user ${reference}`);
  return user;
}
