/** `ponte jobs`: the queue of background jobs. */
import { jobKinds } from '../../src/jobs/kinds.ts';
import type { JobCount, JobsListInput, JobsRetried, JobView } from '../../src/operator/jobs.ts';
import type { Context, Declare } from '../context.ts';
import { exitCodes, UsageError } from '../exit-codes.ts';
import {
  choice,
  examples,
  parseAnyIds,
  withChangeOptions,
  withJson,
  withListOptions,
  withReason,
  type ChangeOptions,
  type JsonOption,
  type ListOptions,
} from '../options.ts';
import { shortTime } from '../output.ts';
import type { Column } from '../table.ts';

export const declare: Declare = (noun, run) => {
  noun.addHelpText('after', examples('ponte jobs stats', 'ponte jobs retry --all-dead'));

  withListOptions(noun.command('list'))
    .description('list jobs, newest first; the payloads of onboarding jobs are hidden')
    .addOption(choice('--state <state>', 'only this state', ['queued', 'running', 'done', 'dead']))
    .addOption(choice('--kind <kind>', 'only this kind', jobKinds))
    .option('--failing', 'only open jobs whose last run failed')
    .addHelpText('after', examples('ponte jobs list --state dead', 'ponte jobs list --failing'))
    .action(run(list));

  withJson(noun.command('stats'))
    .description('count jobs by kind and state, with the age of the oldest and lapsed leases')
    .addHelpText('after', examples('ponte jobs stats'))
    .action(run(showStats));

  withReason(withChangeOptions(noun.command('retry')))
    .description('queue dead jobs again, due now')
    .argument('[ids...]', 'ids of jobs', parseAnyIds)
    .option('--all-dead', 'every dead job')
    .addOption(choice('--kind <kind>', 'with --all-dead: only this kind', jobKinds))
    .addHelpText(
      'after',
      examples('ponte jobs retry 4711', 'ponte jobs retry --all-dead --kind deliver-app-event'),
    )
    .action(run(retry));
};

const stateColours = { queued: null, running: 'yellow', done: 'green', dead: 'red' } as const;

const jobColumns: readonly Column<JobView>[] = [
  { head: 'ID', cell: ({ id }) => id, isWhole: true, align: 'right' },
  { head: 'KIND', cell: ({ kind }) => kind },
  {
    head: 'STATE',
    cell: ({ state, lapsed }) =>
      lapsed ? [`${state} (lapsed)`, 'red'] : [state, stateColours[state]],
  },
  { head: 'ATTEMPTS', cell: ({ attempts }) => attempts, align: 'right' },
  { head: 'DUE', cell: ({ dueAt }) => shortTime(dueAt) },
  { head: 'ENDED', cell: ({ finishedAt }) => shortTime(finishedAt) },
  { head: 'LAST ERROR', cell: ({ lastError }) => lastError },
  { head: 'EVENT', cell: ({ eventId }) => eventId, isWhole: true },
];

async function list({ call, terminal }: Context, options: JobsListInput & ListOptions) {
  const { json: _json, ...filter } = options;
  const { jobs } = await call('jobs list', filter);
  const none = 'There are no such jobs.';
  terminal.list({ name: 'jobs', columns: jobColumns, rows: jobs, none }, options);
}

const countColumns: readonly Column<JobCount>[] = [
  { head: 'KIND', cell: ({ kind }) => kind },
  {
    head: 'STATE',
    cell: ({ state }) => [state, state === 'dead' ? 'red' : null],
  },
  { head: 'JOBS', cell: ({ jobs }) => jobs, align: 'right' },
  {
    head: 'OLDEST',
    cell: ({ oldestAt, nextDueAt }) => (nextDueAt === null ? shortTime(oldestAt) : null),
  },
  {
    head: 'SECONDS AGO',
    cell: ({ oldestAgeSeconds, nextDueAt }) => (nextDueAt === null ? oldestAgeSeconds : null),
    align: 'right',
  },
  { head: 'NEXT DUE', cell: ({ nextDueAt }) => shortTime(nextDueAt) },
  {
    head: 'LAPSED',
    cell: ({ lapsed }) => [lapsed, lapsed > 0 ? 'red' : null],
    align: 'right',
  },
];

async function showStats({ call, terminal }: Context, { json }: JsonOption) {
  const { counts } = await call('jobs stats', {});
  if (json) terminal.json({ counts });
  else terminal.table({ columns: countColumns, rows: counts, none: 'The queue is empty.' });
}

interface RetryOptions extends ChangeOptions {
  readonly allDead?: boolean;
  readonly kind?: string;
}

/** Exit 1 when one of the given jobs is not dead. */
async function retry(
  { call, confirm, terminal }: Context,
  ids: readonly string[],
  options: RetryOptions,
) {
  const { allDead = false, kind } = options;
  if (allDead === ids.length > 0) throw new UsageError('give either job ids or --all-dead');
  if (kind !== undefined && !allDead) throw new UsageError('--kind needs --all-dead');
  const all = kind === undefined ? 'all dead jobs' : `all dead jobs of kind ${kind}`;
  await confirm(`Queue ${allDead ? all : ids.join(', ')} again?`, options);
  const retried = await call('jobs retry', {
    ...(allDead ? { allDead } : { ids }),
    ...(kind !== undefined && { kind }),
  });
  terminal.result(retried, options, ...retrySentences(retried));
  const isComplete = retried.notDead.length + retried.notFound.length === 0;
  return isComplete ? exitCodes.ok : exitCodes.failed;
}

function retrySentences({ retried, superseded, notDead, notFound }: JobsRetried): string[] {
  return [
    `${retried} ${retried === 1 ? 'job is' : 'jobs are'} queued again.`,
    ...(superseded > 0 ? [`${superseded} removed: another job does the same work already.`] : []),
    ...notDead.map(({ id, state }) => `${id} is ${state}, not dead: it is unchanged.`),
    ...notFound.map((id) => `There is no job ${id}.`),
  ];
}
