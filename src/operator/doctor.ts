/** Checks everything that Ponte needs, and says what to do about each problem. */
import { accessSync, constants, existsSync } from 'node:fs';
import { dirname } from 'node:path';
import type { Clock } from '../clock.ts';
import { ownAddress } from '../config/own-address.ts';
import { loadConfig, type Config, type Environment } from '../config/config.ts';
import { checkConfig } from './check-config.ts';
import { durability, passOptions } from './durability.ts';
import type {
  DatabaseInspection,
  InspectedBacklog,
  InspectedWebhooks,
} from './inspect-database.ts';
import { failedOften } from './inspection-repository.ts';
import { examineService, unexaminedService } from './doctor-service.ts';
import { bad, doubtful, formatDuration, ok, type Finding } from './finding.ts';
import { keysInUse } from './keys.ts';
import { OpError } from './op.ts';
import { reachProvider } from '../provider/reachability.ts';
import { startFailure } from './failure-message.ts';

export type { Finding };

export interface ExamineOptions {
  readonly environment: Environment;
  readonly clock: Clock;
  /** Inspects the database, in this process or through the running service. */
  inspectDatabase(): Promise<DatabaseInspection>;
  /** Reads the metrics of the running service. */
  readMetrics(url: URL): Promise<string>;
}

/** Checks everything; what cannot be checked is a finding too. */
export async function examine(options: ExamineOptions): Promise<Finding[]> {
  const { environment, clock } = options;
  const { faults } = await checkConfig(environment);
  if (faults.length > 0) {
    return faults.map(({ name, message }) => invalid(`${name} ${message}`));
  }
  const config = loadConfig(environment);
  const [ofDatabase, ofService, ofProvider, ofKey] = await Promise.all([
    database(options, config),
    service(options, config),
    provider(config, clock),
    signingKey(config),
  ]);
  return [
    ok('configuration', `valid for ${config.appEnv}`),
    dataFolder(config),
    ...ofDatabase,
    ...ofService,
    ...ofProvider,
    ...repeatedPayments(config),
    ofKey,
    encryptionKey(config),
    webhookSecret(config),
  ];
}

function invalid(says: string): Finding {
  const todo = 'correct it, and run this again: nothing else was checked';
  return { ...bad('configuration', says, todo), kind: 'usage' };
}

function dataFolder({ dataDir, databaseUrl, jwt, ...config }: Config): Finding {
  const name = 'data folder';
  const isUsed =
    config.provider.stub ||
    config.encryptionKeys.length === 0 ||
    [databaseUrl, jwt.privateKeyPem].some((setting) => setting === undefined);
  if (!isUsed) return ok(name, `${dataDir} is not used`);
  const nearest = existingPart(dataDir);
  try {
    accessSync(nearest, constants.R_OK | constants.W_OK | constants.X_OK);
  } catch {
    const todo = 'make it writable for the user that Ponte runs as, or set DATA_DIR';
    return bad(name, `${nearest} cannot be written to`, todo);
  }
  return ok(name, nearest === dataDir ? `${dataDir} is writable` : `${dataDir} can be created`);
}

function existingPart(folder: string): string {
  return existsSync(folder) || dirname(folder) === folder ? folder : existingPart(dirname(folder));
}

async function database(
  { inspectDatabase }: ExamineOptions,
  { appEnv, appEvents, databaseFailover }: Config,
): Promise<Finding[]> {
  let found: DatabaseInspection;
  try {
    found = await inspectDatabase();
  } catch (error) {
    const says = startFailure(error);
    const start = 'run this where the service was started; a first start creates the database';
    if (error instanceof OpError) return [doubtful('database', says, start)];
    const todo = 'check DATABASE_URL and the server; for the embedded database, DATA_DIR';
    return [bad('database', says, todo)];
  }
  const { kind, version, latencyMs, aheadMs } = found;
  const what = kind === 'embedded' ? 'embedded' : 'PostgreSQL';
  return [
    found.isReadOnly
      ? bad('database', `${what} ${version} is read-only: nothing can be stored`, readOnlyTodo)
      : ok('database', `${what} ${version} answers in ${latencyMs} ms`),
    ...(kind === 'embedded' ? [] : [durability(found.durability, databaseFailover)]),
    ...(appEnv === 'production' ? [databaseRole(found)] : []),
    ...(appEvents === null ? [] : [eventsToApp(found)]),
    migrations(found),
    compareClocks('database', aheadMs),
    ...(found.backlog ? waiting(found.backlog, kind) : []),
    ...(found.backlog && found.webhooks ? webhooks(found.webhooks, found.backlog) : []),
  ];
}

