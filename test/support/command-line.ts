/** Runs command lines in the test's own process, with their input, their output and exit code. */
import { PassThrough } from 'node:stream';
import { ponte } from '../../bin/program.ts';
import { systemClock, type Clock } from '../../src/clock.ts';
import type { Environment } from '../../src/config/config.ts';

export interface Ended {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

export interface Typed {
  readonly environment: Environment;
  readonly clock?: Clock;
  /** The content of standard input when it is not a terminal. */
  readonly stdin?: string;
  /** What a person types at the terminal, each time after a text has appeared there. */
  readonly typing?: readonly (readonly [seen: RegExp, typed: string])[];
  /** The width of the terminal; without it, standard output is not a terminal. */
  readonly columns?: number;
}

/** Runs `ponte` with these arguments. */
export async function typePonte(argv: readonly string[], typed: Typed): Promise<Ended> {
  const { environment, clock = systemClock, stdin = '', typing, columns } = typed;
  const isTTY = typing !== undefined;
  const input = Object.assign(new PassThrough(), { isTTY });
  const stdout = Object.assign(new PassThrough(), { isTTY: columns !== undefined, columns });
  const stderr = Object.assign(new PassThrough(), { isTTY, columns });
  // A prompt ends its output stream. A real terminal ignores that, so further prompts work.
  stderr.end = () => stderr;
  const [readOutput, readErrors] = [readText(stdout), readText(stderr)];
  if (isTTY) type(typing, input, stderr);
  else input.end(stdin);
  const streams = { stdin: input, stdout, stderr };
  const code = await ponte(argv, {
    version: '0.0.0',
    clock,
    streams,
    environment: () => environment,
  });
  return { code, stdout: readOutput(), stderr: readErrors() };
}

function readText(stream: PassThrough): () => string {
  const chunks: Buffer[] = [];
  stream.on('data', (chunk: Buffer) => chunks.push(chunk));
  return () => Buffer.concat(chunks).toString('utf8');
}

/** Types each text only after its question: a prompt discards earlier input. */
function type(typing: NonNullable<Typed['typing']>, input: PassThrough, errors: PassThrough): void {
  const left = [...typing];
  let seen = '';
  errors.on('data', (chunk: Buffer) => {
    seen += chunk.toString('utf8');
    const [next] = left;
    if (!next?.[0].test(seen)) return;
    left.shift();
    seen = '';
    setImmediate(() => input.write(next[1]));
  });
}
