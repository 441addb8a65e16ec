/** `ponte user disable` and `ponte user enable`. */
import type { Desk } from '../desk.ts';
import { exitCodes, type ExitCode } from '../exit-codes.ts';

interface Options {
  readonly yes?: boolean;
  readonly json?: boolean;
}

/** Shuts a user out. */
export async function userDisable(
  { run, confirm, terminal }: Desk,
  reference: string,
  options: Options,
): Promise<ExitCode> {
  const { id, email } = await run('user identify', { user: reference });
  const question = `Shut user ${id} (${email}) out?`;
  if (!(await confirm(question, options))) return exitCodes.bad;
  const user = await run('user disable', { user: String(id) });
  const session = user.endedSession ? 'The session has ended' : 'No session was active';
  if (options.json) terminal.json(user);
  else terminal.print(`User ${id} (${email}) is disabled. ${session}.`);
  return exitCodes.done;
}

/** Lets a user in again. */
export async function userEnable(
  { run, confirm, terminal }: Desk,
  reference: string,
  options: Options,
): Promise<ExitCode> {
  const { id, email } = await run('user identify', { user: reference });
  if (!(await confirm(`Let user ${id} (${email}) in again?`, options))) return exitCodes.bad;
  const user = await run('user enable', { user: String(id) });
  if (options.json) terminal.json(user);
  else terminal.print(`User ${id} (${email}) is active and may log in.`);
  return exitCodes.done;
}
