/** `ponte serve`: from the environment to a running service, and back at a signal. */
import { configOrExit, runUntilSignal } from '../lifecycle.ts';

/** Runs the service until it is told to stop; ends the process. */
export async function serve(): Promise<void> {
  const config = configOrExit();
  await runUntilSignal(config, async (unwanted) => {
    // Loaded after the configuration is known to be good: it brings the whole service along.
    const { startApp } = await import('../../src/app.ts');
    return startApp(config, { unwanted });
  });
}
