/** What a start refuses because it is unsafe; `config check` and `doctor` report the same. */
import assert from 'node:assert/strict';
import { createPublicKey } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, describe, it } from 'node:test';
import { reportConfig, type ConfigReport } from '../../../src/config/report.ts';
import { loadConfig } from '../../../src/config/config.ts';
import { entries, settingNames } from '../../../src/config/schema.ts';
import type { Finding } from '../../../src/operator/doctor.ts';
import { typePonte } from '../../support/command-line.ts';
import { selfSigned } from '../provider/http/certificate.ts';
import { findFaults, production, type Environment } from '../../support/config.ts';
import { publishedKey } from '../../support/published-key.ts';

const folder = mkdtempSync(join(tmpdir(), 'ponte-production-'));
after(() => rmSync(folder, { recursive: true }));

/** A setting without its value, as a table of changes needs it. */
const unset = undefined;

const staging: Environment = { ...production, APP_ENV: 'staging' };

const base64 = (bytes: readonly number[] | string): string => Buffer.from(bytes).toString('base64');

const database = (query: string, place = 'db.example'): string =>
  `postgres://ponte:pw@${place}/ponte${query}`;

const publicPart = (pem: string): string =>
  createPublicKey(pem).export({ type: 'spki', format: 'pem' });

interface Case {
  readonly what: string;
  readonly base?: Environment;
  readonly changes: Environment;
  /** The settings at fault, each with how the sentence goes on; none: it is accepted. */
  readonly faults: Readonly<Record<string, RegExp>>;
}

