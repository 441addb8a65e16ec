/** `ponte worker`: runs the job loop until a signal. */
import type { Declare } from '../context.ts';
import { UsageError } from '../exit-codes.ts';
import { examples } from '../options.ts';

export const declare: Declare = (noun, run) => {
  noun
    .addHelpText('after', examples('DATABASE_URL=postgres://ponte@db/ponte ponte worker'))
    .action(run(worker));
};

/** Ends the process. */
async function worker() {
  const { configOrExit, nameTakenPort, runUntilSignal } = await import('../lifecycle.ts');
  const config = configOrExit();
  if (config.databaseUrl === undefined) {
    throw new UsageError('a worker needs DATABASE_URL: the embedded database allows one process');
  }
  if (config.provider.stub) {
    throw new UsageError(
      "a worker cannot run with PROVIDER_STUB=true: the simulated bank lives in the server's process",
      'set JOBS=inline there, or use `ponte provider-sandbox` as the provider of both',
    );
  }
  await runUntilSignal(config, async (cancelled) => {
    const { startWorker } = await import('../../src/app/app.ts');
    try {
      return await startWorker(config, { cancelled });
    } catch (error) {
      throw nameTakenPort(error, config);
    }
  });
}
