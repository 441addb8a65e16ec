/** `ponte provider`: what the provider's responses leave open. */
import { readFile } from 'node:fs/promises';
import type { ProviderTry, TriedPayment } from '../../src/operator/provider-try.ts';
import type { UnknownResponseView } from '../../src/operator/provider-unknown.ts';
import { readCodes } from '../../src/operator/refusal-codes-file.ts';
import type { Context, Declare } from '../context.ts';
import { UsageError } from '../exit-codes.ts';
import { examples, withChangeOptions, withReason, type ChangeOptions } from '../options.ts';
import { shortTime } from '../output.ts';
import type { Column } from '../table.ts';
import { declareDialect } from './provider-dialect.ts';

export const declare: Declare = (noun, run) => {
  declareDialect(noun, run);
  noun.addHelpText('after', examples('ponte provider unknown'));

  const command = withReason(withChangeOptions(noun.command('unknown')));
  command
    .description(
      'list the responses to payments that no listed code explains, and what waits for them',
    )
    .option('--try <file>', 'show what further codes that mean "not executed" would settle (YAML)')
    .option('--apply', 'with --try, --by and --reason: settle what has waited for an hour')
    .addHelpText(
      'after',
      examples('ponte provider unknown', 'ponte provider unknown --try codes.yaml'),
    )
    .action(run(unknown));
};

const responseColumns: readonly Column<UnknownResponseView>[] = [
  { head: 'STATUS', cell: ({ httpStatus, providerStatus }) => httpStatus ?? providerStatus },
  { head: 'CODE', cell: ({ code }) => code },
  { head: 'PAYMENTS', cell: ({ payments }) => payments, align: 'right' },
  { head: 'OLDEST', cell: ({ oldestAt }) => shortTime(oldestAt) },
  { head: 'ID', cell: ({ transactionIds: [first] }) => first, isWhole: true },
];

interface UnknownOptions extends ChangeOptions {
  readonly try?: string;
  readonly apply?: boolean;
}

async function unknown(context: Context, options: UnknownOptions) {
  const { try: path, apply = false, by, reason } = options;
  if (path === undefined && apply) throw new UsageError('--apply needs --try');
  if (path !== undefined) {
    if (!apply) return tryFile(context, path, options);
    if (by === undefined || reason === undefined) {
      throw new UsageError('--apply needs --by and --reason');
    }
    return tryFile(context, path, { ...options, decision: { reason } });
  }
  const { terminal } = context;
  const { answers } = await context.call('provider unknown', {});
  if (options.json) {
    terminal.json({ answers });
    return;
  }
  terminal.table({ columns: responseColumns, rows: answers, none: 'No payment waits for a code.' });
  for (const { code, httpStatus, providerStatus, payments, transactionIds } of answers) {
    const more = payments - transactionIds.length;
    const response = [httpStatus ?? providerStatus ?? 'no response', code]
      .filter(Boolean)
      .join(' ');
    terminal.print('', response, ...transactionIds.map((id) => `  ${id}`));
    if (more > 0) terminal.print(`  … and ${more} more`);
  }
}

const triedColumns: readonly Column<TriedPayment>[] = [
  { head: 'ID', cell: ({ id }) => id, isWhole: true },
  { head: 'CODE', cell: ({ code }) => code },
  { head: 'RESULT', cell: ({ result }) => result.replace('_', ' ') },
  { head: 'REASON', cell: ({ reason, takenFrom }) => formatReason(reason, takenFrom) },
];

function formatReason(reason: string | null, takenFrom: string | null): string | null {
  return takenFrom === null ? reason : `${reason}: try it from ${shortTime(takenFrom)}`;
}

interface TryOptions extends ChangeOptions {
  readonly decision?: { readonly reason: string };
}

async function tryFile(context: Context, path: string, options: TryOptions): Promise<void> {
  const { terminal } = context;
  const codes = await readFileOfCodes(path);
  const { decision } = options;
  const isAny = decision === undefined || (await isAnyWaiting(context, codes));
  if (decision !== undefined && isAny) {
    const question = 'Mark the payments that these codes account for as FAILED permanently?';
    terminal.note('The app will offer their customers to pay again.');
    await context.confirm(question, options);
  }
  // One that comes meanwhile is not settled without the question.
  const payments = isAny
    ? await tryAll(context, { codes, ...(decision && { apply: decision }) })
    : [];
  if (options.json) {
    terminal.json({ payments });
    return;
  }
  terminal.table({
    columns: triedColumns,
    rows: payments,
    none: 'The codes account for no open payment.',
  });
}

async function isAnyWaiting({ call }: Context, codes: readonly string[]): Promise<boolean> {
  const { payments } = await call('provider try', { codes, limit: 1 });
  return payments.length > 0;
}

async function tryAll(
  { call }: Context,
  input: { readonly codes: readonly string[]; readonly apply?: { readonly reason: string } },
): Promise<TriedPayment[]> {
  const payments: TriedPayment[] = [];
  let after: string | null | undefined;
  while (after !== null) {
    const page: ProviderTry = await call('provider try', {
      ...input,
      limit: 100,
      ...(after !== undefined && { after }),
    });
    payments.push(...page.payments);
    after = page.next;
  }
  return payments;
}

async function readFileOfCodes(path: string): Promise<readonly string[]> {
  let text: string;
  try {
    text = await readFile(path, 'utf8');
  } catch {
    throw new UsageError(`${path} cannot be read`);
  }
  const { codes, faults } = readCodes(text);
  if (faults.length > 0) throw new UsageError(`${path} is not valid:`, ...faults);
  return codes;
}
