/** `ponte user create-dev`: the development user, from the environment's credentials. */
import { refuseDeployed, type DevLogin } from '../../src/operator/ensure-dev-user.ts';
import type { Desk } from '../desk.ts';

/**
 * Makes sure of the development user and says so.
 * @throws OpError outside local and test.
 */
export async function userCreateDev(
  { run, config, terminal }: Desk,
  { json = false }: { readonly json?: boolean },
): Promise<void> {
  const { appEnv, provider } = config();
  // Before the database is opened, which may be the one with real money.
  refuseDeployed(appEnv);
  const { email, password } = provider;
  const user = await run('user create-dev', { email, password });
  if (json) terminal.json(user);
  else terminal.print(`The development user ${user.email} ${standing[user.login](user.email)}`);
}

const standing: Readonly<Record<DevLogin, (email: string) => string>> = {
  created: () => 'was created.',
  ready: () => 'is there already; its password is kept.',
  other_password: (email) =>
    `is there already, with another password; \`ponte user reset-password ${email}\` changes it.`,
  disabled: (email) =>
    `is there already, but disabled; \`ponte user enable ${email}\` changes that.`,
};
