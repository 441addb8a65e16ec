/** One benchmark at a time on a server: two would share its CPU, and drop their databases. */
import pg from 'pg';

/** A number of our own for PostgreSQL's advisory locks: "bench" in ASCII, cut to 31 bits. */
const benchLock = 0x656e6368;

/** Waits until no other benchmark runs. The turn ends with `parts`, or with the process. */
export async function takeTurn(
  databaseUrl: string,
  tell: (line: string) => void,
  parts: AsyncDisposableStack,
): Promise<void> {
  const client = new pg.Client({ connectionString: databaseUrl });
  // What breaks the connection fails the statement that is under way.
  client.on('error', () => undefined);
  await client.connect();
  parts.defer(() => client.end());
  const { rows } = await client.query<{ free: boolean }>(
    'select pg_try_advisory_lock($1) as free',
    [benchLock],
  );
  if (rows[0]?.free) return;
  tell('another benchmark runs on this server: waiting for its end');
  await client.query('select pg_advisory_lock($1)', [benchLock]);
}
