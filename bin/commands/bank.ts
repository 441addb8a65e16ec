/** `ponte bank`: the other side of the simulated bank of a service with APP_ENV=local. */
import type { Command } from 'commander';
import { OpError } from '../../src/operator/op.ts';
import type { Context, Declare } from '../context.ts';
import { examples, withJson, type JsonOption } from '../options.ts';
import { post, readRefusal } from '../post.ts';
import { plainText } from '../table.ts';

interface Act {
  readonly name: 'pay-charge' | 'receive' | 'return' | 'expire-token' | 'fail-next' | 'advance';
  readonly description: string;
  /** The arguments: each is a value of the request. */
  readonly values: Readonly<Record<string, string>>;
  /** The options that are values of the request too. */
  readonly optional?: Readonly<Record<string, string>>;
  readonly example: string;
}

const email = 'login e-mail of the customer';

const acts: readonly Act[] = [
  {
    name: 'pay-charge',
    description: 'pay a charge, as a customer of another bank does',
    values: { code: 'Pix code of the charge (copia e cola)' },
    example: "'00020101021226760014br.gov.bcb.pix…'",
  },
  {
    name: 'receive',
    description: 'credit a customer with a Pix that pays no charge',
    values: { email, amount: 'in reais, such as 42.50' },
    example: 'dev@ponte.test 42.50',
  },
  {
    name: 'return',
    description: 'return a payment or a received Pix, whole or in part',
    values: { transaction: 'id of the transaction' },
    optional: { amount: 'in reais, such as 42.50 (default: what is left)' },
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
    values: { by: 'minutes, hours or days, such as 30m, 24h or 7d' },
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
    for (const [value, help] of Object.entries(values)) command.argument(`<${value}>`, help);
    for (const [value, help] of Object.entries(optional))
      command.option(`--${value} <${value}>`, help);
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
  const message = plainText(readRefusal(body));
  if (status !== 200) throw new OpError('REFUSED', message);
  context.terminal.result({ status, message }, options, message);
}

const noBank = 'only a service with APP_ENV=local and the simulated bank does it';
