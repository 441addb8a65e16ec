import { examples } from '../declare.ts';
import type { Describe } from '../frame.ts';

/** `serve` and `worker`: what runs until it is told to stop. */
export const describeService: Describe = ({ program, action }) => {
  program
    .command('serve')
    .description('start the service; its settings are listed in .env.example')
    .addHelpText('after', examples('PORT=3001 ponte serve'))
    .action(action(async () => (await import('../commands/serve.ts')).serve));

  program
    .command('worker')
    .description('run jobs and serve nothing, beside servers with JOBS=off; needs DATABASE_URL')
    .addHelpText('after', examples('DATABASE_URL=postgres://ponte@db/ponte ponte worker'))
    .action(action(async () => (await import('../commands/worker.ts')).worker));
};
