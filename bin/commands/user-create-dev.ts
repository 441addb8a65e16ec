/** `ponte user create-dev`: the development user, from the environment's credentials. */
import { configOrExit } from '../lifecycle.ts';
import { startFailure } from '../start-failure.ts';

/** Makes sure of the development user and says so; exits 1 with one sentence when it cannot. */
export async function createDevUser(): Promise<void> {
  const config = configOrExit();
  const { withContext } = await import('../../src/app.ts');
  const { ensureDevUser } = await import('../../src/ops/ensure-dev-user.ts');
  try {
    const user = await withContext(config, ensureDevUser);
    if (user) {
      const what = user.created ? 'was created' : 'is there already; its password is kept';
      process.stdout.write(`The development user ${user.email} ${what}.\n`);
      return;
    }
    process.stderr.write('ponte: PROVIDER_EMAIL and PROVIDER_PASSWORD name no user to create\n');
  } catch (error) {
    process.stderr.write(`ponte: ${startFailure(error)}\n`);
  }
  process.exitCode = 1;
}
