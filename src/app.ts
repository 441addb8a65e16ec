/** The composition root: from a configuration to a running service, and back. */
import { readFile } from 'node:fs/promises';
import { operations } from './operations/index.ts';
import { pause, systemClock, type Clock } from './clock.ts';
import { composeProvider, type ComposedProvider } from './compose-provider.ts';
import type { Config } from './config.ts';
import type { Context } from './context.ts';
import { deadlyDatabase, deadlyProvider } from './crash-point.ts';
import { openDatabase } from './db/database.ts';
import { migrateUp, pendingMigrations } from './db/migrate.ts';
import { loadContract } from './http/contract.ts';
import { createHttpServer } from './http/server.ts';
import { jobs } from './jobs/index.ts';
import { JobLoop } from './jobs/loop.ts';
import { createLog, type Log } from './log.ts';
import { createMetrics } from './metrics.ts';
import { ensureDevUser, type DevUser } from './ops/ensure-dev-user.ts';
import type { Bank } from './provider/stub/bank.ts';
import { createAccessTokens } from './security/access-tokens.ts';
import { createPasswords } from './security/passwords.ts';
import { createSealer } from './security/sealing.ts';
import { loadEncryptionKey, loadSigningKeys } from './security/signing-keys.ts';
import { releaseAfterCrash } from './services/after-crash.ts';
import { findPrincipal } from './services/banking-session.ts';
import { countAttempt } from './services/throttle.ts';
import { webhookDelivery } from './webhook-delivery.ts';

export interface App {
  /** Where it listens, such as `http://127.0.0.1:3000`. */
  readonly url: string;
  readonly context: Context;
  /** The simulated bank, in stub mode. */
  readonly bank: Bank | null;
  /** Lines that say what runs and where. */
  readonly banner: readonly string[];
  /** Stops in two stages: no new requests and jobs, then what is under way ends. */
  stop(): Promise<void>;
}

export interface AppOptions {
  readonly clock?: Clock;
  readonly log?: Log;
}

/**
 * Starts the service: applies the migrations that are missing, makes local keys, makes sure of the
 * development user, serves.
 * @throws Error when a part cannot start; what was started before it is stopped again.
 */
export async function startApp(config: Config, options: AppOptions = {}): Promise<App> {
  const parts = new AsyncDisposableStack();
  try {
    return await start(config, options, parts);
  } catch (error) {
    await parts.disposeAsync();
    throw error;
  }
}

async function start(
  config: Config,
  options: AppOptions,
  parts: AsyncDisposableStack,
): Promise<App> {
  const stopping = new AbortController();
  const { context, composed } = await compose(
    config,
    { ...options, stopping: stopping.signal },
    parts,
  );
  await releaseAfterCrash(context);
  const devUser = config.appEnv === 'local' ? await ensureDevUser(context) : null;
  const loop = config.jobs === 'inline' ? new JobLoop({ context, jobs }) : null;
  const http = createHttpServer({
    context,
    operations,
    contract: loadContract(await readFile(contractFile, 'utf8')),
    readiness: () => readiness(context, loop),
    findPrincipal,
    countAttempt,
  });
  if (loop) {
    parts.defer(() => loop.stop());
    await loop.start();
  }
  parts.defer(() => http.drain());
  parts.defer(() => stopping.abort());
  const { url } = await http.listen();
  return {
    url,
    context,
    bank: composed.bank,
    banner: bannerOf(config, url, devUser),
    stop: () => parts.disposeAsync(),
  };
}

const contractFile = new URL('../contract/openapi.yaml', import.meta.url);

/** Opens what every part needs, in the order in which it is closed backwards. */
async function compose(
  config: Config,
  options: AppOptions & { readonly stopping: AbortSignal },
  parts: AsyncDisposableStack,
): Promise<{ context: Context; composed: ComposedProvider }> {
  const clock = options.clock ?? systemClock;
  const log =
    options.log ?? createLog({ level: config.logLevel, pretty: process.stdout.isTTY === true });
  const metrics = createMetrics();
  const keys = loadKeys(config);
  // Awaited below; until then a failure must not count as one that nobody handles.
  keys.catch(() => undefined);
  const db = await openDatabase({
    databaseUrl: config.databaseUrl,
    dataDir: config.dataDir,
    clock,
    onQuery: () => metrics.databaseQueries.inc(),
  });
  parts.defer(() => db.close());
  await migrateUp(db);
  const { signingKeys, encryptionKey } = await keys;

  const { stopping } = options;
  const delivery = webhookDelivery();
  const composed = await composeProvider({
    config,
    clock,
    log,
    metrics,
    shutdown: stopping,
    deliver: delivery.deliver,
  });
  parts.defer(() => composed.close());
  const { issuer, audience, ttlSeconds } = config.jwt;
  const context: Context = {
    config,
    clock,
    log,
    metrics,
    db: deadlyDatabase(db, config.crashPoint),
    provider: deadlyProvider(composed.provider, config.crashPoint),
    accessTokens: createAccessTokens({ keys: signingKeys, issuer, audience, ttlSeconds, clock }),
    passwords: createPasswords(),
    sealer: createSealer(encryptionKey),
    stopping,
  };
  delivery.connect(context);
  return { context, composed };
}

async function loadKeys({ jwt, dataDir, encryptionKey }: Config) {
  const { privateKeyPem, publicKeysPem } = jwt;
  const signing = loadSigningKeys({ privateKeyPem, publicKeysPem, dataDir });
  const sealing = loadEncryptionKey({ configured: encryptionKey, dataDir });
  return { signingKeys: await signing, encryptionKey: await sealing };
}

/** The provider is not looked at: without it the service still answers what it knows. */
async function readiness(context: Context, loop: JobLoop | null) {
  const migrations = await Promise.race([
    pendingMigrations(context.db).then(
      (pending) => pending.length === 0,
      () => null,
    ),
    pause(context.clock, longestCheckMs).then(() => null),
  ]);
  const checks = {
    database: migrations !== null,
    migrations: migrations === true,
    ...(loop && { jobs: loop.healthy }),
  };
  return { ready: Object.values(checks).every(Boolean), checks };
}

/** A database that is silent for longer does not serve requests either. */
const longestCheckMs = 2_000;

function bannerOf(config: Config, url: string, devUser: DevUser | null): string[] {
  const database =
    config.databaseUrl === undefined
      ? `embedded, in ${config.dataDir}`
      : `PostgreSQL at ${new URL(config.databaseUrl).host}`;
  return [
    `Ponte runs (${config.appEnv})`,
    `  API        ${url}/api/v1`,
    `  contract   ${url}/openapi.yaml`,
    `  provider   ${config.provider.stub ? 'simulated bank' : config.provider.baseUrl}`,
    `  database   ${database}`,
    ...(devUser ? [`  login      ${devUser.email} / ${devUser.password}`] : []),
    `  stop       Ctrl-C`,
  ];
}
