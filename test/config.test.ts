import assert from 'node:assert/strict';
import { generateKeyPairSync, randomBytes } from 'node:crypto';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { isAbsolute, join, resolve } from 'node:path';
import { after, describe, it } from 'node:test';
import { parseEnv } from 'node:util';
import { ConfigError, loadConfig, readEnvironment, settings } from '../src/config.ts';

type Environment = Record<string, string | undefined>;

const folder = mkdtempSync(join(tmpdir(), 'ponte-config-'));
after(() => rmSync(folder, { recursive: true }));

function rsaPems(modulusLength: number): { privatePem: string; publicPem: string } {
  const pair = generateKeyPairSync('rsa', {
    modulusLength,
    privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
    publicKeyEncoding: { type: 'spki', format: 'pem' },
  });
  return { privatePem: pair.privateKey, publicPem: pair.publicKey };
}

const { privatePem, publicPem } = rsaPems(2048);
const older = rsaPems(2048);
const encryptionKey = randomBytes(32).toString('base64');

const production: Environment = {
  APP_ENV: 'production',
  DATABASE_URL: 'postgres://ponte:pw@db/ponte',
  PROVIDER_STUB: 'false',
  PROVIDER_BASE_URL: 'https://provider.test',
  WEBHOOK_SECRET: 's3cret',
  JWT_PRIVATE_KEY: privatePem,
  JWT_PUBLIC_KEYS: publicPem,
  ENCRYPTION_KEY: encryptionKey,
};

function faultsOf(environment: Environment): Record<string, string> {
  try {
    loadConfig(environment);
  } catch (error) {
    assert.ok(error instanceof ConfigError, String(error));
    return Object.fromEntries(error.faults.map(({ name, message }) => [name, message]));
  }
  return {};
}

function assertFaults(environment: Environment, ...names: string[]): void {
  assert.deepEqual(Object.keys(faultsOf(environment)).sort(), names.sort());
}

describe('the configuration of an empty environment', () => {
  const config = loadConfig({});

  it('is the local one with its defaults', () => {
    assert.deepEqual(config, {
      appEnv: 'local',
      host: '127.0.0.1',
      port: 3000,
      databaseUrl: undefined,
      dataDir: resolve('.data'),
      provider: {
        stub: true,
        baseUrl: undefined,
        email: 'dev@ponte.test',
        password: 'ponte-dev-password',
        ispb: '11165756',
        timeoutMs: 5000,
        retries: 2,
      },
      stubSettleMs: 1500,
      webhookSecrets: [],
      onboardingLocalOnly: true,
      jwt: {
        issuer: 'ponte',
        audience: 'ponte-app',
        ttlSeconds: 3600,
        privateKeyPem: undefined,
        publicKeysPem: [],
      },
      encryptionKey: undefined,
      uploadMaxBytes: 10_485_760,
      throttle: { loginPerMinute: 5, addressPerMinute: 30 },
      trustProxyHops: 0,
      jobs: 'inline',
      metricsPort: undefined,
      logLevel: 'info',
    });
  });

  it('is frozen to the bottom', () => {
    const parts = [config, config.provider, config.jwt, config.throttle, config.webhookSecrets];
    assert.ok(parts.every((part) => Object.isFrozen(part)));
  });
});

