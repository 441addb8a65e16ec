/** Creates the context without a provider, for commands and as the base of the service. */
import manifest from '../../package.json' with { type: 'json' };
import { systemClock, type Clock } from '../clock.ts';
import type { Config } from '../config/config.ts';
import type { LocalContext } from './context.ts';
import { openDatabase } from '../db/database.ts';
import { createLog, type Log } from '../telemetry/log.ts';
import type { LocalMetrics } from '../telemetry/metrics.ts';
import type { Tracing } from '../telemetry/tracing.ts';
import type { Dialects } from '../provider/dialect/dialects.ts';
import { createPasswords } from '../process/passwords.ts';
import { createSealer } from '../security/sealing.ts';
import { makeFolder } from '../security/make-folder.ts';
import { keepPrivate } from '../security/private-files.ts';
import { loadEncryptionKeys } from '../security/signing-keys.ts';
import { CepAnswers } from '../process/cep-answers.ts';
import { PaidKeys } from '../process/paid-keys.ts';
import { LoginLines } from '../process/login-lines.ts';
import { UsedUpWindows } from '../process/used-up-windows.ts';

export interface LocalOptions {
  readonly clock?: Clock;
  /** Standard output by default. */
  readonly log?: Log;
  readonly metrics: LocalMetrics;
  readonly dialects: Dialects;
  /** Records traces, if the configuration names a collector; a command records none. */
  readonly isTraced?: boolean;
  /** Aborts when the user of the context must stop. */
  readonly stopping: AbortSignal;
}

/**
 * Opens the database and creates local keys. It does not migrate, listen or run jobs. `parts`
 * closes everything in reverse order.
 */
export async function openLocal(
  config: Config,
  options: LocalOptions,
  parts: AsyncDisposableStack,
): Promise<LocalContext> {
  const { clock = systemClock, metrics, dialects, stopping } = options;
  const log =
    options.log ??
    createLog({
      level: config.logLevel,
      pretty: process.stdout.isTTY === true,
      clock: systemClock,
    });
  const tracing = options.isTraced ? await connectTracing(config, { clock, log }) : null;
  parts.defer(async () => tracing?.stop());
  if (config.databaseUrl === undefined) await makeFolder(config.dataDir);
  const { dataDir, encryptionKeys: configured } = config;
  const keys = loadEncryptionKeys({ configured, dataDir });
  // Awaited below, and on failure before that, so that no file is written afterwards.
  const settled = keys.then(
    () => undefined,
    () => undefined,
  );
  parts.defer(() => settled);
  const db = await openDatabase({
    databaseUrl: config.databaseUrl,
    dataDir: config.dataDir,
    clock,
    tracing,
    appEvents: config.appEvents !== null,
    onQuery: () => metrics.databaseQueries.inc(),
    onNotifications(areUp) {
      if (areUp) log.info('notifications of the database arrive again');
      else log.warn('notifications of the database do not arrive; polling replaces them');
    },
  });
  parts.defer(() => db.close());
  const sealingKeys = await keys;
  const openFiles = keepPrivate(config.dataDir);
  if (openFiles.length > 0) {
    const files = openFiles.length;
    log.warn({ files }, 'files in DATA_DIR are readable by other users and owned by another user');
  }
  return {
    config,
    clock,
    log,
    metrics,
    tracing,
    db,
    dialects,
    passwords: createPasswords(),
    sealer: createSealer(sealingKeys),
    usedUp: new UsedUpWindows(),
    cepAnswers: new CepAnswers(clock),
    paidKeys: new PaidKeys(),
    loginLines: new LoginLines(clock),
    stopping,
  };
}

/** @returns null without a collector; the packages of OpenTelemetry are then not loaded. */
async function connectTracing(
  config: Config,
  parts: { readonly clock: Clock; readonly log: Log },
): Promise<Tracing | null> {
  if (config.tracing === null) return null;
  const { openTracing } = await import('../telemetry/tracing.ts');
  return openTracing({ ...config.tracing, serviceVersion: manifest.version, ...parts });
}
