/** Commands as real processes on the embedded database, beside a running and a dead service. */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { existsSync, lstatSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { settings } from '../../src/config/report.ts';
import { root, settingsFor, startService, type Environment } from './service-process.ts';
import { createTestDatabase } from '../support/db.ts';
import { onlyEmbedded } from '../support/open-database.ts';

interface Ended {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** Empty values keep a `.env` file of the project out of the tests. */
const unset = Object.fromEntries(settings.map(({ name }) => [name, '']));

function run(file: string, argv: readonly string[], environment: Environment): Promise<Ended> {
  const { PATH = '' } = process.env;
  const env = { ...unset, PATH, ...environment };
  return new Promise((resolve) => {
    execFile(file, argv, { env, cwd: root }, (error, stdout, stderr) => {
      const code = typeof error?.code === 'number' ? error.code : 0;
      resolve({ code, stdout, stderr });
    });
  });
}

const ponte = join(root, 'bin', 'ponte');

/** The generation of keys fails, as no caller expects. */
const defect = `--import=data:text/javascript,${encodeURIComponent(`
  import crypto from 'node:crypto';
  import { syncBuiltinESMExports } from 'node:module';
  crypto.generateKeyPair = () => { throw new Error('a defect'); };
  syncBuiltinESMExports();
`)}`;

/** The folders of the tools in `npm run`. */
const tools = { simulate: 'simulation', bench: 'bench', fuzz: 'fuzz', chaos: 'chaos' };

const needsFullDisk = { skip: !existsSync('/dev/full') && 'needs /dev/full' };

describe('a command', () => {
  it(
    'reaches the service that has the database, and the database when it has died',
    onlyEmbedded,
    async (t) => {
      const database = await createTestDatabase();
      t.after(() => database.drop());
      const environment = settingsFor(database);
      const type = (...argv: string[]): Promise<Ended> => run(ponte, argv, environment);
      const socket = join(database.dataDir, 'control', 'socket');

      const service = startService(t, environment);
      await service.ready();
      assert.equal(lstatSync(socket).mode & 0o777, 0o600);
      const token = await service.logIn();
      const [listed, revoked] = await Promise.all([
        type('user', 'list', '--json'),
        type('session', 'revoke', 'dev@ponte.test', '--yes'),
      ]);
      assert.match(listed.stdout, /"email": "dev@ponte\.test"/);
      assert.match(revoked.stdout, /^Session \S+ of user 1 was ended\.\n$/);
      assert.equal((await service.call('/accounts/me', { token })).status, 401);

      await service.kill();
      assert.equal(existsSync(socket), true, 'a killed service leaves its socket');
      const direct = await type('session', 'list');
      assert.deepEqual(direct, { code: 0, stdout: '', stderr: 'There are no active sessions.\n' });

      const next = startService(t, environment);
      await next.ready();
      assert.match((await type('user', 'list')).stdout, /dev@ponte\.test/);
      next.signal('SIGTERM');
      assert.equal((await next.ended).code, 0);
      assert.equal(existsSync(socket), false, 'a stop removes the socket');
    },
  );

  it('ends silently when its reader closes the pipe', async () => {
    const script = `"$0" contract print | head -n 1; "$0" completion zsh | true`;
    const { stdout, stderr } = await run('/bin/sh', ['-c', script, ponte], {});
    assert.deepEqual([stdout, stderr], ['openapi: 3.1.0\n', '']);
  });

  it('says when its output cannot be written: exit 1', needsFullDisk, async () => {
    const script = `"$0" contract print > /dev/full`;
    assert.deepEqual(await run('/bin/sh', ['-c', script, ponte], {}), {
      code: 1,
      stdout: '',
      stderr: 'ponte: standard output cannot be written (ENOSPC)\n',
    });
    const silent = await run('/bin/sh', ['-c', '"$0" nope 2> /dev/full', ponte], {});
    assert.deepEqual(silent, { code: 1, stdout: '', stderr: '' });
  });

  it('that is a worker needs a database of its own: exit 2', async (t) => {
    const database = await createTestDatabase();
    t.after(() => database.drop());
    const environment = { ...settingsFor(database), DATABASE_URL: '' };
    assert.deepEqual(await run(ponte, ['worker'], environment), {
      code: 2,
      stdout: '',
      stderr: 'ponte: a worker needs DATABASE_URL: the embedded database allows one process\n',
    });
  });

  it('that is a worker refuses the simulated bank, which lives in the server: exit 2', async () => {
    const environment = { APP_ENV: 'local', DATABASE_URL: 'postgres://127.0.0.1:1/ponte' };
    const { code, stderr } = await run(ponte, ['worker'], environment);
    assert.equal(code, 2);
    assert.match(stderr, /^ponte: a worker cannot run with PROVIDER_STUB=true: the simulated bank/);
    assert.match(stderr, /ponte provider-sandbox/);
  });

  it('that starts, checks or examines the service refuses JOBS=off with the simulated bank', async () => {
    const environment = {
      APP_ENV: 'local',
      JOBS: 'off',
      DATABASE_URL: 'postgres://127.0.0.1:1/ponte',
    };
    const fault = /JOBS must be `inline` with PROVIDER_STUB=true/;
    for (const words of [['serve'], ['config', 'check'], ['doctor']]) {
      const { code, stdout, stderr } = await run(ponte, words, environment);
      assert.equal(code, 2);
      assert.match(stdout + stderr, fault, words.join(' '));
    }
  });

  it('shows the stack of a defect at LOG_LEVEL=debug alone', async (t) => {
    const database = await createTestDatabase();
    t.after(() => database.drop());
    const broken = { ...settingsFor(database), PROVIDER_STUB: 'true', NODE_OPTIONS: defect };
    const argv = ['keys', 'generate', '--out', join(database.dataDir, 'keys')];
    const quiet = await run(ponte, argv, broken);
    assert.equal(quiet.code, 1);
    assert.match(quiet.stderr, /^ponte: [^\n]+\n$/);
    const verbose = await run(ponte, argv, { ...broken, LOG_LEVEL: 'debug' });
    assert.match(verbose.stderr, /^ponte: [^\n]+\n.*\n {4}at /s);
  });
});

describe('a tool for developers', () => {
  for (const [name, path] of Object.entries(tools)) {
    const main = join(root, 'test', path, 'main.ts');
    const environment = { BENCH_DATABASE_URL: 'postgres://127.0.0.1:1/none' };

    it(`that is ${name} lists its options: exit 0`, async () => {
      const { code, stdout, stderr } = await run(process.execPath, [main, '--help'], environment);
      assert.deepEqual([code, stderr], [0, '']);
      assert.match(stdout, new RegExp(`^Usage: npm run ${name} -- \\[options\\]\n`));
    });

    it(`that is ${name} says what is wrong with its options: exit 2`, async () => {
      for (const wrong of ['--unknown', '--seed=x', '--rounds=x']) {
        const { code, stdout, stderr } = await run(process.execPath, [main, wrong], environment);
        assert.deepEqual([code, stdout], [2, ''], wrong);
        assert.match(stderr, new RegExp(`^[^\n]*--[^\n]*\nSee npm run ${name} -- --help\\.\n$`));
      }
    });
  }
});
