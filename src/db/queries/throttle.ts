import type { Statement } from '../database.ts';

/**
 * Counts an attempt in the window of each key; a window begins with the first attempt. The rows are
 * locked in one order, so that no two statements wait for each other.
 * Parameters: a JSON list of `{key, weight, expires_at}`, the end being that of a window that
 * begins now; now.
 */
export const countAttempt: Statement = {
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
};

/** Reads the attempts of open windows. Parameters: a JSON list of keys, now. */
export const readAttempts: Statement = {
  name: 'throttle-read',
  text: `
    select key, attempts, expires_at from throttle_counters
     where key = any(array(select jsonb_array_elements_text($1::jsonb)))
       and expires_at > $2::timestamptz`,
};
