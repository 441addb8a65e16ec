import { examples } from '../declare.ts';
import type { Describe } from '../frame.ts';

/** `console`: the service at a terminal. */
export const describeConsole: Describe = ({ program, action }) => {
  program
    .command('console')
    .description('use a service that runs, full screen at this terminal')
    .option('--url <address>', 'where it is; otherwise the service of HOST and PORT')
    .addHelpText('after', examples('ponte console', 'ponte console --url http://127.0.0.1:3001'))
    .action(action(async () => (await import('../commands/console.ts')).openConsole));
};
