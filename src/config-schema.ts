/**
 * Every setting: what it means, what it must be, its default and where it is required. This is the
 * one list of them; `config-reading.ts` validates against it, and tests hold `.env.example` and the
 * README to it.
 */
import type { Format } from './config-formats.ts';
import { appEnvs, logLevels, type AppEnv, type Values } from './config-values.ts';

export type SettingName = keyof Values;

type Value = string | number | boolean;

export interface SettingEntry {
  readonly meaning: string;
  /** Ends the sentence "must be …". */
  readonly expected: string;
  /** JSON Schema of the converted value. */
  readonly schema: Readonly<Record<string, unknown>> & {
    readonly type: 'string' | 'integer' | 'boolean';
  };
  readonly default?: Value;
  /** The default where it depends on the environment. */
  readonly defaultIn?: Readonly<Partial<Record<AppEnv, Value>>>;
  readonly requiredIn?: readonly AppEnv[];
  /** The setting that names a file with this one's value. */
  readonly orFile?: SettingName;
  /** Nobody is shown its value. */
  readonly isSecret?: true;
}

const deployed = ['staging', 'production'] as const satisfies AppEnv[];

const text = { type: 'string', minLength: 1, maxLength: 1024 } as const;

const flag = { schema: { type: 'boolean' }, expected: '`true` or `false`' } as const;

function integer(
  minimum: number,
  maximum: number,
): { schema: { type: 'integer'; minimum: number; maximum: number }; expected: string } {
  const expected = `an integer from ${minimum} to ${maximum}`;
  return { schema: { type: 'integer', minimum, maximum }, expected };
}

function oneOf(words: readonly string[]): {
  schema: { type: 'string'; enum: readonly string[] };
  expected: string;
} {
  return { schema: { type: 'string', enum: words }, expected: `one of ${words.join(', ')}` };
}

function formatted(format: Format): { type: 'string'; format: string } {
  return { type: 'string', format };
}