/** Reads work on a standby, so that without this everything else would look well. */
const readOnlyTodo =
  'name the primary in DATABASE_URL, promote this server, or see default_transaction_read_only';

/** A job loop starts a due job at once; the handbook's alarm has the same threshold. */
const maxDueSeconds = 60;

/** By then a webhook, or the statement, which is read every minute, has settled most payments. */
const maxUnknownSeconds = 15 * 60;

/** More are lost responses rather than slow ones. */
const maxUnknown = 20;

/** The provider reports most payments within seconds, and the statement is read meanwhile. */
const maxAcceptedSeconds = 30 * 60;

/** The waiting jobs, and what needs an operator. */
function waiting(found: InspectedBacklog, kind: DatabaseInspection['kind']): Finding[] {
  const { oldestDueSeconds, unknownPayments, oldestUnknownSeconds } = found;
  const age = formatDuration(oldestDueSeconds);
  const due = `one has been due for ${age}: no job loop runs, or all are busy`;
  const worker = kind === 'embedded' ? '' : ', or `ponte worker`';
  const start = `start the service with JOBS=inline${worker}; see \`ponte jobs stats\``;
  const unknown = `${unknownPayments}, the oldest for ${formatDuration(oldestUnknownSeconds)}`;
  return [
    oldestDueSeconds <= maxDueSeconds
      ? ok('due jobs', `none has been due for more than ${maxDueSeconds} s`)
      : bad('due jobs', due, start),
    toCheck('dead jobs', found.deadJobs, 'ponte jobs list --state dead'),
    failingJobs(found),
    toCheck('anomalies', found.anomalies, 'ponte webhook list --state anomaly'),
    toCheck('orphaned events', found.orphanedEvents, 'ponte webhook list --state orphaned'),
    piledUp('parked events', found.parkedEvents, 'ponte webhook list --state parked'),
    piledUp('received events', found.receivedEvents, 'ponte jobs stats'),
    oldestUnknownSeconds <= maxUnknownSeconds && unknownPayments <= maxUnknown
      ? ok('unknown payments', `none for more than ${maxUnknownSeconds / 60} min`)
      : doubtful('unknown payments', unknown, 'check them: `ponte pix list --stuck`'),
    toCheck('unlisted codes', found.unlistedCodes, 'ponte provider unknown'),
    toCheck('corrected payments', found.correctedPayments, 'ponte pix list --corrected'),
    acceptedPayments(found),
    toCheck('payments left in PAYING', found.overduePayments, 'ponte jobs stats'),
    differences(found),
    pause(found),
    toCheck('sends after a loss', found.heldSends, 'ponte pix list --stuck'),
    toCheck('unaccounted payments', found.unaccountedPayments, 'ponte reconcile list --blocking'),
    unstoredBlocks(found),
    disputes(found),
  ];
}

/** The provider answers a request at once. */
const maxRequestedDisputeSeconds = 60 * 60;

/** The special return mechanism (MED) gives the banks seven days for the analysis. */
const maxOpenDisputeSeconds = 8 * 24 * 60 * 60;

function disputes(found: InspectedBacklog): Finding {
  const { oldestRequestedDisputeSeconds: requested, oldestOpenDisputeSeconds: open } = found;
  const fix = '`ponte pix disputes`, and "Disputes" in the handbook';
  if (requested > maxRequestedDisputeSeconds) {
    return doubtful('disputes', `one is not confirmed for ${formatDuration(requested)}`, fix);
  }
  if (open > maxOpenDisputeSeconds) {
    return doubtful('disputes', `one is not decided for ${formatDuration(open)}`, fix);
  }
  return ok('disputes', 'the provider answers them');
}

function unstoredBlocks({ unstoredBlocks: count }: InspectedBacklog): Finding {
  const name = 'blocks that are not stored';
  if (count === 0) return ok(name, 'none');
  const says = `${count}: users may pay again what the statement shows`;
  return doubtful(name, says, 'run `ponte pix pause --reason <why>`, and report it as a defect');
}

function pause({ pause: open }: InspectedBacklog): Finding {
  const name = 'sends';
  if (!open) return ok(name, 'are not paused');
  const { seconds, by, reason, lostSince } = open;
  const loss = lostSince === null ? '' : `; commits may be lost since ${lostSince}`;
  const says = `paused for ${formatDuration(seconds)} by ${by}: ${reason}${loss}`;
  return bad(name, says, 'see "Restore" and "Failover" in the handbook; then `ponte pix resume`');
}

function toCheck(name: string, count: number, command: string): Finding {
  return count === 0
    ? ok(name, 'none')
    : doubtful(name, String(count), `check them: \`${command}\``);
}

