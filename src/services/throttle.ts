/**
 * How often somebody may try within a minute, counted in the database so that all instances share
 * it. The minute begins with the first attempt. Subjects are stored as digests: an e-mail or an
 * address does not stand in the table.
 */
import type { LocalContext } from '../context.ts';
import * as queries from '../db/queries/throttle.ts';
import { AppError } from '../errors.ts';
import { sha256 } from '../security/digests.ts';

const windowMs = 60_000;

export interface Throttle {
  /** What is limited, such as `login-email`. */
  readonly scope: string;
  /** Who is limited, such as an e-mail or a client's address. */
  readonly subject: string;
  /** Attempts per minute; 0 lifts the limit. */
  readonly limitPerMinute: number;
}

interface Window {
  readonly attempts: number;
  readonly window_started_at: Date;
}

/**
 * Counts one attempt.
 * @throws AppError THROTTLED when it is one too many, with the seconds to wait in `Retry-After`.
 */
export async function countAttempt(context: LocalContext, throttle: Throttle): Promise<void> {
  if (throttle.limitPerMinute === 0) return;
  const now = context.clock.now();
  const [window] = await context.db.query<Window>(queries.countAttempt, [
    keyOf(throttle),
    now,
    new Date(now.getTime() - windowMs),
  ]);
  if (window && window.attempts > throttle.limitPerMinute) throw throttled(window, now);
}

/**
 * Refuses when the limit has been used up already; counts nothing.
 * @throws AppError THROTTLED
 */
export async function refuseWhenUsedUp(context: LocalContext, throttle: Throttle): Promise<void> {
  if (throttle.limitPerMinute === 0) return;
  const now = context.clock.now();
  const [window] = await context.db.query<Window>(queries.readAttempts, [
    keyOf(throttle),
    new Date(now.getTime() - windowMs),
  ]);
  if (window && window.attempts >= throttle.limitPerMinute) throw throttled(window, now);
}

function keyOf({ scope, subject }: Throttle): string {
  return `${scope}:${sha256(subject).toString('base64url')}`;
}

function throttled(window: Window, now: Date): AppError {
  const waitMs = window.window_started_at.getTime() + windowMs - now.getTime();
  const seconds = Math.max(1, Math.ceil(waitMs / 1_000));
  return new AppError('THROTTLED', { headers: { 'Retry-After': String(seconds) } });
}
