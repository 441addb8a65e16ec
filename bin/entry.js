/**
 * The first module of the process. It is JavaScript, so that a Node too old for TypeScript can
 * report which version is required. It enables the compile cache before any other module loads:
 * with every module cached, Node does not load its TypeScript compiler, which costs time and
 * memory.
 */
import { accessSync, constants, lstatSync, mkdirSync } from 'node:fs';
import module from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** Equal to `engines` in package.json and to the version in `bin/ponte`. */
const requiredNode = [26, 10];

const root = fileURLToPath(new URL('..', import.meta.url));

/**
 * -1 where users have no number. A container's user may have no name, so userInfo() would throw.
 */
const uid = process.getuid?.() ?? -1;

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

/** Halves the start time of the service. */
function cacheCompiledModules() {
  const folder = cacheFolder();
  if (folder) module.enableCompileCache(folder);
}

function cacheFolder() {
  const folders = [
    join(root, 'node_modules', '.cache', 'ponte'),
    join(tmpdir(), `ponte-cache-${uid}`),
  ];
  return folders.find(isSafe) ?? null;
}

/**
 * The process runs what is in the cache: no one else may write to the folder.
 * @param {string} folder
 */
function isSafe(folder) {
  try {
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    accessSync(folder, constants.W_OK);
    const found = lstatSync(folder);
    return found.isDirectory() && (uid < 0 || (found.uid === uid && (found.mode & 0o022) === 0));
  } catch {
    return false;
  }
}

refuseOldNode();
cacheCompiledModules();
// A static import would be compiled before the cache is enabled.
await import('./ponte.ts');
