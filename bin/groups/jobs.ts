import { Option } from 'commander';
import { examples, jsonOption, limitOption, byOption, yesOption } from '../declare.ts';
import type { Describe } from '../frame.ts';

/** `jobs …`: the queue. */
export const describeJobs: Describe = ({ program, action }) => {
  const jobs = program
    .command('jobs')
    .description('the queue of work without a caller')
    .addHelpText('after', examples('ponte jobs stats', 'ponte jobs retry --all-dead'));

  jobs
    .command('list')
    .description('list jobs, newest first; never what an onboarding job is about')
    .addOption(
      new Option('--state <state>', 'only of this state').choices([
        ...['queued', 'running', 'done', 'dead'],
      ]),
    )
    .option('--kind <kind>', 'only of this kind, such as settle-webhook')
    .addOption(limitOption())
    .addOption(jsonOption())
    .addHelpText('after', examples('ponte jobs list --state dead'))
    .action(action(async () => (await import('../commands/jobs-list.ts')).jobsList));

  jobs
    .command('stats')
    .description('count jobs by kind and state, with the age of the oldest and lapsed leases')
    .addOption(jsonOption())
    .addHelpText('after', examples('ponte jobs stats'))
    .action(action(async () => (await import('../commands/jobs-stats.ts')).jobsStats));

  jobs
    .command('retry')
    .description('queue dead jobs again, due now')
    .argument('[ids...]', 'jobs, by their ids')
    .option('--all-dead', 'every dead job')
    .option('--kind <kind>', 'with --all-dead: only of this kind')
    .addOption(byOption())
    .addOption(yesOption())
    .addOption(jsonOption())
    .addHelpText(
      'after',
      examples('ponte jobs retry 4711', 'ponte jobs retry --all-dead --kind settle-webhook'),
    )
    .action(action(async () => (await import('../commands/jobs-retry.ts')).jobsRetry));
};
