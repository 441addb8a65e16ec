import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { isAbsolute, resolve } from 'node:path';
import { describe, it } from 'node:test';
import { loadConfig } from '../../../src/config/config.ts';
import { settings } from '../../../src/config/report.ts';
import { appEnvs } from '../../../src/config/entry.ts';
import { providerFeatures } from '../../../src/config/formats.ts';
import { entries, type SettingEntry, settingNames } from '../../../src/config/schema.ts';
import { assertFaults, findFaults, production, type Environment } from '../../support/config.ts';

const encryptionKey = production.ENCRYPTION_KEY;

describe('the configuration of an empty environment', () => {
  const config = loadConfig({});

  it('is the local one with its defaults', () => {
    assert.deepEqual(config, {
      appEnv: 'local',
      host: '127.0.0.1',
      port: 3000,
      databaseUrl: undefined,
      databaseFailover: undefined,
      dataDir: resolve('.data'),
      provider: {
        stub: true,
        baseUrl: undefined,
        email: 'dev@ponte.test',
        password: 'ponte-dev-password',
        tls: { ca: undefined, cert: undefined, key: undefined },
        apiKey: null,
        ispb: '11165756',
        bank: { ispb: '11165756', name: 'GLOBAL SCM LTDA' },
        timeoutMs: 5000,
        retries: 2,
        paymentRetries: 2,
        paymentsPerSecond: 0,
        echoHeader: null,
        statementSettledOnly: false,
        statementIsFinal: true,
        statementHasIds: true,
        features: ['analysis', 'blocked-balance', 'disputes', 'dynamic-codes', 'refund'],
        dialects: { names: ['ponte', 'bacen', 'celcoin', 'woovi', 'efi'], files: [] },
      },
      pixKeyOwnEmail: false,
      pixLimits: { day: null, night: null },
      pixLimitsByPayee: {
        company: { day: null, night: null },
        own: { day: null, night: null },
      },
      stubSettleMs: 1500,
      stubJournal: true,
      allowedHosts: [],
      webhookSecrets: [],
      webhookSigningSecrets: [],
      webhookAllowedAddresses: [],
      corsAllowedOrigins: [],
      appEvents: null,
      onboardingLocalOnly: true,
      jwt: {
        issuer: 'ponte',
        audience: 'ponte-app',
        ttlSeconds: 3600,
        privateKeyPem: undefined,
        publicKeysPem: [],
      },
      encryptionKeys: [],
      uploadMaxBytes: 10_485_760,
      documentScanner: undefined,
      retention: { webhookPayloads: 90, finishedJobs: 7, onboarding: 30 },
      throttle: {
        loginPerMinute: 5,
        addressPerMinute: 600,
        userPerMinute: 120,
        codesPerHour: 1_000,
        uploadsMibPerHour: 4_096,
      },
      trustProxyHops: 0,
      connectionLimits: { total: 5000, perAddress: 200 },
      jobs: 'inline',
      jobLeaseSeconds: 30,
      metricsPort: undefined,
      metricsHost: '127.0.0.1',
      tracing: null,
      logLevel: 'info',
    });
  });

  it('is frozen to the bottom', () => {
    const parts = [config, config.provider, config.jwt, config.throttle, config.webhookSecrets];
    assert.ok(parts.every((part) => Object.isFrozen(part)));
  });
});

describe('defaults by environment', () => {
  it('of test have no settlement by time and no development user', () => {
    const config = loadConfig({ APP_ENV: 'test' });
    assert.equal(config.stubSettleMs, 0);
    assert.equal(config.stubJournal, false);
    assert.equal(config.provider.stub, true);
    assert.equal(config.onboardingLocalOnly, true);
    assert.equal(config.provider.email, undefined);
    assert.equal(config.provider.password, undefined);
  });

  it('of production keep onboarding with the provider', () => {
    const config = loadConfig(production);
    assert.equal(config.onboardingLocalOnly, false);
    assert.equal(config.provider.email, undefined);
  });
});

describe('the default of a setting', () => {
  for (const appEnv of appEnvs) {
    it(`is a value that the setting accepts in ${appEnv}`, () => {
      for (const name of settingNames) {
        const entry: SettingEntry = entries[name];
        const value = entry.default ?? entry.defaultIn?.[appEnv];
        if (value === undefined) continue;
        const faults = findFaults({ APP_ENV: appEnv, [name]: String(value) });
        assert.equal(faults[name], undefined, `${name}=${value}`);
      }
    });
  }
});

