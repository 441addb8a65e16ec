/** How a command ends. */

/** The exit codes of `ponte`, as bin/README.md lists them. */
export const exitCodes = {
  done: 0,
  /** It was looked at and is bad, or it was refused or not found. */
  bad: 1,
  /** Wrong usage, or a configuration with faults. */
  usage: 2,
  /** The database or the service could not be reached. */
  unreachable: 3,
  /** Ctrl-C in a prompt; a signal elsewhere ends the process with 128 and its number as well. */
  interrupted: 130,
} as const;

export type ExitCode = (typeof exitCodes)[keyof typeof exitCodes];

/** The command was typed wrongly: exit 2. Each line is a sentence without its full stop. */
export class UsageError extends Error {
  readonly lines: readonly string[];

  constructor(...lines: readonly string[]) {
    super(lines.join('; '));
    this.name = 'UsageError';
    this.lines = lines;
  }
}

/** The operator pressed Ctrl-C in a prompt: exit 130, without a word. */
export class InterruptedError extends Error {
  constructor() {
    super('interrupted');
    this.name = 'InterruptedError';
  }
}
