/** The process of the command line: its streams and its exit code. `entry.js` imports it. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { ponte } from './program.ts';

const manifest: unknown = JSON.parse(
  readFileSync(join(import.meta.dirname, '..', 'package.json'), 'utf8'),
);

/** A closed pipe is not an error: `head` closes its input early. Any other write error is one. */
function exitOnWriteError(): void {
  process.stdout.on('error', ({ code = 'unknown error' }: NodeJS.ErrnoException) => {
    if (code === 'EPIPE') process.exit();
    process.stderr.write(`ponte: standard output cannot be written (${code})\n`);
    process.exit(1);
  });
  process.stderr.on('error', ({ code }: NodeJS.ErrnoException) => {
    process.exit(code === 'EPIPE' ? undefined : 1);
  });
}

exitOnWriteError();
process.exitCode = await ponte(process.argv.slice(2), {
  streams: { stdin: process.stdin, stdout: process.stdout, stderr: process.stderr },
  version: (manifest as { version: string }).version,
});