describe('what an environment requires', () => {
  const keys = ['JWT_PRIVATE_KEY', 'JWT_PUBLIC_KEYS', 'ENCRYPTION_KEY'];

  it('staging: database, keys, and whether to use the stub', () => {
    assertFaults({ APP_ENV: 'staging' }, 'DATABASE_URL', 'PROVIDER_STUB', ...keys);
  });

  it('production: the provider, the webhook secret and the number of proxies too', () => {
    const ofProvider = [
      'PROVIDER_STUB',
      'PROVIDER_BASE_URL',
      'PROVIDER_PAYMENT_RETRIES',
      'PROVIDER_DIALECTS',
    ];
    const more = ['WEBHOOK_SECRET', 'TRUST_PROXY_HOPS'];
    const names = ['DATABASE_URL', ...ofProvider, ...more, ...keys];
    assertFaults({ APP_ENV: 'production' }, ...names);
    assertFaults(production);
  });

  it('production refuses the stub', () => {
    assertFaults({ ...production, PROVIDER_STUB: 'true' }, 'PROVIDER_STUB');
    assertFaults({ ...production, APP_ENV: 'staging', PROVIDER_STUB: 'true' });
  });

  it('production refuses a lifted throttle', () => {
    const lifted = { THROTTLE_LOGIN_PER_MINUTE: '0', THROTTLE_ADDRESS_PER_MINUTE: '0' };
    assertFaults({ ...production, ...lifted }, ...Object.keys(lifted));
    assertFaults({ ...production, ...lifted, APP_ENV: 'staging' });
  });

  it('the provider without the stub: its address, anywhere', () => {
    const real = { APP_ENV: 'local', PROVIDER_STUB: 'false' };
    assertFaults(real, 'PROVIDER_BASE_URL');
    assertFaults({ ...real, PROVIDER_BASE_URL: 'http://127.0.0.1:9' });
  });

  it('the secret of app events, with their address', () => {
    for (const address of ['https://app.test/x?y=1', 'http://127.0.0.1:9/x', 'http://[::1]/']) {
      assertFaults({ APP_EVENTS_URL: address }, 'APP_EVENTS_SECRET');
      assertFaults({ APP_EVENTS_URL: address, APP_EVENTS_SECRET: signingSecret });
    }
  });

  it('an empty value counts as unset', () => {
    assert.equal(loadConfig({ PORT: '', DATABASE_URL: '' }).port, 3000);
    assertFaults({ ...production, WEBHOOK_SECRET: '' }, 'WEBHOOK_SECRET');
  });
});

describe("the institution that keeps the customers' accounts", () => {
  const loadBank = (environment: Environment) => loadConfig(environment).provider.bank;

  it('has the name that its ISPB has in the list of participants, if any', () => {
    const known = { ispb: '00000000', name: 'Banco do Brasil S.A.' };
    assert.deepEqual(loadBank({ PROVIDER_ISPB: '00000000' }), known);
    assert.deepEqual(loadBank({ PROVIDER_ISPB: '99999999' }), { ispb: '99999999', name: null });
  });

  it('has the name and the CNPJ that are set, without punctuation', () => {
    const environment = {
      PROVIDER_INSTITUTION_NAME: 'Banco Exemplo S.A.',
      PROVIDER_INSTITUTION_DOCUMENT: '12.abc.345/01de-35',
    };
    const bank = { ispb: '11165756', name: 'Banco Exemplo S.A.', document: '12ABC34501DE35' };
    assert.deepEqual(loadBank(environment), bank);
  });
});

describe('the features of the provider', () => {
  const loadFeatures = (environment: Environment) => loadConfig(environment).provider.features;
  const real = {
    PROVIDER_STUB: 'false',
    PROVIDER_BASE_URL: 'http://127.0.0.1:9',
    APP_ENV: 'local',
  };

  it('are all of them with the simulated bank, and none with another provider', () => {
    assert.deepEqual(loadFeatures({}), providerFeatures);
    assert.deepEqual(loadFeatures(real), []);
  });

  it('are those that are named, with any provider', () => {
    assert.deepEqual(loadFeatures({ ...real, PROVIDER_FEATURES: 'analysis' }), ['analysis']);
    assert.deepEqual(loadFeatures({ PROVIDER_FEATURES: 'none' }), []);
  });
});

