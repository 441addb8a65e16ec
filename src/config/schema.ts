/**
 * All settings: meaning, format, default and where each is required. `load.ts` validates against
 * this list, and tests compare the names in `.env.example` and the handbook with it.
 */
import {
  appEnvs,
  deployed,
  fileSetting,
  flag,
  formatted,
  host,
  integer,
  mustBeFalse,
  enumerated,
  text,
  type Entry,
} from './entry.ts';
import { providerEntries } from './provider-entries.ts';
import { tracingEntries } from './tracing-entries.ts';

const strongSecrets =
  'one secret of 32 or more visible ASCII characters, without a pattern ' +
  '(`openssl rand -hex 32`), or two separated by a comma';

const logLevels = ['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'] as const;

export const entries = {
  APP_ENV: {
    meaning:
      'where the service runs: local, test, staging or production; ' +
      'unset: local, with the stub on and a loopback HOST only',
    ...enumerated(appEnvs),
  },
  HOST: {
    meaning: 'listening address',
    expected: 'a host name or an address',
    schema: host,
    default: '127.0.0.1',
  },
  PORT: {
    meaning: 'listening port; 0 takes any free one',
    ...integer(0, 65_535),
    default: 3000,
  },
  ALLOWED_HOSTS: {
    meaning:
      'names that Host may have in local, beside localhost, HOST and addresses; ' +
      'separated by commas',
    expected: 'host names without a port, separated by commas',
    schema: formatted('host-names'),
  },
  DATABASE_URL: {
    meaning:
      'PostgreSQL; unset: the embedded database in DATA_DIR, in local and test only; ' +
      'in production with sslmode=verify-full',
    expected: 'a postgres:// or postgresql:// address',
    schema: formatted('postgres-url'),
    inProduction: {
      expected: 'a postgres:// or postgresql:// address with sslmode=verify-full',
      schema: formatted('postgres-url'),
    },
    requiredIn: deployed,
    orFile: 'DATABASE_URL_FILE',
    isSecret: true,
  },
  DATABASE_URL_FILE: fileSetting('DATABASE_URL'),
  DATABASE_TLS: {
    meaning: '`off`: production does without sslmode=verify-full, for a private network only',
    expected: '`off`, or unset',
    schema: { type: 'string', enum: ['off'] },
  },
  DATABASE_FAILOVER: {
    meaning: 'what takes over from a lost database server (src/operator/README.md, "Failover")',
    ...enumerated(['none', 'synchronous-standby', 'synchronous-storage', 'asynchronous']),
  },
  DATA_DIR: {
    meaning: 'folder of the embedded database and of generated local keys',
    expected: 'a folder',
    schema: text,
    default: '.data',
  },
  ...providerEntries,
  PIX_KEY_OWN_EMAIL: {
    meaning: "whether a Pix key of kind E_MAIL must be the user's own e-mail",
    ...flag,
    default: false,
  },
  PIX_LIMIT_DAY: {
    meaning: 'reais that a user may send from 6 to 20 (or 22) in São Paulo; unset: no limit',
    expected: 'an amount from 0.01 to 999999999.99, such as 5000.00',
    schema: formatted('amount'),
  },
  PIX_LIMIT_NIGHT: {
    meaning:
      'reais that a user may send from 20 (or 22, as the user chooses) to 6; unset: no limit',
    expected: 'an amount from 0.01 to 999999999.99, such as 1000.00',
    schema: formatted('amount'),
  },
  PIX_LIMIT_DAY_COMPANY: {
    meaning: 'reais by day to payees with a CNPJ, summed apart; unset: part of PIX_LIMIT_DAY',
    expected: 'an amount from 0.01 to 999999999.99, such as 50000.00',
    schema: formatted('amount'),
  },
  PIX_LIMIT_NIGHT_COMPANY: {
    meaning: 'reais by night to payees with a CNPJ, summed apart; unset: part of PIX_LIMIT_NIGHT',
    expected: 'an amount from 0.01 to 999999999.99, such as 10000.00',
    schema: formatted('amount'),
  },
  PIX_LIMIT_DAY_OWN: {
    meaning: "reais by day to the payer's own document, summed apart; unset: part of PIX_LIMIT_DAY",
    expected: 'an amount from 0.01 to 999999999.99, such as 50000.00',
    schema: formatted('amount'),
  },
  PIX_LIMIT_NIGHT_OWN: {
    meaning:
      "reais by night to the payer's own document, summed apart; unset: part of PIX_LIMIT_NIGHT",
    expected: 'an amount from 0.01 to 999999999.99, such as 10000.00',
    schema: formatted('amount'),
  },
  STUB_SETTLE_MS: {
    meaning: 'milliseconds from the acceptance of a payment to the simulated webhook; 0: never',
    ...integer(0, 3_600_000),
    defaultIn: { local: 1500, test: 0, staging: 0, production: 0 },
  },
  STUB_JOURNAL: {
    meaning: 'store the state of the simulated bank in DATA_DIR; otherwise in memory only',
    ...flag,
    defaultIn: { local: true, test: false, staging: true, production: true },
  },
  WEBHOOK_SECRET: {
    meaning:
      'secret of the webhooks, checked only when set; two, separated by a comma, to rotate; ' +
      'required, 32 characters or more each, in production and, with the stub off, in staging',
    expected: 'one secret of visible ASCII, or two separated by a comma',
    schema: formatted('webhook-secrets'),
    inProduction: {
      expected: strongSecrets,
      schema: formatted('random-webhook-secrets'),
    },
    requiredIn: ['production'],
    orFile: 'WEBHOOK_SECRET_FILE',
    isSecret: true,
  },
  WEBHOOK_SECRET_FILE: fileSetting('WEBHOOK_SECRET'),
  WEBHOOK_SIGNING_SECRET: {
    meaning:
      'requires a Standard Webhooks signature of events, at most five minutes old; ' +
      'two, separated by a comma, to rotate',
    expected: strongSecrets,
    schema: formatted('random-webhook-secrets'),
    orFile: 'WEBHOOK_SIGNING_SECRET_FILE',
    isSecret: true,
  },
  WEBHOOK_SIGNING_SECRET_FILE: fileSetting('WEBHOOK_SIGNING_SECRET'),
  WEBHOOK_ALLOWED_ADDRESSES: {
    meaning: 'addresses and networks that events may come from, separated by commas; unset: any',
    expected: 'IPv4 addresses and networks (203.0.113.0/24, 2001:db8::/64), separated by commas',
    schema: formatted('networks'),
  },
  CORS_ALLOWED_ORIGINS: {
    meaning: 'origins of web apps whose pages may call the API, separated by commas; unset: none',
    expected: 'origins such as https://app.example.com, without a path, separated by commas',
    schema: formatted('origins'),
  },
  APP_EVENTS_URL: {
    meaning:
      "where the app's own backend takes the ends of transactions and onboardings; unset: nowhere",
    expected: 'an https:// address, or http:// on this machine, without user and fragment',
    schema: formatted('https-or-loopback-url'),
  },
  APP_EVENTS_SECRET: {
    meaning:
      'signs them, as Standard Webhooks; two, separated by a comma, to rotate: both sign; ' +
      'required with APP_EVENTS_URL',
    expected:
      '`whsec_` with 24 to 64 bytes in base64 (`echo whsec_$(openssl rand -base64 32)`), ' +
      'or two separated by a comma',
    schema: formatted('signing-secrets'),
    inProduction: {
      expected:
        '`whsec_` with 24 to 64 random bytes in base64, without a pattern ' +
        '(`echo whsec_$(openssl rand -base64 32)`), or two separated by a comma',
      schema: formatted('random-signing-secrets'),
    },
    orFile: 'APP_EVENTS_SECRET_FILE',
    isSecret: true,
  },
  APP_EVENTS_SECRET_FILE: fileSetting('APP_EVENTS_SECRET'),
  ONBOARDING_LOCAL_ONLY: {
    meaning: 'onboarding runs only locally, without the provider; refused in production',
    ...flag,
    inProduction: mustBeFalse,
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
    expected: 'an RSA private key of at least 2048 bits, as PEM without a pass phrase',
    schema: formatted('rsa-private-key'),
    inProduction: {
      expected:
        'an RSA private key of at least 2048 bits, as PEM without a pass phrase, ' +
        'other than the published examples',
      schema: formatted('own-rsa-private-key'),
    },
    requiredIn: deployed,
    orFile: 'JWT_PRIVATE_KEY_FILE',
    isPem: true,
    isSecret: true,
  },
  JWT_PRIVATE_KEY_FILE: fileSetting('JWT_PRIVATE_KEY'),
  JWT_PUBLIC_KEYS: {
    meaning: 'PEMs that verify access tokens, one after the other, to rotate; chosen by kid',
    expected: 'RSA public keys of at least 2048 bits, as PEM, one after the other',
    schema: formatted('rsa-public-keys'),
    inProduction: {
      expected:
        'RSA public keys of at least 2048 bits, as PEM, one after the other, ' +
        'other than the published examples',
      schema: formatted('own-rsa-public-keys'),
    },
    requiredIn: deployed,
    orFile: 'JWT_PUBLIC_KEYS_FILE',
    isPem: true,
  },
  JWT_PUBLIC_KEYS_FILE: fileSetting('JWT_PUBLIC_KEYS'),
  JWT_TTL_SECONDS: {
    meaning: 'lifetime of an access token, in seconds; at most 86400 in production',
    ...integer(1, 2_592_000),
    inProduction: integer(1, 86_400),
    default: 3600,
  },
  ENCRYPTION_KEY: {
    meaning:
      'encrypts provider tokens and documents in the database; two as new,old to rotate; ' +
      'generated in local and test',
    expected: '32 bytes in base64 (`openssl rand -base64 32`), or two such keys as new,old',
    schema: formatted('keys-of-32-bytes'),
    inProduction: {
      expected: '32 random bytes in base64, without a pattern (`openssl rand -base64 32`)',
      schema: formatted('random-keys-of-32-bytes'),
    },
    requiredIn: deployed,
    orFile: 'ENCRYPTION_KEY_FILE',
    isSecret: true,
  },
  ENCRYPTION_KEY_FILE: fileSetting('ENCRYPTION_KEY'),
  UPLOAD_MAX_BYTES: {
    meaning: 'largest onboarding document, in bytes',
    ...integer(1, 104_857_600),
    default: 10_485_760,
  },
  DOCUMENT_SCANNER: {
    meaning:
      'address of a clamd that scans each onboarding document before it is kept; unset: none does',
    expected: 'host:port, or the path of a Unix socket',
    schema: formatted('socket-address'),
  },
  WEBHOOK_RETENTION_DAYS: {
    meaning: 'days that the payload of a settled webhook is kept',
    ...integer(1, 36_500),
    default: 90,
  },
  JOB_RETENTION_DAYS: {
    meaning: 'days that a finished job is kept; dead jobs are kept forever',
    ...integer(1, 36_500),
    default: 7,
  },
  ONBOARDING_EXPIRY_DAYS: {
    meaning:
      'days after its last change that an unapproved application is deleted; ' +
      'its e-mail and document can then be used again',
    ...integer(1, 36_500),
    default: 30,
  },
  THROTTLE_LOGIN_PER_MINUTE: {
    meaning: 'failed logins per e-mail and network in a minute; 0: no limit; 1 to 60 in production',
    ...integer(0, 1_000_000),
    inProduction: integer(1, 60),
    default: 5,
  },
  THROTTLE_ADDRESS_PER_MINUTE: {
    meaning:
      'cheap requests per client address and minute, and 30 registrations and 30 logins by ' +
      'strangers at most; 0: no limit; 1 to 6000 in production',
    ...integer(0, 1_000_000),
    inProduction: integer(1, 6_000),
    default: 600,
  },
  THROTTLE_USER_PER_MINUTE: {
    meaning:
      'sends, charges, lists, statements, limits and changes of Pix keys per user, minute and ' +
      'instance, each counted separately; 0: no limit; 1 to 6000 in production',
    ...integer(0, 1_000_000),
    inProduction: integer(1, 6_000),
    default: 120,
  },
  CODES_PER_HOUR: {
    meaning:
      'validation codes that the whole service requests in an hour; ' +
      '0: no limit; 1 to 1000000 in production',
    ...integer(0, 1_000_000),
    inProduction: integer(1, 1_000_000),
    default: 1000,
  },
  UPLOADS_MIB_PER_HOUR: {
    meaning:
      'MiB of documents that the whole service takes in an hour; ' +
      '0: no limit; 1 to 1000000000 in production',
    ...integer(0, 1_000_000_000),
    inProduction: integer(1, 1_000_000_000),
    default: 4_096,
  },
  TRUST_PROXY_HOPS: {
    meaning: "number of trusted proxies that set the client's address",
    ...integer(0, 16),
    expected: 'the number of proxies in front of the service, an integer from 0 to 16',
    defaultIn: { local: 0, test: 0, staging: 0 },
    requiredIn: ['production'],
  },
  MAX_CONNECTIONS: {
    meaning: 'largest number of open connections; further ones are closed at once',
    ...integer(1, 1_000_000),
    default: 5000,
  },
  MAX_CONNECTIONS_PER_ADDRESS: {
    meaning:
      'largest number of connections from one address, if TRUST_PROXY_HOPS is 0; 0: no limit',
    ...integer(0, 1_000_000),
    default: 200,
  },
  JOBS: {
    meaning:
      'where jobs run; inline: the server also runs the job loop; off: `ponte worker` does, ' +
      'which needs DATABASE_URL and PROVIDER_STUB=false',
    ...enumerated(['inline', 'off']),
    default: 'inline',
  },
  JOB_LEASE_SECONDS: {
    meaning: "seconds after which other processes take over a dead process's jobs",
    // With the polling interval, another process takes over a dead one's jobs within a minute.
    ...integer(1, 50),
    default: 30,
  },
  METRICS_PORT: {
    meaning:
      'a port of its own for /metrics, on METRICS_HOST, of a server or a worker; unset: on PORT, ' +
      'to loopback only, and not at all behind a proxy (TRUST_PROXY_HOPS) and by a worker',
    ...integer(0, 65_535),
  },
  METRICS_HOST: {
    meaning: 'listening address of METRICS_PORT',
    expected: 'a host name or an address',
    schema: host,
    default: '127.0.0.1',
  },
  ...tracingEntries,
  LOG_LEVEL: {
    meaning: 'log level: fatal, error, warn, info, debug, trace or silent (refused in production)',
    ...enumerated(logLevels),
    inProduction: enumerated(logLevels.filter((level) => level !== 'silent')),
    default: 'info',
  },
} as const satisfies Record<string, Entry>;

export type Entries = typeof entries;

export type SettingName = keyof Entries;

export type SettingEntry = Entry<SettingName>;

export const settingNames = Object.keys(entries) as SettingName[];
