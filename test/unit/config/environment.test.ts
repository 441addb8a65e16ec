import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, describe, it } from 'node:test';
import { parseEnv } from 'node:util';
import { ConfigError, loadConfig, readEnvironment } from '../../../src/config/config.ts';
import { settings } from '../../../src/config/report.ts';

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
