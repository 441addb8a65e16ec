/**
 * The counters of throttles in the database. Both statements are SQL: every login and every step
 * of an onboarding runs them, and a count is one round trip however many windows it is for.
 */
import type { EntityManager } from '@mikro-orm/postgresql';
import type { LocalContext } from '../context/context.ts';
import type { Statement } from '../db/database.ts';
import { queryIn } from '../db/unit-of-work.ts';

/** @public For the tests of the simulation, which find it by its shape. */
export const throttleStatements = {
  /** Locks the rows in one order, so that concurrent statements cannot deadlock. */
  count: {
    name: 'throttle-count',
    text: `
      insert into throttle_counters as c (key, window_started_at, attempts, expires_at)
      select counted.key, $2::timestamptz, weight, counted.expires_at
        from jsonb_to_recordset($1::jsonb) as counted (key text, weight int, expires_at timestamptz)
       order by counted.key
          on conflict (key) do update
         set attempts = case when c.expires_at > $2::timestamptz then c.attempts else 0 end
                          + excluded.attempts,
             window_started_at = case when c.expires_at > $2::timestamptz
                                      then c.window_started_at else $2::timestamptz end,
             expires_at = case when c.expires_at > $2::timestamptz
                               then c.expires_at else excluded.expires_at end
      returning key, attempts, expires_at`,
  },
  read: {
    name: 'throttle-read',
    text: `
      select key, attempts, expires_at from throttle_counters
       where key = any(array(select jsonb_array_elements_text($1::jsonb)))
         and expires_at > $2::timestamptz`,
  },
} satisfies Record<string, Statement>;

/** The attempts of a key in its current window. */
export interface Window {
  readonly key: string;
  readonly attempts: number;
  readonly endsAtMs: number;
}

/** An attempt to count. */
export interface Attempt {
  readonly key: string;
  /** The number of attempts that it counts as. */
  readonly weight: number;
  /** The length of the window that it may begin. */
  readonly windowMs: number;
}

/**
 * Counts attempts, each in the window of its key; the first attempt of a key begins its window.
 * @param em the unit of work of the count, if any.
 */
export function countAttempts(
  context: LocalContext,
  attempts: readonly Attempt[],
  em?: EntityManager,
): Promise<Window[]> {
  const nowMs = context.clock.now().getTime();
  const counted = attempts.map(({ key, weight, windowMs }) => {
    return { key, weight, expires_at: new Date(nowMs + windowMs) };
  });
  return readWindows(context, { statement: throttleStatements.count, keys: counted, em });
}

/** Reads the open windows of some keys. @param em the unit of work of the read, if any. */
export function openWindows(
  context: LocalContext,
  keys: readonly string[],
  em?: EntityManager,
): Promise<Window[]> {
  return readWindows(context, { statement: throttleStatements.read, keys, em });
}

interface Reading {
  readonly statement: Statement;
  /** Sent as JSON. */
  readonly keys: readonly unknown[];
  readonly em: EntityManager | undefined;
}

interface WindowRow {
  readonly key: string;
  readonly attempts: number;
  /** Text within a unit of work. */
  readonly expires_at: Date | string;
}

async function readWindows(
  { db, clock }: LocalContext,
  { statement, keys, em }: Reading,
): Promise<Window[]> {
  const parameters = [JSON.stringify(keys), clock.now()];
  const rows = em
    ? await queryIn<WindowRow>(em, statement, parameters)
    : await db.query<WindowRow>(statement, parameters);
  return rows.map(({ key, attempts, expires_at: end }) => {
    return { key, attempts, endsAtMs: new Date(end).getTime() };
  });
}
