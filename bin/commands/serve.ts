/** `ponte serve`: runs the service until a signal. */
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
    const { startApp } = await import('../../src/app.ts');
    const app = await startApp(config, { cancelled });
    void app.preload();
    return app;
  });
}
