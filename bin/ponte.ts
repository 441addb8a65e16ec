/** The process of the command line, once `entry.js` has begun it: its streams, its exit code. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { ponte } from './program.ts';

const root = join(import.meta.dirname, '..');

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

endQuietlyOnBrokenPipe();
process.exitCode = await ponte(process.argv.slice(2), {
  streams: { stdin: process.stdin, stdout: process.stdout, stderr: process.stderr },
  version: versionOfPonte(),
});
