/** The code of the released versions, from the history of this repository. */
import { execFile, spawnSync } from 'node:child_process';
import { mkdir, mkdtemp, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { promisify } from 'node:util';
import { root } from './service-process.ts';

const run = promisify(execFile);

/** A released version. */
export interface Release {
  readonly version: string;
  readonly commit: string;
}

/** The previous release and those before it; the file is updated after each release. */
const { earlier, ...previous } = JSON.parse(
  await readFile(join(import.meta.dirname, 'previous-release.json'), 'utf8'),
) as Release & { readonly earlier: readonly Release[] };

/** Every released version, oldest first. */
export const releases: readonly Release[] = [...earlier, previous];

/** @returns why a release, by default the previous one, cannot run here; false: it can. */
export function missingRelease({ commit }: Release = previous): string | false {
  const { status } = spawnSync('git', ['cat-file', '-e', `${commit}^{tree}`], { cwd: root });
  return status === 0 ? false : `git has no commit ${commit} here: clone the whole history`;
}

/**
 * Writes a release, by default the previous one, into a folder, which is removed after the test. It
 * uses the packages that are installed for the current code.
 * @returns the path of the folder.
 */
export async function checkOutRelease(
  t: TestContext,
  { commit }: Release = previous,
): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'ponte-release-'));
  t.after(() => rm(folder, { recursive: true, force: true }));
  const archive = join(folder, 'release.tar');
  const code = join(folder, 'code');
  await mkdir(code);
  await run('git', ['archive', '--format=tar', `--output=${archive}`, commit], { cwd: root });
  await run('tar', ['-xf', archive, '-C', code]);
  await linkPackages(code);
  return code;
}

/** The files of their API reference, a package that the current code does not have. */
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
