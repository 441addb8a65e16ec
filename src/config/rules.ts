/** The rules about combinations of settings, and those that a format cannot express. */
import { accessSync, constants, statSync } from 'node:fs';
import type { AppEnv } from './entry.ts';
import { formats, matchesCertificate } from './formats.ts';
import { isAnyHost, isLoopbackHost } from './own-address.ts';
import { entries, type SettingName } from './schema.ts';
import type { Values } from './values.ts';
import { maxAllowedCallMs, maxCallMs, type CallSettings } from '../domain/call-duration.ts';

/** A setting that is missing or invalid. */
export interface Breach {
  readonly name: SettingName;
  readonly isMissing?: boolean;
  /** The expected value: "an integer from 1 to 60". */
  readonly expected: string;
  /** The condition, unless the rule always applies: "in production". */
  readonly when?: string;
}

/**
 * @param values the settings after conversion and defaults; the caller ignores breaches of settings
 *   whose format is already invalid.
 * @param appEnv undefined when the environment is unknown.
 */
export function* findBreaches(
  values: Partial<Values>,
  appEnv: AppEnv | undefined,
): Generator<Breach> {
  if (values.APP_ENV === undefined) {
    const when = 'when PROVIDER_STUB is false or HOST is not a loopback address';
    yield { name: 'APP_ENV', isMissing: true, expected: entries.APP_ENV.expected, when };
  }
  const isStub = appEnv !== 'production' && values.PROVIDER_STUB !== false;
  if (!isStub && values.PROVIDER_BASE_URL === undefined) {
    const { expected, inProduction } = entries.PROVIDER_BASE_URL;
    yield {
      name: 'PROVIDER_BASE_URL',
      isMissing: true,
      expected: appEnv === 'production' ? inProduction.expected : expected,
      when: 'when PROVIDER_STUB is false',
    };
  }
  yield* webhookSecretBreaches(values, appEnv);
  if (values.APP_EVENTS_URL !== undefined && values.APP_EVENTS_SECRET === undefined) {
    const { expected } = entries.APP_EVENTS_SECRET;
    yield { name: 'APP_EVENTS_SECRET', isMissing: true, expected, when: 'with APP_EVENTS_URL' };
  }
  yield* clientCertificateBreaches(values);
  yield* apiKeyHeaderBreaches(values);
  yield* callDurationBreaches(values);
  yield* jobBreaches(values, appEnv);
  yield* metricsPortBreaches(values);
  yield* dataDirBreaches(values);
  if (values.DATABASE_URL !== undefined && URL.canParse(values.DATABASE_URL)) {
    yield* databaseBreaches(new URL(values.DATABASE_URL), values.DATABASE_TLS, appEnv);
  }
}

/** A certificate and its key must be set together. */
function* clientCertificateBreaches(values: Partial<Values>): Generator<Breach> {
  const { PROVIDER_CLIENT_CERT: certificate, PROVIDER_CLIENT_KEY: key } = values;
  if (certificate === undefined && key === undefined) return;
  for (const name of ['PROVIDER_CLIENT_CERT', 'PROVIDER_CLIENT_KEY'] as const) {
    if (values[name] !== undefined) continue;
    const when = 'when one of PROVIDER_CLIENT_CERT and PROVIDER_CLIENT_KEY is set';
    yield { name, isMissing: true, expected: entries[name].expected, when };
  }
  if (certificate === undefined || key === undefined || matchesCertificate(certificate, key))
    return;
  yield { name: 'PROVIDER_CLIENT_KEY', expected: entries.PROVIDER_CLIENT_KEY.expected };
}

/** Headers that the provider's client sends itself, or that belong to the connection. */
const ownHeaders: ReadonlySet<string> = new Set([
  'accept',
  'authorization',
  'content-type',
  'content-length',
  'x-request-id',
  'traceparent',
  'host',
  'connection',
  'transfer-encoding',
  'upgrade',
  'expect',
  'keep-alive',
  'te',
]);

function* apiKeyHeaderBreaches({
  PROVIDER_API_KEY_HEADER: header,
}: Partial<Values>): Generator<Breach> {
  if (header === undefined || !ownHeaders.has(header.toLowerCase())) return;
  const { expected } = entries.PROVIDER_API_KEY_HEADER;
  yield { name: 'PROVIDER_API_KEY_HEADER', expected };
}

/** Limits a call's duration: claims, the sweep and operator commands wait for the longest call. */
function* callDurationBreaches(values: Partial<Values>): Generator<Breach> {
  const {
    PROVIDER_TIMEOUT_MS: timeoutMs,
    PROVIDER_RETRIES: retries,
    PROVIDER_PAYMENT_RETRIES: paymentRetries = retries,
  } = values;
  if (![timeoutMs, retries, paymentRetries].every((value) => typeof value === 'number')) return;
  const calls = { timeoutMs, retries, paymentRetries } as Required<CallSettings>;
  if (maxCallMs(calls) <= maxAllowedCallMs) return;
  const longest = `${maxAllowedCallMs / 60_000} minutes`;
  const isByPayments = calls.paymentRetries > calls.retries;
  const by = isByPayments ? 'PROVIDER_PAYMENT_RETRIES' : 'PROVIDER_RETRIES';
  const expected = `a time-out with which a call and its ${by} take at most ${longest}`;
  yield { name: 'PROVIDER_TIMEOUT_MS', expected };
}

