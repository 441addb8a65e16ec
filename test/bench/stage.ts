/** A server on a database of its own, ready to be measured; what is opened is closed by `parts`. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createBenchDatabase, type BenchDatabase } from './databases.ts';
import { memoryMbOf } from './meters.ts';
import { startServer, type ServerName } from './processes.ts';
import { serverEnvironment, type Environment } from './settings.ts';
import { logInAll, storeCustomers, type Target } from './target.ts';

export interface StageOptions {
  readonly databaseUrl: string;
  /** What its database is called, when it is not called after the server. */
  readonly database?: string;
  readonly nodeArgs?: readonly string[];
  /** Settings that differ from those of a measurement. */
  readonly env?: Environment;
}

export interface Stage {
  readonly target: Target;
  readonly readyMs: number;
  readonly idleMb: number | null;
}

/** Makes the database, stores the customers, starts the server and logs the customers in. */
export async function openStage(
  name: ServerName,
  { databaseUrl, database: called = name, nodeArgs = [], env: own = {} }: StageOptions,
  parts: AsyncDisposableStack,
): Promise<Stage> {
  const database = parts.adopt(await createBenchDatabase(databaseUrl, called), (made) =>
    made.drop(),
  );
  await storeCustomers(database.client);
  const env = { ...(await environmentFor(database, parts)), ...own };
  // The reference is held to nothing that its start would tell.
  const readyMs = name === 'ours' ? await warmReadyMs(name, env) : 0;
  const server = parts.adopt(await startServer(name, { env, nodeArgs }), (started) =>
    started.stop(),
  );
  const idleMb = memoryMbOf(server.pid);
  const { client } = database;
  const target = { server, client, customers: await logInAll(server, client) };
  return { target, readyMs, idleMb };
}

async function environmentFor(
  database: BenchDatabase,
  parts: AsyncDisposableStack,
): Promise<Environment> {
  const folder = await mkdtemp(join(tmpdir(), 'ponte-bench-'));
  parts.defer(() => rm(folder, { recursive: true, force: true }));
  return { ...serverEnvironment(), DATABASE_URL: database.url, DATA_DIR: folder };
}

/** The first start compiles the modules; the second one finds them compiled. */
async function warmReadyMs(name: ServerName, env: Environment): Promise<number> {
  let readyMs = 0;
  for (let start = 0; start < 2; start += 1) {
    const server = await startServer(name, { env, isWatched: false });
    ({ readyMs } = server);
    await server.stop();
  }
  return readyMs;
}
