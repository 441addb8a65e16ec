/**
 * Configuration is the environment, read once at start and validated as a whole: every fault is
 * reported at once, by name, with what is expected and never with the value, which may be secret.
 * Nothing else in the service reads `process.env`.
 */
import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { parseEnv } from 'node:util';
import { Ajv } from 'ajv';
import { formats, splitPublicPems, splitSecrets } from './config-formats.ts';
import { entries, settingNames, type SettingEntry, type SettingName } from './config-schema.ts';
import {
  appEnvs,
  type AppEnv,
  type CrashPoint,
  type LogLevel,
  type Values,
} from './config-values.ts';

export { settings } from './config-schema.ts';

export type { AppEnv, CrashPoint, LogLevel };

export type Environment = Readonly<Record<string, string | undefined>>;

export interface Config {
  readonly appEnv: AppEnv;
  readonly host: string;
  /** 0: any free one. */
  readonly port: number;
  /** Undefined: the embedded database in `dataDir`. */
  readonly databaseUrl: string | undefined;
  /** An absolute path. */
  readonly dataDir: string;
  readonly provider: {
    readonly stub: boolean;
    /** Set whenever `stub` is false; without a slash at its end. */
    readonly baseUrl: string | undefined;
    readonly email: string | undefined;
    readonly password: string | undefined;
    readonly ispb: string;
    /** Of one attempt. */
    readonly timeoutMs: number;
    /** Attempts after the first one. */
    readonly retries: number;
  };
  /** 0: the stub never posts its webhook by itself. */
  readonly stubSettleMs: number;
  /** Empty: webhooks need no secret. */
  readonly webhookSecrets: readonly string[];
  readonly onboardingLocalOnly: boolean;
  readonly jwt: {
    readonly issuer: string;
    readonly audience: string;
    readonly ttlSeconds: number;
    /** Undefined: generated into `dataDir`. */
    readonly privateKeyPem: string | undefined;
    readonly publicKeysPem: readonly string[];
  };
  /** 32 bytes; undefined: generated into `dataDir`. */
  readonly encryptionKey: Buffer | undefined;
  readonly uploadMaxBytes: number;
  readonly throttle: {
    /** 0: no limit. */
    readonly loginPerMinute: number;
    /** 0: no limit. */
    readonly addressPerMinute: number;
  };
  readonly trustProxyHops: number;
  readonly jobs: 'inline' | 'off';
  readonly metricsPort: number | undefined;
  readonly logLevel: LogLevel;
  /** Undefined: the process does not kill itself. */
  readonly crashPoint: CrashPoint | undefined;
}

/** What is wrong with one setting; the message continues its name: "must be …". */
export interface ConfigFault {
  readonly name: string;
  readonly message: string;
}

/** The environment does not make a configuration. */
export class ConfigError extends Error {
  readonly faults: readonly ConfigFault[];

  constructor(faults: readonly ConfigFault[]) {
    super(`invalid configuration: ${faults.map((fault) => fault.name).join(', ')}`);
    this.name = 'ConfigError';
    this.faults = faults;
  }
}

/**
 * Reads the process's environment, and the `.env` file of the working directory where there is
 * one. The real environment wins, even with an empty value.
 * @throws ConfigError when the file exists and cannot be read.
 */
export function readEnvironment(): Environment {
  return { ...readDotEnv(), ...process.env };
}

function readDotEnv(): Environment {
  try {
    return parseEnv(readFileSync('.env', 'utf8'));
  } catch (error) {
    if (systemCode(error) === 'ENOENT') return {};
    const message = `cannot be read (${systemCode(error)})`;
    throw new ConfigError([{ name: '.env', message }]);
  }
}

function systemCode(error: unknown): string {
  return error instanceof Error && 'code' in error ? String(error.code) : 'unknown error';
}

/**
 * Turns an environment into the configuration; an empty value counts as unset. Reads no file but
 * those that a `…_FILE` setting names.
 * @returns the configuration, frozen.
 * @throws ConfigError with every fault.
 */
export function loadConfig(environment: Environment): Config {
  const faults = new Map<SettingName, string>();
  const values = givenValues(environment);
  const fromFile = readFiles(values, faults);
  const appEnv = appEnvs.find((known) => known === (values['APP_ENV'] ?? 'local'));
  const validate = ajv.compile<Values>(schemaOf(appEnv, fromFile));
  const valid = validate(values);
  for (const error of validate.errors ?? []) {
    const name = (error.params['missingProperty'] ?? error.instancePath.slice(1)) as SettingName;
    const missing = error.keyword === 'required';
    const blamed = fromFile.get(name) ?? name;
    if (!faults.has(blamed)) faults.set(blamed, faultMessage(name, { missing, blamed, appEnv }));
  }
  for (const [name, message] of ruleFaults(values, appEnv)) {
    if (!faults.has(name)) faults.set(name, message);
  }
  if (!valid || faults.size > 0) throw new ConfigError(inOrder(faults));
  return configOf(values);
}

const ajv = new Ajv({ allErrors: true, useDefaults: true, formats });

function inOrder(faults: ReadonlyMap<SettingName, string>): ConfigFault[] {
  return settingNames.flatMap((name) => {
    const message = faults.get(name);
    return message === undefined ? [] : [{ name, message }];
  });
}

function givenValues(environment: Environment): Record<string, unknown> {
  const given = settingNames.flatMap((name) => {
    const value = environment[name];
    return value === undefined || value === '' ? [] : [[name, convert(name, value)] as const];
  });
  return Object.fromEntries(given);
}

