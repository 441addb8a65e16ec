/** `ponte bank`: the other side of the simulated bank of a service with APP_ENV=local. */
import { InvalidArgumentError, type Command } from 'commander';
import { dayMs } from '../../src/clock.ts';
import { decimalFromCents } from '../../src/domain/money.ts';
import { isUuid } from '../../src/domain/text.ts';
import { OpError } from '../../src/operator/op.ts';
import { parseAmount } from '../amount.ts';
import type { Context, Declare } from '../context.ts';
import { durationMs, examples, withJson, type JsonOption } from '../options.ts';
import { post, readRefusal } from '../post.ts';
import { plainText } from '../table.ts';

/** A value of a request: its help, and its parser if it has a form. */
type Value = readonly [help: string, parse?: (text: string) => string];

interface Act {
  readonly name: 'pay-charge' | 'receive' | 'return' | 'expire-token' | 'fail-next' | 'advance';
  readonly description: string;
  /** The arguments: each is a value of the request. */
  readonly values: Readonly<Record<string, Value>>;
  /** The options that are values of the request too. */
  readonly optional?: Readonly<Record<string, Value>>;
  readonly example: string;
}

const email: Value = ['login e-mail of the customer'];

const amount = (help: string): Value => [
  help,
  (text) => decimalFromCents(parseAmount(text.trim())),
];

/** Parses how far the clock moves, at most a year and a day. */
function parseAdvance(typed: string): string {
  const text = typed.trim();
  const ms = text.endsWith('s') ? 0 : durationMs(text);
  if (ms > 0 && ms <= 366 * dayMs) return text;
  throw new InvalidArgumentError(
    'It must be a number of minutes, hours or days, such as 30m, 24h or 7d, up to 366d.',
  );
}

function parseTransaction(typed: string): string {
  const text = typed.trim();
  if (isUuid(text)) return text;
  throw new InvalidArgumentError('It must be the id of a transaction, a UUID.');
}

const acts: readonly Act[] = [
  {
    name: 'pay-charge',
    description: 'pay a charge, as a customer of another bank does',
    values: { code: ['Pix code of the charge (copia e cola)'] },
    example: "'00020101021226760014br.gov.bcb.pix…'",
  },
  {
    name: 'receive',
    description: 'credit a customer with a Pix that pays no charge',
    values: { email, amount: amount('in reais, such as 42.50') },
    example: 'dev@ponte.test 42.50',
  },
  {
    name: 'return',
    description: 'return a payment or a received Pix, whole or in part',
    values: { transaction: ['id of the transaction', parseTransaction] },
    optional: { amount: amount('in reais, such as 42.50 (default: what is left)') },
    example: '01934a5e-7b60-7cc1-a8f0-2d4f2f6f0b11 --amount 4.50',
  },
  {
    name: 'expire-token',
    description: "refuse the bank's tokens of a customer",
    values: { email },
    example: 'dev@ponte.test',
  },
  {
    name: 'fail-next',
    description: 'let the next call for a customer fail',
    values: { email },
    example: 'dev@ponte.test',
  },
  {
    name: 'advance',
    description: 'move the clock of the service and its bank forward; it never goes back',
    values: { by: ['minutes, hours or days, such as 30m, 24h or 7d', parseAdvance] },
    example: '24h',
  },
];

export const declare: Declare = (noun, run) => {
  noun.addHelpText('after', examples('ponte bank receive dev@ponte.test 42.50'));
  for (const act of acts) {
    const { name, description, values, optional = {}, example } = act;
    const command: Command = withJson(noun.command(name))
      .description(description)
      .option(
        '--url <address>',
        'address of the service (default: the running one, or HOST and PORT)',
      )
      .addHelpText('after', examples(`ponte bank ${name} ${example}`));
    for (const [value, [help, parse = String]] of Object.entries(values))
      command.argument(`<${value}>`, help, (text) => parse(text));
    for (const [value, [help, parse = String]] of Object.entries(optional))
      command.option(`--${value} <${value}>`, help, (text) => parse(text));
    command.action(run((context: Context, ...typed: never[]) => perform(context, act, typed)));
  }
};

interface BankOptions extends JsonOption {
  readonly url?: string;
  /** Of `return`. */
  readonly amount?: string;
}

/** Exit 1 when the bank refuses, or the service has none; 3 when it cannot be reached. */
async function perform(context: Context, { name, values }: Act, typed: readonly unknown[]) {
  const options = typed.at(-1) as BankOptions;
  const query = new URLSearchParams();
  for (const [index, value] of Object.keys(values).entries())
    query.set(value, String(typed[index]));
  if (options.amount !== undefined) query.set('amount', options.amount);
  const { url: service } = context.serviceUrl(options.url, '/');
  const url = new URL(`/dev/bank/${name}?${query.toString()}`, service);
  const { status, body } = await post(context, { url, headers: { 'x-ponte-bank': 'command' } });
  if (status === 404) throw new OpError('REFUSED', noBank);
  const message = plainText(readRefusal(body, sayFault));
  if (status !== 200) throw new OpError('REFUSED', message);
  context.terminal.result({ status, message }, options, message);
}

/** Makes a sentence of what the service says of a value, such as `Is not the code of a charge.` */
function sayFault(name: string, text: string): string {
  const words = text.replace(/^./, (first) => first.toLowerCase()).replace(/\.$/, '');
  if (words.startsWith('the ')) return words;
  return `the ${name === 'email' ? 'e-mail' : name} ${words}`;
}

const noBank = 'only a service with APP_ENV=local and PROVIDER_STUB=true does it';