function differences({ differences: open, oldDifferences: old }: InspectedBacklog): Finding {
  const name = 'differences';
  if (old === 0) return ok(name, open === 0 ? 'none' : `${open}, none for more than a day`);
  const says = `${old} between the provider's statement and what is stored, for more than a day`;
  return doubtful(name, says, 'check them: `ponte reconcile list`');
}

function failingJobs({ failingJobs: failing }: InspectedBacklog): Finding {
  const name = 'failing jobs';
  const usual = `none has failed ${failedOften} times, and no periodic one failed last time`;
  if (failing.length === 0) return ok(name, usual);
  const says = failing.map(({ kind, jobs }) => `${jobs} ${kind}`).join(', ');
  return doubtful(
    name,
    says,
    'their last errors: `ponte jobs list --failing`, of events `ponte webhook list --state received`',
  );
}

/** As many events are usual; the handbook's alarms have the same numbers. */
const usualEvents = { 'parked events': 50, 'received events': 500 } as const;

function piledUp(name: keyof typeof usualEvents, count: number, command: string): Finding {
  const says = count === 0 ? 'none' : String(count);
  return count <= usualEvents[name]
    ? ok(name, says)
    : doubtful(name, says, `check them: \`${command}\``);
}

function acceptedPayments({ acceptedPayments: count, ...found }: InspectedBacklog): Finding {
  const name = 'accepted payments';
  const seconds = found.oldestAcceptedSeconds;
  if (seconds <= maxAcceptedSeconds) {
    return ok(name, `none waits for its webhook for more than ${maxAcceptedSeconds / 60} min`);
  }
  const says = `${count} wait for their webhook, the oldest for ${formatDuration(seconds)}`;
  return doubtful(name, says, 'check them: `ponte pix list --stuck`');
}

/** What the database has of the webhooks of the provider. */
function webhooks(found: InspectedWebhooks, backlog: InspectedBacklog): Finding[] {
  const total = found.refusals.reduce((sum, { refusals }) => sum + refusals, 0);
  const reasons = found.refusals.map(({ reason, refusals }) => `${refusals} ${reason}`).join(', ');
  const last = formatDuration(found.lastRefusedSeconds);
  return [
    lastWebhook(found, backlog),
    total === 0
      ? ok('refused webhooks', 'none within an hour')
      : doubtful(
          'refused webhooks',
          `${total} within an hour, the last one ${last} ago: ${reasons}`,
          'see "A webhook did not arrive" in the handbook: compare WEBHOOK_SECRET with the ' +
            "provider's",
        ),
    found.unreadEvents === 0
      ? ok('unread events', 'none within a day')
      : doubtful(
          'unread events',
          `${found.unreadEvents} within a day that no dialect reads, or about an open transaction`,
          'check them: `ponte webhook list --state ignored --since 1d`',
        ),
  ];
}

/** Accepted payments need webhooks; without such a payment, a quiet hour is usual. */
function lastWebhook(
  { newestWebhookSeconds: seconds }: InspectedWebhooks,
  { oldestAcceptedSeconds }: InspectedBacklog,
): Finding {
  const name = 'last webhook';
  const says = seconds === null ? 'none yet' : `${formatDuration(seconds)} ago`;
  const isQuiet = seconds === null || seconds > maxAcceptedSeconds;
  if (!isQuiet || oldestAcceptedSeconds <= maxAcceptedSeconds) return ok(name, says);
  const todo = 'see "A webhook did not arrive" in the handbook';
  return doubtful(name, `${says}, and accepted payments wait for theirs`, todo);
}

/** Checks that the role of DATABASE_URL does not own the tables. */
export function databaseRole({ ownsTables }: Pick<DatabaseInspection, 'ownsTables'>): Finding {
  const name = 'database role';
  if (!ownsTables) return ok(name, 'does not own the tables');
  const says = 'owns the tables: it can drop the triggers that keep the timeline append-only';
  return doubtful(name, says, 'run the SQL of `ponte migrate grants`, and use its service role');
}

/** Checks that the app's backend receives the final status of transactions. */
function eventsToApp({ writesAppEvents }: Pick<DatabaseInspection, 'writesAppEvents'>): Finding {
  const name = 'app events';
  if (writesAppEvents) return ok(name, 'are written to the outbox');
  const says = 'are not written: the connections lack the setting ponte.app_events';
  return bad(name, says, passOptions);
}

function migrations({ pending, unknown }: DatabaseInspection): Finding {
  const name = 'migrations';
  if (pending.length > 0) {
    return bad(
      name,
      `${pending.length} not applied`,
      'run `ponte migrate up`, or start the service',
    );
  }
  if (unknown.length === 0) return ok(name, 'all applied');
  const says = `all applied, and ${unknown.length} of another version`;
  const todo = 'see "Upgrade" in the handbook: a release runs on that of the next one';
  return doubtful(name, says, todo);
}

