/** `ponte pix list --open-with-the-bank`: the orders that only the bank can end, and their file. */
import { existsSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import type { BankOrderView } from '../src/operator/pix-for-bank.ts';
import type { Context } from './context.ts';
import { writeCsvLine } from './csv.ts';
import { UsageError } from './exit-codes.ts';
import type { ListOptions } from './options.ts';
import { shortTime } from './output.ts';
import type { Column } from './table.ts';

const columns: readonly Column<BankOrderView>[] = [
  { head: 'ID', cell: ({ id }) => id, isWhole: true },
  { head: 'USER', cell: ({ userId }) => userId, align: 'right' },
  { head: 'TYPE', cell: ({ operation }) => operation },
  { head: 'AMOUNT', cell: ({ amount }) => amount, align: 'right' },
  { head: 'PHASE', cell: ({ phase }) => phase },
  { head: 'LAST ATTEMPT', cell: ({ attemptedAt }) => shortTime(attemptedAt) },
  { head: 'END-TO-END ID', cell: ({ endToEnd }) => endToEnd, isWhole: true },
];

const none = 'No order waits for the bank alone.';

export interface ForBankOptions extends ListOptions {
  readonly file?: string;
}

/** Lists them, the oldest first; or writes all of them into a file for the bank. */
export async function listForBank(context: Context, options: ForBankOptions): Promise<void> {
  const { call, terminal } = context;
  if (options.file !== undefined) return writeFileForBank(context, options.file, options);
  const { orders } = await call('pix for-bank', { limit: options.limit });
  const more = 'set a greater --limit, or write all of them with --file';
  terminal.list({ name: 'orders', columns, rows: orders, none, more }, options);
}

async function writeFileForBank(
  { call, terminal }: Context,
  file: string,
  options: ForBankOptions,
): Promise<void> {
  // Before the accounts are read, which is recorded.
  if (existsSync(file)) throw fileExists(file);
  const orders: BankOrderView[] = [];
  let after: string | null | undefined;
  while (after !== null) {
    const page = { withAccounts: true, limit: 1_000, ...(after !== undefined && { after }) };
    const { orders: more, next } = await call('pix for-bank', page);
    orders.push(...more);
    after = next;
  }
  if (orders.length === 0) terminal.note(`${none} ${file} is not written.`);
  else await writeNew(file, `${[heading, ...orders.map(toLine)].join('\n')}\n`);
  const written = orders.length === 0 ? null : file;
  const how = orders.length === 1 ? '1 order is' : `${orders.length} orders are`;
  terminal.result(
    { file: written, orders: orders.length },
    options,
    ...(written === null
      ? []
      : [
          `${how} in ${file}. The bank fills its last column with completed or failed; then:`,
          `  ponte pix resolve --from ${file} --reason 'list of the bank'`,
        ]),
  );
}

const heading = 'end_to_end,request_id,amount,created_at,agency,account_number,outcome';

/** The end is left to the bank. */
function toLine({ endToEnd, requestId, amount, createdAt, account }: BankOrderView): string {
  const { agency = null, number = null } = account ?? {};
  const cells = [endToEnd, requestId ?? '', amount, createdAt, agency ?? '', number ?? '', ''];
  return writeCsvLine(cells);
}

async function writeNew(file: string, text: string): Promise<void> {
  try {
    await writeFile(file, text, { flag: 'wx', mode: 0o600 });
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? error.code : null;
    if (code === 'EEXIST') throw fileExists(file);
    throw new UsageError(`${file} cannot be written (${String(code)})`);
  }
}

function fileExists(file: string): UsageError {
  return new UsageError(`${file} exists already: name another file`);
}
