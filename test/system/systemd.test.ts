/** The units of `src/operator/deploy/systemd`, as systemd itself reads and judges them. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { parseEnv } from 'node:util';
import { settings } from '../../src/config/report.ts';
import { deployFolder } from '../support/compose-file.ts';
import { root } from './service-process.ts';

const units = ['ponte-server@3001.service', 'ponte-worker.service', 'ponte-migrate.service'];
const files = ['ponte-server@.service', ...units.slice(1), 'ponte-.service.d/common.conf'];

/** In tenths, of 10: a unit without any protection has 9.6. */
const maxExposure = '15';

const skip = spawnSync('which', ['systemd-analyze']).status !== 0 && 'needs systemd-analyze';

describe('the systemd units', { skip }, () => {
  let folder: string;

  before(() => {
    folder = mkdtempSync(join(tmpdir(), 'ponte-units-'));
    cpSync(join(deployFolder, 'systemd'), folder, { recursive: true });
    // systemd checks that each command exists.
    for (const name of files) {
      const file = join(folder, name);
      writeFileSync(file, readFileSync(file, 'utf8').replaceAll('/opt/ponte', root));
    }
  });

  after(() => rmSync(folder, { recursive: true }));

  const analyze = (...args: readonly string[]): { status: number | null; output: string } => {
    // The colon adds systemd's own units.
    const env = { ...process.env, SYSTEMD_UNIT_PATH: `${folder}:` };
    const { status, stdout, stderr } = spawnSync('systemd-analyze', args, {
      encoding: 'utf8',
      env,
    });
    return { status, output: `${stdout}${stderr}` };
  };

  for (const unit of units) {
    it(`${unit} is valid`, () => {
      assert.deepEqual(analyze('verify', '--man=no', unit), { status: 0, output: '' });
    });

    it(`${unit} is exposed as little as a service on a network can be`, () => {
      const judge = ['security', '--offline=true', '--no-pager'];
      const { status, output } = analyze(...judge, `--threshold=${maxExposure}`, unit);
      assert.match(output, /Overall exposure level for .*: \d/);
      assert.equal(status, 0, output);
    });
  }

  it('set nothing that the common part sets: it is read last, and would replace it', () => {
    const [common = [], ...own] = files.toReversed().map((name) => namesSet(join(folder, name)));
    assert.ok(common.length > 3);
    assert.deepEqual(
      own.flat().filter((name) => common.includes(name)),
      [],
    );
  });

  it('set only settings that Ponte has, and the example of their environment too', () => {
    const known = new Set<string>(settings.map(({ name }) => name));
    const example = readFileSync(join(deployFolder, 'systemd', 'ponte.env'), 'utf8');
    const names = [
      ...files.flatMap((name) => namesSet(join(folder, name))),
      ...Object.keys(parseEnv(example)),
    ];
    assert.ok(names.length > 10);
    assert.deepEqual(
      names.filter((name) => !known.has(name) && name !== 'TMPDIR'),
      [],
    );
  });
});

/** The variables that a unit sets. */
function namesSet(file: string): string[] {
  const lines = readFileSync(file, 'utf8').split('\n');
  const set = lines.filter((line) => line.startsWith('Environment='));
  return set.flatMap((line) => [...line.matchAll(/([A-Z_]+)=/g)].map(([, name = '']) => name));
}
