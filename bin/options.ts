/** Shared parts of the declarations of commands: examples, common options, parsers of values. */
import { InvalidArgumentError, Option, type Command } from 'commander';
import type { Clock } from '../src/clock.ts';
import { UsageError } from './exit-codes.ts';

/** The option of every command that prints data. */
export interface JsonOption {
  readonly json?: boolean;
}

/** The options of every command that changes data. */
export interface ChangeOptions extends JsonOption {
  readonly yes?: boolean;
  readonly by?: string;
  readonly reason?: string;
}

/** The options of every list. */
export interface ListOptions extends JsonOption {
  readonly limit: number;
}

/** The last part of a help text. */
export function examples(...lines: readonly string[]): string {
  const head = lines.length === 1 ? 'Example:' : 'Examples:';
  return ['', head, ...lines.map((line) => `  ${line}`)].join('\n');
}

/** Adds the option of every command that prints data. */
export function withJson(command: Command): Command {
  return command.option('--json', 'print one JSON document, for programs');
}

/** Adds the options of every list. */
export function withListOptions(command: Command): Command {
  const help = 'maximum number of rows, up to 1000';
  return withJson(command).option('--limit <number>', help, parseInteger(1, 1_000), 50);
}

/** Adds the options of a command that changes data: `--json`, `--by` and `--yes`. */
export function withChangeOptions(command: Command): Command {
  return withYes(withBy(withJson(command)));
}

export function withBy(command: Command): Command {
  const help = 'operator to record, in addition to the system user';
  return command.option('--by <name>', help, parseName);
}

/** Adds the reason, to commands that do not require one. */
export function withReason(command: Command): Command {
  return command.option('--reason <text>', 'why; it is recorded: no personal data');
}

export function withYes(command: Command): Command {
  return command.option('--yes', 'do not ask for confirmation');
}

function parseName(text: string): string {
  if (/^[\p{L}\p{N}][\p{L}\p{N} ._-]{0,39}$/u.test(text)) return text;
  throw new InvalidArgumentError('It must be a name of at most 40 letters and digits.');
}

/** @returns an option with a fixed set of values. */
export function choice(flags: string, description: string, values: readonly string[]): Option {
  return new Option(flags, description).choices(values);
}

/** `--password` would show the password in the shell's history and in the list of processes. */
export function passwordStdinOption(): Option {
  return new Option('--password-stdin', 'read the password from the first line of standard input');
}

/** @returns a parser of integers from `minimum` to `maximum`. */
export function parseInteger(minimum: number, maximum: number): (text: string) => number {
  return (text) => {
    const value = Number(text);
    if (/^-?\d{1,15}$/.test(text) && value >= minimum && value <= maximum) return value;
    throw new InvalidArgumentError(`It must be an integer from ${minimum} to ${maximum}.`);
  };
}

/** Parses the id of a database row. */
export const parseId = parseInteger(1, 2_147_483_647);

const unitsMs = { s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 } as const;

/** A hundred years: no age reaches back to a year that a date cannot show. */
const maxDays = 36_500;

/** Parses a duration such as `90s`, `10m`, `2h` or `7d`; returns milliseconds. */
export function parseDuration(text: string): number {
  const duration = durationMs(text);
  if (duration <= maxDays * unitsMs.d) return duration;
  throw new InvalidArgumentError(
    `It must be a number with a unit: 90s, 10m, 2h or 7d, up to ${maxDays}d.`,
  );
}

/** @returns a duration in milliseconds; NaN for what is none. */
export function durationMs(text: string): number {
  const [, count, unit] = /^(\d{1,6})([smhd])$/.exec(text) ?? [];
  return Number(count) * unitsMs[unit as keyof typeof unitsMs];
}

/** Whether a text is a day from the year 1000 on. JavaScript reads 31 February as 3 March. */
function isDay(text: string): boolean {
  const start = new Date(`${text}T00:00:00Z`);
  const isRead = /^[1-9]\d{3}-\d{2}-\d{2}$/.test(text) && !Number.isNaN(start.getTime());
  return isRead && start.toISOString().startsWith(text);
}

/** Parses a day such as `2026-11-21`. */
export function parseDay(text: string): string {
  if (isDay(text)) return text;
  throw new InvalidArgumentError('It must be a day such as 2026-11-21.');
}

/** A point in time as typed: absolute, or relative to the time at which the command runs. */
export type TypedTime = { readonly at: string } | { readonly agoMs: number };

const timeFormat =
  /^\d{4}-\d{2}-\d{2}(?:[T ]\d{2}:\d{2}(?::\d{2}(?:\.\d{1,3})?)?(?:Z|[+-]\d{2}:\d{2})?)?$/;

/**
 * Parses a time such as `2026-11-21`, `2026-11-21 14:30`, or `2h`, which means two hours ago. A
 * time without a zone is UTC, as in every table.
 */
export function parseTime(text: string): TypedTime {
  if (/^\d{1,6}[smhd]$/.test(text)) return { agoMs: parseDuration(text) };
  const iso = text.replace(' ', 'T');
  // JavaScript reads a time of day without a zone as local time.
  const time = new Date(/T\d{2}:\d{2}(?::[\d.]+)?$/.test(iso) ? `${iso}Z` : iso);
  if (!timeFormat.test(text) || !isDay(text.slice(0, 10)) || Number.isNaN(time.getTime())) {
    throw new InvalidArgumentError(
      'It must be a time such as 2026-11-21T14:30:00Z, or an age such as 2h.',
    );
  }
  return { at: time.toISOString() };
}

/** @returns the time in ISO 8601. */
export function resolveTime(typed: TypedTime, clock: Clock): string {
  if ('at' in typed) return typed.at;
  return new Date(clock.now().getTime() - typed.agoMs).toISOString();
}

/** The bounds of a list as typed. */
export interface TypedPeriod {
  readonly since?: TypedTime;
  readonly until?: TypedTime;
}

/**
 * @returns the typed bounds in ISO 8601.
 * @throws UsageError when the end is before the start: such a list is always empty.
 */
export function resolvePeriod(
  { since, until }: TypedPeriod,
  clock: Clock,
): { readonly since?: string; readonly until?: string } {
  const period = {
    ...(since !== undefined && { since: resolveTime(since, clock) }),
    ...(until !== undefined && { until: resolveTime(until, clock) }),
  };
  const [start, end] = [Date.parse(period.since ?? ''), Date.parse(period.until ?? '')];
  if (end < start) throw new UsageError('--until is before --since');
  return period;
}

/** Parses the id or the e-mail of a user; blanks around it come from pasting, and are dropped. */
export function parseUser(typed: string): string {
  const text = typed.trim();
  if (/^(?:[1-9]\d{0,8}|[^\s@]+@[^\s@]+)$/.test(text)) return text;
  throw new InvalidArgumentError('It must be the id or the e-mail of a user.');
}

/** Parses an id of any form: without the blanks that come from pasting. */
export function parseAnyId(text: string): string {
  return text.trim();
}

/** Parses one of several ids, after those before it. */
export function parseAnyIds(text: string, before: readonly string[] = []): readonly string[] {
  return [...before, parseAnyId(text)];
}
