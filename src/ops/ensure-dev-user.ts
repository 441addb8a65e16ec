import type { Context } from '../context.ts';
import { createUser, findLoginUser } from '../services/users.ts';

export interface DevUser {
  readonly email: string;
  readonly password: string;
  readonly created: boolean;
}

/**
 * Makes sure that the development user exists, from `PROVIDER_EMAIL` and `PROVIDER_PASSWORD`. A
 * user who exists keeps the password that is stored.
 * @returns null when the configuration names no such user.
 */
export async function ensureDevUser(context: Context): Promise<DevUser | null> {
  const { email, password } = context.config.provider;
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
