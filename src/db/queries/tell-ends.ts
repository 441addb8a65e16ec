/** Told when transactions get a final status; the payload is their ids, or nothing for many. */
export const endsChannel = 'ponte_pix';

/** A notification has room for 7999 bytes (PostgreSQL, NOTIFY); an id takes 37. */
const mostIds = 200;

/**
 * A column of a statement that ends transactions: whoever waits for one of them is told, once for
 * all of them.
 * @param ended a table expression that has their ids, and perhaps a condition.
 */
export function tellingEnds(ended: string): string {
  return `(select pg_notify('${endsChannel}',
                  case when count(*) <= ${mostIds} then string_agg(id::text, ' ') else '' end)::text
              from ${ended} having count(*) > 0)`;
}