/** What cannot be converted stays text, so that validation refuses it. */
function convert(name: SettingName, value: string): unknown {
  const entry: SettingEntry = entries[name];
  if (entry.schema.type === 'integer') return /^\d{1,15}$/.test(value) ? Number(value) : value;
  if (entry.schema.type === 'boolean' && /^(true|false)$/.test(value)) return value === 'true';
  // Tools that write an environment on one line leave the line ends of a PEM as two characters.
  return entry.orFile ? value.replaceAll('\\n', '\n') : value;
}

/**
 * Puts the contents of the named files in the place of the settings that they stand for.
 * @returns which setting is to blame for a value that came from a file.
 */
function readFiles(
  values: Record<string, unknown>,
  faults: Map<SettingName, string>,
): Map<SettingName, SettingName> {
  const fromFile = new Map<SettingName, SettingName>();
  for (const name of settingNames) {
    const { orFile }: SettingEntry = entries[name];
    const path = orFile && values[orFile];
    if (!orFile || typeof path !== 'string') continue;
    if (values[name] !== undefined) {
      faults.set(orFile, `must not be set together with ${name}`);
      continue;
    }
    fromFile.set(name, orFile);
    try {
      values[name] = readFileSync(path, 'utf8');
    } catch (error) {
      faults.set(orFile, `names a file that cannot be read (${systemCode(error)})`);
    }
  }
  return fromFile;
}

/** What an unknown environment requires is not known; its own fault is enough. */
function schemaOf(appEnv: AppEnv | undefined, fromFile: ReadonlyMap<SettingName, unknown>): object {
  const properties = settingNames.map((name) => {
    const entry: SettingEntry = entries[name];
    const byEnv = appEnv && entry.defaultIn?.[appEnv];
    const fallback = entry.default ?? byEnv;
    const schema = fallback === undefined ? entry.schema : { ...entry.schema, default: fallback };
    return [name, schema] as const;
  });
  const required = settingNames.filter((name) => {
    const { requiredIn }: SettingEntry = entries[name];
    return appEnv && requiredIn?.includes(appEnv) && !fromFile.has(name);
  });
  return { type: 'object', properties: Object.fromEntries(properties), required };
}

function faultMessage(
  name: SettingName,
  fault: { missing: boolean; blamed: SettingName; appEnv: AppEnv | undefined },
): string {
  const { expected } = entries[name];
  if (fault.missing) return `is required in ${fault.appEnv}: ${expected}`;
  return fault.blamed === name ? `must be ${expected}` : `must name a file with ${expected}`;
}

/** The rules that look at two settings at once. */
function* ruleFaults(
  values: Partial<Values>,
  appEnv: AppEnv | undefined,
): Generator<[SettingName, string]> {
  if (values.PROVIDER_STUB === false && values.PROVIDER_BASE_URL === undefined) {
    const { expected } = entries.PROVIDER_BASE_URL;
    yield ['PROVIDER_BASE_URL', `is required when PROVIDER_STUB is false: ${expected}`];
  }
  if (values.CRASH_POINT !== undefined && appEnv !== 'local' && appEnv !== 'test') {
    yield ['CRASH_POINT', 'must be unset outside local and test'];
  }
  if (appEnv !== 'production') return;
  if (values.PROVIDER_STUB) yield ['PROVIDER_STUB', 'must be `false` in production'];
  for (const name of ['THROTTLE_LOGIN_PER_MINUTE', 'THROTTLE_ADDRESS_PER_MINUTE'] as const) {
    if (values[name] === 0) yield [name, 'must not be 0 in production'];
  }
}

function configOf(values: Values): Config {
  return frozen({
    appEnv: values.APP_ENV,
    host: values.HOST,
    port: values.PORT,
    databaseUrl: values.DATABASE_URL,
    dataDir: resolve(values.DATA_DIR),
    provider: providerOf(values),
    stubSettleMs: values.STUB_SETTLE_MS,
    webhookSecrets: values.WEBHOOK_SECRET ? splitSecrets(values.WEBHOOK_SECRET) : [],
    onboardingLocalOnly: values.ONBOARDING_LOCAL_ONLY,
    jwt: {
      issuer: values.JWT_ISSUER,
      audience: values.JWT_AUDIENCE,
      ttlSeconds: values.JWT_TTL_SECONDS,
      privateKeyPem: values.JWT_PRIVATE_KEY,
      publicKeysPem: splitPublicPems(values.JWT_PUBLIC_KEYS ?? '') ?? [],
    },
    encryptionKey: values.ENCRYPTION_KEY ? Buffer.from(values.ENCRYPTION_KEY, 'base64') : undefined,
    uploadMaxBytes: values.UPLOAD_MAX_BYTES,
    throttle: {
      loginPerMinute: values.THROTTLE_LOGIN_PER_MINUTE,
      addressPerMinute: values.THROTTLE_ADDRESS_PER_MINUTE,
    },
    trustProxyHops: values.TRUST_PROXY_HOPS,
    jobs: values.JOBS,
    metricsPort: values.METRICS_PORT,
    logLevel: values.LOG_LEVEL,
    crashPoint: values.CRASH_POINT,
  });
}

function providerOf(values: Values): Config['provider'] {
  return {
    stub: values.PROVIDER_STUB,
    baseUrl: values.PROVIDER_BASE_URL?.replace(/\/+$/, ''),
    email: values.PROVIDER_EMAIL,
    password: values.PROVIDER_PASSWORD,
    ispb: values.PROVIDER_ISPB,
    timeoutMs: values.PROVIDER_TIMEOUT_MS,
    retries: values.PROVIDER_RETRIES,
  };
}

/** Freezes to the bottom; a Buffer's bytes cannot be frozen. */
function frozen<Value extends object>(value: Value): Value {
  for (const part of Object.values(value)) {
    if (typeof part === 'object' && part !== null && !Buffer.isBuffer(part)) frozen(part);
  }
  return Object.freeze(value);
}
