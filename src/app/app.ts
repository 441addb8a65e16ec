/** The composition root: starts and stops a service or a worker. */
import manifest from '../../package.json' with { type: 'json' };
import { pause } from '../clock.ts';
import { compose, type AppOptions } from './compose.ts';
import type { Config } from '../config/config.ts';
import { announceService } from '../config/running-service.ts';
import type { Context } from '../context/context.ts';
import { readServedContract } from './contract-file.ts';
import { pendingMigrations } from '../db/migrate.ts';
import { createHttpServer, createMetricsServer } from '../http/server.ts';
import { hotStatements } from './hot-statements.ts';
import { jobs } from './jobs.ts';
import { JobLoop } from '../jobs/loop.ts';
import { EventQueue } from '../settlement/event-queue.ts';
import { operations } from './operations.ts';
import type { DefectKind } from '../telemetry/metrics.ts';
import { openMovedClock, type MovedClock } from '../process/moved-clock.ts';
import type { DevUser } from '../operator/ensure-dev-user.ts';
import type { BankControls } from '../pages/bank-controls.ts';
import { loadScenarios, type Bank } from '../provider/compose.ts';
import { findPrincipal } from '../auth/banking-sessions.ts';
import { finishSends } from '../pix/finish-sends.ts';
import { countAddress, countMiss } from '../auth/throttle.ts';
import { findUserByReference } from '../auth/user-repository.ts';
import { startWithRetry } from './start-with-retry.ts';
import { describeFailure } from '../operator/failure-message.ts';

export interface App {
  /** The base URL, such as `http://127.0.0.1:3000`. */
  readonly url: string;
  readonly context: Context;
  /** The simulated bank, in stub mode. */
  readonly bank: Bank | null;
  /** The lines that the start prints: what runs and where. */
  readonly banner: readonly string[];
  /** Logs and counts an unhandled error. */
  readonly reportDefect: (kind: DefectKind, error: unknown) => void;
  /**
   * Opens connections, prepares the hot statements on them, and loads MikroORM, so that no customer
   * waits for it. Call it after `listen`: before, it would take a third of the start. It never
   * rejects: on failure, the first request opens or loads what it needs.
   */
  preload(): Promise<void>;
  /** Stops in two stages: refuses new requests and jobs, then waits for those in progress. */
  stop(): Promise<void>;
}

/**
 * Starts the service: opens the context, ensures the development user, listens. It waits up to a
 * minute for an unavailable database.
 * @throws Error when a part cannot start; the parts that were started before are stopped again.
 */
export function startApp(config: Config, options: AppOptions = {}): Promise<App> {
  return startWithRetry(config, options, (patient, parts) => start(config, patient, parts));
}

/** A worker, which runs jobs and serves `/metrics` on METRICS_PORT, and no requests of the app. */
export interface Worker {
  /** Null without METRICS_PORT. */
  readonly metricsUrl: string | null;
  readonly banner: readonly string[];
  readonly reportDefect: App['reportDefect'];
  stop(): Promise<void>;
}

/**
 * Starts a worker, for servers that run with `JOBS=off`. It waits up to a minute for an unavailable
 * database.
 * @throws Error when a part cannot start.
 */
export function startWorker(config: Config, options: AppOptions = {}): Promise<Worker> {
  return startWithRetry(config, options, async (patient, parts) => {
    const stopping = new AbortController();
    const { context } = await compose(config, { ...patient, stopping: stopping.signal }, parts);
    await serveCommands(context, parts);
    const work = backgroundWork(context);
    const metrics = createMetricsServer(context);
    parts.defer(() => Promise.all([work.stop(), metrics.drain()]).then(() => undefined));
    parts.defer(() => stopping.abort());
    // Before the loop claims jobs: a taken port ends the start.
    const metricsUrl = await metrics.listen();
    await work.start();
    return {
      banner: [
        `Ponte runs jobs (${config.appEnv})`,
        `  provider   ${describeProvider(config)}`,
        `  database   ${describeDatabase(config)}`,
        `  metrics    ${metricsUrl ?? 'not served: set METRICS_PORT'}`,
        `  stop       Ctrl-C`,
      ],
      metricsUrl,
      reportDefect: defectReporter(context),
      stop: () => parts.disposeAsync(),
    };
  });
}

