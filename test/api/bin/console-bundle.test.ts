/** The bundle of the console: built once, and never older than what it is built from. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { describe, it } from 'node:test';
import { bundleConsole } from '../../../bin/console-bundle.ts';
import { afterFile } from '../../support/suite.ts';

const root = mkdtempSync(join(tmpdir(), 'ponte-bundle-'));
afterFile(() => rmSync(root, { recursive: true, force: true }));
const folder = join(root, 'cache');

function write(path: string, text: string): void {
  const file = join(root, path);
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, text);
}

/** Runs the bundle. @returns what it prints. */
function run(path: string): string {
  return spawnSync(process.execPath, [path], { encoding: 'utf8' }).stdout.trim();
}

describe('the bundle of the console', () => {
  it('is built again whenever a source or a package changes, and only then', async () => {
    mkdirSync(folder);
    write('node_modules/.package-lock.json', '{}');
    write(
      'console/main.tsx',
      "import { text } from './text.ts'; console.log(text satisfies string);",
    );
    write('console/text.ts', "export const text = 'one';");
    const first = await bundleConsole({ root, folder });
    assert.equal(run(first), 'one');
    const { mtimeMs } = statSync(first);
    assert.equal(await bundleConsole({ root, folder }), first);
    assert.equal(statSync(first).mtimeMs, mtimeMs);

    write('console/text.ts', "export const text = 'two';");
    const second = await bundleConsole({ root, folder });
    assert.equal(run(second), 'two');
    assert.ok(!existsSync(first), 'an old bundle goes');

    write('node_modules/.package-lock.json', '{ "packages": {} }');
    assert.notEqual(await bundleConsole({ root, folder }), second);
  });

  it("is built at each start where npm's list of packages is not there", async () => {
    rmSync(join(root, 'node_modules'), { recursive: true });
    const first = await bundleConsole({ root, folder });
    assert.notEqual(await bundleConsole({ root, folder }), first);
  });

  it('is not left behind half built when a source is wrong', async () => {
    write('console/text.ts', 'export const text = ;');
    await assert.rejects(bundleConsole({ root, folder }), /console\/text\.ts/);
  });
});
