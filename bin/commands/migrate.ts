/** `ponte migrate`: the version of the database schema, and its roles. */
import { InvalidArgumentError } from 'commander';
import type { Roles } from '../../src/operator/grants.ts';
import type { MigrationView } from '../../src/operator/migrate.ts';
import type { Context, Declare } from '../context.ts';
import { exitCodes, UsageError } from '../exit-codes.ts';
import { examples, withJson, withYes, type ChangeOptions, type JsonOption } from '../options.ts';
import { shortTime } from '../output.ts';
import type { Column } from '../table.ts';

export const declare: Declare = (noun, run) => {
  noun.addHelpText('after', examples('ponte migrate status', 'ponte migrate up'));

  withJson(noun.command('status'))
    .description('list applied and pending migrations; exit 1 when some are pending')
    .addHelpText('after', examples('ponte migrate status --json'))
    .action(run(showStatus));

  withJson(noun.command('up'))
    .description('apply the pending migrations; a start of the service does the same')
    .addHelpText('after', examples('ponte migrate up'))
    .action(run(migrateUp));

  withYes(withJson(noun.command('down')))
    .description('revert the newest migration, and lose the data in what it created')
    .addHelpText('after', examples('ponte migrate down'))
    .action(run(migrateDown));

  noun
    .command('grants')
    .description('print the SQL that creates the database roles; an administrator runs it')
    .option('--migrator <role>', 'owns the schema', parseRole, 'ponte_migrator')
    .option('--service <role>', 'reads and writes rows', parseRole, 'ponte_service')
    .option('--readonly <role>', 'reads rows', parseRole, 'ponte_readonly')
    .addHelpText('after', examples('ponte migrate grants | psql "$ADMIN_URL"'))
    .action(run(printGrants));
};

/** PostgreSQL cuts longer names, and reserves those that begin with `pg_`. */
function parseRole(text: string): string {
  if (/^(?!pg_)[a-z_][a-z0-9_-]{0,62}$/.test(text)) return text;
  throw new InvalidArgumentError('It must be a name of at most 63 of a-z, 0-9, _ and -.');
}

const stateColours = { applied: 'green', pending: 'yellow', unknown: 'red' } as const;

const columns: readonly Column<MigrationView>[] = [
  { head: 'MIGRATION', cell: ({ name }) => name, isWhole: true },
  {
    head: 'STATE',
    cell: ({ state }) => [state, stateColours[state]],
    isWhole: true,
  },
  { head: 'APPLIED', cell: ({ appliedAt }) => shortTime(appliedAt), isWhole: true },
];

async function showStatus({ call, terminal }: Context, { json }: JsonOption) {
  const status = await call('migrate status', {});
  if (json) terminal.json(status);
  else terminal.table({ columns, rows: status.migrations, none: 'There are no migrations.' });
  if (status.pending === 0) return exitCodes.ok;
  if (!json) terminal.note('Some migrations are pending: run `ponte migrate up`.');
  return exitCodes.failed;
}

async function migrateUp({ call, terminal }: Context, options: JsonOption) {
  const { applied } = await call('migrate up', {});
  const lines = applied.map((name) => `applied ${name}`);
  if (lines.length === 0) lines.push('The schema is up to date.');
  terminal.result({ applied }, options, ...lines);
}

async function migrateDown(context: Context, options: ChangeOptions) {
  const { call, terminal } = context;
  if (context.config().appEnv === 'production' && !options.yes) {
    throw new UsageError('in production this command needs --yes, because it deletes data');
  }
  const { migrations } = await call('migrate status', {});
  const newest =
    migrations.findLast(({ state }) => state !== 'pending')?.name ?? 'the newest migration';
  terminal.note(`Reverting ${newest} deletes the tables and columns it created, with their data.`);
  await context.confirm(`Revert ${newest}?`, options);
  const { reverted } = await call('migrate down', {});
  terminal.result({ reverted }, options, `reverted ${reverted}`);
}

interface GrantOptions extends Pick<Roles, 'migrator' | 'service'> {
  readonly readonly: string;
}

async function printGrants({ terminal }: Context, options: GrantOptions) {
  const { grantsSql } = await import('../../src/operator/grants.ts');
  const { migrator, service, readonly: readOnly } = options;
  if (new Set([migrator, service, readOnly]).size < 3) {
    throw new UsageError('--migrator, --service and --readonly name three different roles');
  }
  terminal.print(grantsSql({ migrator, service, readOnly }).trimEnd());
}
