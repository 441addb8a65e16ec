/** `ponte session revoke`: somebody is logged out. */
import type { Desk } from '../desk.ts';
import { exitCodes, type ExitCode } from '../exit-codes.ts';

interface Options {
  readonly yes?: boolean;
  readonly json?: boolean;
}

/** Ends a session. */
export async function sessionRevoke(
  { run, confirm, terminal }: Desk,
  of: string,
  options: Options,
): Promise<ExitCode> {
  const question = `End the session of ${of}? The app is logged out at once.`;
  if (!(await confirm(question, options))) return exitCodes.bad;
  const revoked = await run('session revoke', { of });
  if (options.json) terminal.json(revoked);
  else terminal.print(`Session ${revoked.id} of user ${revoked.userId} has ended.`);
  return exitCodes.done;
}
