import { examples, jsonOption, yesOption } from '../declare.ts';
import type { Describe } from '../frame.ts';

/** `migrate …`: the schema of the database. */
export const describeMigrate: Describe = ({ program, action }) => {
  const migrate = program
    .command('migrate')
    .description("the database's schema; a start of the service brings it up to date as well")
    .addHelpText('after', examples('ponte migrate status', 'ponte migrate up'));

  migrate
    .command('status')
    .description('list migrations, applied and pending; exit 1 when some are pending')
    .addOption(jsonOption())
    .addHelpText('after', examples('ponte migrate status --json'))
    .action(action(async () => (await import('../commands/migrate.ts')).migrateStatus));

  migrate
    .command('up')
    .description('apply the migrations that are missing')
    .addOption(jsonOption())
    .addHelpText('after', examples('ponte migrate up'))
    .action(action(async () => (await import('../commands/migrate.ts')).migrateUp));

  migrate
    .command('down')
    .description('take the newest migration back, and lose what is stored in what it made')
    .addOption(yesOption())
    .addOption(jsonOption())
    .addHelpText('after', examples('ponte migrate down'))
    .action(action(async () => (await import('../commands/migrate.ts')).migrateDown));
};
