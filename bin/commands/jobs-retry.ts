/** `ponte jobs retry`: dead jobs are queued again. */
import type { JobsRetried } from '../../src/operator/jobs-retry.ts';
import type { Desk } from '../desk.ts';
import { exitCodes, UsageError, type ExitCode } from '../exit-codes.ts';

export interface Options {
  readonly allDead?: boolean;
  readonly kind?: string;
  readonly yes?: boolean;
  readonly json?: boolean;
}

/** Retries the jobs that are named, or all that are dead; exit 1 when one of those named is not. */
export async function jobsRetry(
  desk: Desk,
  ids: readonly string[],
  { allDead = false, kind, yes, json = false }: Options,
): Promise<ExitCode> {
  if (allDead === ids.length > 0) throw new UsageError('name jobs, or give --all-dead');
  if (kind !== undefined && !allDead) throw new UsageError('--kind goes with --all-dead');
  const what = allDead
    ? `all dead jobs${kind === undefined ? '' : ` of kind ${kind}`}`
    : ids.join(', ');
  if (!(await desk.confirm(`Queue ${what} again?`, { yes }))) return exitCodes.bad;
  const retried = await desk.run('jobs retry', {
    ...(allDead ? { allDead } : { ids }),
    ...(kind !== undefined && { kind }),
  });
  if (json) desk.terminal.json(retried);
  else desk.terminal.print(...sentences(retried));
  const isShort = retried.notDead.length + retried.notFound.length > 0;
  return isShort ? exitCodes.bad : exitCodes.done;
}

function sentences({ retried, superseded, notDead, notFound }: JobsRetried): string[] {
  return [
    `${retried} ${retried === 1 ? 'job is' : 'jobs are'} queued again.`,
    ...(superseded > 0
      ? [`${superseded} stay dead: another job with the same work is open already.`]
      : []),
    ...notDead.map(({ id, state }) => `${id} is ${state}, not dead: it is left as it is.`),
    ...notFound.map((id) => `There is no job ${id}.`),
  ];
}
