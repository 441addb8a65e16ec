/** `ponte migrate status`, `up`, `down` and `grants`. */
import { grantsSql, type Roles } from '../../src/operator/grants.ts';
import type { MigrationView } from '../../src/operator/migrate.ts';
import type { Desk } from '../desk.ts';
import { exitCodes, UsageError, type ExitCode } from '../exit-codes.ts';
import { shortTime } from '../short-time.ts';
import type { Column } from '../table.ts';

interface Options {
  readonly json?: boolean;
  readonly yes?: boolean;
}

interface RoleOptions extends Pick<Roles, 'migrator' | 'service'> {
  readonly readonly: string;
}

const tones = { applied: 'good', pending: 'doubtful', unknown: 'bad' } as const;

const columns: readonly Column<MigrationView>[] = [
  { head: 'MIGRATION', cell: ({ name }) => name, isWhole: true },
  { head: 'STATE', cell: ({ state }) => state, isWhole: true, tone: ({ state }) => tones[state] },
  { head: 'APPLIED', cell: ({ appliedAt }) => shortTime(appliedAt), isWhole: true },
];

/** Lists the migrations; those that are pending are a finding. */
export async function migrateStatus({ run, terminal }: Desk, options: Options): Promise<ExitCode> {
  const status = await run('migrate status', {});
  if (options.json) terminal.json(status);
  else terminal.table({ columns, rows: status.migrations, none: 'There are no migrations.' });
  if (status.pending === 0) return exitCodes.done;
  if (!options.json) terminal.remark('Some are pending: run `ponte migrate up`.');
  return exitCodes.bad;
}

/** Applies what is missing. */
export async function migrateUp({ run, terminal }: Desk, options: Options): Promise<void> {
  const { applied } = await run('migrate up', {});
  if (options.json) terminal.json({ applied });
  else if (applied.length === 0) terminal.print('The schema is up to date.');
  else terminal.print(...applied.map((name) => `applied ${name}`));
}

/** Takes the newest migration back. */
export async function migrateDown(
  { run, confirm, config, terminal }: Desk,
  options: Options,
): Promise<ExitCode> {
  if (config().appEnv === 'production' && !options.yes) {
    throw new UsageError('in production this needs --yes: what is stored in it is lost');
  }
  const { migrations } = await run('migrate status', {});
  const newest = migrations.findLast(({ state }) => state !== 'pending')?.name ?? 'the newest one';
  terminal.remark(`Taking back ${newest} loses what is stored in the tables and columns it made.`);
  if (!(await confirm(`Take ${newest} back?`, options))) return exitCodes.bad;
  const { reverted } = await run('migrate down', {});
  if (options.json) terminal.json({ reverted });
  else terminal.print(`reverted ${reverted}`);
  return exitCodes.done;
}

/** Prints the SQL of the database's roles; it runs nothing. */
export function migrateGrants({ terminal }: Desk, options: RoleOptions): Promise<void> {
  const { migrator, service, readonly: readOnly } = options;
  terminal.print(grantsSql({ migrator, service, readOnly }).trimEnd());
  return Promise.resolve();
}
