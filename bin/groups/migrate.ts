import { InvalidArgumentError } from 'commander';
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

  migrate
    .command('grants')
    .description('print the SQL that makes the roles of the database; an administrator runs it')
    .option('--migrator <role>', 'owns the schema', roleName, 'ponte_migrator')
    .option('--service <role>', 'reads and writes rows', roleName, 'ponte_service')
    .option('--readonly <role>', 'reads rows', roleName, 'ponte_readonly')
    .addHelpText('after', examples('ponte migrate grants | psql "$ADMIN_URL"'))
    .action(action(async () => (await import('../commands/migrate.ts')).migrateGrants));
};

/** PostgreSQL cuts longer names, and reserves those that begin with `pg_`. */
function roleName(text: string): string {
  if (/^(?!pg_)[a-z_][a-z0-9_-]{0,62}$/.test(text)) return text;
  throw new InvalidArgumentError('It must be a name of at most 63 of a-z, 0-9, _ and -.');
}
