/** The context: what every part of the service needs, opened from a configuration. */
import { systemClock, type Clock } from './clock.ts';
import { composeProvider } from './compose-provider.ts';
import type { Config } from './config.ts';
import type { Context } from './context.ts';
import { deadlyDatabase, deadlyProvider } from './crash-point.ts';
import { openDatabase } from './db/database.ts';
import { migrateUp } from './db/migrate.ts';
import { createLog, type Log } from './log.ts';
import { createMetrics } from './metrics.ts';
import type { Bank } from './provider/stub/bank.ts';
import { createAccessTokens } from './security/access-tokens.ts';
import { createPasswords } from './security/passwords.ts';
import { createSealer } from './security/sealing.ts';
import { loadEncryptionKey, loadSigningKeys } from './security/signing-keys.ts';
import { releaseAfterCrash } from './services/after-crash.ts';
import { webhookDelivery } from './webhook-delivery.ts';

export interface AppOptions {
  readonly clock?: Clock;
  readonly log?: Log;
}

export interface Composed {
  readonly context: Context;
  /** The simulated bank, in stub mode. */
  readonly bank: Bank | null;
}

/**
 * Opens the database, applies the migrations that are missing, makes local keys, connects the
 * provider. What is opened is closed backwards by `parts`.
 */
export async function compose(
  config: Config,
  options: AppOptions & { readonly stopping: AbortSignal },
  parts: AsyncDisposableStack,
): Promise<Composed> {
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
  const { provider, bank, close } = await composeProvider({
    config,
    clock,
    log,
    metrics,
    shutdown: stopping,
    deliver: delivery.deliver,
  });
  parts.defer(close);
  const { issuer, audience, ttlSeconds } = config.jwt;
  const context: Context = {
    config,
    clock,
    log,
    metrics,
    db: deadlyDatabase(db, config.crashPoint),
    provider: deadlyProvider(provider, config.crashPoint),
    accessTokens: createAccessTokens({ keys: signingKeys, issuer, audience, ttlSeconds, clock }),
    passwords: createPasswords(),
    sealer: createSealer(encryptionKey),
    stopping,
  };
  delivery.connect(context);
  await releaseAfterCrash(context);
  return { context, bank };
}

async function loadKeys({ jwt, dataDir, encryptionKey }: Config) {
  const { privateKeyPem, publicKeysPem } = jwt;
  const signing = loadSigningKeys({ privateKeyPem, publicKeysPem, dataDir });
  const sealing = loadEncryptionKey({ configured: encryptionKey, dataDir });
  return { signingKeys: await signing, encryptionKey: await sealing };
}