describe('traces', () => {
  it('have the headers as they are sent', () => {
    const { tracing } = loadConfig({
      OTEL_EXPORTER_OTLP_ENDPOINT: 'http://collector:4318',
      OTEL_EXPORTER_OTLP_HEADERS: 'authorization=Bearer%20abc=, x-tenant=1',
      OTEL_TRACES_SAMPLER_ARG: '0.25',
    });
    assert.deepEqual(tracing, {
      endpoint: 'http://collector:4318',
      headers: { authorization: 'Bearer abc=', 'x-tenant': '1' },
      serviceName: 'ponte',
      ratio: 0.25,
    });
  });
});

describe('faults', () => {
  it('are all reported at once, by name, in the order of the settings', () => {
    const environment = { LOG_LEVEL: 'loud', PORT: 'x', JOBS: 'maybe' };
    assert.deepEqual(Object.keys(findFaults(environment)), ['PORT', 'JOBS', 'LOG_LEVEL']);
  });

  it('say what is expected', () => {
    assert.deepEqual(findFaults({ PORT: '65536', PROVIDER_STUB: 'yes' }), {
      PORT: 'must be an integer from 0 to 65535',
      PROVIDER_STUB: 'must be `true` or `false`',
    });
    const message = findFaults({ APP_ENV: 'staging' })['DATABASE_URL'];
    assert.equal(
      message,
      'is required in staging: a postgres:// or postgresql:// address ' +
        '(or DATABASE_URL_FILE names a file with it)',
    );
  });

  it('of an unknown environment are one, and hide no others', () => {
    assertFaults({ APP_ENV: 'prod' }, 'APP_ENV');
    assertFaults({ APP_ENV: 'prod', PORT: 'x', JOBS: 'maybe' }, 'APP_ENV', 'PORT', 'JOBS');
  });

  it('never show the value of a setting', () => {
    const wrong: Environment = { APP_ENV: 'production', PROVIDER_PASSWORD: 'pw-leak' };
    for (const { name } of settings) wrong[name] ??= 'leak, leak, leak';
    const messages = JSON.stringify(findFaults(wrong));
    assert.doesNotMatch(messages, /leak/);
    assert.match(messages, /WEBHOOK_SECRET_FILE.*JWT_PRIVATE_KEY_FILE.*ENCRYPTION_KEY_FILE/);
  });
});

const signingSecret = `whsec_${'A'.repeat(32)}`;

const accepted: Record<string, string[]> = {
  HOST: ['127.0.0.1', '127.1.2.3', '::1', 'localhost'],
  PORT: ['0', '1', '65535'],
  DATABASE_URL: ['postgres://db/ponte', 'postgresql://u:p@db:5432/ponte?sslmode=require'],
  DATABASE_TLS: ['off'],
  DATABASE_FAILOVER: ['none', 'synchronous-standby', 'synchronous-storage', 'asynchronous'],
  PROVIDER_STUB: ['true'],
  PROVIDER_BASE_URL: ['http://provider.test', 'https://provider.test/base'],
  PROVIDER_ISPB: ['00000000', '12AB34CD'],
  PROVIDER_INSTITUTION_NAME: ['Banco Exemplo S.A.', 'é'.repeat(140)],
  PROVIDER_INSTITUTION_DOCUMENT: ['11.165.756/0001-07', '12abc34501de35'],
  PROVIDER_RETRIES: ['0', '10'],
  PROVIDER_PAYMENT_RETRIES: ['0', '10'],
  PROVIDER_PAYMENTS_PER_SECOND: ['0', '10000'],
  PROVIDER_ECHOES_REQUEST_ID: ['X-Request-Id', 'x-correlation-id'],
  PROVIDER_FEATURES: ['none', 'analysis', 'blocked-balance, analysis', 'dynamic-codes', 'refund'],
  STUB_SETTLE_MS: ['0', '1'],
  STUB_JOURNAL: ['true', 'false'],
  WEBHOOK_SECRET: ['one', 'new,old', 'new, old'],
  APP_EVENTS_SECRET: [signingSecret, `${signingSecret},whsec_${'B'.repeat(32)}`],
  ONBOARDING_LOCAL_ONLY: ['true', 'false'],
  DOCUMENT_SCANNER: ['127.0.0.1:3310', '[::1]:1', 'clamd.test:65535', '/run/clamd socket'],
  ENCRYPTION_KEY: [encryptionKey, `${randomBytes(32).toString('base64')},${encryptionKey}`],
  JOBS: ['inline'],
  JOB_LEASE_SECONDS: ['1', '50'],
  METRICS_PORT: ['9464'],
  METRICS_HOST: ['0.0.0.0', '::1'],
  OTEL_EXPORTER_OTLP_ENDPOINT: ['http://127.0.0.1:4318', 'https://collector.test/otlp'],
  OTEL_EXPORTER_OTLP_HEADERS: ['authorization=Bearer%20abc,x-tenant=1'],
  OTEL_SERVICE_NAME: ['ponte-eu'],
  OTEL_TRACES_SAMPLER_ARG: ['0', '0.01', '1'],
  LOG_LEVEL: ['silent', 'debug'],
};

