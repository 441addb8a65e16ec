/** `ponte events`: the events for the app's own backend (`APP_EVENTS_URL`). */
import type { EventsListInput, EventView } from '../../src/operator/app-events.ts';
import type { Context, Declare } from '../context.ts';
import { exitCodes, UsageError } from '../exit-codes.ts';
import {
  choice,
  examples,
  parseAnyIds,
  withChangeOptions,
  withListOptions,
  withReason,
  type ChangeOptions,
  type ListOptions,
} from '../options.ts';
import { shortTime } from '../output.ts';
import type { Column } from '../table.ts';

const states: readonly EventView['state'][] = ['pending', 'delivered', 'dead'];

export const declare: Declare = (noun, run) => {
  noun.addHelpText('after', examples('ponte events list --state dead', resendExample));

  withListOptions(noun.command('list'))
    .description("list the events to the app's backend, newest first")
    .addOption(choice('--state <state>', 'only events in this state', states))
    .addHelpText('after', examples('ponte events list --state dead'))
    .action(run(list));

  withReason(withChangeOptions(noun.command('resend')))
    .description('deliver events again, also those that were delivered')
    .argument('[ids...]', 'ids of events', parseAnyIds)
    .option('--all-dead', 'all whose deliveries have failed for a day')
    .addHelpText('after', examples(resendExample))
    .action(run(resend));
};

const resendExample = 'ponte events resend --all-dead';

const columns: readonly Column<EventView>[] = [
  { head: 'ID', cell: ({ id }) => id, isWhole: true },
  { head: 'TYPE', cell: ({ type }) => type },
  { head: 'USER', cell: ({ userId }) => userId, align: 'right' },
  { head: 'STATE', cell: ({ state }) => [state, state === 'dead' ? 'red' : null], isWhole: true },
  { head: 'TRIED', cell: ({ attempts }) => attempts, align: 'right' },
  { head: 'LAST ERROR', cell: ({ lastError }) => lastError },
  { head: 'AT', cell: ({ at }) => shortTime(at) },
  { head: 'DELIVERED', cell: ({ deliveredAt }) => shortTime(deliveredAt) },
];

async function list({ call, terminal }: Context, options: EventsListInput & ListOptions) {
  const { json: _json, ...filter } = options;
  const { events } = await call('events list', filter);
  terminal.list(
    { name: 'events', columns, rows: events, none: 'There are no such events.' },
    options,
  );
}

interface ResendOptions extends ChangeOptions {
  readonly allDead?: boolean;
}

/** Exit 1 when one of the given events is not there. */
async function resend(
  { call, confirm, terminal }: Context,
  ids: readonly string[],
  { allDead = false, ...options }: ResendOptions,
) {
  if (ids.length > 0 === allDead) throw new UsageError('name events, or use --all-dead');
  const what = allDead ? 'all dead events' : ids.join(', ');
  await confirm(`Deliver ${what} again?`, options);
  const result = await call('events resend', { ids, allDead });
  const count = result.resent.length;
  const queued = count === 1 ? '1 event is queued' : `${count} events are queued`;
  terminal.result(result, options, `${queued} to be delivered again.`);
  terminal.note(...result.notFound.map((id) => `There is no event ${id}.`));
  return result.notFound.length === 0 ? exitCodes.ok : exitCodes.failed;
}
