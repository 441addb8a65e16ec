/** `ponte config`: the settings. */
import type { SettingReport } from '../../src/config/report.ts';
import type { Context, Declare } from '../context.ts';
import { exitCodes } from '../exit-codes.ts';
import { examples, withJson, type JsonOption } from '../options.ts';
import type { Column } from '../table.ts';

export const declare: Declare = (noun, run) => {
  noun.addHelpText('after', examples('ponte config check'));

  withJson(noun.command('check'))
    .description('show the settings in effect without secrets; exit 2 when one is invalid')
    .addHelpText('after', examples('APP_ENV=production ponte config check'))
    .action(run(check));
};

const columns: readonly Column<SettingReport>[] = [
  { head: 'SETTING', cell: ({ name }) => name, isWhole: true },
  {
    head: 'VALUE',
    cell: ({ value, fault }) => (fault === null ? value?.toString() : ['invalid', 'red']),
  },
  { head: 'FROM', cell: ({ from }) => from, isWhole: true },
];

async function check({ environment, fromDotEnv, terminal }: Context, { json }: JsonOption) {
  const { checkConfig } = await import('../../src/operator/check-config.ts');
  const report = await checkConfig(environment(), fromDotEnv());
  if (json) terminal.json(report);
  else terminal.table({ columns, rows: report.settings, none: '' });
  if (report.valid) return exitCodes.ok;
  if (!json) {
    terminal.note('The configuration is not valid:');
    terminal.note(...report.faults.map(({ name, message }) => `  ${name} ${message}`));
  }
  return exitCodes.usage;
}
