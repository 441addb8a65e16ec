/**
 * The configuration: the environment, read once at start and validated as a whole. No other code of
 * the service reads `process.env`.
 */
import { closeSync, fstatSync, openSync, readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { parseEnv } from 'node:util';
import type { AppEnv } from './entry.ts';
import {
  dialectNames,
  noNames,
  providerFeatures,
  readOtlpHeaders,
  splitList,
  splitPublicPems,
  type ProviderFeature,
} from './formats.ts';
import { readSettings, systemCode, type ConfigFault, type Environment } from './load.ts';
import type { Values } from './values.ts';
import { participantName, type Bank } from '../domain/bank.ts';
import { centsFromDecimal } from '../domain/money.ts';
import { normaliseTaxId } from '../domain/tax-id.ts';

export type { AppEnv, Environment };

/** The settings as the service uses them, frozen. */
export type Config = Frozen<ReturnType<typeof buildConfig>>;

/** The environment is not a valid configuration. */
export class ConfigError extends Error {
  readonly faults: readonly ConfigFault[];

  constructor(faults: readonly ConfigFault[]) {
    super(`invalid configuration: ${faults.map((fault) => fault.name).join(', ')}`);
    this.name = 'ConfigError';
    this.faults = faults;
  }
}

/**
 * Reads the environment of the process, and the `.env` file of the working directory if there is
 * one. The environment takes precedence, even with an empty value.
 * @throws ConfigError when the file exists and cannot be read, or when others than root may write
 *   what root would run with.
 */
export function readEnvironment(): Environment {
  return { ...readDotEnv(), ...process.env };
}

/** The names of the settings that come from the `.env` file. */
export function namesFromDotEnv(): ReadonlySet<string> {
  const own = new Set(Object.keys(process.env));
  return new Set(Object.keys(readDotEnv()).filter((name) => !own.has(name)));
}

function readDotEnv(): Environment {
  let file: number;
  try {
    file = openSync('.env', 'r');
  } catch (error) {
    if (systemCode(error) === 'ENOENT') return {};
    throw dotEnvError(`cannot be read (${systemCode(error)})`);
  }
  try {
    // Of the open file: another one may have its name by now.
    const error = dotEnvFault(fstatSync(file), process.getuid?.());
    if (error !== null) throw dotEnvError(error);
    // A mark that some editors write would hide the first setting.
    return parseEnv(readFileSync(file, 'utf8').replace(/^\ufeff/, ''));
  } catch (error) {
    if (error instanceof ConfigError) throw error;
    throw dotEnvError(`cannot be read (${systemCode(error)})`);
  } finally {
    closeSync(file);
  }
}

const writableByOthers = 0o022;

/**
 * Root must not run with what another user may write.
 * @param uid the user of the process; undefined where there are no users.
 * @returns the fault of the file, or null.
 */
export function dotEnvFault(
  { mode, uid: owner }: { readonly mode: number; readonly uid: number },
  uid: number | undefined,
): string | null {
  if (uid !== 0) return null;
  const todo = 'run `chown root .env && chmod go-w .env`, or start as another user';
  if (owner !== 0) return `belongs to another user, and root reads it: ${todo}`;
  return (mode & writableByOthers) === 0
    ? null
    : `may be written by others, and root reads it: ${todo}`;
}

function dotEnvError(message: string): ConfigError {
  return new ConfigError([{ name: '.env', message }]);
}

/**
 * Converts an environment to the configuration; an empty value counts as unset. Reads only the
 * files that a `…_FILE` setting names.
 * @returns the frozen configuration.
 * @throws ConfigError with all errors.
 */
export function loadConfig(environment: Environment): Config {
  const { values, faults } = readSettings(environment);
  if (faults.length > 0) throw new ConfigError(faults);
  return frozen(buildConfig(values as unknown as Values));
}

/** The shape of `Config`: a setting is declared in `schema.ts`, and has its place here. */
function buildConfig(values: Values) {
  const isBehindProxy = values.TRUST_PROXY_HOPS > 0;
  return {
    appEnv: values.APP_ENV,
    host: values.HOST,
    port: values.PORT,
    allowedHosts: splitList(values.ALLOWED_HOSTS ?? ''),
    databaseUrl: values.DATABASE_URL,
    /** What takes over from a lost database server; undefined: not declared. */
    databaseFailover: values.DATABASE_FAILOVER,
    /** An absolute path. */
    dataDir: resolve(values.DATA_DIR),
    provider: buildProviderConfig(values),
    pixKeyOwnEmail: values.PIX_KEY_OWN_EMAIL,
    ...buildLimitsConfig(values),
    stubSettleMs: values.STUB_SETTLE_MS,
    stubJournal: values.STUB_JOURNAL,
    /** Empty: webhooks need no secret. */
    webhookSecrets: splitList(values.WEBHOOK_SECRET ?? ''),
    /** Empty: webhooks need no signature. */
    webhookSigningSecrets: splitList(values.WEBHOOK_SIGNING_SECRET ?? ''),
    /** Empty: webhooks may come from anywhere. */
    webhookAllowedAddresses: splitList(values.WEBHOOK_ALLOWED_ADDRESSES ?? ''),
    corsAllowedOrigins: splitList(values.CORS_ALLOWED_ORIGINS ?? ''),
    appEvents: buildAppEventsConfig(values),
    onboardingLocalOnly: values.ONBOARDING_LOCAL_ONLY,
    jwt: {
      issuer: values.JWT_ISSUER,
      audience: values.JWT_AUDIENCE,
      ttlSeconds: values.JWT_TTL_SECONDS,
      /** Undefined: generated into `dataDir`. */
      privateKeyPem: values.JWT_PRIVATE_KEY,
      publicKeysPem: splitPublicPems(values.JWT_PUBLIC_KEYS ?? '') ?? [],
    },
    /** The first seals; each can unseal. Empty: a key is generated into `dataDir`. */
    encryptionKeys: splitList(values.ENCRYPTION_KEY ?? '').map((key) => Buffer.from(key, 'base64')),
    uploadMaxBytes: values.UPLOAD_MAX_BYTES,
    documentScanner: values.DOCUMENT_SCANNER,
    /** In days. */
    retention: {
      webhookPayloads: values.WEBHOOK_RETENTION_DAYS,
      finishedJobs: values.JOB_RETENTION_DAYS,
      onboarding: values.ONBOARDING_EXPIRY_DAYS,
    },
    throttle: buildThrottles(values),
    trustProxyHops: values.TRUST_PROXY_HOPS,
    connectionLimits: {
      total: values.MAX_CONNECTIONS,
      /** 0: no limit, as behind a proxy, from whose address all connections come. */
      perAddress: isBehindProxy ? 0 : values.MAX_CONNECTIONS_PER_ADDRESS,
    },
    jobs: values.JOBS,
    jobLeaseSeconds: values.JOB_LEASE_SECONDS,
    metricsPort: values.METRICS_PORT,
    metricsHost: values.METRICS_HOST,
    tracing: buildTracingConfig(values),
    logLevel: values.LOG_LEVEL,
  };
}

/** The URL that receives app events, and one or two signing secrets; null: none are sent. */
function buildAppEventsConfig({ APP_EVENTS_URL: url, APP_EVENTS_SECRET: secrets = '' }: Values) {
  return url === undefined ? null : { url, secrets: splitList(secrets) };
}

/** 0: no limit. */
function buildThrottles(values: Values) {
  return {
    loginPerMinute: values.THROTTLE_LOGIN_PER_MINUTE,
    addressPerMinute: values.THROTTLE_ADDRESS_PER_MINUTE,
    userPerMinute: values.THROTTLE_USER_PER_MINUTE,
    codesPerHour: values.CODES_PER_HOUR,
    uploadsMibPerHour: values.UPLOADS_MIB_PER_HOUR,
  };
}

/** Null: no traces. */
function buildTracingConfig(values: Values) {
  const { OTEL_EXPORTER_OTLP_ENDPOINT: endpoint, OTEL_EXPORTER_OTLP_HEADERS: headers = '' } =
    values;
  if (endpoint === undefined) return null;
  return {
    endpoint,
    headers: readOtlpHeaders(headers) ?? {},
    serviceName: values.OTEL_SERVICE_NAME,
    ratio: Number(values.OTEL_TRACES_SAMPLER_ARG),
  };
}

function buildLimitsConfig(values: Values) {
  const cents = (amount: string | undefined): number | null => centsFromDecimal(amount ?? '');
  return {
    /** What a user may send by day and by night in São Paulo, in centavos; null: no limit. */
    pixLimits: { day: cents(values.PIX_LIMIT_DAY), night: cents(values.PIX_LIMIT_NIGHT) },
    /** The same for a class of payees that is summed apart; null: it is part of `pixLimits`. */
    pixLimitsByPayee: {
      company: {
        day: cents(values.PIX_LIMIT_DAY_COMPANY),
        night: cents(values.PIX_LIMIT_NIGHT_COMPANY),
      },
      own: { day: cents(values.PIX_LIMIT_DAY_OWN), night: cents(values.PIX_LIMIT_NIGHT_OWN) },
    },
  };
}

function buildProviderConfig(values: Values) {
  const { PROVIDER_API_KEY: apiKey, PROVIDER_API_KEY_HEADER: header } = values;
  return {
    stub: values.PROVIDER_STUB,
    /** Set if `stub` is false; without a trailing slash. */
    baseUrl: values.PROVIDER_BASE_URL?.replace(/\/+$/, ''),
    email: values.PROVIDER_EMAIL,
    password: values.PROVIDER_PASSWORD,
    tls: {
      ca: values.PROVIDER_CA,
      cert: values.PROVIDER_CLIENT_CERT,
      key: values.PROVIDER_CLIENT_KEY,
    },
    apiKey: apiKey === undefined ? null : { header, value: apiKey },
    ispb: values.PROVIDER_ISPB,
    bank: buildBank(values),
    timeoutMs: values.PROVIDER_TIMEOUT_MS,
    retries: values.PROVIDER_RETRIES,
    /** For payments and returns; 0: each is sent once, whatever is answered. */
    paymentRetries: values.PROVIDER_PAYMENT_RETRIES ?? values.PROVIDER_RETRIES,
    /** In each process; 0: no limit, as with the simulated bank, which has no connections. */
    paymentsPerSecond: values.PROVIDER_STUB ? 0 : values.PROVIDER_PAYMENTS_PER_SECOND,
    /** In lower case; null: responses do not repeat the id of their request. */
    echoHeader: values.PROVIDER_ECHOES_REQUEST_ID?.toLowerCase() ?? null,
    statementSettledOnly: values.PROVIDER_STATEMENT_SETTLED_ONLY,
    statementIsFinal: values.PROVIDER_STUB || values.PROVIDER_STATEMENT_FINAL,
    statementHasIds: values.PROVIDER_STUB || values.PROVIDER_STATEMENT_HAS_IDS,
    dialects: {
      names:
        values.PROVIDER_DIALECTS === noNames
          ? []
          : splitList(values.PROVIDER_DIALECTS ?? dialectNames.join()),
      files: splitList(values.PROVIDER_DIALECT_FILES ?? '').map((path) => resolve(path)),
    },
    features: enabledFeatures(values),
  };
}

/** The institution that keeps the customers' accounts. */
function buildBank(values: Values): Bank {
  const document = normaliseTaxId(values.PROVIDER_INSTITUTION_DOCUMENT ?? '');
  return {
    ispb: values.PROVIDER_ISPB,
    name: values.PROVIDER_INSTITUTION_NAME ?? participantName(values.PROVIDER_ISPB),
    ...(document !== null && { document }),
  };
}

/** Unset, the simulated bank offers every feature and another provider none. */
function enabledFeatures({ PROVIDER_FEATURES: names, PROVIDER_STUB: isStub }: Values) {
  const unset = isStub ? providerFeatures.join() : noNames;
  return providerFeatures.filter((name) => splitList(names ?? unset).includes(name));
}

/** Whether the provider offers a feature. */
export function offers({ provider }: Pick<Config, 'provider'>, feature: ProviderFeature): boolean {
  return provider.features.includes(feature);
}

type Frozen<Value> = Value extends Buffer
  ? Value
  : Value extends object
    ? { readonly [Key in keyof Value]: Frozen<Value[Key]> }
    : Value;

/** Freezes deeply, except the bytes of a Buffer, which cannot be frozen. */
function frozen<Value extends object>(value: Value): Frozen<Value> {
  for (const part of Object.values(value)) {
    if (typeof part === 'object' && part !== null && !Buffer.isBuffer(part)) frozen(part);
  }
  return Object.freeze(value) as Frozen<Value>;
}
