/** One run of `ponte reconcile`: page by page, with progress, a report and a summary. */
import { appendFile } from 'node:fs/promises';
import { lastClosedDay } from '../src/domain/reconciliation.ts';
import type { ReconciledView, ReconcileResult } from '../src/operator/reconcile.ts';
import type { Context } from './context.ts';
import { exitCodes, UsageError, type ExitCode } from './exit-codes.ts';
import { resolveTime, type ChangeOptions, type TypedTime } from './options.ts';

export interface RunOptions extends ChangeOptions {
  readonly user?: string;
  readonly day?: string;
  readonly readBefore?: TypedTime;
  readonly dryRun?: boolean;
  readonly report?: string;
}

interface Totals {
  users: number;
  unread: number;
  settled: number;
  differences: number;
  explained: number;
}

/**
 * Reconciles a day. A run that was killed is repeated: users whose statement was read are left out,
 * and the report file goes on.
 * @returns exit code 1 when there are differences or statements that could not be read.
 * @throws UsageError when the report cannot be written.
 */
export async function reconcileDay(context: Context, options: RunOptions): Promise<ExitCode> {
  const { call, clock, confirm, terminal } = context;
  const { user, day, readBefore, dryRun = false, report, json = false } = options;
  const of = `${day ?? lastClosedDay(clock.now())} of ${user ?? 'every user'}`;
  // Before anything is settled: who is read is left out of the next run, and of its report.
  if (report !== undefined) await append(report, '');
  if (!dryRun) await confirm(`Reconcile ${of}, and settle what the statement proves?`, options);
  const input = {
    dryRun,
    ...(user !== undefined && { user }),
    ...(day !== undefined && { day }),
    ...(readBefore !== undefined && { readBefore: resolveTime(readBefore, clock) }),
  };
  const totals: Totals = { users: 0, unread: 0, settled: 0, differences: 0, explained: 0 };
  const users: ReconciledView[] = [];
  let next: ReconcileResult['next'] = null;
  let page: ReconcileResult;
  do {
    page = await call('reconcile', { ...input, ...(next && { after: next }) });
    next = page.next;
    for (const one of page.users) add(totals, one);
    if (report !== undefined) await append(report, reportLines(page, dryRun));
    if (json) users.push(...page.users);
    else terminal.print(...page.users.flatMap((one) => describe(one, dryRun)));
  } while (next !== null);
  const summary = { day: page.day, dryRun, ...totals };
  if (json) terminal.json({ ...summary, results: users });
  else terminal.print(...summarise(summary));
  return totals.differences + totals.unread === 0 ? exitCodes.ok : exitCodes.failed;
}

function add(totals: Totals, { state, settled, differences, explained }: ReconciledView): void {
  totals.users += 1;
  totals.unread += state === 'UNREAD' ? 1 : 0;
  totals.settled += settled.length;
  totals.differences += differences.length;
  totals.explained += explained;
}

function reportLines({ day, users }: ReconcileResult, dryRun: boolean): string {
  return users.map((one) => `${JSON.stringify({ day, dryRun, ...one })}\n`).join('');
}

async function append(path: string, lines: string): Promise<void> {
  try {
    await appendFile(path, lines);
  } catch {
    throw new UsageError(`${path} cannot be written`);
  }
}

/** A user without anything to report has no lines. */
function describe(user: ReconciledView, dryRun: boolean): string[] {
  const { userId, state, reason, settled, differences } = user;
  if (state === 'UNREAD') return [`user ${userId}: the statement was not read (${reason})`];
  const done = dryRun ? 'would be ' : '';
  return [
    ...settled.map(({ action, amount, endToEnd, transactionId }) => {
      const id = transactionId === null ? '' : `, ${transactionId}`;
      return `user ${userId}: ${done}${action} ${amount} ${endToEnd}${id}`;
    }),
    ...differences.flatMap(({ kind, amount, storedAmount, endToEnd, subject, says, todo }) => [
      `user ${userId}: ${kind} ${amount ?? storedAmount ?? ''} ${endToEnd ?? subject}: ${says}`,
      `  → ${todo}`,
    ]),
  ];
}

function summarise(summary: Totals & { readonly day: string; readonly dryRun: boolean }): string[] {
  const { day, dryRun, users, unread, settled, differences, explained } = summary;
  return [
    `${day}: ${users} ${users === 1 ? 'user' : 'users'}, ${unread} not read; ` +
      `${settled} ${dryRun ? 'to settle' : 'settled'}, ` +
      `${differences} ${differences === 1 ? 'difference' : 'differences'}, ` +
      `${explained} explained.`,
  ];
}
