/** Allows one benchmark at a time on a server: two would drop each other's databases. */
import pg from 'pg';

/** A private key for PostgreSQL's advisory locks: "bench" in ASCII, cut to 31 bits. */
const benchLock = 0x656e6368;

/** Waits until no other benchmark is running. The turn ends with `parts`, or with the process. */
export async function takeTurn(
  databaseUrl: string,
  print: (line: string) => void,
  parts: AsyncDisposableStack,
): Promise<void> {
  const client = new pg.Client({ connectionString: databaseUrl });
  // An error of the connection also fails the running statement.
  client.on('error', () => undefined);
  await client.connect();
  parts.defer(() => client.end());
  const { rows } = await client.query<{ free: boolean }>(
    'select pg_try_advisory_lock($1) as free',
    [benchLock],
  );
  if (rows[0]?.free) return;
  print('another benchmark is running on this server: waiting for it to end');
  await client.query('select pg_advisory_lock($1)', [benchLock]);
}
