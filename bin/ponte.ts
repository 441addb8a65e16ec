/** The process of the command line, once `entry.js` has begun it: its streams, its exit code. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { ponte } from './program.ts';

const root = join(import.meta.dirname, '..');

function versionOfPonte(): string {
  const manifest: unknown = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
  return (manifest as { version: string }).version;
}

/**
 * Whoever reads our output may have enough of it, as `head` has: that is no fault. That it cannot
 * be written, as on a full disk, is one.
 */
function endWithOutput(): void {
  process.stdout.on('error', ({ code = 'unknown error' }: NodeJS.ErrnoException) => {
    if (code === 'EPIPE') process.exit();
    process.stderr.write(`ponte: standard output cannot be written (${code})\n`);
    process.exit(1);
  });
  process.stderr.on('error', ({ code }: NodeJS.ErrnoException) => {
    process.exit(code === 'EPIPE' ? undefined : 1);
  });
}

endWithOutput();
process.exitCode = await ponte(process.argv.slice(2), {
  streams: { stdin: process.stdin, stdout: process.stdout, stderr: process.stderr },
  version: versionOfPonte(),
});
