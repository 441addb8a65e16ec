/** Prompts at the terminal; a typed password is not shown. */
import { confirm, password } from '@inquirer/prompts';
import type { Text } from '../src/errors.ts';
import { CancelledError, exitCodes, UsageError } from './exit-codes.ts';
import type { Streams } from './output.ts';

/** Asks a question; Enter alone means no. */
export function promptYesNo(question: string, streams: Streams): Promise<boolean> {
  return prompt((context) => confirm({ message: question, default: false }, context), streams);
}

export interface PasswordQuestion {
  readonly message: string;
  /** @returns what is wrong with the password, or null. */
  readonly validate: (password: string) => Text | null;
}

/** Asks for a new password twice. */
export async function promptNewPassword(
  { message, validate }: PasswordQuestion,
  streams: Streams,
): Promise<string> {
  const ask = (text: string, check: (typed: string) => string | true): Promise<string> =>
    prompt(
      (context) =>
        password({ mask: false, toggleMask: false, message: text, validate: check }, context),
      streams,
    );
  const first = await ask(message, (typed) => validate(typed)?.en ?? true);
  const differ = 'The passwords differ: repeat the first one, or press Ctrl-C.';
  await ask('Again:', (typed) => typed === first || differ);
  return first;
}

/** More than the longest password takes in UTF-8. */
const maxLineBytes = 4096;

/**
 * Reads the first line of standard input.
 * @throws UsageError when it is empty, or longer than any password.
 */
export async function readSecretLine({ stdin }: Streams): Promise<string> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of stdin as AsyncIterable<Buffer | string>) {
    const part = Buffer.from(chunk);
    chunks.push(part);
    bytes += part.length;
    if (part.includes(10) || bytes > maxLineBytes) break;
  }
  const [line = ''] = Buffer.concat(chunks).toString('utf8').split(/\r?\n/, 1);
  if (bytes > maxLineBytes) throw new UsageError('the first line of standard input is too long');
  if (line === '') throw new UsageError('the first line of standard input is empty');
  return line;
}

interface PromptContext {
  readonly input: Streams['stdin'];
  readonly output: Streams['stderr'];
  readonly signal: AbortSignal;
}

/** Prompts go to standard error, so that they do not mix with a piped result. */
async function prompt<Value>(
  ask: (context: PromptContext) => Promise<Value>,
  { stdin, stderr }: Streams,
): Promise<Value> {
  const ended = new AbortController();
  // Ctrl-D closes the input without an event; then nothing keeps the process alive.
  const end = (): void => ended.abort();
  process.once('beforeExit', end);
  try {
    return await ask({ input: stdin, output: stderr, signal: ended.signal });
  } catch (error) {
    const name = error instanceof Error ? error.name : '';
    if (!/^(?:ExitPrompt|AbortPrompt|CancelPrompt)Error$/.test(name)) throw error;
    throw new CancelledError(exitCodes.interrupted);
  } finally {
    process.off('beforeExit', end);
  }
}
