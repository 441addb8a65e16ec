/** A server on its own database, ready to be measured; `parts` closes both. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { createBenchDatabase, type BenchDatabase, type OwnSchema } from './databases.ts';
import { readMemoryMb } from './meters.ts';
import { leastSchema } from './reference/grouped/least.ts';
import { startServer, type Server, type ServerName } from './processes.ts';
import { serverEnvironment, type Environment } from './settings.ts';
import { logInAll, storeCustomers, type Target } from './target.ts';

export interface StageOptions {
  readonly databaseUrl: string;
  /** The name of the database; default: the name of the server. */
  readonly database?: string;
  readonly nodeArgs?: readonly string[];
  /** Settings that differ from those of a measurement. */
  readonly env?: Environment;
  /** The number of processes of the server that share the database; default: 1. */
  readonly processes?: number;
}

export interface Stage {
  readonly target: Target;
  readonly readyMs: number;
  readonly idleMb: number | null;
}

/** The servers that do not store the rows of the service. */
const schemas: Readonly<Partial<Record<ServerName, OwnSchema>>> = { least: leastSchema };

/** Creates the database, stores the customers, starts the server and logs the customers in. */
export async function openStage(
  name: ServerName,
  options: StageOptions,
  parts: AsyncDisposableStack,
): Promise<Stage> {
  const { databaseUrl, database: called = name, nodeArgs = [], env: own = {} } = options;
  const database = parts.adopt(
    await createBenchDatabase(databaseUrl, called, { schema: schemas[name] }),
    (made) => made.drop(),
  );
  await storeCustomers(database.client);
  const settings = serverEnvironment();
  const environment = async (): Promise<Environment> => ({
    ...settings,
    ...(await storageFor(database, parts)),
    ...own,
  });
  const env = await environment();
  // No target depends on the start or the idle memory of a reference server.
  const readyMs = name === 'ponte' ? await warmReadyMs(name, env) : 0;
  const start = async (startEnv: Environment) =>
    parts.adopt(await startServer(name, { env: startEnv, nodeArgs }), (started) => started.stop());
  const server = await start(env);
  const others: Server[] = [];
  while (others.length + 1 < (options.processes ?? 1))
    others.push(await start(await environment()));
  const idleMb = name === 'ponte' ? await measureIdleMb(server) : null;
  const { client } = database;
  const target = { server, others, client, customers: await logInAll(server, client) };
  return { target, readyMs, idleMb };
}

/** The time in which a started server completes its loading in the background. */
const restMs = 3_000;

async function measureIdleMb({ pid }: Server): Promise<number | null> {
  await pause(restMs);
  return readMemoryMb(pid);
}

async function storageFor(
  database: BenchDatabase,
  parts: AsyncDisposableStack,
): Promise<Environment> {
  const folder = await mkdtemp(join(tmpdir(), 'ponte-bench-'));
  parts.defer(() => rm(folder, { recursive: true, force: true }));
  return { DATABASE_URL: database.url, DATA_DIR: folder };
}

/** Measures the second start: the first one compiles the modules, which are then cached. */
async function warmReadyMs(name: ServerName, env: Environment): Promise<number> {
  let readyMs = 0;
  for (let start = 0; start < 2; start += 1) {
    const server = await startServer(name, { env, isWatched: false });
    ({ readyMs } = server);
    await server.stop();
  }
  return readyMs;
}
