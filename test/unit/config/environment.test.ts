import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, describe, it } from 'node:test';
import { parseEnv } from 'node:util';
import {
  ConfigError,
  dotEnvFault,
  loadConfig,
  namesFromDotEnv,
  readEnvironment,
} from '../../../src/config/config.ts';
import { reportConfig, settings } from '../../../src/config/report.ts';

const folder = mkdtempSync(join(tmpdir(), 'ponte-env-'));
after(() => rmSync(folder, { recursive: true }));

describe('.env.example', () => {
  const text = readFileSync(join(import.meta.dirname, '..', '..', '..', '.env.example'), 'utf8');
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
      const varies = shown === 'unset' || shown.includes(' in ');
      assert.equal(example[name], varies ? '' : shown, name);
    }
  });

  it('says of every setting where it is required', () => {
    const comments = new Map<string, string>();
    for (const paragraph of text.split('\n\n')) {
      const lines = paragraph.split('\n');
      const [name = ''] = lines.findLast((line) => /^[A-Z]/.test(line))?.split('=') ?? [];
      comments.set(name, lines.map((line) => line.replace(/^# /, '')).join(' '));
    }
    const requiredIn = (words: string) => /required in ([a-z, ]+)/i.exec(words)?.[1];
    for (const { name, default: shown } of settings)
      assert.equal(requiredIn(comments.get(name) ?? ''), requiredIn(shown), name);
  });

  it('changes nothing when it is copied as it is', () => {
    assert.deepEqual(loadConfig(example), loadConfig({}));
  });
});

describe('the list of settings', () => {
  it('shows the default in words', () => {
    const defaults = Object.fromEntries(settings.map((one) => [one.name, one.default]));
    assert.equal(defaults['PORT'], '3000');
    assert.equal(defaults['METRICS_PORT'], 'unset');
    assert.equal(defaults['STUB_SETTLE_MS'], '1500 in local; 0 in test, staging, production');
    assert.equal(defaults['PROVIDER_STUB'], 'true in local, test; required in staging, production');
  });
});

describe('the report of the settings', () => {
  const shownUrl = (url: string) => {
    const { settings: all } = reportConfig({ APP_ENV: 'local', DATABASE_URL: url });
    return all.find(({ name }) => name === 'DATABASE_URL');
  };

  it('never shows a password, whatever is wrong with the address', () => {
    for (const url of [
      'postgres://ponte:s3cret@host/db',
      'postgres:ponte:s3cret@host/db',
      'postgres:/ponte:s3cret@host:5432/db',
      'postgres:////ponte:s3cret@host/db',
      'postgres:\\\\ponte:s3cret@host/db',
      'postgres://ponte:s3/cret@host/db',
      'postgres://host/ponte:s3cret@other/db',
      'postgres://host/db?user=ponte&password=s3cret',
    ]) {
      assert.doesNotMatch(JSON.stringify(shownUrl(url)), /s3/, url);
    }
    assert.equal(shownUrl('postgres:ponte:s3cret@host/db')?.value, null);
    assert.equal(shownUrl('postgres://ponte:s3cret@host/db')?.value, 'postgres://ponte@host/db');
  });

  it('tells a value of .env from one of the environment', () => {
    const report = reportConfig({ PORT: '1', HOST: '127.0.0.1' }, new Set(['PORT']));
    const from = Object.fromEntries(report.settings.map((one) => [one.name, one.from]));
    assert.deepEqual([from['PORT'], from['HOST']], ['.env', 'environment']);
  });
});

describe('DATA_DIR', () => {
  const faultsWith = (path: string) =>
    reportConfig({ APP_ENV: 'local', DATA_DIR: path }).faults.map(({ message }) => message);

  it('is no file', () => {
    assert.deepEqual(faultsWith(import.meta.filename), ['must be a folder, not a file']);
  });

  it('is a folder, or none yet', () => {
    assert.deepEqual(faultsWith(import.meta.dirname), []);
    assert.deepEqual(faultsWith(join(import.meta.dirname, 'none')), []);
  });
});

describe('METRICS_PORT', () => {
  const faultsWith = (changes: Record<string, string>) =>
    reportConfig({ APP_ENV: 'local', PORT: '9464', METRICS_PORT: '9464', ...changes }).faults;

  it('is another port than PORT, on one address and on all addresses', () => {
    const faults = [{ name: 'METRICS_PORT', message: 'must be another port than PORT' }];
    assert.deepEqual(faultsWith({}), faults);
    assert.deepEqual(faultsWith({ HOST: '0.0.0.0' }), faults);
    assert.deepEqual(faultsWith({ METRICS_HOST: '::' }), faults);
    assert.deepEqual(faultsWith({ METRICS_HOST: '10.0.0.1' }), []);
    assert.deepEqual(faultsWith({ PORT: '0', METRICS_PORT: '0' }), []);
  });
});

describe('a .env that root reads', () => {
  it('belongs to root, and nobody else may write it', () => {
    const modes = [0o600, 0o644, 0o664, 0o646];
    const faults = modes.map((mode) => dotEnvFault({ mode: 0o100000 + mode, uid: 0 }, 0) === null);
    assert.deepEqual(faults, [true, true, false, false]);
    assert.match(dotEnvFault({ mode: 0o600, uid: 1000 }, 0) ?? '', /belongs to another user/);
    assert.equal(dotEnvFault({ mode: 0o666, uid: 1000 }, 1000), null);
  });
});

describe('reading the environment', () => {
  const workingDirectory = process.cwd();
  after(() => process.chdir(workingDirectory));

  it('knows which names come from .env', () => {
    process.chdir(folder);
    writeFileSync('.env', 'PONTE_FROM_FILE=1\nPATH=/nowhere\n', { mode: 0o600 });
    assert.deepEqual([...namesFromDotEnv()], ['PONTE_FROM_FILE']);
    rmSync('.env');
  });

  it('takes a .env file, over which the real environment wins', () => {
    process.chdir(folder);
    writeFileSync('.env', '\ufeffPONTE_TEST_TWO="of the file"\nPONTE_TEST_ONE=file\n');
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
