/** `ponte account block` and `ponte account unblock`. */
import type { Desk } from '../desk.ts';
import { exitCodes, type ExitCode } from '../exit-codes.ts';

interface Options {
  readonly reason: string;
  readonly yes?: boolean;
  readonly json?: boolean;
}

/** Keeps an account from sending, charging and managing keys. */
export async function accountBlock(
  { run, confirm, terminal }: Desk,
  reference: string,
  options: Options,
): Promise<ExitCode> {
  const { id, email } = await run('user identify', { user: reference });
  const question = `Block the account of user ${id} (${email})? It sends and charges no more.`;
  if (!(await confirm(question, options))) return exitCodes.bad;
  const decision = { user: String(id), reason: options.reason };
  const account = await run('account block', decision);
  if (options.json) terminal.json(account);
  else terminal.print(`The account of user ${id} (${email}) is blocked; reads stay open.`);
  return exitCodes.done;
}

/** Lets a blocked account send, charge and manage keys again. */
export async function accountUnblock(
  { run, confirm, terminal }: Desk,
  reference: string,
  options: Options,
): Promise<ExitCode> {
  const { id, email } = await run('user identify', { user: reference });
  const question = `Unblock the account of user ${id} (${email})?`;
  if (!(await confirm(question, options))) return exitCodes.bad;
  const decision = { user: String(id), reason: options.reason };
  const account = await run('account unblock', decision);
  if (options.json) terminal.json(account);
  else terminal.print(`The account of user ${id} (${email}) is active and may pay.`);
  return exitCodes.done;
}