export const entries = {
  APP_ENV: {
    meaning: 'where the service runs: local, test, staging or production',
    ...oneOf(appEnvs),
    default: 'local',
  },
  HOST: {
    meaning: 'listening address',
    expected: 'a host name or an address',
    schema: { ...text, pattern: '^[^\\s/]+$' },
    default: '127.0.0.1',
  },
  PORT: {
    meaning: 'listening port; 0 takes any free one',
    ...integer(0, 65_535),
    default: 3000,
  },
  DATABASE_URL: {
    meaning: 'PostgreSQL; unset: the embedded database in DATA_DIR, in local and test only',
    expected: 'a postgres:// or postgresql:// address',
    schema: formatted('postgres-url'),
    requiredIn: deployed,
    isSecret: true,
  },
  DATA_DIR: {
    meaning: 'folder of the embedded database and of generated local keys',
    expected: 'a folder',
    schema: text,
    default: '.data',
  },
  PROVIDER_STUB: {
    meaning: 'simulate the provider; `true` in production refuses to start',
    ...flag,
    defaultIn: { local: true, test: true },
    requiredIn: deployed,
  },
  PROVIDER_BASE_URL: {
    meaning: "the provider's address; required when PROVIDER_STUB is false",
    expected: 'an http:// or https:// address without user, query or fragment',
    schema: formatted('base-url'),
  },
  PROVIDER_EMAIL: {
    meaning: 'login of the development user; for development and direct tests only',
    expected: 'an e-mail address',
    schema: { ...text, pattern: '^[^\\s@]+@[^\\s@]+$' },
    defaultIn: { local: 'dev@ponte.test' },
  },
  PROVIDER_PASSWORD: {
    meaning: 'password of the development user; for development and direct tests only',
    expected: '8 to 128 characters',
    schema: { type: 'string', minLength: 8, maxLength: 128 },
    defaultIn: { local: 'ponte-dev-password' },
    isSecret: true,
  },
  PROVIDER_ISPB: {
    meaning: 'institution identifier for listing and deleting PIX keys',
    expected: '8 characters from 0-9 and A-Z',
    schema: { type: 'string', pattern: '^[0-9A-Z]{8}$' },
    default: '11165756',
  },
  PROVIDER_TIMEOUT_MS: {
    meaning: 'time-out of one attempt at a provider call, in milliseconds',
    ...integer(1, 120_000),
    default: 5000,
  },
  PROVIDER_RETRIES: {
    meaning: 'further attempts after the first one',
    ...integer(0, 10),
    default: 2,
  },
  STUB_SETTLE_MS: {
    meaning: "how long after accepting a payment the stub's bank posts its webhook; 0: never",
    ...integer(0, 3_600_000),
    defaultIn: { local: 1500, test: 0, staging: 0, production: 0 },
  },
  STUB_JOURNAL: {
    meaning: "keep the stub's bank in a journal in DATA_DIR; otherwise it ends with the process",
    ...flag,
    defaultIn: { local: true, test: false, staging: true, production: true },
  },
  WEBHOOK_SECRET: {
    meaning: 'compared only when set; two, separated by a comma, are both accepted to rotate',
    expected: 'one secret of visible ASCII, or two separated by a comma',
    schema: formatted('webhook-secrets'),
    requiredIn: ['production'],
    isSecret: true,
  },
  ONBOARDING_LOCAL_ONLY: {
    meaning: 'onboarding runs only locally, without the provider',
    ...flag,
    defaultIn: { local: true, test: true, staging: false, production: false },
  },
  JWT_ISSUER: {
    meaning: 'issuer of the access tokens',
    expected: 'a text of at most 1024 characters',
    schema: text,
    default: 'ponte',
  },
  JWT_AUDIENCE: {
    meaning: 'audience of the access tokens',
    expected: 'a text of at most 1024 characters',
    schema: text,
    default: 'ponte-app',
  },
  JWT_PRIVATE_KEY: {
    meaning: 'PEM that signs access tokens; generated into DATA_DIR in local and test',
    expected:
      'an RSA private key of at least 2048 bits, as PEM without a pass phrase ' +
      '(or JWT_PRIVATE_KEY_FILE names its file)',
    schema: formatted('rsa-private-key'),
    requiredIn: deployed,
    orFile: 'JWT_PRIVATE_KEY_FILE',
    isSecret: true,
  },
  JWT_PRIVATE_KEY_FILE: {
    meaning: 'a file with the value of JWT_PRIVATE_KEY, instead of it',
    expected: 'a path',
    schema: text,
  },
  JWT_PUBLIC_KEYS: {
    meaning: 'PEMs that verify access tokens, one after the other, to rotate; chosen by kid',
    expected:
      'RSA public keys of at least 2048 bits, as PEM, one after the other ' +
      '(or JWT_PUBLIC_KEYS_FILE names their file)',
    schema: formatted('rsa-public-keys'),
    requiredIn: deployed,
    orFile: 'JWT_PUBLIC_KEYS_FILE',
  },
  JWT_PUBLIC_KEYS_FILE: {
    meaning: 'a file with the value of JWT_PUBLIC_KEYS, instead of it',
    expected: 'a path',
    schema: text,
  },
  JWT_TTL_SECONDS: {
    meaning: 'lifetime of an access token, in seconds',
    ...integer(1, 2_592_000),
    default: 3600,
  },
  ENCRYPTION_KEY: {
    meaning: 'seals provider tokens and documents at rest; generated in local and test',
    expected: '32 bytes in base64 (`openssl rand -base64 32`)',
    schema: formatted('key-of-32-bytes'),
    requiredIn: deployed,
    isSecret: true,
  },
  UPLOAD_MAX_BYTES: {
    meaning: 'largest onboarding document, in bytes',
    ...integer(1, 104_857_600),
    default: 10_485_760,
  },
  WEBHOOK_RETENTION_DAYS: {
    meaning: 'days that the payload of a settled webhook is kept',
    ...integer(1, 36_500),
    default: 90,
  },
  JOB_RETENTION_DAYS: {
    meaning: 'days that a finished job is kept; a dead one stays',
    ...integer(1, 36_500),
    default: 7,
  },
  THROTTLE_LOGIN_PER_MINUTE: {
    meaning: 'failed logins per e-mail and minute; 0 lifts it (refused in production)',
    ...integer(0, 1_000_000),
    default: 5,
  },
  THROTTLE_ADDRESS_PER_MINUTE: {
    meaning: 'attempts per client address and minute; 0 lifts it (refused in production)',
    ...integer(0, 1_000_000),
    default: 30,
  },
  TRUST_PROXY_HOPS: {
    meaning: "how many proxies to trust for the client's address",
    ...integer(0, 16),
    default: 0,
  },
  JOBS: {
    meaning: 'where jobs run; inline: the server also runs the job loop; off: `ponte worker` does',
    ...oneOf(['inline', 'off']),
    default: 'inline',
  },
  JOB_LEASE_SECONDS: {
    meaning: "seconds after which others take up a dead process's jobs",
    // With a poll after it, a dead process's jobs are taken up within a minute.
    ...integer(1, 50),
    default: 30,
  },
  METRICS_PORT: {
    meaning: 'a port of its own for /metrics; unset: on PORT, to loopback only',
    ...integer(0, 65_535),
  },
  LOG_LEVEL: {
    meaning: 'what is logged: fatal, error, warn, info, debug, trace or silent',
    ...oneOf(logLevels),
    default: 'info',
  },
} as const satisfies Record<SettingName, SettingEntry>;

/** One line of the list of settings, as the README and `.env.example` show it. */
export interface Setting {
  readonly name: string;
  /** The default in words: `3000`, `1500 in local; 0 in test`, `unset`. */
  readonly default: string;
  readonly meaning: string;
}

export const settingNames = Object.keys(entries) as SettingName[];

/** Every setting that the service knows, in the order of the README's table. */
export const settings: readonly Setting[] = settingNames.map((name) => ({
  name,
  default: describeDefault(entries[name]),
  meaning: entries[name].meaning,
}));

function describeDefault(entry: SettingEntry): string {
  if (entry.default !== undefined) return String(entry.default);
  const defaults = Object.entries(entry.defaultIn ?? {});
  const parts = [...Map.groupBy(defaults, ([, value]) => String(value))].map(
    ([value, pairs]) => `${value} in ${pairs.map(([appEnv]) => appEnv).join(', ')}`,
  );
  if (entry.requiredIn) parts.push(`required in ${entry.requiredIn.join(', ')}`);
  return parts.join('; ') || 'unset';
}
