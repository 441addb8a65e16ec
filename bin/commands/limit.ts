/** `ponte limit`: the limits of what a user may send by day and by night. */
import { InvalidArgumentError } from 'commander';
import { centsFromDecimal, maxAmountCents } from '../../src/domain/money.ts';
import type { NightHour } from '../../src/domain/spending-limits.ts';
import type { LimitsView, LimitView, PayeeLimitsView } from '../../src/operator/spending-limits.ts';
import type { Context, Declare } from '../context.ts';
import { UsageError } from '../exit-codes.ts';
import {
  choice,
  examples,
  parseTime,
  parseUser,
  resolveTime,
  withChangeOptions,
  withJson,
  type ChangeOptions,
  type JsonOption,
  type TypedTime,
} from '../options.ts';
import { shortTime } from '../output.ts';

export const declare: Declare = (noun, run) => {
  noun.addHelpText('after', examples('ponte limit show 42', setExample));

  withJson(noun.command('show'))
    .description('show the limits of a user, and the raises that wait')
    .argument('<user>', 'id or e-mail', parseUser)
    .addHelpText('after', examples('ponte limit show maria@example.com'))
    .action(run(show));

  withChangeOptions(noun.command('set'))
    .description('set limits of a user: less applies at once, more after 24 hours')
    .argument('<user>', 'id or e-mail', parseUser)
    .option('--day <amount>', 'reais from 6 to the night, or `default`', parseAmount)
    .option('--night <amount>', 'reais from the night to 6, or `default`', parseAmount)
    .addOption(choice('--night-from <hour>', 'when the night begins', ['20', '22']))
    .option('--reset-own', 'remove what the customer has set; a raise, after 24 hours')
    .requiredOption('--reason <text>', 'why; required; it is logged: no personal data')
    .addHelpText('after', examples(setExample))
    .action(run(set));

  withChangeOptions(noun.command('restore'))
    .description('restore at once what the customer had set before; `limit show` lists it')
    .argument('<user>', 'id or e-mail', parseUser)
    .option('--at <time>', "when it stood; default: before the customer's last change", parseTime)
    .requiredOption('--reason <text>', 'why; required; it is logged: no personal data')
    .addHelpText('after', examples("ponte limit restore 42 --reason 'ticket 7: a stolen phone'"))
    .action(run(restore));
};

const setExample = "ponte limit set 42 --day 3000.00 --night default --reason 'ticket 7'";

/** An amount in centavos, or the default of the settings. */
type TypedAmount = number | 'default';

function parseAmount(text: string): TypedAmount {
  if (text === 'default') return text;
  const cents = centsFromDecimal(text);
  if (cents !== null && cents >= 0 && cents <= maxAmountCents) return cents;
  throw new InvalidArgumentError('It must be an amount such as 3000.00, or `default`.');
}

async function show({ call, terminal }: Context, user: string, options: JsonOption) {
  const limits = await call('limit show', { user });
  terminal.result(limits, options, describe(limits));
}

interface SetOptions extends ChangeOptions {
  readonly day?: TypedAmount;
  readonly night?: TypedAmount;
  readonly nightFrom?: '20' | '22';
  readonly resetOwn?: boolean;
  readonly reason: string;
}

async function set({ call, confirm, terminal }: Context, reference: string, options: SetOptions) {
  const { day, night, nightFrom, resetOwn, reason } = options;
  if ([day, night, nightFrom, resetOwn].every((one) => one === undefined)) {
    throw new UsageError('name what to set: --day, --night, --night-from or --reset-own');
  }
  const { id, email } = await call('user identify', { user: reference });
  await confirm(`Change the limits of user ${id} (${email})?`, options);
  const limits = await call('limit set', {
    user: String(id),
    reason,
    ...(day !== undefined && { day: day === 'default' ? null : day }),
    ...(night !== undefined && { night: night === 'default' ? null : night }),
    ...(nightFrom !== undefined && { nightHour: Number(nightFrom) as NightHour }),
    ...(resetOwn && { resetsOwn: true }),
  });
  terminal.result(limits, options, describe(limits));
}

interface RestoreOptions extends ChangeOptions {
  readonly at?: TypedTime;
  readonly reason: string;
}

async function restore(
  { call, clock, confirm, terminal }: Context,
  reference: string,
  options: RestoreOptions,
) {
  const { at, reason } = options;
  const { id, email } = await call('user identify', { user: reference });
  await confirm(`Restore the own limits of user ${id} (${email})?`, options);
  const input = { user: String(id), reason, ...(at && { at: resolveTime(at, clock) }) };
  const limits = await call('limit restore', input);
  terminal.result(limits, options, describe(limits));
}

function describe(limits: LimitsView): string {
  const { id, email, areOn, day, night, companies, ownDocument, nightHour, nextNightHour } = limits;
  const { earlier = [] } = limits;
  const change = nextNightHour && `${nextNightHour.hour}:00 from ${shortTime(nextNightHour.at)}`;
  return [
    `Limits of user ${id} (${email})${areOn ? '' : '; PIX_LIMIT_DAY and PIX_LIMIT_NIGHT are unset'}`,
    `  day    ${describeLimit(day)}`,
    `  night  ${describeLimit(night)}`,
    ...describePayee('to companies', companies),
    ...describePayee('to the own document', ownDocument),
    `  night begins at ${nightHour}:00${change ? `, at ${change}` : ''}`,
    ...earlier.map(
      ({ until, by, own }) => `  own until ${shortTime(until)}, replaced by the ${by}: ${own}`,
    ),
  ].join('\n');
}

function describePayee(payee: string, { day, night }: PayeeLimitsView): string[] {
  return [
    ...(day ? [`  day ${payee}  ${describeLimit(day)}`] : []),
    ...(night ? [`  night ${payee}  ${describeLimit(night)}`] : []),
  ];
}

function describeLimit({ amount, isDefault, next, own, nextOwn, applies }: LimitView): string {
  const shown = (one: Pick<LimitView, 'amount' | 'isDefault'>): string =>
    `${describeAmount(one.amount, 'no limit')}${one.isDefault ? ' (default)' : ''}`;
  const bank =
    shown({ amount, isDefault }) + (next ? `, ${shown(next)} from ${shortTime(next.at)}` : '');
  if (own === null && nextOwn === null) return bank;
  const later = nextOwn
    ? `, ${describeAmount(nextOwn.amount, 'none')} from ${shortTime(nextOwn.at)}`
    : '';
  const customer = describeAmount(own, 'none') + later;
  return `${bank}; customer's own ${customer}; applies ${describeAmount(applies, 'no limit')}`;
}

function describeAmount(amount: string | null, none: string): string {
  return amount === null ? none : `R$ ${amount}`;
}
