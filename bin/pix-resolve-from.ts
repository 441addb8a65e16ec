/** `ponte pix resolve --from`: a list of the bank, checked as a whole before anything changes. */
import { readFile } from 'node:fs/promises';
import type { ListedResult } from '../src/operator/pix-resolve-list.ts';
import type { Context } from './context.ts';
import { exitCodes, UsageError, type ExitCode } from './exit-codes.ts';
import type { ChangeOptions } from './options.ts';
import { readEnds, type EndsFile } from './pix-resolve-file.ts';

export interface ResolveFromOptions extends ChangeOptions {
  readonly from: string;
  readonly reason: string;
  readonly confirm?: string;
}

/**
 * Resolves the payments of a list: a dry run, the confirmation, then the changes with progress. A
 * run that was interrupted is repeated: what it has resolved is skipped.
 * @returns exit code 1 when a line was refused.
 * @throws UsageError with every faulty line of the file.
 */
export async function resolveFrom(
  context: Context,
  options: ResolveFromOptions,
): Promise<ExitCode> {
  const { terminal, confirm } = context;
  const { maxListed } = await import('../src/operator/pix-resolve-list.ts');
  const { riskOfFailing } = await import('../src/operator/pix-resolve.ts');
  const { entries, unanswered } = await readList(options.from);
  if (unanswered === 1) terminal.note('1 line has no end yet: it stays open.');
  if (unanswered > 1) terminal.note(`${unanswered} lines have no end yet: they stay open.`);
  const failed = entries.filter(({ as }) => as === 'failed').length;
  if (failed > 0 && options.yes && options.confirm === undefined) {
    throw new UsageError(
      `failed lines with --yes need --confirm '${riskOfFailing}': people could pay twice`,
    );
  }
  const decision = { reason: options.reason, confirm: options.confirm ?? riskOfFailing };
  const send = async (onlyCheck: boolean): Promise<ListedResult[]> => {
    const results: ListedResult[] = [];
    for (let at = 0; at < entries.length; at += maxListed) {
      const part = entries.slice(at, at + maxListed);
      const input = { ...decision, entries: part, onlyCheck };
      results.push(...(await context.call('pix resolve-list', input)).results);
      if (!onlyCheck) terminal.note(`${results.length} of ${entries.length} lines`);
    }
    return results;
  };
  const checked = await send(true);
  const open = checked.filter(({ result }) => result === 'resolvable').length;
  if (open === 0) return report(context, options, checked);
  terminal.note(...summarise(checked));
  const risk = failed > 0 ? `, ${failed} of the lines as FAILED although ${riskOfFailing}` : '';
  terminal.note('The reason stays in the timeline: it must not contain personal data.');
  await confirm(`Record the ends of ${open} payments permanently${risk}?`, options);
  return report(context, options, await send(false));
}

async function readList(path: string): Promise<EndsFile> {
  let text: string;
  try {
    text = await readFile(path, 'utf8');
  } catch {
    throw new UsageError(`${path} cannot be read`);
  }
  const read = readEnds(text);
  const { entries, unanswered, faults } = read;
  if (faults.length > 0) throw new UsageError(`${path} is not valid:`, ...faults);
  if (entries.length === 0) {
    const what = 'has no line with an end: completed or failed';
    throw new UsageError(`${path} ${unanswered > 0 ? what : 'has no lines'}`);
  }
  return read;
}

function summarise(results: readonly ListedResult[]): string[] {
  const counts = Map.groupBy(results, ({ result }) => result);
  const parts = [...counts].map(([result, { length }]) => `${length} ${result}`);
  const refused = results.filter(({ result }) => result === 'refused');
  return [
    `${parts.join(', ')}.`,
    ...refused.map(
      ({ line, id, reason }) => `line ${line}: ${[id, reason].filter(Boolean).join(' ')}`,
    ),
  ];
}

function report(
  { terminal }: Context,
  options: ResolveFromOptions,
  results: readonly ListedResult[],
): ExitCode {
  terminal.result({ results }, options, ...summarise(results));
  return results.some(({ result }) => result === 'refused') ? exitCodes.failed : exitCodes.ok;
}
