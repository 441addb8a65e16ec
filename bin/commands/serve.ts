/** `ponte serve`: runs the service until a signal. */
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import type { Config } from '../../src/config/config.ts';
import type { Declare } from '../context.ts';
import { examples } from '../options.ts';

export const declare: Declare = (noun, run) => {
  noun.addHelpText('after', examples('PORT=3001 ponte serve')).action(run(serve));
};

/** Ends the process. */
async function serve() {
  const { configOrExit, nameTakenPort, runUntilSignal } = await import('../lifecycle.ts');
  const config = configOrExit();
  await runUntilSignal(config, async (cancelled) => {
    try {
      await requireFreePort(config);
      announceNewDatabase(config);
      const { startApp } = await import('../../src/app/app.ts');
      const app = await startApp(config, { cancelled, onStep: say });
      void app.preload().then(releaseMemory);
      return app;
    } catch (error) {
      throw nameTakenPort(error, config);
    }
  });
}

/**
 * Returns the memory that only the start needed to the system: an idle service uses 113 MB instead
 * of 147. It takes 60 ms once, when the service has just begun to listen.
 */
function releaseMemory(): void {
  globalThis.gc?.({ type: 'major', flavor: 'last-resort', execution: 'sync' });
}

/** Fails before a first start creates the database, which takes seconds. */
async function requireFreePort(config: Config): Promise<void> {
  const { isTaken } = await import('../lifecycle.ts');
  const probe = createServer();
  try {
    await once(probe.listen(config.port, config.host), 'listening');
    await once(probe.close(), 'close');
  } catch (error) {
    // The listener itself reports every other reason why it cannot listen.
    if (isTaken(error, config.port)) throw error;
  }
}

function announceNewDatabase({ databaseUrl, dataDir }: Config): void {
  if (databaseUrl !== undefined || existsSync(join(dataDir, 'postgres'))) return;
  say('Creating the database…');
}

/** Shows what a start does while it takes long. */
function say(step: string): void {
  process.stdout.write(`${step}\n`);
}
