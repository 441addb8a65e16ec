/**
 * The dependencies of operations, jobs and commands. They are created once, by `app/compose.ts` or,
 * without a provider, by `context/local.ts`, and passed down; no state is shared by import.
 */
import type { Clock } from '../clock.ts';
import type { Config } from '../config/config.ts';
import type { Database } from '../db/database.ts';
import type { Log } from '../telemetry/log.ts';
import type { LocalMetrics, Metrics } from '../telemetry/metrics.ts';
import type { Tracing } from '../telemetry/tracing.ts';
import type { Dialects } from '../provider/dialect/dialects.ts';
import type { CallOptions, Provider, ProviderSession } from '../provider/provider.ts';
import type { AccessTokens } from '../process/access-tokens.ts';
import type { Passwords } from '../process/passwords.ts';
import type { Sealer } from '../security/sealing.ts';
import type { EventPlaces } from '../process/event-places.ts';
import type { PaymentTurns } from '../process/payment-turns.ts';
import type { PaidKeys } from '../process/paid-keys.ts';
import type { RefusedWebhooks } from '../process/refused-webhooks.ts';
import type { LargeEvents } from '../process/large-events.ts';
import type { CepAnswers } from '../process/cep-answers.ts';
import type { ClaimedKeys } from '../process/claimed-keys.ts';
import type { UnstoredOutcomes } from '../process/unstored-outcomes.ts';
import type { OpenScan } from '../domain/document-scan.ts';
import type { UploadSlots } from '../process/upload-slots.ts';
import type { LoginLines } from '../process/login-lines.ts';
import type { UsedUpWindows } from '../process/used-up-windows.ts';

/** The context without a provider, for code that must not call one. */
export interface LocalContext {
  readonly config: Config;
  readonly clock: Clock;
  readonly log: Log;
  readonly metrics: LocalMetrics;
  /** Null: no traces. */
  readonly tracing: Tracing | null;
  readonly db: Database;
  /** Reads the provider's messages. */
  readonly dialects: Dialects;
  readonly passwords: Passwords;
  readonly sealer: Sealer;
  /** The throttles that this process knows to be exhausted. */
  readonly usedUp: UsedUpWindows;
  /** What the provider has answered about CEPs. */
  readonly cepAnswers: CepAnswers;
  /** The keys that this process knows to have been paid. */
  readonly paidKeys: PaidKeys;
  /** The logins that wait in this process. */
  readonly loginLines: LoginLines;
  /** Aborts when the service begins to stop, which ends all waits. */
  readonly stopping: AbortSignal;
}

export interface Context extends LocalContext {
  readonly metrics: Metrics;
  readonly accessTokens: AccessTokens;
  readonly provider: Provider;
  /**
   * Reads the statement of a user whose last commits may be lost, if that was not done since,
   * outside any transaction: the door through which an order or a login reconciles the user first.
   * @returns whether the user may order: false when the statement cannot be read whole now.
   * @throws ProviderError when the token is refused.
   */
  readonly reconcile: (session: ProviderSession, options: CallOptions) => Promise<boolean>;
  readonly uploads: UploadSlots;
  /** Scans the documents that are uploaded. */
  readonly openScan: OpenScan;
  /** Outcomes of payments that this process knows and the database has not stored yet. */
  readonly outcomes: UnstoredOutcomes;
  /** The idempotency keys of sends that this process has seen lately. */
  readonly claimedKeys: ClaimedKeys;
  /** Limits the connections that this process opens for payments. */
  readonly paymentTurns: PaymentTurns;
  /** Room in this process for events that it settles as soon as it has stored them. */
  readonly eventPlaces: EventPlaces;
  /** Counts the webhooks that this process refuses. */
  readonly refusedWebhooks: RefusedWebhooks;
  /** Limits the concurrent events with very many items in this process. */
  readonly largeEvents: LargeEvents;
  /** The configured port or, once the service listens, the actual port for `PORT=0`. */
  readonly listening: { port: number };
}
