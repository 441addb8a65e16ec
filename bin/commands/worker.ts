/** `ponte worker`: from the environment to a running job loop, and back at a signal. */
import { configOrExit, runUntilSignal } from '../lifecycle.ts';
import { UsageError } from '../exit-codes.ts';

/**
 * Runs jobs until it is told to stop; ends the process.
 * @throws UsageError without DATABASE_URL: a worker beside the service that has the embedded
 *   database cannot open it, and one that came first would keep the service out.
 */
export async function worker(): Promise<void> {
  const config = configOrExit();
  if (config.databaseUrl === undefined) {
    throw new UsageError(
      'a worker needs DATABASE_URL: the embedded database has room for one process',
    );
  }
  await runUntilSignal(config, async (unwanted) => {
    const { startWorker } = await import('../../src/app.ts');
    return startWorker(config, { unwanted });
  });
}