/** Longer than any text may be. */
const tooLong = 'x'.repeat(1_025);

const noPem = '-----BEGIN NOTHING-----';

/** Each setting has a row; those that name a file are added below. */
const refusedValues: Record<string, string[]> = {
  APP_ENV: ['prod', 'Local'],
  HOST: ['a b', 'http://host'],
  PORT: ['-1', '65536', '3000.5', '1e3', '0x10', ' 80', 'http'],
  ALLOWED_HOSTS: ['host:3000', 'a b', '-host', 'host,'],
  DATABASE_URL: ['mysql://db/ponte', 'db/ponte', 'http://db'],
  DATABASE_TLS: ['on', 'OFF', 'false'],
  DATABASE_FAILOVER: ['synchronous', 'off', 'None'],
  DATA_DIR: [tooLong],
  PROVIDER_STUB: ['1', 'yes', 'TRUE', 'True', ' true'],
  PROVIDER_BASE_URL: ['provider.test', 'ftp://provider.test', 'http://u:p@provider.test'],
  PROVIDER_EMAIL: ['nobody', 'a b@c'],
  PROVIDER_PASSWORD: ['short'],
  PROVIDER_CA: ['certificate', noPem],
  PROVIDER_CLIENT_CERT: ['certificate', noPem],
  PROVIDER_CLIENT_KEY: ['key', noPem],
  PROVIDER_API_KEY: ['two words', 'chavé', tooLong],
  PROVIDER_API_KEY_HEADER: ['a b', 'x:y', 'Authorization', 'x'.repeat(65)],
  PROVIDER_ISPB: ['1116575', '111657566', '1116575a', '11-65756'],
  PROVIDER_INSTITUTION_NAME: [' ', 'Banco\nExemplo', '\u202eBanco', 'x'.repeat(141)],
  PROVIDER_INSTITUTION_DOCUMENT: ['11165756000108', '11144477735', 'GLOBAL'],
  PROVIDER_TIMEOUT_MS: ['0', 'soon'],
  PROVIDER_RETRIES: ['-1', '11'],
  PROVIDER_PAYMENT_RETRIES: ['-1', '11', 'none'],
  PROVIDER_PAYMENTS_PER_SECOND: ['-1', '10001', 'none'],
  PROVIDER_ECHOES_REQUEST_ID: ['a b', 'x:y', 'x'.repeat(65)],
  PROVIDER_DIALECTS: ['ponte,', 'PONTE', 'ponte,ponte', 'swift', 'none,ponte'],
  PROVIDER_DIALECT_FILES: ['bank.json', 'bank'],
  PROVIDER_STATEMENT_SETTLED_ONLY: ['1', 'no'],
  PROVIDER_STATEMENT_FINAL: ['1', 'no'],
  PROVIDER_STATEMENT_HAS_IDS: ['1', 'no'],
  PROVIDER_FEATURES: ['analysis,', 'ANALYSIS', 'analysis,analysis', 'all', 'none,analysis'],
  PIX_KEY_OWN_EMAIL: ['1', 'yes'],
  PIX_LIMIT_DAY: ['0', '0.00', '-1', '10.005', '1e3', '5.000,00', '1000000000'],
  PIX_LIMIT_NIGHT: ['none', '0'],
  PIX_LIMIT_DAY_COMPANY: ['none', '0'],
  PIX_LIMIT_NIGHT_COMPANY: ['-1', '0'],
  PIX_LIMIT_DAY_OWN: ['1,50'],
  PIX_LIMIT_NIGHT_OWN: ['0'],
  STUB_SETTLE_MS: ['-1'],
  STUB_JOURNAL: ['1', 'off'],
  WEBHOOK_SIGNING_SECRET: ['short'],
  WEBHOOK_ALLOWED_ADDRESSES: ['10.0.0.0/33', '2001:db8::1', 'localhost', '10.0.0.1,'],
  CORS_ALLOWED_ORIGINS: [
    '*',
    'null',
    'app.example.com',
    'https://app.example.com/',
    'https://app.example.com/path',
    'https://App.example.com',
    'https://app.example.com:443',
    'https://user@app.example.com',
    'https://a.test,',
  ],
  WEBHOOK_SECRET: ['a,b,c', 'a,', ',', 'a b', 'segredó'],
  APP_EVENTS_URL: ['http://app.test', 'ftp://app.test', 'https://u:p@app.test', 'app.test/x'],
  APP_EVENTS_SECRET: ['secret', 'whsec_c2hvcnQ=', `whsec_${'A'.repeat(32)}!`],
  ONBOARDING_LOCAL_ONLY: ['0', 'no'],
  JWT_ISSUER: [tooLong],
  JWT_AUDIENCE: [tooLong],
  JWT_PRIVATE_KEY: ['key', noPem],
  JWT_PUBLIC_KEYS: ['key', noPem],
  JWT_TTL_SECONDS: ['0', 'hour', '2592001'],
  ENCRYPTION_KEY: [
    'short',
    randomBytes(31).toString('base64'),
    randomBytes(33).toString('base64'),
    `${encryptionKey},${encryptionKey}`,
    randomBytes(32).toString('hex'),
  ],
  UPLOAD_MAX_BYTES: ['0', '10MB'],
  DOCUMENT_SCANNER: ['clamd', 'host:port', '127.0.0.1:', '127.0.0.1:0', '127.0.0.1:65536', '/'],
  WEBHOOK_RETENTION_DAYS: ['0', '36501'],
  JOB_RETENTION_DAYS: ['0', 'week'],
  ONBOARDING_EXPIRY_DAYS: ['0', '1.5'],
  THROTTLE_LOGIN_PER_MINUTE: ['-1', 'none'],
  THROTTLE_ADDRESS_PER_MINUTE: ['1.5'],
  THROTTLE_USER_PER_MINUTE: ['-1', '1000001'],
  CODES_PER_HOUR: ['-1', '1000001'],
  UPLOADS_MIB_PER_HOUR: ['-1', '1000000001'],
  TRUST_PROXY_HOPS: ['-1', 'all'],
  MAX_CONNECTIONS: ['0', 'many'],
  MAX_CONNECTIONS_PER_ADDRESS: ['-1'],
  JOBS: ['on', 'INLINE'],
  JOB_LEASE_SECONDS: ['0', '51', '1.5'],
  METRICS_PORT: ['65536'],
  METRICS_HOST: ['a b'],
  OTEL_EXPORTER_OTLP_ENDPOINT: ['collector:4318', 'ftp://collector', 'http://u:p@collector'],
  OTEL_EXPORTER_OTLP_HEADERS: ['authorization', '=abc', 'a=%zz', 'a=%0A', 'a b=c'],
  OTEL_SERVICE_NAME: [tooLong],
  OTEL_TRACES_SAMPLER_ARG: ['2', '-1', 'half', '1.5'],
  LOG_LEVEL: ['loud', 'INFO'],
};

