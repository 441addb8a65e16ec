/**
 * The configuration: the environment, read once at start and validated as a whole. No other code of
 * the service reads `process.env`.
 */
import { closeSync, fstatSync, openSync, readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { parseEnv } from 'node:util';
import type { AppEnv } from './entry.ts';
import { dialectNames, splitPublicPems, splitList } from './formats.ts';
import { readSettings, systemCode, type ConfigFault, type Environment } from './load.ts';
import type { LogLevel } from './schema.ts';
import type { Values } from './values.ts';
import { centsFromDecimal } from '../domain/money.ts';

export type { AppEnv, Environment, LogLevel };

export interface Config {
  readonly appEnv: AppEnv;
  readonly host: string;
  /** 0: any free port. */
  readonly port: number;
  /** Accepted `Host` names in `local`, beside `host`, localhost and IP addresses. */
  readonly allowedHosts: readonly string[];
  /** Undefined: the embedded database in `dataDir`. */
  readonly databaseUrl: string | undefined;
  /** An absolute path. */
  readonly dataDir: string;
  readonly provider: {
    readonly stub: boolean;
    /** Set if `stub` is false; without a trailing slash. */
    readonly baseUrl: string | undefined;
    readonly email: string | undefined;
    readonly password: string | undefined;
    /** PEMs: the trusted authorities, and the client certificate with its key. */
    readonly tls: {
      /** Undefined: Node's authorities. */
      readonly ca: string | undefined;
      readonly cert: string | undefined;
      readonly key: string | undefined;
    };
    /** The header that authenticates every call; null: none is sent. */
    readonly apiKey: { readonly header: string; readonly value: string } | null;
    readonly ispb: string;
    /** The time-out of one attempt. */
    readonly timeoutMs: number;
    /** Attempts after the first one. */
    readonly retries: number;
    /** Whether a line of the statement without a status counts as settled. */
    readonly statementSettledOnly: boolean;
    /** The dialects that are read: names of this project's, and absolute paths of further files. */
    readonly dialects: { readonly names: readonly string[]; readonly files: readonly string[] };
  };
  /** Whether a PIX key of kind E_MAIL must be the user's own e-mail. */
  readonly pixKeyOwnEmail: boolean;
  /** What a user may send by day and by night in São Paulo, in centavos; null: no limit. */
  readonly pixLimits: { readonly day: number | null; readonly night: number | null };
  /** 0: the simulated bank never posts its webhook automatically. */
  readonly stubSettleMs: number;
  /** Whether the state of the simulated bank survives a restart. */
  readonly stubJournal: boolean;
  /** Empty: webhooks need no secret. */
  readonly webhookSecrets: readonly string[];
  /** Empty: webhooks need no signature. */
  readonly webhookSigningSecrets: readonly string[];
  /** Empty: webhooks may come from anywhere. */
  readonly webhookAllowedAddresses: readonly string[];
  /** The URL that receives app events, and one or two signing secrets; null: none are sent. */
  readonly appEvents: { readonly url: string; readonly secrets: readonly string[] } | null;
  readonly onboardingLocalOnly: boolean;
  readonly jwt: {
    readonly issuer: string;
    readonly audience: string;
    readonly ttlSeconds: number;
    /** Undefined: generated into `dataDir`. */
    readonly privateKeyPem: string | undefined;
    readonly publicKeysPem: readonly string[];
  };
  /** 32 bytes each. The first seals; each can unseal. Empty: a key is generated into `dataDir`. */
  readonly encryptionKeys: readonly Buffer[];
  readonly uploadMaxBytes: number;
  /** `host:port`, or the path of a Unix socket; undefined: documents are not scanned. */
  readonly documentScanner: string | undefined;
  /** In days. */
  readonly retention: {
    readonly webhookPayloads: number;
    readonly finishedJobs: number;
    /** Since the last change of an application. */
    readonly onboarding: number;
  };
  readonly throttle: {
    /** 0: no limit. */
    readonly loginPerMinute: number;
    /** 0: no limit. */
    readonly addressPerMinute: number;
    /** 0: no limit. */
    readonly userPerMinute: number;
    /** Validation codes of the whole service; 0: no limit. */
    readonly codesPerHour: number;
    /** Documents of the whole service, in MiB; 0: no limit. */
    readonly uploadsMibPerDay: number;
  };
  readonly trustProxyHops: number;
  /** The largest numbers of simultaneous connections. */
  readonly connectionLimits: {
    readonly total: number;
    /** 0: no limit. Always 0 behind a proxy, whose address all connections come from. */
    readonly perAddress: number;
  };
  readonly jobs: 'inline' | 'off';
  readonly jobLeaseSeconds: number;
  readonly metricsPort: number | undefined;
  readonly metricsHost: string;
  readonly logLevel: LogLevel;
}

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
    return parseEnv(readFileSync(file, 'utf8'));
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
  return buildConfig(values as unknown as Values);
}

