import type { LocalContext } from '../context.ts';
import { createUser, findLoginUser } from '../services/users.ts';
import { OpError, type Op } from './op.ts';

export interface DevUser {
  readonly email: string;
  readonly password: string;
  readonly created: boolean;
}

/** `PROVIDER_EMAIL` and `PROVIDER_PASSWORD`. */
export interface DevCredentials {
  readonly email?: string | undefined;
  readonly password?: string | undefined;
}

/**
 * Makes sure that the development user exists. A user who exists keeps the password that is stored.
 * @returns null when the credentials name no such user.
 */
export async function ensureDevUser(
  context: LocalContext,
  { email, password }: DevCredentials,
): Promise<DevUser | null> {
  if (email === undefined || password === undefined) return null;
  if (await findLoginUser(context, email)) return { email, password, created: false };
  const id = await createUser(context, {
    name: 'Pessoa de Desenvolvimento',
    email,
    password,
    document: null,
    personType: 'PF',
    phone: '+5511987654321',
  });
  return { email, password, created: id !== null };
}

export interface DevUserMade {
  readonly email: string;
  /** False when there was one already; its password is kept. */
  readonly created: boolean;
}

/**
 * `user create-dev`, with the credentials of the command's own environment.
 * @throws OpError when they name no user.
 */
export const createDevUser: Op<DevCredentials, DevUserMade> = {
  async run(context, credentials) {
    const user = await ensureDevUser(context, credentials);
    if (user) return { email: user.email, created: user.created };
    throw new OpError('REFUSED', 'PROVIDER_EMAIL and PROVIDER_PASSWORD name no user to create');
  },
};