const namesOfFiles = settingNames.filter((name) => name.endsWith('_FILE'));

const refused: Record<string, string[]> = {
  ...refusedValues,
  ...Object.fromEntries(namesOfFiles.map((name) => [name, ['/no/such/file', tooLong]])),
};

/** The values as a title of a test shows them. */
const listed = (values: readonly string[]): string =>
  values.map((value) => JSON.stringify(value.slice(0, 80))).join(', ');

describe('the format of a setting', () => {
  for (const [name, values] of Object.entries(accepted)) {
    it(`${name} may be ${listed(values)}`, () => {
      for (const value of values) assertFaults({ [name]: value });
    });
  }

  for (const [name, values] of Object.entries(refused)) {
    it(`${name} may not be ${listed(values)}`, () => {
      for (const value of values) assert.ok(findFaults({ [name]: value })[name], value);
    });
  }

  it('has a refused value above, for every setting', () => {
    assert.deepEqual(Object.keys(refused).sort(), settingNames.toSorted());
  });
});

describe('JOBS=off', () => {
  const shared = { JOBS: 'off', DATABASE_URL: 'postgres://db/ponte' };
  const provider = { PROVIDER_STUB: 'false', PROVIDER_BASE_URL: 'https://provider.test' };

  it('needs a provider that a worker can reach: the simulated bank lives in the server', () => {
    const fault = 'must be `inline` with PROVIDER_STUB=true: no worker reaches the simulated bank';
    assert.deepEqual(findFaults(shared), { JOBS: fault });
    const staging = { ...production, ...shared, APP_ENV: 'staging', PROVIDER_STUB: 'true' };
    assert.deepEqual(findFaults(staging), { JOBS: fault });
    assertFaults({ ...shared, ...provider, APP_ENV: 'local' });
  });

  it('needs a database that a worker can open', () => {
    assert.deepEqual(findFaults({ JOBS: 'off', ...provider, APP_ENV: 'local' }), {
      JOBS: 'must be `inline` without DATABASE_URL: the embedded database allows one process',
    });
  });

  it('is allowed in test, where a test runs the jobs itself', () => {
    assertFaults({ JOBS: 'off', APP_ENV: 'test' });
  });
});