/** The jobs and the events that a process works on without a request. */
interface BackgroundWork {
  /** Whether the queues could be read the last time. */
  readonly healthy: boolean;
  start(): Promise<void>;
  stop(): Promise<void>;
}

function backgroundWork(context: Context): BackgroundWork {
  const loop = new JobLoop({ context, jobs, leaseMs: context.config.jobLeaseSeconds * 1_000 });
  const events = new EventQueue({ context });
  return {
    get healthy() {
      return loop.healthy && events.healthy;
    },
    async start() {
      await Promise.all([loop.start(), events.start()]);
      context.eventPlaces.connect(events);
    },
    async stop() {
      await Promise.all([loop.stop(), events.stop()]);
    },
  };
}

/**
 * Listens for commands on a socket, because the embedded database allows only one process. If the
 * socket cannot be opened, the service runs without it.
 */
async function serveCommands(context: Context, parts: AsyncDisposableStack): Promise<void> {
  if (context.db.kind !== 'embedded') return;
  // Loaded on demand: a service on PostgreSQL does not need this code.
  const [{ listenForOps }, { ops }] = await Promise.all([
    import('../operator/socket/server.ts'),
    import('../operator/index.ts'),
  ]);
  try {
    const listener = await listenForOps({ context, ops, describeFailure });
    parts.defer(() => listener.close());
  } catch (error) {
    context.log.warn({ error }, 'commands cannot reach this service');
  }
}

function defectReporter({ log, metrics }: Context): App['reportDefect'] {
  return (kind, error) => {
    metrics.defects.inc({ kind });
    const level = kind === 'uncaught_exception' ? 'fatal' : 'error';
    log[level]({ error, kind }, 'a defect: an error was not handled');
  };
}

async function start(
  config: Config,
  options: AppOptions,
  parts: AsyncDisposableStack,
): Promise<App> {
  const stopping = new AbortController();
  const moved = openMovedClock(config, options.clock);
  const { context, bank } = await compose(
    config,
    { ...options, ...(moved && { clock: moved }), stopping: stopping.signal },
    parts,
  );
  const local = moved && (await developmentParts(context, bank, moved));
  await serveCommands(context, parts);
  const work = config.jobs === 'inline' ? backgroundWork(context) : null;
  const http = createHttpServer({
    context,
    operations,
    contract: options.contract ?? (await readServedContract()),
    pages: local?.pages ?? [],
    readiness: () => readiness(context, work),
    findPrincipal,
    countAddress,
    countMiss,
  });
  if (work) {
    parts.defer(() => work.stop());
    await work.start();
  }
  // A payment continues after its client disconnects, so draining connections is not sufficient.
  parts.defer(async () => {
    await Promise.all([http.drain(), finishSends(context, maxSendMs)]);
  });
  parts.defer(() => stopping.abort());
  const { url, port } = await http.listen();
  context.listening.port = port;
  if (local) parts.defer(announceService(config, port));
  return {
    url,
    context,
    bank,
    banner: bannerLines(config, url, local?.devUser ?? null),
    reportDefect: defectReporter(context),
    preload: () => preload(context),
    stop: () => parts.disposeAsync(),
  };
}

async function preload({ db, log }: Context): Promise<void> {
  await db.keepWarm(hotStatements);
  try {
    await db.orm();
  } catch (error) {
    log.warn({ error }, 'MikroORM could not be loaded in the background');
  }
}

/** How long a stopping service waits for payments, in milliseconds: as long as for requests. */
const maxSendMs = 15_000;

