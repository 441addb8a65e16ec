/** `ponte bank`: the other side of the simulated bank of a service with APP_ENV=local. */
import type { Command } from 'commander';
import { OpError } from '../../src/operator/op.ts';
import type { Context, Declare } from '../context.ts';
import { examples, withJson, type JsonOption } from '../options.ts';

interface Act {
  readonly name: 'pay-charge' | 'receive' | 'expire-token' | 'fail-next';
  readonly description: string;
  /** The arguments: each is a value of the request. */
  readonly values: Readonly<Record<string, string>>;
  readonly example: string;
}

const email = 'login e-mail of the customer';

const acts: readonly Act[] = [
  {
    ...{ name: 'pay-charge', description: 'pay a charge, as a customer of another bank does' },
    values: { code: 'Pix code of the charge (copia e cola)' },
    example: "'00020101021226760014br.gov.bcb.pix…'",
  },
  {
    ...{ name: 'receive', description: 'credit a customer with a Pix that pays no charge' },
    ...{ values: { email, amount: 'in reais, such as 42.50' }, example: 'dev@ponte.test 42.50' },
  },
  {
    ...{ name: 'expire-token', description: "refuse the bank's tokens of a customer" },
    ...{ values: { email }, example: 'dev@ponte.test' },
  },
  {
    ...{ name: 'fail-next', description: 'let the next call for a customer fail' },
    ...{ values: { email }, example: 'dev@ponte.test' },
  },
];

export const declare: Declare = (noun, run) => {
  noun.addHelpText('after', examples('ponte bank receive dev@ponte.test 42.50'));
  for (const act of acts) {
    const { name, description, values, example } = act;
    const command: Command = withJson(noun.command(name))
      .description(description)
      .option('--url <address>', 'address of the service (default: from HOST and PORT)')
      .addHelpText('after', examples(`ponte bank ${name} ${example}`));
    for (const [value, help] of Object.entries(values)) command.argument(`<${value}>`, help);
    command.action(run((context: Context, ...typed: never[]) => perform(context, act, typed)));
  }
};

interface BankOptions extends JsonOption {
  readonly url?: string;
}

/** Longer than the simulated bank takes to post its webhook. */
const timeoutMs = 10_000;

/** Exit 1 when the bank refuses, or the service has none; 3 when it cannot be reached. */
async function perform(context: Context, { name, values }: Act, typed: readonly unknown[]) {
  const options = typed.at(-1) as BankOptions;
  const query = new URLSearchParams();
  for (const [index, value] of Object.keys(values).entries())
    query.set(value, String(typed[index]));
  const { url } = context.serviceUrl(options.url, '/');
  const target = new URL(`/dev/bank/${name}`, url);
  target.search = query.toString();
  const { status, message } = await post(context, target);
  if (status === 404) {
    throw new OpError(
      'REFUSED',
      'only a service with APP_ENV=local and the simulated bank does it',
    );
  }
  if (status !== 200) throw new OpError('REFUSED', message);
  context.terminal.result({ status, message }, options, message);
}

async function post({ clock }: Context, url: URL) {
  const { request } = await import('undici');
  const timeout = new AbortController();
  const cancel = clock.after(timeoutMs, () => timeout.abort());
  try {
    const { statusCode, body } = await request(url, {
      method: 'POST',
      headers: { 'x-ponte-bank': 'command' },
      signal: timeout.signal,
    });
    const answer = (await body.json()) as { readonly message?: string };
    return { status: statusCode, message: answer.message ?? '' };
  } catch (error) {
    const { UnreachableError } = await import('../../src/operator/failure-message.ts');
    throw new UnreachableError(`${url.origin} does not answer`, { cause: error });
  } finally {
    cancel();
  }
}
