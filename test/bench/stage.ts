/** A server on its own database, ready to be measured; `parts` closes both. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { authority } from '../api/db/certificates.ts';
import { createBenchDatabase } from './databases.ts';
import { readMemoryMb } from './meters.ts';
import {
  startBank,
  startServer,
  type Server,
  type ServerName,
  type Transport,
} from './processes.ts';
import { leastSchema, plainSchema } from './reference/schema.ts';
import { serverEnvironment, type Environment } from './settings.ts';
import { logInAll, storeCustomers, type Target } from './target.ts';

export interface StageOptions {
  readonly databaseUrl: string;
  /** How its bank is reached. */
  readonly provider: Transport;
  /** The name of the database; default: the name of the server. */
  readonly database?: string;
  readonly nodeArgs?: readonly string[];
}

export interface Stage {
  readonly target: Target;
  readonly readyMs: number;
  readonly idleMb: number | null;
}

/** The tables of the reference servers; the service migrates its own. */
const schemas: Readonly<Partial<Record<ServerName, string>>> = {
  plain: plainSchema,
  grouped: plainSchema,
  least: leastSchema,
};

/** Creates the database and the bank, stores the customers, starts the server and logs them in. */
export async function openStage(
  name: ServerName,
  { databaseUrl, provider, database: called = name, nodeArgs = [] }: StageOptions,
  parts: AsyncDisposableStack,
): Promise<Stage> {
  const database = parts.adopt(
    await createBenchDatabase(databaseUrl, called, schemas[name]),
    (made) => made.drop(),
  );
  const { client, url } = database;
  await storeCustomers(client);
  const bank = parts.adopt(await startBank(provider), (started) => started.stop());
  const folder = await mkdtemp(join(tmpdir(), 'ponte-bench-'));
  parts.defer(() => rm(folder, { recursive: true, force: true }));
  const authorities = join(folder, 'authority.pem');
  await writeFile(authorities, authority);
  const storage = { DATABASE_URL: url, DATA_DIR: folder };
  const reached = { PROVIDER_BASE_URL: bank.url, NODE_EXTRA_CA_CERTS: authorities };
  const env = { ...serverEnvironment(), ...storage, ...reached };
  const readyMs = name === 'ponte' ? await warmReadyMs(name, env) : 0;
  const server = parts.adopt(await startServer(name, { env, nodeArgs }), (one) => one.stop());
  const idleMb = name === 'ponte' ? await measureIdleMb(server) : null;
  const target = { server, bank, client, customers: await logInAll(server, client) };
  return { target, readyMs, idleMb };
}

/** The time in which a started server completes its loading in the background. */
const restMs = 3_000;

async function measureIdleMb({ pid }: Server): Promise<number | null> {
  await pause(restMs);
  return readMemoryMb(pid);
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
