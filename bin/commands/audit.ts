/** `ponte audit`: operator actions and security events. */
import { InvalidArgumentError } from 'commander';
import { isUuid } from '../../src/domain/text.ts';
import type {
  ActionView,
  AuditEventsInput,
  AuditListInput,
  SecurityEventView,
} from '../../src/operator/audit.ts';
import type { Context, Declare } from '../context.ts';
import { examples, parseUser, withListOptions, type ListOptions } from '../options.ts';
import { shortTime } from '../output.ts';
import type { Column } from '../table.ts';

export const declare: Declare = (noun, run) => {
  noun.addHelpText('after', examples('ponte audit list', 'ponte audit list --target user:42'));

  withListOptions(noun.command('list'))
    .description('list the actions of operators, newest first: who, when, what and why')
    .option('--operator <name>', 'only operators whose name contains this text')
    .option(
      '--target <target>',
      'only about this target, such as pix:<id> or user:42; of a user, all that is theirs, too',
      parseTarget,
    )
    .addHelpText('after', examples('ponte audit list --operator maria --limit 20'))
    .action(run(listActions));

  withListOptions(noun.command('events'))
    .description('list logins, refused logins, resets and revocations, newest first')
    .option('--user <user>', 'only of this user: id or e-mail', parseUser)
    .addHelpText('after', examples('ponte audit events --user maria@example.com'))
    .action(run(listEvents));
};

const isRowId = (id: string): boolean => /^\d{1,18}$/.test(id);

/** The kinds of targets, each with its ids; besides, `pix` is all payments, `users` all users. */
const targetKinds: ReadonlyMap<string, (id: string) => boolean> = new Map([
  ['account', isRowId],
  ['app-event', (id) => /^[^\s@]+$/.test(id)],
  ['difference', isRowId],
  ['event', isUuid],
  ['job', isRowId],
  ['pix', isUuid],
  ['session', isUuid],
  ['user', (id) => /^(?:[1-9]\d{0,8}|[^\s@]+@[^\s@]+)$/.test(id)],
]);

/** A target is written in lower case; another text would find no action. */
function parseTarget(text: string): string {
  const target = text.trim().toLowerCase();
  const [, kind = '', id = ''] = /^([a-z-]+):(.*)$/.exec(target) ?? [];
  if (target === 'pix' || target === 'users' || targetKinds.get(kind)?.(id)) return target;
  const kinds = [...targetKinds.keys()].join(', ');
  throw new InvalidArgumentError(
    `It must be a kind with an id, such as user:42 or pix:<id>; kinds are ${kinds}.`,
  );
}

const actionColumns: readonly Column<ActionView>[] = [
  { head: 'TIME', cell: ({ at }) => shortTime(at) },
  { head: 'OPERATOR', cell: ({ operator }) => operator },
  { head: 'COMMAND', cell: ({ command }) => command },
  { head: 'TARGET', cell: ({ target }) => target, isWhole: true },
  { head: 'OUTCOME', cell: ({ outcome }) => outcome },
  { head: 'REASON', cell: ({ reason }) => reason },
];

async function listActions({ call, terminal }: Context, options: AuditListInput & ListOptions) {
  const { json: _json, ...filter } = options;
  const { actions } = await call('audit list', filter);
  const none = 'There are no such actions.';
  terminal.list({ name: 'actions', columns: actionColumns, rows: actions, none }, options);
}

const eventColumns: readonly Column<SecurityEventView>[] = [
  { head: 'TIME', cell: ({ at }) => shortTime(at) },
  { head: 'EVENT', cell: ({ kind }) => kind },
  { head: 'TIMES', cell: ({ times }) => times, align: 'right' },
  { head: 'USER', cell: ({ userId }) => userId, align: 'right' },
  { head: 'E-MAIL (DIGEST)', cell: ({ identity }) => identity },
  { head: 'ADDRESS (DIGEST)', cell: ({ address }) => address },
];

async function listEvents({ call, terminal }: Context, options: AuditEventsInput & ListOptions) {
  const { json: _json, ...filter } = options;
  const { events } = await call('audit events', filter);
  const none = 'There are no such events.';
  terminal.list({ name: 'events', columns: eventColumns, rows: events, none }, options);
}
