/** `ponte user reset-password`. */
import { passwordFault } from '../../src/domain/person.ts';
import type { Desk, PasswordSource } from '../desk.ts';
import { exitCodes, type ExitCode } from '../exit-codes.ts';

interface Options extends PasswordSource {
  readonly yes?: boolean;
  readonly json?: boolean;
}

/** Sets a new password; who is meant is told before anything is asked. */
export async function resetPassword(
  desk: Desk,
  reference: string,
  options: Options,
): Promise<ExitCode> {
  const { run, terminal } = desk;
  const { id, email } = await run('user identify', { user: reference });
  const question = `Set a new password for user ${id} (${email}) and log them out?`;
  if (!(await desk.confirm(question, options))) return exitCodes.bad;
  const prompt = `New password of ${email}:`;
  const password = await desk.newPassword({ prompt, fault: passwordFault }, options);
  const reset = await run('user reset-password', { user: String(id), password });
  const session = reset.endedSession ? 'The session has ended' : 'No session was active';
  if (options.json) terminal.json(reset);
  else terminal.print(`User ${id} (${email}) has a new password. ${session}.`);
  terminal.remark('The provider checks the password of a login too: set it there as well.');
  return exitCodes.done;
}