/** Loads the parts that exist only with `APP_ENV=local`. */
async function developmentParts(context: Context, bank: Bank | null, clock: MovedClock) {
  const [{ ensureDevUser }, { developmentPages }, scenarios] = await Promise.all([
    import('../operator/ensure-dev-user.ts'),
    import('../pages/index.ts'),
    loadScenarios(),
  ]);
  const { config } = context;
  const devUser = await ensureDevUser(context, config.provider);
  const provider = describeProvider(config);
  const { version } = manifest;
  const pages = await developmentPages(context, {
    scenarios,
    provider,
    version,
    bank: bank && bankControls(context, bank, clock),
  });
  return { devUser, pages };
}

function bankControls(context: Context, bank: Bank, clock: MovedClock): BankControls {
  // The next call makes at most this many attempts, so all of them fail.
  const { retries, paymentRetries } = context.config.provider;
  const attempts = Math.max(retries, paymentRetries) + 1;
  return {
    payCharge: (identification) => bank.payCharge(identification),
    findCharge: (copyPaste) => bank.findCharge(copyPaste),
    makeCode: (amountCents, state) => bank.makeCode({ amountCents, state }),
    isCustomer: async (email) => {
      const user = await findUserByReference(context, email);
      return user?.email.toLowerCase() === email;
    },
    receive: (email, amountCents) => bank.receive(email, amountCents),
    findTransfer: async (transactionId) => {
      const { findPix } = await import('../operator/pix-repository.ts');
      return (await findPix(context, transactionId))?.endToEnd ?? null;
    },
    refund: (endToEnd, amountCents) => bank.refund(endToEnd, amountCents),
    expireCustomerTokens: (email) => bank.expireCustomerTokens(email),
    failNextCall: (email) => bank.failCalls(email, attempts),
    advance: (ms) => clock.advance(ms),
  };
}

/**
 * Checks the database, the migrations and the job loop. The provider is not checked, because the
 * service can answer many requests without it. Notifications are reported only, because waits and
 * jobs fall back to polling.
 */
async function readiness(context: Context, work: BackgroundWork | null) {
  const migrations = await Promise.race([
    pendingMigrations(context.db).then(
      (pending) => pending.length === 0,
      () => null,
    ),
    pause(context.clock, maxCheckMs).then(() => null),
  ]);
  const checks = {
    database: migrations !== null,
    migrations: migrations === true,
    ...(work && { jobs: work.healthy }),
  };
  const ready = Object.values(checks).every(Boolean);
  const { version } = manifest;
  return { ready, version, checks: { ...checks, notifications: context.db.notificationsUp() } };
}

/** A database that takes longer cannot serve requests either. */
const maxCheckMs = 2_000;

function bannerLines(config: Config, url: string, devUser: DevUser | null): string[] {
  return [
    `Ponte runs (${config.appEnv})`,
    `  API        ${url}/api/v1`,
    `  contract   ${url}/openapi.yaml`,
    ...(config.appEnv === 'local' ? [`  pages      ${url}/dev and ${url}/docs`] : []),
    `  provider   ${describeProvider(config)}`,
    `  database   ${describeDatabase(config)}`,
    ...(devUser ? [`  login      ${formatLogin(devUser)}`] : []),
    `  stop       Ctrl-C`,
  ];
}

function formatLogin({ email, password, login }: DevUser): string {
  switch (login) {
    case 'created':
    case 'ready':
      return `${email} / ${password}`;
    case 'other_password':
      return `${email}, with a password of its own`;
    case 'disabled':
      return `${email} is disabled`;
  }
}

function describeProvider({ provider }: Config): string {
  return provider.stub ? 'simulated bank' : String(provider.baseUrl);
}

function describeDatabase({ databaseUrl, dataDir }: Config): string {
  if (databaseUrl === undefined) return `embedded, in ${dataDir}`;
  return `PostgreSQL at ${new URL(databaseUrl).host}`;
}