describe('the longest call to the provider', () => {
  const fault = {
    PROVIDER_TIMEOUT_MS:
      'must be a time-out with which a call and its PROVIDER_RETRIES take at most 5 minutes',
  };
  for (const [timeout, retries, faults] of [
    ['74500', '2', {}],
    ['74501', '2', fault],
    ['120000', '0', {}],
    ['120000', '10', fault],
    ['24166', '10', {}],
    ['24167', '10', fault],
    ['120000', undefined, fault],
  ] as const) {
    it(`may take five minutes: ${timeout} ms and ${retries ?? 'the usual'} retries`, () => {
      const environment = { PROVIDER_TIMEOUT_MS: timeout, PROVIDER_RETRIES: retries };
      assert.deepEqual(findFaults(environment), faults);
    });
  }

  it('counts the attempts of a payment, where these are more', () => {
    const environment = { PROVIDER_TIMEOUT_MS: '24167', PROVIDER_PAYMENT_RETRIES: '10' };
    assert.match(
      findFaults(environment)['PROVIDER_TIMEOUT_MS'] ?? '',
      /its PROVIDER_PAYMENT_RETRIES take at most/,
    );
  });

  it('is reported beside other faults, but not for an invalid number', () => {
    assertFaults({ PROVIDER_TIMEOUT_MS: '120000', PORT: 'x' }, 'PORT', 'PROVIDER_TIMEOUT_MS');
    for (const name of ['PROVIDER_RETRIES', 'PROVIDER_PAYMENT_RETRIES']) {
      assertFaults({ PROVIDER_TIMEOUT_MS: '120000', [name]: 'x' }, name);
    }
  });
});

describe('values', () => {
  it('of WEBHOOK_SECRET are one or two secrets', () => {
    assert.deepEqual(loadConfig({ WEBHOOK_SECRET: 'one' }).webhookSecrets, ['one']);
    assert.deepEqual(loadConfig({ WEBHOOK_SECRET: 'new, old' }).webhookSecrets, ['new', 'old']);
  });

  it('of PROVIDER_BASE_URL lose the slash at their end', () => {
    const config = loadConfig({ PROVIDER_BASE_URL: 'https://provider.test/base/' });
    assert.equal(config.provider.baseUrl, 'https://provider.test/base');
  });

  it('of DATA_DIR become absolute', () => {
    assert.ok(isAbsolute(loadConfig({ DATA_DIR: 'x/y' }).dataDir));
  });

  it('of ENCRYPTION_KEY become 32 bytes', () => {
    const [key] = loadConfig({ ENCRYPTION_KEY: encryptionKey }).encryptionKeys;
    assert.deepEqual(key, Buffer.from(encryptionKey, 'base64'));
  });

  it('of MAX_CONNECTIONS_PER_ADDRESS count only without a proxy', () => {
    const perAddress = (hops: string) =>
      loadConfig({ MAX_CONNECTIONS_PER_ADDRESS: '9', TRUST_PROXY_HOPS: hops }).connectionLimits
        .perAddress;
    assert.equal(perAddress('0'), 9);
    assert.equal(perAddress('1'), 0);
  });

  it('of METRICS_PORT become a port', () => {
    assert.equal(loadConfig({ METRICS_PORT: '9464' }).metricsPort, 9464);
  });
});