const lacksTls = /^must be an address with a host and with sslmode=verify-full in production, or/;
const lacksSecret = /^is required in \w+.*: one secret of 32 or more visible ASCII characters/;
const isWeak = /^must be one secret of 32 or more visible ASCII characters, without a pattern \(/;
const isTrivial = /^must be 32 random bytes in base64, without a pattern .* in production$/;
const [newSecret = '', oldSecret = ''] = ['new', 'old'].map(
  (name) => `${name}-5f1c08e27ab94d36b1c05e9fa8d2`,
);
const appEvents: Environment = { APP_EVENTS_URL: 'https://app.example/events' };
const whsec = (text: string): string => `whsec_${base64(text)}`;
const isUnnamed = /^is required when PROVIDER_STUB is false or HOST is not a loopback address: one/;

const cases: readonly Case[] = [
  { what: 'a good production configuration', changes: {}, faults: {} },
  { what: 'a good staging configuration', base: staging, changes: {}, faults: {} },
  {
    what: 'local onboarding in production',
    changes: { ONBOARDING_LOCAL_ONLY: 'true' },
    faults: { ONBOARDING_LOCAL_ONLY: /^must be `false` in production$/ },
  },
  {
    what: 'the simulated bank in production',
    changes: { PROVIDER_STUB: 'true' },
    faults: { PROVIDER_STUB: /^must be `false` in production$/ },
  },
  {
    what: 'a webhook secret of one character',
    changes: { WEBHOOK_SECRET: 'x' },
    faults: { WEBHOOK_SECRET: isWeak },
  },
  {
    what: 'a webhook secret of 31 characters beside a long one',
    changes: { WEBHOOK_SECRET: `${newSecret},${oldSecret.slice(1)}` },
    faults: { WEBHOOK_SECRET: isWeak },
  },
  {
    what: 'two webhook secrets of 32 characters',
    changes: { WEBHOOK_SECRET: `${newSecret}, ${oldSecret}` },
    faults: {},
  },
  ...['a'.repeat(32), '0123456789abcdef'.repeat(2), `${newSecret},${'a'.repeat(32)}`].map(
    (secret) => ({
      what: `the trivial webhook secret ${secret}`,
      changes: { WEBHOOK_SECRET: secret, WEBHOOK_SIGNING_SECRET: secret },
      faults: { WEBHOOK_SECRET: isWeak, WEBHOOK_SIGNING_SECRET: isWeak },
    }),
  ),
  {
    what: 'no webhook secret in production',
    changes: { WEBHOOK_SECRET: unset },
    faults: { WEBHOOK_SECRET: lacksSecret },
  },
  {
    what: 'no webhook secret in staging with a real provider',
    base: staging,
    changes: { WEBHOOK_SECRET: '' },
    faults: { WEBHOOK_SECRET: lacksSecret },
  },
  {
    what: 'a short webhook secret in staging with a real provider',
    base: staging,
    changes: { WEBHOOK_SECRET: 'x' },
    faults: { WEBHOOK_SECRET: /32 or more .* in staging with PROVIDER_STUB=false$/ },
  },
  {
    what: 'no webhook secret in staging with the simulated bank',
    base: staging,
    changes: { WEBHOOK_SECRET: '', PROVIDER_STUB: 'true' },
    faults: {},
  },
  {
    what: 'a provider over plain HTTP',
    changes: { PROVIDER_BASE_URL: 'http://provider.test' },
    faults: { PROVIDER_BASE_URL: /^must be an https:\/\/ address .* in production$/ },
  },
  {
    what: 'a real provider without its address',
    changes: { PROVIDER_BASE_URL: unset },
    faults: { PROVIDER_BASE_URL: /^is required when PROVIDER_STUB is false: an https:\/\/ / },
  },
  ...['', '?sslmode=require', '?sslmode=verify-ca', '?sslmode=no-verify', '?ssl=true'].map(
    (query) => ({
      what: `a database with ${query || 'no TLS parameter'}`,
      changes: { DATABASE_URL: database(query) },
      faults: { DATABASE_URL: lacksTls },
    }),
  ),
  {
    what: 'a database whose last sslmode is another one, which the driver takes',
    changes: { DATABASE_URL: database('?sslmode=verify-full&sslmode=disable') },
    faults: { DATABASE_URL: lacksTls },
  },
  {
    what: 'a database without a host to check the certificate against',
    changes: { DATABASE_URL: 'postgres:///ponte?sslmode=verify-full' },
    faults: { DATABASE_URL: lacksTls },
  },
  ...[database('', '%2Frun%2Fpostgresql'), 'postgres:///ponte?host=/run/postgresql'].map(
    (DATABASE_URL) => ({
      what: `a database behind a Unix socket: ${DATABASE_URL}`,
      changes: { DATABASE_URL },
      faults: { DATABASE_URL: /^must be .* as a Unix socket has no TLS, .* DATABASE_TLS=off/ },
    }),
  ),
  {
    what: 'a database whose address replaces the options of each connection',
    changes: { DATABASE_URL: database('?sslmode=verify-full&options=-c%20jit%3Don') },
    faults: { DATABASE_URL: /^must be an address without `options`/ },
  },
  {
    what: 'a database behind a Unix socket, with DATABASE_TLS=off',
    changes: { DATABASE_URL: 'postgres:///ponte?host=/run/postgresql', DATABASE_TLS: 'off' },
    faults: {},
  },
  {
    what: 'a database in a private network, with DATABASE_TLS=off',
    changes: { DATABASE_URL: database(''), DATABASE_TLS: 'off' },
    faults: {},
  },
  {
    what: 'DATABASE_TLS=off beside sslmode=verify-full',
    changes: { DATABASE_TLS: 'off' },
    faults: { DATABASE_TLS: /^must be unset while DATABASE_URL has sslmode=verify-full/ },
  },
  {
    what: 'DATABASE_TLS of another value',
    changes: { DATABASE_TLS: 'on' },
    faults: { DATABASE_TLS: /^must be `off`, or unset$/ },
  },
  {
    what: 'a certificate authority that cannot be read',
    changes: { DATABASE_URL: database(`?sslmode=verify-full&sslrootcert=${folder}/none`) },
    faults: { DATABASE_URL: /^must be an address whose sslrootcert names a file that can be read/ },
  },
  ...[
    { what: 'of zeros', key: base64(Array.from({ length: 32 }, () => 0)) },
    { what: 'of one byte', key: base64('k'.repeat(32)) },
    { what: 'that counts', key: base64(Array.from({ length: 32 }, (_, index) => index)) },
    { what: 'of two equal halves', key: base64('0123456789abcdef'.repeat(2)) },
  ].map(({ what, key }) => ({
    what: `an encryption key ${what}`,
    changes: { ENCRYPTION_KEY: key },
    faults: { ENCRYPTION_KEY: isTrivial },
  })),
  ...['k'.repeat(32), '0123456789abcdef'.repeat(2)].map((bytes) => ({
    what: `the trivial secret of events ${bytes}`,
    changes: { ...appEvents, APP_EVENTS_SECRET: whsec(bytes) },
    faults: { APP_EVENTS_SECRET: /^must be `whsec_` with .*without a pattern .* in production$/ },
  })),
  {
    what: 'two random secrets of events',
    changes: { ...appEvents, APP_EVENTS_SECRET: [newSecret, oldSecret].map(whsec).join(',') },
    faults: {},
  },
  {
    what: 'a published key for access tokens',
    changes: {
      JWT_PRIVATE_KEY: publishedKey,
      JWT_PUBLIC_KEYS: `${production.JWT_PUBLIC_KEYS}\n${publicPart(publishedKey)}`,
    },
    faults: {
      JWT_PRIVATE_KEY: /other than the published examples in production$/,
      JWT_PUBLIC_KEYS: /other than the published examples in production$/,
    },
  },
  {
    what: 'access tokens for more than a day',
    changes: { JWT_TTL_SECONDS: '86401' },
    faults: { JWT_TTL_SECONDS: /^must be an integer from 1 to 86400 in production$/ },
  },
  {
    what: 'lifted throttles',
    changes: {
      THROTTLE_LOGIN_PER_MINUTE: '0',
      THROTTLE_ADDRESS_PER_MINUTE: '0',
      THROTTLE_USER_PER_MINUTE: '0',
      CODES_PER_HOUR: '0',
      UPLOADS_MIB_PER_HOUR: '0',
    },
    faults: {
      THROTTLE_LOGIN_PER_MINUTE: /^must be an integer from 1 to 60 in production$/,
      THROTTLE_ADDRESS_PER_MINUTE: /^must be an integer from 1 to 6000 in production$/,
      THROTTLE_USER_PER_MINUTE: /^must be an integer from 1 to 6000 in production$/,
      CODES_PER_HOUR: /^must be an integer from 1 to 1000000 in production$/,
      UPLOADS_MIB_PER_HOUR: /^must be an integer from 1 to 1000000000 in production$/,
    },
  },
  {
    what: 'throttles that let everything through',
    changes: { THROTTLE_LOGIN_PER_MINUTE: '61', THROTTLE_ADDRESS_PER_MINUTE: '6001' },
    faults: { THROTTLE_LOGIN_PER_MINUTE: /1 to 60/, THROTTLE_ADDRESS_PER_MINUTE: /1 to 6000/ },
  },
  {
    what: 'each limit as far as it goes',
    changes: {
      THROTTLE_LOGIN_PER_MINUTE: '60',
      THROTTLE_ADDRESS_PER_MINUTE: '6000',
      JWT_TTL_SECONDS: '86400',
      TRUST_PROXY_HOPS: '0',
      LOG_LEVEL: 'fatal',
    },
    faults: {},
  },
  {
    what: 'no log',
    changes: { LOG_LEVEL: 'silent' },
    faults: { LOG_LEVEL: /^must be one of fatal, error, warn, info, debug, trace in production$/ },
  },
  {
    what: 'no word on the proxies in front',
    changes: { TRUST_PROXY_HOPS: unset },
    faults: { TRUST_PROXY_HOPS: /^is required in production: the number of proxies in front/ },
  },
  {
    what: 'certificates that Node does not check',
    changes: { NODE_TLS_REJECT_UNAUTHORIZED: '0' },
    faults: { NODE_TLS_REJECT_UNAUTHORIZED: /^must not be 0 in production/ },
  },
  {
    what: 'a real provider without APP_ENV',
    base: {},
    changes: { PROVIDER_STUB: 'false', PROVIDER_BASE_URL: 'https://provider.test' },
    faults: { APP_ENV: isUnnamed },
  },
  ...['0.0.0.0', '::', '192.0.2.1', 'ponte.example', '128.0.0.1'].map((HOST) => ({
    what: `HOST=${HOST} without APP_ENV`,
    base: {},
    changes: { HOST },
    faults: { APP_ENV: isUnnamed },
  })),
  ...['127.0.0.1', '127.8.9.10', '::1', '0:0:0:0:0:0:0:1', 'localhost'].map((HOST) => ({
    what: `HOST=${HOST} without APP_ENV`,
    base: {},
    changes: { HOST, APP_ENV: '' },
    faults: {},
  })),
  {
    what: 'a first configuration with many mistakes',
    base: {},
    changes: {
      APP_ENV: 'production',
      PROVIDER_STUB: 'false',
      PROVIDER_BASE_URL: 'http://bank',
      DATABASE_URL: 'postgres://db/ponte',
      WEBHOOK_SECRET: 'x',
      ONBOARDING_LOCAL_ONLY: 'true',
      ENCRYPTION_KEY: base64('0'.repeat(32)),
      LOG_LEVEL: 'silent',
      JWT_TTL_SECONDS: '9999999',
    },
    faults: {
      DATABASE_URL: lacksTls,
      PROVIDER_BASE_URL: /https/,
      PROVIDER_PAYMENT_RETRIES: /^is required in production: an integer from 0 to 10$/,
      PROVIDER_DIALECTS: /^is required in production/,
      WEBHOOK_SECRET: isWeak,
      ONBOARDING_LOCAL_ONLY: /`false`/,
      JWT_PRIVATE_KEY: /^is required in production: .* \(or JWT_PRIVATE_KEY_FILE names a file/,
      JWT_PUBLIC_KEYS: /^is required in production/,
      JWT_TTL_SECONDS: /86400/,
      ENCRYPTION_KEY: isTrivial,
      TRUST_PROXY_HOPS: /^is required in production/,
      LOG_LEVEL: /in production$/,
    },
  },
];

describe('a start, ponte config check and ponte doctor', () => {
  for (const { what, base = production, changes, faults } of cases) {
    const verdict = Object.keys(faults).length === 0 ? 'accept' : 'refuse';
    it(`${verdict} ${what}`, async () => {
      const environment: Environment = { ...base, ...changes };
      const expected = findFaults(environment);
      assert.deepEqual(Object.keys(expected), Object.keys(faults));
      for (const [name, message] of Object.entries(faults))
        assert.match(expected[name] ?? '', message);

      const check = await typePonte(['config', 'check', '--json'], { environment });
      const report = JSON.parse(check.stdout) as ConfigReport;
      const reported = report.faults.map(({ name, message }) => [name, message]);
      assert.deepEqual(Object.fromEntries(reported), expected);
      assert.equal(check.code, verdict === 'accept' ? 0 : 2);

      if (verdict === 'accept') return;
      const doctor = await typePonte(['doctor', '--json'], { environment });
      assert.equal(doctor.code, 2);
      const { findings } = JSON.parse(doctor.stdout) as { readonly findings: readonly Finding[] };
      assert.deepEqual(
        findings.map(({ name, state, says }) => [name, state, says]),
        Object.entries(expected).map(([name, says]) => ['configuration', 'bad', `${name} ${says}`]),
      );
    });
  }

  it('have a refused value above, for every setting that is stricter in production', () => {
    const stricter = settingNames.filter((name) => 'inProduction' in entries[name]);
    const refused = new Set(
      cases.flatMap(({ changes, faults }) => Object.keys(faults).filter((name) => changes[name])),
    );
    assert.deepEqual(new Set(stricter).difference(refused), new Set());
  });

  it('report a good production configuration as valid', async () => {
    const { stdout } = await typePonte(['doctor', '--json'], { environment: production });
    const { findings } = JSON.parse(stdout) as { readonly findings: readonly Finding[] };
    const [first] = findings;
    assert.deepEqual([first?.state, first?.says], ['ok', 'valid for production']);
  });

  it('say how often a payment is sent, and what "at most once" rests on', async () => {
    for (const [retries, says] of [
      ['0', /^are sent once \(PROVIDER_PAYMENT_RETRIES=0\)$/],
      ['2', /^are sent up to 3 times .* a bank that recognises a repeated clientRequestId$/],
    ] as const) {
      const environment = { ...production, PROVIDER_PAYMENT_RETRIES: retries };
      const { stdout } = await typePonte(['doctor', '--json'], { environment });
      const { findings } = JSON.parse(stdout) as { readonly findings: readonly Finding[] };
      assert.match(findings.find(({ name }) => name === 'payments')?.says ?? '', says);
    }
  });
});

describe('a secret from a file', () => {
  const secrets = {
    DATABASE_URL: production.DATABASE_URL,
    PROVIDER_PASSWORD: 'correct horse',
    WEBHOOK_SECRET: production.WEBHOOK_SECRET,
    JWT_PRIVATE_KEY: production.JWT_PRIVATE_KEY,
    JWT_PUBLIC_KEYS: production.JWT_PUBLIC_KEYS,
    ENCRYPTION_KEY: production.ENCRYPTION_KEY,
  };

  function file(name: string, content: string): string {
    const path = join(folder, name);
    writeFileSync(path, content);
    return path;
  }

  it('is possible for every secret setting', async () => {
    const { stdout } = await typePonte(['config', 'check', '--json'], {
      environment: { ...production, ...secrets },
    });
    const { settings } = JSON.parse(stdout) as ConfigReport;
    const names = settings.map(({ name }) => name);
    for (const { name, value } of settings) {
      if (value === '(set)') assert.ok(names.includes(`${name}_FILE` as typeof name), name);
    }
    for (const name of Object.keys(secrets)) assert.ok(names.includes(`${name}_FILE` as never));
  });

  it('is the value itself, without the line end of the file', () => {
    const expected = loadConfig({ ...production, ...secrets });
    const emptied = Object.fromEntries(Object.keys(secrets).map((name) => [name, '']));
    for (const end of ['', '\n', '\r\n']) {
      const files = Object.entries(secrets).map(([name, value]) => {
        return [`${name}_FILE`, file(name, `${value.trimEnd()}${end}`)] as const;
      });
      const config = loadConfig({ ...production, ...emptied, ...Object.fromEntries(files) });
      // A PEM may end as it likes.
      assert.equal(config.jwt.privateKeyPem?.trim(), expected.jwt.privateKeyPem?.trim());
      const { privateKeyPem } = expected.jwt;
      assert.deepEqual({ ...config, jwt: { ...config.jwt, privateKeyPem } }, expected);
    }
  });

  it('keeps the two characters \\n where it is no PEM', () => {
    const databaseUrl = 'postgres://ponte:a%5Cn\\n@db/ponte';
    assert.equal(loadConfig({ DATABASE_URL: databaseUrl }).databaseUrl, databaseUrl);
  });

  for (const name of Object.keys(secrets) as (keyof typeof secrets)[]) {
    it(`${name} is refused when it comes twice, or its file is missing or empty`, () => {
      const catchFault = (environment: Environment): unknown =>
        findFaults({ ...production, [name]: '', ...environment });
      const path = file('given', secrets[name]);
      const fileName = `${name}_FILE`;
      assert.deepEqual(catchFault({ [name]: secrets[name], [fileName]: path }), {
        [fileName]: `must not be set together with ${name}`,
      });
      assert.deepEqual(catchFault({ [fileName]: join(folder, 'none') }), {
        [fileName]: 'names a file that cannot be read (ENOENT)',
      });
      assert.deepEqual(catchFault({ [fileName]: folder }), {
        [fileName]: 'names a file that cannot be read (EISDIR)',
      });
      assert.deepEqual(catchFault({ [fileName]: file('empty', ' \n') }), {
        [fileName]: 'names a file that is empty',
      });
    });
  }

  it('is held to the rules of production, and the file is blamed', () => {
    const changes = { WEBHOOK_SECRET: '', ENCRYPTION_KEY: '', DATABASE_URL: '' };
    const expected = findFaults({
      ...production,
      ...changes,
      WEBHOOK_SECRET_FILE: file('short', 'x\n'),
      ENCRYPTION_KEY_FILE: file('zeros', base64(Array.from({ length: 32 }, () => 0))),
      DATABASE_URL_FILE: file('plain', database('')),
    });
    const ofFile = (name: string): string => expected[`${name}_FILE`] ?? '';
    assert.match(ofFile('WEBHOOK_SECRET'), /^must name a file with one secret of 32 or/);
    assert.match(ofFile('ENCRYPTION_KEY'), /^must name a file with 32 random bytes/);
    assert.match(ofFile('DATABASE_URL'), /^must name a file with an address with a host/);
    assert.equal(Object.keys(expected).length, 3);
  });
});

describe('ponte user create-dev', () => {
  for (const appEnv of ['staging', 'production']) {
    it(`is refused in ${appEnv}, before the database is opened: exit 1`, async () => {
      const environment = {
        ...production,
        APP_ENV: appEnv,
        PROVIDER_EMAIL: 'dev@ponte.test',
        PROVIDER_PASSWORD: 'ponte-dev-password',
      };
      const { code, stdout, stderr } = await typePonte(['user', 'create-dev'], { environment });
      assert.deepEqual([code, stdout], [1, '']);
      const reason = `${appEnv} has no development user`;
      assert.equal(stderr, `ponte: ${reason}: use \`ponte user create\`\n`);
    });
  }
});

describe('how the provider knows who calls', () => {
  const [one, other] = [selfSigned(), selfSigned()];

  it('is read: certificate with its key, authorities, API key', () => {
    const { tls, apiKey } = loadConfig({
      ...production,
      PROVIDER_CA: other.cert,
      PROVIDER_CLIENT_CERT: one.cert,
      PROVIDER_CLIENT_KEY: one.key,
      PROVIDER_API_KEY: 'key-1',
      PROVIDER_API_KEY_HEADER: 'X-Bank-Key',
    }).provider;
    assert.deepEqual(tls, { ca: other.cert, ...one });
    assert.deepEqual(apiKey, { header: 'X-Bank-Key', value: 'key-1' });
  });

  it('is read: the connections of payments, and the header of the request id', () => {
    const { provider } = loadConfig({
      ...production,
      PROVIDER_ECHOES_REQUEST_ID: 'X-Correlation-Id',
    });
    assert.equal(provider.paymentsPerSecond, 200);
    assert.equal(provider.echoHeader, 'x-correlation-id');
  });

  it('is shown as set, and no part of a certificate is', () => {
    const tls = { PROVIDER_CA: other.cert, PROVIDER_CLIENT_CERT: one.cert };
    const report = reportConfig({ ...production, ...tls, PROVIDER_CLIENT_KEY: one.key });
    assert.equal(report.valid, true, JSON.stringify(report.faults));
    for (const name of ['PROVIDER_CA', 'PROVIDER_CLIENT_CERT', 'PROVIDER_CLIENT_KEY']) {
      assert.equal(report.settings.find((setting) => setting.name === name)?.value, '(set)', name);
    }
    assert.ok(!JSON.stringify(report).includes('BEGIN'));
  });

  const faulty: readonly [Record<string, string>, string][] = [
    [{ PROVIDER_CLIENT_CERT: one.cert }, 'PROVIDER_CLIENT_KEY'],
    [{ PROVIDER_CLIENT_KEY: one.key }, 'PROVIDER_CLIENT_CERT'],
    [{ PROVIDER_CLIENT_CERT: one.cert, PROVIDER_CLIENT_KEY: other.key }, 'PROVIDER_CLIENT_KEY'],
    [{ PROVIDER_CA: 'no certificate' }, 'PROVIDER_CA'],
    [{ PROVIDER_API_KEY: 'two words' }, 'PROVIDER_API_KEY'],
    [{ PROVIDER_API_KEY_HEADER: 'Authorization' }, 'PROVIDER_API_KEY_HEADER'],
    [{ PROVIDER_API_KEY_HEADER: 'x:y' }, 'PROVIDER_API_KEY_HEADER'],
  ];
  for (const [changes, name] of faulty) {
    it(`names ${name} at fault: ${Object.keys(changes).join(', ')}`, () => {
      const faults = findFaults({ ...production, ...changes });
      assert.deepEqual(Object.keys(faults), [name]);
      assert.ok(!JSON.stringify(faults).includes('BEGIN'));
    });
  }
});
