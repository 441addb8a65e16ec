/**
 * The first module of the process, in plain JavaScript: Node reads TypeScript with a compiler of
 * its own, which costs memory and time at each start, and is left alone once everything that it
 * would be asked for is in the cache that is turned on here. An old Node, which could not read
 * TypeScript at all, is told what it lacks.
 */
import { accessSync, constants, lstatSync, mkdirSync } from 'node:fs';
import module from 'node:module';
import { tmpdir, userInfo } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** Kept equal to `engines` in package.json and to the shim. */
const requiredNode = [26, 10];

const root = fileURLToPath(new URL('..', import.meta.url));

function refuseOldNode() {
  const [major = 0, minor = 0] = process.versions.node.split('.').map(Number);
  const [requiredMajor, requiredMinor] = requiredNode;
  if (major > requiredMajor || (major === requiredMajor && minor >= requiredMinor)) return;
  const required = `${requiredMajor}.${requiredMinor}.0`;
  process.stderr.write(
    `ponte needs Node ${required} or newer and found v${process.versions.node}: ` +
      "run 'npm ci' in the project, and start it with 'npx ponte' or bin/ponte.\n",
  );
  process.exit(1);
}

/** With its modules compiled before, the whole service starts in half the time. */
function cacheCompiledModules() {
  const folder = cacheFolder();
  if (folder) module.enableCompileCache(folder);
}

function cacheFolder() {
  const folders = [
    join(root, 'node_modules', '.cache', 'ponte'),
    join(tmpdir(), `ponte-cache-${userInfo().uid}`),
  ];
  return folders.find(isOurs) ?? null;
}

/**
 * What is in the cache is run, so a folder that others may write to will not do.
 * @param {string} folder
 */
function isOurs(folder) {
  try {
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    accessSync(folder, constants.W_OK);
    const found = lstatSync(folder);
    const { uid } = userInfo();
    return found.isDirectory() && (uid < 0 || (found.uid === uid && (found.mode & 0o022) === 0));
  } catch {
    return false;
  }
}

refuseOldNode();
cacheCompiledModules();
// Imported here and not above, so that it is compiled after the cache is on.
await import('./ponte.ts');
