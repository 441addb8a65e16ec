/** What the declarations of commands share: examples, and options that are read in one way. */
import { InvalidArgumentError, Option } from 'commander';

/** The help's last part; every command has it, groups of commands as well. */
export function examples(...lines: readonly string[]): string {
  const head = lines.length === 1 ? 'Example:' : 'Examples:';
  return ['', head, ...lines.map((line) => `  ${line}`)].join('\n');
}

/** `--json`, of every command that shows something. */
export function jsonOption(): Option {
  return new Option('--json', 'print one JSON document, for programs');
}

/** `--yes`, of every command that changes something. */
export function yesOption(): Option {
  return new Option('--yes', 'go ahead without asking');
}

/** `--by`, of every command that changes something. */
export function byOption(): Option {
  return new Option('--by <name>', 'who does this, beside the user of the system').argParser(
    (text: string) => {
      if (/^[\p{L}\p{N}][\p{L}\p{N} ._-]{0,39}$/u.test(text)) return text;
      throw new InvalidArgumentError('It must be a name of at most 40 letters and digits.');
    },
  );
}

/** `--limit`, of every list. */
export function limitOption(standard = 50): Option {
  return new Option('--limit <number>', 'how many at most, up to 1000')
    .argParser(integer(1, 1_000))
    .default(standard);
}

/** Reads an option as an integer of a range, both ends included. */
export function integer(minimum: number, maximum: number): (text: string) => number {
  return (text) => {
    const value = Number(text);
    if (/^-?\d{1,15}$/.test(text) && value >= minimum && value <= maximum) return value;
    throw new InvalidArgumentError(`It must be an integer from ${minimum} to ${maximum}.`);
  };
}

const unitsMs = { s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 } as const;

/** Reads an option such as `90s`, `10m`, `2h` or `7d`; gives milliseconds. */
export function durationMs(text: string): number {
  const [, count, unit] = /^(\d{1,6})([smhd])$/.exec(text) ?? [];
  if (count === undefined) {
    throw new InvalidArgumentError('It must be a number with a unit: 90s, 10m, 2h or 7d.');
  }
  return Number(count) * unitsMs[unit as keyof typeof unitsMs];
}

/** Reads an argument as the id or the e-mail of a user. */
export function userReference(text: string): string {
  if (isUserReference(text)) return text;
  throw new InvalidArgumentError('It must be the id or the e-mail of a user.');
}

/** Whether a text may be the id or the e-mail of a user. */
export function isUserReference(text: string): boolean {
  return /^[1-9]\d{0,8}$/.test(text) || /^[^\s@]+@[^\s@]+$/.test(text);
}
