/** Points in time, as operators type them. */
import { InvalidArgumentError } from 'commander';
import type { Clock } from '../src/clock.ts';
import { durationMs } from './declare.ts';

/** A point in time as it was typed: itself, or how long before now. */
export type Moment = { readonly at: string } | { readonly agoMs: number };

const timeForm =
  /^\d{4}-\d{2}-\d{2}(?:[T ]\d{2}:\d{2}(?::\d{2}(?:\.\d{1,3})?)?(?:Z|[+-]\d{2}:\d{2})?)?$/;

/** Reads an option such as `2026-11-21`, `2026-11-21T14:30:00Z` or `2h`, which is two hours ago. */
export function moment(text: string): Moment {
  if (/^\d{1,6}[smhd]$/.test(text)) return { agoMs: durationMs(text) };
  const time = timeForm.test(text) ? new Date(text.replace(' ', 'T')) : null;
  if (time === null || Number.isNaN(time.getTime())) {
    throw new InvalidArgumentError(
      'It must be a time such as 2026-11-21T14:30:00Z, or how long ago, such as 2h.',
    );
  }
  return { at: time.toISOString() };
}

/** @returns the time in ISO 8601. */
export function timeOf(typed: Moment, clock: Clock): string {
  if ('at' in typed) return typed.at;
  return new Date(clock.now().getTime() - typed.agoMs).toISOString();
}
