/** The process of the command line: its Node, its cache, its streams. `program.ts` is the rest. */
import { accessSync, constants, lstatSync, mkdirSync, readFileSync } from 'node:fs';
import module from 'node:module';
import { tmpdir, userInfo } from 'node:os';
import { join } from 'node:path';

/** Kept equal to `engines` in package.json and to the shim. */
const requiredNode = [26, 10] as const;

const root = join(import.meta.dirname, '..');

function refuseOldNode(): void {
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

/** With its modules compiled before, the whole service starts in about a fifth of a second. */
function cacheCompiledModules(): void {
  const folder = cacheFolder();
  if (folder) module.enableCompileCache(folder);
}

function cacheFolder(): string | null {
  const folders = [
    join(root, 'node_modules', '.cache', 'ponte'),
    join(tmpdir(), `ponte-cache-${userInfo().uid}`),
  ];
  return folders.find(isOurs) ?? null;
}

/** What is in the cache is run, so a folder that others may write to will not do. */
function isOurs(folder: string): boolean {
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

function versionOfPonte(): string {
  const manifest: unknown = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
  return (manifest as { version: string }).version;
}

/** Whoever reads our output has enough of it, as `head` has: that is no fault. */
function endQuietlyOnBrokenPipe(): void {
  for (const stream of [process.stdout, process.stderr]) {
    stream.on('error', (error: NodeJS.ErrnoException) => {
      if (error.code !== 'EPIPE') throw error;
      process.exit();
    });
  }
}

refuseOldNode();
cacheCompiledModules();
endQuietlyOnBrokenPipe();
// Imported here and not above, so that it is compiled after the cache is on.
const { ponte } = await import('./program.ts');
process.exitCode = await ponte(process.argv.slice(2), {
  streams: { stdin: process.stdin, stdout: process.stdout, stderr: process.stderr },
  version: versionOfPonte(),
});
