import type { Statement } from '../database.ts';

/**
 * Counts an attempt in the minute that began with the first one.
 * Parameters: key, now, start of the oldest minute still open.
 */
export const countAttempt: Statement = {
  name: 'throttle-count',
  text: `
    insert into throttle_counters as c (key, window_started_at, attempts) values ($1, $2, 1)
        on conflict (key) do update
       set attempts = case when c.window_started_at > $3 then c.attempts + 1 else 1 end,
           window_started_at =
             case when c.window_started_at > $3 then c.window_started_at else $2 end
    returning attempts, window_started_at`,
};

/** Reads the attempts of an open minute. Parameters: key, start of the oldest minute still open. */
export const readAttempts: Statement = {
  name: 'throttle-read',
  text: `
    select attempts, window_started_at from throttle_counters
     where key = $1 and window_started_at > $2`,
};
