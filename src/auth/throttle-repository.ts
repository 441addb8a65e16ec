/**
 * The counters of throttles in the database. Both statements are SQL: every login and every step
 * of an onboarding runs them, and a count is one round trip however many windows it is for.
 */
import type { LocalContext } from '../context/context.ts';
import { columnsOf, type RowOf } from '../db/rows.ts';
import { sql, statement } from '../db/statement.ts';

const counter = columnsOf('throttle_counters', 'key, attempts, expiresAt');

type CounterRow = RowOf<typeof counter>;

/** @public For the tests of the simulation, which find it by its shape. */
export const throttleStatements = {
  /** Locks the rows in one order, so that concurrent statements cannot deadlock. */
  count: statement({
    name: 'throttle-count',
    parameters: { attempts: 'jsonb', now: 'timestamptz' },
    text: ({ attempts, now }) => sql<CounterRow>`
      insert into throttle_counters as c (key, window_started_at, attempts, expires_at)
      select counted.key, ${now}, weight, counted.expires_at
        from jsonb_to_recordset(${attempts}) as counted (key text, weight int,
          expires_at timestamptz)
       order by counted.key
          on conflict (key) do update
         set attempts = case when c.expires_at > ${now} then c.attempts else 0 end
                          + excluded.attempts,
             window_started_at = case when c.expires_at > ${now}
                                      then c.window_started_at else ${now} end,
             expires_at = case when c.expires_at > ${now}
                               then c.expires_at else excluded.expires_at end
      returning ${counter.select()}`,
  }),
  read: statement({
    name: 'throttle-read',
    parameters: { keys: 'jsonb', now: 'timestamptz' },
    text: ({ keys, now }) => sql<CounterRow>`
      select ${counter.select()} from throttle_counters
       where key = any(array(select jsonb_array_elements_text(${keys})))
         and expires_at > ${now}`,
  }),
};

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

/** Counts attempts, each in the window of its key; the first one of a key begins its window. */
export async function countAttempts(
  { db, clock }: Pick<LocalContext, 'db' | 'clock'>,
  attempts: readonly Attempt[],
): Promise<Window[]> {
  const now = clock.now();
  const counted = attempts.map(({ key, weight, windowMs }) => {
    return { key, weight, expires_at: new Date(now.getTime() + windowMs) };
  });
  const parameters = { attempts: JSON.stringify(counted), now };
  return (await db.query(throttleStatements.count, parameters)).map(toWindow);
}

/** Reads the open windows of some keys. */
export async function openWindows(
  { db, clock }: Pick<LocalContext, 'db' | 'clock'>,
  keys: readonly string[],
): Promise<Window[]> {
  const parameters = { keys: JSON.stringify(keys), now: clock.now() };
  return (await db.query(throttleStatements.read, parameters)).map(toWindow);
}

function toWindow({ key, attempts, expiresAt }: CounterRow): Window {
  return { key, attempts, endsAtMs: expiresAt.getTime() };
}
