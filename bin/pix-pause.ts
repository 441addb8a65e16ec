/** `ponte pix pause` and `resume`: the switch of all sends. */
import type { Context, Declare } from './context.ts';
import {
  examples,
  parseTime,
  resolveTime,
  withChangeOptions,
  type ChangeOptions,
  type TypedTime,
} from './options.ts';
import { shortTime } from './output.ts';

const reasonHelp = 'why; required; it is recorded: no personal data';

/** Adds the commands to `ponte pix`. */
export const declarePause: Declare = (noun, run) => {
  withChangeOptions(noun.command('pause'))
    .description('pause all sends and look-ups of keys, in every instance')
    .requiredOption('--reason <text>', reasonHelp)
    .option('--since <time>', 'commits since this time in UTC, or an age, may be lost', parseTime)
    .addHelpText(
      'after',
      examples("ponte pix pause --since '2026-11-25 14:00' --reason 'restore of 14:00'"),
    )
    .action(run(pause));

  withChangeOptions(noun.command('resume'))
    .description('end the pause; after a loss, each user sends once their statement was read')
    .requiredOption('--reason <text>', reasonHelp)
    .addHelpText('after', examples("ponte pix resume --reason 'restored and audited'"))
    .action(run(resume));
};

interface PauseOptions extends ChangeOptions {
  readonly reason: string;
  readonly since?: TypedTime;
}

async function pause({ call, clock, confirm, terminal }: Context, options: PauseOptions) {
  const { reason, since } = options;
  const from = since && resolveTime(since, clock);
  await confirm('Pause all sends, for every user?', options);
  const paused = await call('pix pause', { reason, ...(from !== undefined && { since: from }) });
  const { lostSince, isComplete } = paused;
  const late = isComplete ? '' : ' One that was being claimed may still be paid, for some seconds.';
  const loss = lostSince === null ? '' : ` Commits may be lost since ${shortTime(lostSince)}.`;
  terminal.result(paused, options, `All sends are paused.${late}${loss}`);
}

async function resume({ call, confirm, terminal }: Context, options: PauseOptions) {
  await confirm('Let users send again?', options);
  const resumed = await call('pix resume', { reason: options.reason });
  const { lostSince } = resumed;
  const sentence =
    lostSince === null
      ? 'Users send again.'
      : `Each user sends again once their statement since ${shortTime(lostSince)} was read.`;
  terminal.result(resumed, options, sentence);
}
