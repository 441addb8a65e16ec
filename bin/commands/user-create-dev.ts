/** `ponte user create-dev`: the development user, from the environment's credentials. */
import type { Desk } from '../desk.ts';

/** Makes sure of the development user and says so. */
export async function userCreateDev(
  { run, config, terminal }: Desk,
  { json = false }: { readonly json?: boolean },
): Promise<void> {
  const { email, password } = config().provider;
  const user = await run('user create-dev', { email, password });
  const what = user.created ? 'was created' : 'is there already; its password is kept';
  if (json) terminal.json(user);
  else terminal.print(`The development user ${user.email} ${what}.`);
}
