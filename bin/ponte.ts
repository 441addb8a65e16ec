/**
 * The command line. Each command is a file under `commands/`, loaded when it is called, so that
 * `ponte --help` does not load the service.
 */
import { accessSync, constants, lstatSync, mkdirSync, readFileSync } from 'node:fs';
import module from 'node:module';
import { tmpdir, userInfo } from 'node:os';
import { join } from 'node:path';
import type { Command } from 'commander';

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

function describe(program: Command): Command {
  program
    .name('ponte')
    .description('Mobile banking middleware between a mobile app and a banking provider')
    .version(versionOfPonte());

  program
    .command('serve')
    .description('start the service; its settings are listed in .env.example')
    .action(async () => {
      const { serve } = await import('./commands/serve.ts');
      await serve();
    });

  return program;
}

refuseOldNode();
cacheCompiledModules();
// Imported here and not above, so that it is compiled after the cache is on.
const { Command: Program } = await import('commander');
await describe(new Program()).parseAsync();