describe('defaults by environment', () => {
  it('of test never settle by themselves and name no development user', () => {
    const config = loadConfig({ APP_ENV: 'test' });
    assert.equal(config.stubSettleMs, 0);
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

describe('what an environment requires', () => {
  const keys = ['JWT_PRIVATE_KEY', 'JWT_PUBLIC_KEYS', 'ENCRYPTION_KEY'];

  it('staging: database, keys, and a word on the stub', () => {
    assertFaults({ APP_ENV: 'staging' }, 'DATABASE_URL', 'PROVIDER_STUB', ...keys);
  });

  it('production: the webhook secret too', () => {
    const names = ['DATABASE_URL', 'PROVIDER_STUB', 'WEBHOOK_SECRET', ...keys];
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
    assertFaults({ PROVIDER_STUB: 'false' }, 'PROVIDER_BASE_URL');
    assertFaults({ PROVIDER_STUB: 'false', PROVIDER_BASE_URL: 'http://127.0.0.1:9' });
  });

  it('an empty value counts as unset', () => {
    assert.equal(loadConfig({ PORT: '', DATABASE_URL: '' }).port, 3000);
    assertFaults({ ...production, WEBHOOK_SECRET: '' }, 'WEBHOOK_SECRET');
  });
});

describe('faults', () => {
  it('are all reported at once, by name, in the order of the settings', () => {
    const environment = { LOG_LEVEL: 'loud', PORT: 'x', JOBS: 'maybe' };
    assert.deepEqual(Object.keys(faultsOf(environment)), ['PORT', 'JOBS', 'LOG_LEVEL']);
  });

  it('say what is expected', () => {
    assert.deepEqual(faultsOf({ PORT: '65536', PROVIDER_STUB: 'yes' }), {
      PORT: 'must be an integer from 0 to 65535',
      PROVIDER_STUB: 'must be `true` or `false`',
    });
    const message = faultsOf({ APP_ENV: 'staging' })['DATABASE_URL'];
    assert.equal(message, 'is required in staging: a postgres:// or postgresql:// address');
  });

  it('of an unknown environment are one, and hide no others', () => {
    assertFaults({ APP_ENV: 'prod' }, 'APP_ENV');
    assertFaults({ APP_ENV: 'prod', PORT: 'x', JOBS: 'maybe' }, 'APP_ENV', 'PORT', 'JOBS');
  });

  it('never show the value of a setting', () => {
    const wrong: Environment = { APP_ENV: 'production', PROVIDER_PASSWORD: 'pw-leak' };
    for (const { name } of settings) wrong[name] ??= 'leak, leak, leak';
    const told = JSON.stringify(faultsOf(wrong));
    assert.doesNotMatch(told, /leak/);
    assert.match(told, /WEBHOOK_SECRET.*JWT_PRIVATE_KEY_FILE.*ENCRYPTION_KEY/);
  });
});

const accepted: Record<string, string[]> = {
  HOST: ['0.0.0.0', '::1', 'localhost'],
  PORT: ['0', '1', '65535'],
  DATABASE_URL: ['postgres://db/ponte', 'postgresql://u:p@db:5432/ponte?sslmode=require'],
  PROVIDER_STUB: ['true'],
  PROVIDER_BASE_URL: ['http://provider.test', 'https://provider.test/base'],
  PROVIDER_ISPB: ['00000000', '12AB34CD'],
  PROVIDER_RETRIES: ['0', '10'],
  STUB_SETTLE_MS: ['0', '1'],
  WEBHOOK_SECRET: ['one', 'new,old', 'new, old'],
  ONBOARDING_LOCAL_ONLY: ['true', 'false'],
  ENCRYPTION_KEY: [encryptionKey],
  JOBS: ['inline', 'off'],
  METRICS_PORT: ['9464'],
  LOG_LEVEL: ['silent', 'debug'],
};

const refused: Record<string, string[]> = {
  HOST: ['a b', 'http://host'],
  PORT: ['-1', '65536', '3000.5', '1e3', '0x10', ' 80', 'http'],
  DATABASE_URL: ['mysql://db/ponte', 'db/ponte', 'http://db'],
  PROVIDER_STUB: ['1', 'yes', 'TRUE', 'True', ' true'],
  PROVIDER_BASE_URL: ['provider.test', 'ftp://provider.test', 'http://u:p@provider.test'],
  PROVIDER_EMAIL: ['nobody', 'a b@c'],
  PROVIDER_PASSWORD: ['short'],
  PROVIDER_ISPB: ['1116575', '111657566', '1116575a', '11-65756'],
  PROVIDER_TIMEOUT_MS: ['0', 'soon'],
  PROVIDER_RETRIES: ['-1', '11'],
  STUB_SETTLE_MS: ['-1'],
  WEBHOOK_SECRET: ['a,b,c', 'a,', ',', 'a b', 'segredó'],
  ONBOARDING_LOCAL_ONLY: ['0', 'no'],
  JWT_TTL_SECONDS: ['0', 'hour'],
  ENCRYPTION_KEY: [
    'short',
    randomBytes(31).toString('base64'),
    randomBytes(33).toString('base64'),
    `${encryptionKey}\n`,
    randomBytes(32).toString('hex'),
  ],
  UPLOAD_MAX_BYTES: ['0', '10MB'],
  THROTTLE_LOGIN_PER_MINUTE: ['-1', 'none'],
  THROTTLE_ADDRESS_PER_MINUTE: ['1.5'],
  TRUST_PROXY_HOPS: ['-1', 'all'],
  JOBS: ['on', 'INLINE'],
  METRICS_PORT: ['65536'],
  LOG_LEVEL: ['loud', 'INFO'],
};

describe('the form of a setting', () => {
  for (const [name, values] of Object.entries(accepted)) {
    it(`${name} may be ${values.map((value) => JSON.stringify(value)).join(', ')}`, () => {
      for (const value of values) assertFaults({ [name]: value });
    });
  }

  for (const [name, values] of Object.entries(refused)) {
    it(`${name} may not be ${values.map((value) => JSON.stringify(value)).join(', ')}`, () => {
      for (const value of values) assert.ok(faultsOf({ [name]: value })[name], value);
    });
  }
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
    const key = loadConfig({ ENCRYPTION_KEY: encryptionKey }).encryptionKey;
    assert.deepEqual(key, Buffer.from(encryptionKey, 'base64'));
  });

  it('of METRICS_PORT become a port', () => {
    assert.equal(loadConfig({ METRICS_PORT: '9464' }).metricsPort, 9464);
  });
});

describe('the keys of the access tokens', () => {
  const elliptic = generateKeyPairSync('ec', {
    namedCurve: 'P-256',
    privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
    publicKeyEncoding: { type: 'spki', format: 'pem' },
  });
  const weak = rsaPems(1024);

  function file(name: string, content: string): string {
    const path = join(folder, name);
    writeFileSync(path, content);
    return path;
  }

  it('are several public keys, one PEM after the other', () => {
    const { jwt } = loadConfig({ JWT_PUBLIC_KEYS: `${publicPem}\n${older.publicPem}` });
    assert.deepEqual(jwt.publicKeysPem, [publicPem.trim(), older.publicPem.trim()]);
  });

  it('may have their line ends written as two characters', () => {
    const { jwt } = loadConfig({ JWT_PRIVATE_KEY: privatePem.replaceAll('\n', '\\n') });
    assert.equal(jwt.privateKeyPem, privatePem);
  });

  it('may come from files', () => {
    const { jwt } = loadConfig({
      ...production,
      JWT_PRIVATE_KEY: undefined,
      JWT_PUBLIC_KEYS: undefined,
      JWT_PRIVATE_KEY_FILE: file('private.pem', privatePem),
      JWT_PUBLIC_KEYS_FILE: file('public.pem', publicPem),
    });
    assert.equal(jwt.privateKeyPem, privatePem);
    assert.deepEqual(jwt.publicKeysPem, [publicPem.trim()]);
  });

  it('are refused when the private one is no RSA key of 2048 bits without a pass phrase', () => {
    const locked = generateKeyPairSync('rsa', {
      modulusLength: 2048,
      privateKeyEncoding: {
        type: 'pkcs8',
        format: 'pem',
        cipher: 'aes-256-cbc',
        passphrase: 'x',
      },
      publicKeyEncoding: { type: 'spki', format: 'pem' },
    }).privateKey;
    for (const pem of ['x', publicPem, elliptic.privateKey, weak.privatePem, locked]) {
      assertFaults({ JWT_PRIVATE_KEY: pem }, 'JWT_PRIVATE_KEY');
    }
  });

  it('are refused when a public one is private, weak, of another kind or followed by text', () => {
    const texts = ['x', privatePem, elliptic.publicKey, weak.publicPem, `${publicPem}x`];
    texts.push(`${publicPem}${weak.publicPem}`, publicPem.replace(/M/, '-'));
    for (const text of texts) assertFaults({ JWT_PUBLIC_KEYS: text }, 'JWT_PUBLIC_KEYS');
  });

  it('are a fault of the file that cannot be read, and of nothing else', () => {
    const environment = { ...production, JWT_PRIVATE_KEY: '' };
    const faults = faultsOf({ ...environment, JWT_PRIVATE_KEY_FILE: join(folder, 'none') });
    assert.deepEqual(faults, {
      JWT_PRIVATE_KEY_FILE: 'names a file that cannot be read (ENOENT)',
    });
  });

  it('are a fault of the file that holds something else', () => {
    const faults = faultsOf({ JWT_PUBLIC_KEYS_FILE: file('wrong.pem', 'wrong') });
    assert.deepEqual(Object.keys(faults), ['JWT_PUBLIC_KEYS_FILE']);
    assert.match(faults['JWT_PUBLIC_KEYS_FILE'] ?? '', /^must name a file with RSA public keys/);
  });

  it('are refused when they come twice', () => {
    const JWT_PRIVATE_KEY_FILE = file('private.pem', privatePem);
    const faults = faultsOf({ JWT_PRIVATE_KEY: privatePem, JWT_PRIVATE_KEY_FILE });
    assert.deepEqual(faults, {
      JWT_PRIVATE_KEY_FILE: 'must not be set together with JWT_PRIVATE_KEY',
    });
  });
});

describe('.env.example', () => {
  const text = readFileSync(join(import.meta.dirname, '..', '.env.example'), 'utf8');
  const example = parseEnv(text) as Record<string, string>;

  it('has every setting and no other, in order', () => {
    assert.deepEqual(Object.keys(example).sort(), settings.map(({ name }) => name).sort());
    const lines = text.split('\n').filter((line) => /^[A-Z]/.test(line));
    assert.deepEqual(
      lines.map((line) => line.slice(0, line.indexOf('='))),
      settings.map(({ name }) => name),
    );
  });

  it('has a comment above every setting', () => {
    const bare = text.split('\n').filter((line, index, lines) => {
      return /^[A-Z]/.test(line) && !lines[index - 1]?.startsWith('# ');
    });
    assert.deepEqual(bare, []);
  });

  it('shows the default of every setting that has one everywhere', () => {
    for (const { name, default: shown } of settings) {
      const varies = shown === 'unset' || / in /.test(shown);
      assert.equal(example[name], varies ? '' : shown, name);
    }
  });

  it('changes nothing when it is copied as it is', () => {
    assert.deepEqual(loadConfig(example), loadConfig({}));
  });
});

describe('the list of settings', () => {
  it('tells the default in words', () => {
    const defaults = Object.fromEntries(settings.map((one) => [one.name, one.default]));
    assert.equal(defaults['PORT'], '3000');
    assert.equal(defaults['METRICS_PORT'], 'unset');
    assert.equal(defaults['STUB_SETTLE_MS'], '1500 in local; 0 in test, staging, production');
    assert.equal(defaults['PROVIDER_STUB'], 'true in local, test; required in staging, production');
  });
});

describe('reading the environment', () => {
  const workingDirectory = process.cwd();
  after(() => process.chdir(workingDirectory));

  it('takes a .env file, over which the real environment wins', () => {
    process.chdir(folder);
    writeFileSync('.env', 'PONTE_TEST_ONE=file\nPONTE_TEST_TWO="of the file"\n');
    process.env['PONTE_TEST_ONE'] = 'real';
    const environment = readEnvironment();
    delete process.env['PONTE_TEST_ONE'];
    rmSync('.env');
    assert.equal(environment['PONTE_TEST_ONE'], 'real');
    assert.equal(environment['PONTE_TEST_TWO'], 'of the file');
  });

  it('does without a .env file', () => {
    process.chdir(folder);
    assert.equal(readEnvironment()['PATH'], process.env['PATH']);
  });

  it('says when the .env file cannot be read', () => {
    process.chdir(mkdtempSync(join(folder, 'broken-')));
    mkdirSync('.env');
    assert.throws(readEnvironment, (error) => {
      assert.ok(error instanceof ConfigError);
      assert.deepEqual(error.faults, [{ name: '.env', message: 'cannot be read (EISDIR)' }]);
      return true;
    });
  });
});
