/** `ponte worker`: from the environment to a running job loop, and back at a signal. */
import { configOrExit, runUntilSignal } from '../lifecycle.ts';

/** Runs jobs until it is told to stop; ends the process. */
export async function worker(): Promise<void> {
  const config = configOrExit();
  await runUntilSignal(config, async () => {
    const { startWorker } = await import('../../src/app.ts');
    return startWorker(config);
  });
}