/** JOBS=off needs a worker, which needs a provider and a database that processes can share. */
function* jobBreaches(
  { JOBS: jobs, PROVIDER_STUB: stub, DATABASE_URL: databaseUrl }: Partial<Values>,
  appEnv: AppEnv | undefined,
): Generator<Breach> {
  // A test runs the jobs itself.
  if (jobs !== 'off' || appEnv === 'test') return;
  const name = 'JOBS';
  const expected = '`inline`';
  if (stub === true) {
    yield { name, expected, when: 'with PROVIDER_STUB=true: no worker reaches the simulated bank' };
  } else if (databaseUrl === undefined) {
    yield {
      name,
      expected,
      when: 'without DATABASE_URL: the embedded database allows one process',
    };
  }
}

/** Two listeners of one process cannot have one port, except on two addresses. */
function* metricsPortBreaches(values: Partial<Values>): Generator<Breach> {
  const { HOST: host, PORT: port, METRICS_HOST: metricsHost, METRICS_PORT: metricsPort } = values;
  if (metricsPort === undefined || metricsPort === 0 || metricsPort !== port) return;
  const hosts = [host, metricsHost];
  const isOnAll = hosts.some((one) => one !== undefined && isAnyHost(one));
  if (host !== metricsHost && !isOnAll) return;
  yield { name: 'METRICS_PORT', expected: 'another port than PORT' };
}

/** A folder that does not exist is made at the start. */
function* dataDirBreaches({ DATA_DIR: path }: Partial<Values>): Generator<Breach> {
  if (path !== undefined && isFile(path)) {
    yield { name: 'DATA_DIR', expected: 'a folder, not a file' };
  }
}

/** Whether the service is limited to this machine: the stub is on and HOST is loopback. */
export function isLocal({ PROVIDER_STUB: stub, HOST: host }: Partial<Values>): boolean {
  if (stub === false) return false;
  return host === undefined || isLoopbackHost(host);
}

/** Applies the format of production in staging, too, where a real provider is used. */
function* webhookSecretBreaches(
  { PROVIDER_STUB: stub, WEBHOOK_SECRET: secrets }: Partial<Values>,
  appEnv: AppEnv | undefined,
): Generator<Breach> {
  if (appEnv !== 'staging' || stub !== false) return;
  if (secrets !== undefined && formats['random-webhook-secrets'](secrets)) return;
  const { expected } = entries.WEBHOOK_SECRET.inProduction;
  const when = 'in staging with PROVIDER_STUB=false';
  yield { name: 'WEBHOOK_SECRET', isMissing: secrets === undefined, expected, when };
}

/** The parameters of DATABASE_URL that name files. */
const fileParameters = ['sslrootcert', 'sslcert', 'sslkey'] as const;

function* databaseBreaches(
  { hostname, searchParams }: URL,
  tls: unknown,
  appEnv: AppEnv | undefined,
): Generator<Breach> {
  const name = 'DATABASE_URL';
  // The driver uses the last value of a parameter, and prefers the parameter `host`.
  const host = searchParams.getAll('host').at(-1) || hostname;
  const isVerified = searchParams.getAll('sslmode').at(-1) === 'verify-full';
  if (isVerified && tls === 'off') {
    const expected = 'unset while DATABASE_URL has sslmode=verify-full: remove one of the two';
    yield { name: 'DATABASE_TLS', expected };
  } else if (appEnv === 'production' && tls !== 'off') {
    const when = 'in production, or DATABASE_TLS=off must be set, for a private network only';
    if (/^(?:\/|%2f)/i.test(host)) {
      yield { name, expected: 'an address of a host, as a Unix socket has no TLS,', when };
    } else if (!isVerified || host === '') {
      yield { name, expected: 'an address with a host and with sslmode=verify-full', when };
    }
  }
  if (searchParams.has('options')) {
    yield { name, expected: 'an address without `options`, which would replace those of Ponte' };
  }
  for (const parameter of fileParameters) {
    const path = searchParams.getAll(parameter).at(-1);
    if (path !== undefined && !isReadable(path)) {
      yield { name, expected: `an address whose ${parameter} names a file that can be read` };
    }
  }
}

function isFile(path: string): boolean {
  try {
    return !statSync(path).isDirectory();
  } catch {
    return false;
  }
}

function isReadable(path: string): boolean {
  try {
    accessSync(path, constants.R_OK);
    return true;
  } catch {
    return false;
  }
}