/** Access tokens tolerate 30 seconds; synchronised clocks differ by less than one. */
const maxAheadMs = 5_000;

function compareClocks(whose: string, aheadMs: number): Finding {
  const name = `clock and the ${whose}'s`;
  const apart = `${(Math.abs(aheadMs) / 1_000).toFixed(1)} s apart`;
  if (Math.abs(aheadMs) <= maxAheadMs) return ok(name, apart);
  const which = aheadMs > 0 ? 'ahead' : 'behind';
  const todo =
    'synchronise the clocks by NTP; if `ponte bank advance` has moved this one, ' +
    'a new DATA_DIR undoes it';
  return bad(name, `${apart}: the ${whose} is ${which}`, todo);
}

/** The service of this configuration; of several instances, the one on this machine. */
async function service(
  { readMetrics, clock }: ExamineOptions,
  { host, port, metricsHost, metricsPort, trustProxyHops }: Config,
): Promise<Finding[]> {
  const where =
    metricsPort === undefined ? { host, port } : { host: metricsHost, port: metricsPort };
  const address = `${ownAddress(where)}/metrics`;
  if (metricsPort === undefined && trustProxyHops > 0) {
    return [unexaminedService(address, 'behind a proxy they need METRICS_PORT')];
  }
  if (where.port === 0) return [unexaminedService(address, 'its port is any free one')];
  try {
    return examineService(await readMetrics(new URL(address)), clock.now());
  } catch (error) {
    return [unexaminedService(address, startFailure(error))];
  }
}

async function provider(config: Config, clock: Clock): Promise<Finding[]> {
  const { stub, baseUrl = '', timeoutMs } = config.provider;
  if (stub) {
    const isReal = config.appEnv === 'staging';
    const says = 'simulated: no money moves';
    const todo = isReal ? 'set PROVIDER_STUB=false and PROVIDER_BASE_URL' : null;
    return [{ name: 'provider', state: isReal ? 'doubtful' : 'ok', says, todo }];
  }
  try {
    const { status, latencyMs, time } = await reachProvider({ baseUrl, timeoutMs, clock });
    const reached = ok('provider', `${baseUrl} answers in ${latencyMs} ms, with ${status}`);
    if (time === null) return [reached];
    return [reached, compareClocks('provider', time.getTime() - clock.now().getTime())];
  } catch (error) {
    const says = `${baseUrl} cannot be reached (${formatReason(error)})`;
    return [bad('provider', says, 'check PROVIDER_BASE_URL and the network')];
  }
}

/** At a bank that does not recognise a repeat, each further attempt may debit again. */
function repeatedPayments({ provider: { stub, paymentRetries } }: Config): Finding[] {
  if (stub) return [];
  const once = 'are sent once (PROVIDER_PAYMENT_RETRIES=0)';
  const again =
    `are sent up to ${paymentRetries + 1} times with the same ids: ` +
    'at most once only at a bank that recognises a repeated clientRequestId';
  return [ok('payments', paymentRetries === 0 ? once : again)];
}

function formatReason(error: unknown): string {
  if (!(error instanceof Error)) return 'unknown error';
  if (error.name === 'AbortError') return 'no response within PROVIDER_TIMEOUT_MS';
  return 'code' in error ? String(error.code) : error.name;
}

async function signingKey(config: Config): Promise<Finding> {
  const name = 'signing key';
  try {
    const { signs, generated, accepts } = await keysInUse(config);
    if (!signs) return ok(name, 'is generated at the first start');
    const others = accepts.length === 0 ? '' : `, and ${accepts.length} more are accepted`;
    const where = generated ? 'generated, ' : '';
    return ok(name, `${where}RSA of ${signs.bits} bits, ${signs.kid}${others}`);
  } catch {
    return bad(name, 'the generated key cannot be read', 'remove jwt-private.pem from DATA_DIR');
  }
}

function encryptionKey({ encryptionKeys: { length } }: Config): Finding {
  const name = 'encryption key';
  if (length === 0) return ok(name, 'generated into DATA_DIR');
  return ok(name, length === 1 ? 'set, 256 bits' : 'two are set: the first one encrypts');
}

function webhookSecret({ webhookSecrets, provider: { stub } }: Config): Finding {
  const count = webhookSecrets.length;
  if (count > 0) return ok('webhook secret', count === 1 ? 'set' : 'two are accepted');
  if (stub) return ok('webhook secret', 'not needed by the simulated bank');
  const says =
    'not set: anyone who can reach the webhook address can report a payment as completed';
  return doubtful('webhook secret', says, 'set WEBHOOK_SECRET');
}
