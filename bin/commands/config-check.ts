/** `ponte config check`: what is in effect, and what is wrong. */
import { reportConfig, type SettingReport } from '../../src/config/report.ts';
import type { Desk } from '../desk.ts';
import { exitCodes, type ExitCode } from '../exit-codes.ts';
import type { Column } from '../table.ts';

const columns: readonly Column<SettingReport>[] = [
  { head: 'SETTING', cell: ({ name }) => name, isWhole: true },
  {
    head: 'VALUE',
    cell: ({ value, fault }) => (fault === null ? wordOf(value) : 'at fault'),
    tone: ({ fault }) => (fault === null ? null : 'bad'),
  },
  { head: 'FROM', cell: ({ from }) => from, isWhole: true },
];

function wordOf(value: SettingReport['value']): string | null {
  return value === null ? null : String(value);
}

/** Prints every setting; with faults each of them too, and exit 2. */
export async function configCheck(
  { environment, terminal }: Desk,
  { json = false }: { readonly json?: boolean },
): Promise<ExitCode> {
  const report = reportConfig(environment());
  if (json) terminal.json(report);
  else terminal.table({ columns, rows: report.settings, none: '' });
  if (report.valid) return exitCodes.done;
  if (!json) {
    terminal.remark('The configuration is not valid:');
    terminal.remark(...report.faults.map(({ name, message }) => `  ${name} ${message}`));
  }
  return exitCodes.usage;
}
