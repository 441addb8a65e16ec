/** How a command ends. */

/** The exit codes of `ponte`; the README lists them. */
export const exitCodes = {
  ok: 0,
  /** A check failed, or the command was refused, declined or found nothing. */
  failed: 1,
  /** Wrong usage: arguments that can never be right; or an invalid configuration. */
  usage: 2,
  /** The database or the service cannot be reached. */
  unreachable: 3,
  /** Ctrl-C in a prompt; elsewhere a signal ends the process with 128 plus its number. */
  interrupted: 130,
} as const;

export type ExitCode = (typeof exitCodes)[keyof typeof exitCodes];

/** Wrong usage: exit 2. Each line is a sentence without its full stop. */
export class UsageError extends Error {
  readonly lines: readonly string[];

  constructor(...lines: readonly string[]) {
    super(lines.join('; '));
    this.name = 'UsageError';
    this.lines = lines;
  }
}

/** The operator declined a confirmation (exit 1) or pressed Ctrl-C in a prompt (exit 130). */
export class CancelledError extends Error {
  readonly exitCode: ExitCode;

  constructor(exitCode: ExitCode) {
    super('cancelled');
    this.name = 'CancelledError';
    this.exitCode = exitCode;
  }
}
