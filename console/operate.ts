/** Runs the command `ponte` for the operator's screens of the console. */
import { execFile } from 'node:child_process';

/**
 * Runs `ponte` with these arguments.
 * @returns its output, also when the exit code is not 0: the output then contains the finding.
 * @throws Error with the message of a command that prints no result.
 */
export type Operate = (args: readonly string[], signal: AbortSignal) => Promise<string>;

const limits = { timeout: 30_000, maxBuffer: 16 * 1024 * 1024 } as const;

/** @param command the path of `bin/ponte`. */
export function operateBy(command: string): Operate {
  return (args, signal) =>
    new Promise((resolve, reject) => {
      execFile('/bin/sh', [command, ...args], { ...limits, signal }, (error, stdout, stderr) => {
        const message = stderr.trim() || 'The command ponte did not answer.';
        // A command that finds nothing says so on standard error.
        if (stdout.trim() !== '') resolve(stdout);
        else if (!error && stderr.trim() !== '') resolve(stderr);
        else reject(new Error(message, { cause: error }));
      });
    });
}
