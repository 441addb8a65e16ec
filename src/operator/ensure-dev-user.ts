import type { AppEnv } from '../config/config.ts';
import type { LocalContext } from '../context/context.ts';
import { createUser, findLoginUser, type LoginUser } from '../auth/user-repository.ts';
import { OpError, type Op } from './op.ts';
import { recordAction } from './operator-action-repository.ts';

/** The development user can log in (`created`, `ready`), or why not. */
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
 * Creates the development user if there is none. An existing user keeps the stored password.
 * @param create stores the user.
 * @returns null when the credentials are not set.
 */
export async function ensureDevUser(
  context: LocalContext,
  { email, password }: DevCredentials,
  create: typeof createUser = createUser,
): Promise<DevUser | null> {
  if (email === undefined || password === undefined) return null;
  const checkLogin = async (user: LoginUser): Promise<DevLogin> =>
    (await context.passwords.verify(password, user.passwordHash)) ? 'ready' : 'other_password';
  const found = await findLoginUser(context, email);
  if (found) return { email, password, login: await checkLogin(found) };
  const id = await create(context, {
    name: 'Pessoa de Desenvolvimento',
    email,
    passwordHash: await context.passwords.hash(password),
    document: null,
    personType: 'PF',
    phone: '+5511987654321',
  });
  if (id !== null) return { email, password, login: 'created' };
  // Another process may have created the user meanwhile; otherwise the user is disabled.
  const existing = await findLoginUser(context, email);
  return { email, password, login: existing ? await checkLogin(existing) : 'disabled' };
}

export interface CreatedDevUser {
  readonly email: string;
  /** False when the user existed already. */
  readonly created: boolean;
  readonly login: DevLogin;
}

/** @throws OpError in staging and in production, because the password is public. */
export function refuseDeployed(appEnv: AppEnv): void {
  if (appEnv === 'local' || appEnv === 'test') return;
  const message = `${appEnv} has no development user: use \`ponte user create\``;
  throw new OpError('REFUSED', message);
}

/**
 * `user create-dev`, with the credentials of the command's own environment. A user that it creates
 * is recorded.
 * @throws OpError outside local and test, and when the credentials name no user.
 */
export const createDevUser: Op<DevCredentials, CreatedDevUser> = {
  async run(context, credentials, { operator, reason }) {
    refuseDeployed(context.config.appEnv);
    const action = { operator, reason, command: 'user create-dev' };
    const user = await ensureDevUser(context, credentials, (_context, person) =>
      recordAction(context, action, async (transaction) => {
        const id = await createUser(transaction, person);
        return { result: id, targets: id === null ? [] : [`user:${id}`], outcome: 'made' };
      }),
    );
    if (user) return { email: user.email, created: user.login === 'created', login: user.login };
    throw new OpError('REFUSED', 'set PROVIDER_EMAIL and PROVIDER_PASSWORD');
  },
};
