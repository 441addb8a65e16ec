/**
 * The console as one file of JavaScript. Node does not read .tsx, and compiling the sources, React
 * and Ink at every start takes most of the time until the first frame. The name of the file is the
 * digest of what it is built from: a changed source or package makes another file.
 */
import { createHash, randomUUID } from 'node:crypto';
import { existsSync, globSync, mkdtempSync, readFileSync, renameSync, rmSync } from 'node:fs';
import module from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { UsageError } from './exit-codes.ts';

/** The files that the console may import, and this build. */
const sources = [
  'console/**/*.{ts,tsx}',
  'contract/{*,client/*}.{ts,json}',
  'bin/console-bundle.ts',
];

export interface BundleOptions {
  /** The folder of the project. */
  readonly root?: string;
  /** Where bundles are kept; no one else may write to it. */
  readonly folder?: string;
}

/**
 * Builds the bundle unless it is there.
 * @returns the path of the bundle.
 * @throws UsageError without the packages for development.
 */
export async function bundleConsole(options: BundleOptions = {}): Promise<string> {
  const { root = fileURLToPath(new URL('..', import.meta.url)), folder = cacheFolder() } = options;
  const path = join(folder, `console-${digest(root)}.mjs`);
  const known = globSync('console-*.mjs', { cwd: folder }).map((name) => join(folder, name));
  if (known.includes(path)) return path;
  const unfinished = `${path}.${process.pid}`;
  await build(root, unfinished);
  renameSync(unfinished, path);
  for (const old of known) rmSync(old, { force: true });
  return path;
}

/** The folder that bin/entry.js has chosen, or one that is removed when this process ends. */
function cacheFolder(): string {
  const cache = module.getCompileCacheDir();
  if (cache !== undefined) return dirname(cache);
  const folder = mkdtempSync(join(tmpdir(), 'ponte-console-'));
  process.on('exit', () => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

function digest(root: string): string {
  const hash = createHash('sha256');
  const packages = join(root, 'node_modules', '.package-lock.json');
  // Without npm's list nothing says which packages there are: then each start builds the bundle.
  hash.update(existsSync(packages) ? readFileSync(packages) : randomUUID());
  for (const name of globSync(sources, { cwd: root }).toSorted()) {
    hash.update(`\0${name}\0`).update(readFileSync(join(root, name)));
  }
  return hash.digest('hex').slice(0, 32);
}

const requireOfNode =
  "import { createRequire } from 'node:module'; const require = createRequire(import.meta.url);";

async function build(root: string, outfile: string): Promise<void> {
  const esbuild = await import('esbuild').catch(() => {
    throw new UsageError("the console needs the packages for development: run 'npm ci'");
  });
  await esbuild.build({
    outfile,
    absWorkingDir: root,
    entryPoints: ['console/main.tsx'],
    logLevel: 'silent',
    bundle: true,
    platform: 'node',
    format: 'esm',
    jsx: 'automatic',
    minifySyntax: true,
    // React's development build is slow.
    define: { 'process.env.NODE_ENV': '"production"' },
    // Ink loads its developer tools with DEV=true alone.
    external: ['*/devtools.js'],
    // Packages of CommonJS require the modules of Node.
    banner: { js: requireOfNode },
  });
  await esbuild.stop();
}
