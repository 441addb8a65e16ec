import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import {
  chmodSync,
  copyFileSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, describe, it } from 'node:test';

const root = join(import.meta.dirname, '..', '..');
const folder = realpathSync(mkdtempSync(join(tmpdir(), 'ponte-shim-')));
after(() => rmSync(folder, { recursive: true }));

interface Outcome {
  readonly status: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

function run(command: string, args: readonly string[] = [], path = '/usr/bin:/bin'): Outcome {
  return spawnSync(command, args, { encoding: 'utf8', cwd: folder, env: { PATH: path } });
}

/** A Node that prints its version on request, and its arguments otherwise. */
function fakeNode(path: string, version: string): void {
  const script = `#!/bin/sh\n[ "$1" = --version ] && echo ${version} && exit\nprintf '<%s>' "$@"\n`;
  writeFileSync(path, script);
  chmodSync(path, 0o755);
}

/** A project of its own with the real shim, and a fake Node where npm would link one. */
function project(name: string, nodeVersion?: string): string {
  const place = join(folder, name);
  mkdirSync(join(place, 'bin'), { recursive: true });
  mkdirSync(join(place, 'node_modules', '.bin'), { recursive: true });
  copyFileSync(join(root, 'bin', 'ponte'), join(place, 'bin', 'ponte'));
  if (nodeVersion) fakeNode(join(place, 'node_modules', '.bin', 'node'), nodeVersion);
  return place;
}

/** The arguments that a fake Node prints, as far as they are the shim's own. */
function started(place: string): string {
  return `<--disable-sigusr1><--max-semi-space-size=16><--expose-gc><${place}/bin/entry.js>`;
}

describe('the shim', () => {
  for (const version of ['v20.20.2', 'v26.9.9', 'v8.0.0', 'nonsense']) {
    it(`says in one sentence that Node ${version} on the PATH is too old`, () => {
      const place = project(`old-${version}`);
      const path = join(place, 'path');
      mkdirSync(path);
      fakeNode(join(path, 'node'), version);
      const ponte = join(place, 'bin', 'ponte');
      const { status, stdout, stderr } = run(ponte, ['serve'], `${path}:/usr/bin:/bin`);
      assert.equal(status, 1);
      assert.equal(stdout, '');
      assert.equal(
        stderr,
        `ponte needs Node 26.10.0 or newer and found ${version}: ` +
          `run 'npm ci' in ${place}, which installs it.\n`,
      );
    });
  }

  for (const version of ['v26.10.0', 'v26.11.3', 'v27.0.0', 'v100.1.0']) {
    it(`runs on Node ${version} with all arguments as they are`, () => {
      const place = project(`new-${version}`, version);
      const { status, stdout } = run(join(place, 'bin', 'ponte'), ['pix', 'a b', '', '*']);
      assert.equal(status, 0);
      assert.equal(stdout, `${started(place)}<pix><a b><><*>`);
    });
  }

  it('starts the Node of the project once: bin/entry.js checks its version', () => {
    const place = project('once', 'v26.10.0');
    const runs = join(place, 'runs');
    const node = join(place, 'node_modules', '.bin', 'node');
    writeFileSync(node, `#!/bin/sh\necho run >> ${runs}\n`);
    assert.equal(run(join(place, 'bin', 'ponte'), ['serve']).status, 0);
    assert.equal(readFileSync(runs, 'utf8'), 'run\n');
  });

  it('finds its project through symbolic links, relative and absolute', () => {
    const place = project('linked', 'v26.10.0');
    const bin = join(place, 'node_modules', '.bin');
    symlinkSync('..', join(place, 'node_modules', 'ponte'));
    symlinkSync('../ponte/bin/ponte', join(bin, 'ponte'));
    symlinkSync(join(bin, 'ponte'), join(folder, 'elsewhere'));
    for (const link of [join(bin, 'ponte'), join(folder, 'elsewhere')]) {
      assert.equal(run(link, ['serve']).stdout, `${started(place)}<serve>`);
    }
  });

  it('takes the Node on the PATH where the project has none', () => {
    const place = project('bare');
    const path = join(folder, 'path');
    mkdirSync(path);
    fakeNode(join(path, 'node'), 'v26.10.0');
    const { stdout } = run(join(place, 'bin', 'ponte'), ['serve'], `${path}:/usr/bin:/bin`);
    assert.equal(stdout, `${started(place)}<serve>`);
    fakeNode(join(path, 'node'), 'v20.0.0');
    assert.equal(run(join(place, 'bin', 'ponte'), [], `${path}:/usr/bin:/bin`).status, 1);
  });
});

describe('ponte', () => {
  const ponte = join(root, 'bin', 'ponte');

  it('prints the version of package.json', () => {
    const manifest: unknown = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
    const { version } = manifest as { version: string };
    assert.deepEqual(run(ponte, ['--version']).stdout, `${version}\n`);
  });

  it('loads for a command what that command needs, and no package of the service', () => {
    const list = join(folder, 'loaded.txt');
    const hook = join(folder, 'hook.mjs');
    writeFileSync(
      hook,
      `import { appendFileSync } from 'node:fs';
       import { registerHooks } from 'node:module';
       registerHooks({
         load(url, context, next) {
           if (url.startsWith('file:')) appendFileSync(${JSON.stringify(list)}, url + '\\n');
           return next(url, context);
         },
       });`,
    );
    const env = {
      PATH: '/usr/bin:/bin',
      NODE_OPTIONS: `--import=${hook}`,
      APP_ENV: 'local',
      DATA_DIR: folder,
      DATABASE_URL: 'postgres://nobody@127.0.0.1:1/nowhere',
    };
    const { status } = spawnSync(ponte, ['pix', 'list'], { encoding: 'utf8', cwd: folder, env });
    assert.equal(status, 3);
    const loaded = readFileSync(list, 'utf8').trim().split('\n');
    const unneeded =
      /\/node_modules\/(?:jose|prom-client|undici|@opentelemetry|@electric-sql|@mikro-orm)\//;
    assert.deepEqual(
      loaded.filter((url) => unneeded.test(url)),
      [],
    );
    // With 474 files it took twice as long.
    assert.ok(loaded.length < 250, `${loaded.length} files`);
    assert.ok(!loaded.some((url) => url.endsWith('/src/operator/webhook-replay.ts')));
  });

  it('refuses to serve with faults in the configuration: each on a line, exit 2', () => {
    const env = { PATH: '/usr/bin:/bin', PORT: 'x', WEBHOOK_SECRET: 'l,e,ak' };
    const { status, stdout, stderr } = spawnSync(ponte, ['serve'], {
      encoding: 'utf8',
      cwd: folder,
      env,
    });
    assert.equal(status, 2);
    assert.equal(stdout, '');
    assert.deepEqual(stderr.split('\n'), [
      'ponte cannot start, because its configuration is not valid:',
      '  PORT must be an integer from 0 to 65535',
      '  WEBHOOK_SECRET must be one secret of visible ASCII, or two separated by a comma',
      '',
    ]);
  });

  for (const command of ['serve', 'worker']) {
    it(`refuses to ${command} with files of dialects that cannot be used, exit 2`, () => {
      const env = {
        PATH: '/usr/bin:/bin',
        APP_ENV: 'local',
        DATABASE_URL: 'postgres://ponte@127.0.0.1:1/ponte',
        PROVIDER_STUB: 'false',
        PROVIDER_BASE_URL: 'http://127.0.0.1:1',
        PROVIDER_DIALECT_FILES: 'one.yaml,two.yaml',
        PORT: '0',
      };
      const options = { encoding: 'utf8', cwd: folder, env } as const;
      const { status, stderr } = spawnSync(ponte, [command], options);
      assert.equal(status, 2);
      const [first, ...faults] = stderr.trimEnd().split('\n');
      assert.equal(first, 'ponte cannot start, because its configuration is not valid:');
      assert.deepEqual(
        faults.map((fault) => /^ {2}PROVIDER_DIALECT_FILES .*(one|two)\.yaml/.exec(fault)?.[1]),
        ['one', 'two'],
      );
    });
  }
});
