/** The code of the previous release, from the history of this repository. */
import { execFile, spawnSync } from 'node:child_process';
import { mkdir, mkdtemp, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { promisify } from 'node:util';
import { root } from './service-process.ts';

const run = promisify(execFile);

/** The commit of the previous release; the file is updated after each release. */
const { commit } = JSON.parse(
  await readFile(join(import.meta.dirname, 'previous-release.json'), 'utf8'),
) as { readonly commit: string };

/** @returns why the previous release cannot run here; false: it can. */
export function noPreviousRelease(): string | false {
  const { status } = spawnSync('git', ['cat-file', '-e', `${commit}^{tree}`], { cwd: root });
  return status === 0 ? false : `git has no commit ${commit} here: clone the whole history`;
}

/**
 * Writes the previous release into a folder, which is removed after the test. It uses the packages
 * that are installed for the current code.
 * @returns the path of the folder.
 */
export async function checkOutPreviousRelease(t: TestContext): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'ponte-previous-'));
  t.after(() => rm(folder, { recursive: true, force: true }));
  const archive = join(folder, 'release.tar');
  const code = join(folder, 'code');
  await mkdir(code);
  await run('git', ['archive', '--format=tar', `--output=${archive}`, commit], { cwd: root });
  await run('tar', ['-xf', archive, '-C', code]);
  await linkPackages(code);
  return code;
}

/** The files of its API reference, a package that the current code does not have. */
const reference = ['package.json', 'swagger-ui.css', 'swagger-ui-bundle.js', 'favicon-32x32.png'];

/** Links the installed packages. The pages of the reference are empty. */
async function linkPackages(code: string): Promise<void> {
  const installed = join(root, 'node_modules');
  const linked = join(code, 'node_modules');
  const pages = join(linked, 'swagger-ui-dist');
  await mkdir(pages, { recursive: true });
  for (const file of reference) await writeFile(join(pages, file), '{}');
  for (const name of await readdir(installed)) {
    await symlink(join(installed, name), join(linked, name));
  }
}
