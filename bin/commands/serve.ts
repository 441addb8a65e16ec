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
  const { configOrExit, runUntilSignal } = await import('../lifecycle.ts');
  const config = configOrExit();
  await runUntilSignal(config, async (cancelled) => {
    await requireFreePort(config);
    announceNewDatabase(config);
    const { startApp } = await import('../../src/app.ts');
    const app = await startApp(config, { cancelled });
    void app.preload();
    return app;
  });
}

/**
 * Fails before a first start creates the database, which takes seconds.
 * @throws Error when another process listens on the port.
 */
async function requireFreePort({ host, port }: Config): Promise<void> {
  if (!(await isTaken(host, port))) return;
  const other = port === 65_535 ? port - 1 : port + 1;
  throw new Error(
    `another process already listens on ${host}:${port}: choose another port, such as PORT=${other}`,
  );
}

/** The listener itself reports every other reason why it cannot listen. */
async function isTaken(host: string, port: number): Promise<boolean> {
  const probe = createServer();
  try {
    await once(probe.listen(port, host), 'listening');
    await once(probe.close(), 'close');
    return false;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EADDRINUSE';
  }
}

function announceNewDatabase({ databaseUrl, dataDir }: Config): void {
  if (databaseUrl !== undefined || existsSync(join(dataDir, 'postgres'))) return;
  process.stdout.write('Creating the database…\n');
}
