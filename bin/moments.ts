/** Points in time, as operators type them. */
import { InvalidArgumentError } from 'commander';
import type { Clock } from '../src/clock.ts';
import { durationMs } from './declare.ts';

/** A point in time as it was typed: itself, or how long before now. */
export type Moment = { readonly at: string } | { readonly agoMs: number };

const timeForm =
  /^\d{4}-\d{2}-\d{2}(?:[T ]\d{2}:\d{2}(?::\d{2}(?:\.\d{1,3})?)?(?:Z|[+-]\d{2}:\d{2})?)?$/;

/**
 * Reads an option such as `2026-11-21`, `2026-11-21 14:30` or `2h`, which is two hours ago. Without
 * a zone it is UTC, as every table shows it, whatever the zone of this machine.
 */
export function moment(text: string): Moment {
  if (/^\d{1,6}[smhd]$/.test(text)) return { agoMs: durationMs(text) };
  const time = timeForm.test(text) ? new Date(inUtc(text.replace(' ', 'T'))) : null;
  if (time === null || Number.isNaN(time.getTime())) {
    throw new InvalidArgumentError(
      'It must be a time such as 2026-11-21T14:30:00Z, or how long ago, such as 2h.',
    );
  }
  return { at: time.toISOString() };
}

/** JavaScript takes a day alone for UTC, and a time of day without a zone for the machine's. */
function inUtc(text: string): string {
  return /T\d{2}:\d{2}(?::[\d.]+)?$/.test(text) ? `${text}Z` : text;
}

/** @returns the time in ISO 8601. */
export function timeOf(typed: Moment, clock: Clock): string {
  if ('at' in typed) return typed.at;
  return new Date(clock.now().getTime() - typed.agoMs).toISOString();
}
