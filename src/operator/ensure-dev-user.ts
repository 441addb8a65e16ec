import type { AppEnv } from '../config/config.ts';
import type { LocalContext } from '../context.ts';
import { createUser, findLoginUser, type LoginUser } from '../auth/user-repository.ts';
import { OpError, type Op } from './op.ts';

/** Whether the development user can log in with the credentials: yes twice, then why not. */
export type DevLogin = 'created' | 'ready' | 'other_password' | 'disabled';

export interface DevUser {
  readonly email: string;
  readonly password: string;
  readonly login: DevLogin;
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
  const loginOf = async (user: LoginUser): Promise<DevLogin> =>
    (await context.passwords.verify(password, user.passwordHash)) ? 'ready' : 'other_password';
  const found = await findLoginUser(context, email);
  if (found) return { email, password, login: await loginOf(found) };
  const id = await createUser(context, {
    name: 'Pessoa de Desenvolvimento',
    email,
    passwordHash: await context.passwords.hash(password),
    document: null,
    personType: 'PF',
    phone: '+5511987654321',
  });
  if (id !== null) return { email, password, login: 'created' };
  // Another process may have made it in between; otherwise it may not log in.
  const there = await findLoginUser(context, email);
  return { email, password, login: there ? await loginOf(there) : 'disabled' };
}

export interface DevUserMade {
  readonly email: string;
  /** False when there was one already; its password is kept. */
  readonly created: boolean;
  readonly login: DevLogin;
}

/**
 * The development user has a password that everybody knows.
 * @throws OpError in staging and in production.
 */
export function refuseDeployed(appEnv: AppEnv): void {
  if (appEnv === 'local' || appEnv === 'test') return;
  const message = `in ${appEnv} there is no development user: use \`ponte user create\``;
  throw new OpError('REFUSED', message);
}

/**
 * `user create-dev`, with the credentials of the command's own environment.
 * @throws OpError outside local and test, and when the credentials name no user.
 */
export const createDevUser: Op<DevCredentials, DevUserMade> = {
  async run(context, credentials) {
    refuseDeployed(context.config.appEnv);
    const user = await ensureDevUser(context, credentials);
    if (user) return { email: user.email, created: user.login === 'created', login: user.login };
    throw new OpError('REFUSED', 'PROVIDER_EMAIL and PROVIDER_PASSWORD name no user to create');
  },
};