function buildConfig(values: Values): Config {
  return frozen({
    appEnv: values.APP_ENV,
    host: values.HOST,
    port: values.PORT,
    allowedHosts: splitList(values.ALLOWED_HOSTS ?? ''),
    databaseUrl: values.DATABASE_URL,
    dataDir: resolve(values.DATA_DIR),
    provider: providerConfig(values),
    pixKeyOwnEmail: values.PIX_KEY_OWN_EMAIL,
    pixLimits: {
      day: centsFromDecimal(values.PIX_LIMIT_DAY ?? ''),
      night: centsFromDecimal(values.PIX_LIMIT_NIGHT ?? ''),
    },
    stubSettleMs: values.STUB_SETTLE_MS,
    stubJournal: values.STUB_JOURNAL,
    webhookSecrets: splitList(values.WEBHOOK_SECRET ?? ''),
    webhookSigningSecrets: splitList(values.WEBHOOK_SIGNING_SECRET ?? ''),
    webhookAllowedAddresses: splitList(values.WEBHOOK_ALLOWED_ADDRESSES ?? ''),
    appEvents:
      values.APP_EVENTS_URL === undefined
        ? null
        : { url: values.APP_EVENTS_URL, secrets: splitList(values.APP_EVENTS_SECRET ?? '') },
    onboardingLocalOnly: values.ONBOARDING_LOCAL_ONLY,
    jwt: {
      issuer: values.JWT_ISSUER,
      audience: values.JWT_AUDIENCE,
      ttlSeconds: values.JWT_TTL_SECONDS,
      privateKeyPem: values.JWT_PRIVATE_KEY,
      publicKeysPem: splitPublicPems(values.JWT_PUBLIC_KEYS ?? '') ?? [],
    },
    encryptionKeys: splitList(values.ENCRYPTION_KEY ?? '').map((key) => Buffer.from(key, 'base64')),
    uploadMaxBytes: values.UPLOAD_MAX_BYTES,
    documentScanner: values.DOCUMENT_SCANNER,
    retention: {
      webhookPayloads: values.WEBHOOK_RETENTION_DAYS,
      finishedJobs: values.JOB_RETENTION_DAYS,
      onboarding: values.ONBOARDING_EXPIRY_DAYS,
    },
    throttle: {
      loginPerMinute: values.THROTTLE_LOGIN_PER_MINUTE,
      addressPerMinute: values.THROTTLE_ADDRESS_PER_MINUTE,
      userPerMinute: values.THROTTLE_USER_PER_MINUTE,
      codesPerHour: values.CODES_PER_HOUR,
      uploadsMibPerDay: values.UPLOADS_MIB_PER_DAY,
    },
    trustProxyHops: values.TRUST_PROXY_HOPS,
    connectionLimits: {
      total: values.MAX_CONNECTIONS,
      perAddress: values.TRUST_PROXY_HOPS === 0 ? values.MAX_CONNECTIONS_PER_ADDRESS : 0,
    },
    jobs: values.JOBS,
    jobLeaseSeconds: values.JOB_LEASE_SECONDS,
    metricsPort: values.METRICS_PORT,
    metricsHost: values.METRICS_HOST,
    logLevel: values.LOG_LEVEL,
  });
}

function providerConfig(values: Values): Config['provider'] {
  return {
    stub: values.PROVIDER_STUB,
    baseUrl: values.PROVIDER_BASE_URL?.replace(/\/+$/, ''),
    email: values.PROVIDER_EMAIL,
    password: values.PROVIDER_PASSWORD,
    tls: {
      ca: values.PROVIDER_CA,
      cert: values.PROVIDER_CLIENT_CERT,
      key: values.PROVIDER_CLIENT_KEY,
    },
    apiKey:
      values.PROVIDER_API_KEY === undefined
        ? null
        : { header: values.PROVIDER_API_KEY_HEADER, value: values.PROVIDER_API_KEY },
    ispb: values.PROVIDER_ISPB,
    timeoutMs: values.PROVIDER_TIMEOUT_MS,
    retries: values.PROVIDER_RETRIES,
    statementSettledOnly: values.PROVIDER_STATEMENT_SETTLED_ONLY,
    dialects: {
      names: splitList(values.PROVIDER_DIALECTS ?? dialectNames.join()),
      files: splitList(values.PROVIDER_DIALECT_FILES ?? '').map((path) => resolve(path)),
    },
  };
}

/** Freezes deeply, except the bytes of a Buffer, which cannot be frozen. */
function frozen<Value extends object>(value: Value): Value {
  for (const part of Object.values(value)) {
    if (typeof part === 'object' && part !== null && !Buffer.isBuffer(part)) frozen(part);
  }
  return Object.freeze(value);
}
