/** Creates the context of a running service: the local context, migrated, with the provider. */
import type { Clock } from '../clock.ts';
import { composeProvider, type Bank } from '../provider/compose.ts';
import { ConfigError, type Config } from '../config/config.ts';
import { configuredDialects } from '../provider/configured-dialects.ts';
import type { Context } from '../context/context.ts';
import type { Contract } from '../contract/contract.ts';
import { findIdentity } from '../auth/user-repository.ts';
import { migrateUp } from '../db/migrate.ts';
import { hasOwnSessions, sharedSessions } from '../db/own-sessions.ts';
import { openScan } from '../onboarding/document-scanner.ts';
import { createAccessTokens } from '../process/access-tokens.ts';
import { openLocal } from '../context/local.ts';
import type { Log } from '../telemetry/log.ts';
import { createMetrics } from '../telemetry/metrics.ts';
import { measure } from './metrics-readings.ts';
import { releaseAfterCrash } from '../ledger/sweep-repository.ts';
import { EventPlaces } from '../process/event-places.ts';
import { loadSigningKeys } from '../security/signing-keys.ts';
import { RefusedWebhooks } from '../process/refused-webhooks.ts';
import { LargeEvents } from '../process/large-events.ts';
import { ClaimedKeys } from '../process/claimed-keys.ts';
import { PaymentTurns } from '../process/payment-turns.ts';
import { UnstoredOutcomes } from '../process/unstored-outcomes.ts';
import { createUploadSlots } from '../process/upload-slots.ts';
import { reconcileDoor, webhookDelivery } from './doors.ts';

export interface AppOptions {
  readonly clock?: Clock;
  readonly log?: Log;
  /** Dialects that are open already; default: those of the configuration are opened. */
  readonly dialects?: Context['dialects'];
  /** The contract, if it is loaded already; default: it is read from its files. */
  readonly contract?: Contract;
  /** Aborts when the start is cancelled, which ends the wait for a database. */
  readonly cancelled?: AbortSignal;
  /** Called with a sentence before a step of the start that takes long. */
  readonly onStep?: (step: string) => void;
}

export interface Composed {
  readonly context: Context;
  /** The simulated bank, in stub mode. */
  readonly bank: Bank | null;
}

/** @throws ConfigError behind a pooler that shares sessions. */
async function requireOwnSessions(databaseUrl: string): Promise<void> {
  if (await hasOwnSessions(databaseUrl)) return;
  throw new ConfigError([{ name: 'DATABASE_URL', message: sharedSessions }]);
}

/** How long a stopping service tries to store outcomes while the database is unavailable, in ms. */
const maxDrainMs = 10_000;

/**
 * Opens the local context, applies pending migrations and connects the provider. `parts` closes
 * everything in reverse order.
 */
export async function compose(
  config: Config,
  options: AppOptions & { readonly stopping: AbortSignal },
  parts: AsyncDisposableStack,
): Promise<Composed> {
  const metrics = createMetrics();
  const dialects = options.dialects ?? configuredDialects(config);
  const local = await openLocal(config, { ...options, metrics, dialects, isTraced: true }, parts);
  const { clock, log, stopping } = local;
  if (config.databaseUrl !== undefined) await requireOwnSessions(config.databaseUrl);
  const { issuer, audience, ttlSeconds, ...keyFiles } = config.jwt;
  const keys = await loadSigningKeys({ ...keyFiles, dataDir: config.dataDir });
  await migrateUp(local.db, {
    clock,
    onPending: (count) =>
      options.onStep?.(`Applying ${count} ${count === 1 ? 'migration' : 'migrations'}…`),
    onWait: (reason) => log.warn({ reason }, 'a migration waits'),
  });
  const delivery = webhookDelivery();
  const { provider, bank, close } = await composeProvider({
    config,
    clock,
    log,
    metrics,
    tracing: local.tracing,
    shutdown: stopping,
    dialects: local.dialects,
    service: {
      deliver: delivery.deliver,
      introduce: (email) => findIdentity(local, email),
    },
  });
  parts.defer(close);
  const context: Context = {
    ...local,
    metrics,
    accessTokens: createAccessTokens({ keys, issuer, audience, ttlSeconds, clock }),
    provider,
    reconcile: reconcileDoor(() => context),
    outcomes: new UnstoredOutcomes({ clock, log, metrics }),
    claimedKeys: new ClaimedKeys(),
    paymentTurns: new PaymentTurns(clock, config.provider.paymentsPerSecond),
    openScan: () => openScan(config.documentScanner),
    uploads: createUploadSlots(local.db.kind === 'embedded' ? 2 : 4),
    eventPlaces: new EventPlaces(),
    refusedWebhooks: new RefusedWebhooks({ db: local.db, clock, log, metrics }),
    largeEvents: new LargeEvents(),
    listening: { port: config.port },
  };
  parts.defer(() => context.refusedWebhooks.store());
  parts.defer(() => context.outcomes.drain(maxDrainMs));
  delivery.connect(context);
  measure(context);
  await releaseAfterCrash(context);
  return { context, bank };
}
