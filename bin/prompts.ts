/** What an operator is asked at the terminal; what is typed as a password is not shown. */
import { confirm, password } from '@inquirer/prompts';
import type { Text } from '../src/errors.ts';
import { InterruptedError, UsageError } from './exit-codes.ts';
import type { Streams } from './terminal.ts';

/** @returns whether the operator says yes; Enter alone says no. */
export function askYesNo(question: string, streams: Streams): Promise<boolean> {
  return asked((context) => confirm({ message: question, default: false }, context), streams);
}

export interface PasswordQuestion {
  readonly prompt: string;
  /** @returns what is wrong with it, or null. */
  readonly fault: (password: string) => Text | null;
}

/** Asks for a new password, and for it again. */
export async function askNewPassword(
  { prompt, fault }: PasswordQuestion,
  streams: Streams,
): Promise<string> {
  const hidden = { mask: false, toggleMask: false } as const;
  const first = await asked(
    (context) =>
      password(
        { ...hidden, message: prompt, validate: (text) => fault(text)?.en ?? true },
        context,
      ),
    streams,
  );
  const isSame = (text: string): true | string =>
    text === first || 'That is another one: type the first one again, or press Ctrl-C.';
  await asked(
    (context) => password({ ...hidden, message: 'Again:', validate: isSame }, context),
    streams,
  );
  return first;
}

/** More than the longest password takes in UTF-8. */
const longestLineBytes = 4096;

/**
 * Reads the first line of standard input.
 * @throws UsageError when there is none, or it is longer than any password.
 */
export async function readSecretLine({ stdin }: Streams): Promise<string> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of stdin as AsyncIterable<Buffer | string>) {
    const part = Buffer.from(chunk);
    chunks.push(part);
    bytes += part.length;
    if (part.includes(10) || bytes > longestLineBytes) break;
  }
  const [line = ''] = Buffer.concat(chunks).toString('utf8').split(/\r?\n/, 1);
  if (bytes > longestLineBytes) throw new UsageError('standard input is too long for a password');
  if (line === '') throw new UsageError('standard input has no password in its first line');
  return line;
}

interface Context {
  readonly input: Streams['stdin'];
  readonly output: Streams['stderr'];
  readonly signal: AbortSignal;
}

/** Questions go where they do not mix with a result that is piped on. */
async function asked<Answer>(
  ask: (context: Context) => Promise<Answer>,
  { stdin, stderr }: Streams,
): Promise<Answer> {
  const ended = new AbortController();
  // Ctrl-D closes the input without a word: nothing is left then that the process would wait for.
  const end = (): void => ended.abort();
  process.once('beforeExit', end);
  try {
    return await ask({ input: stdin, output: stderr, signal: ended.signal });
  } catch (error) {
    const name = error instanceof Error ? error.name : '';
    if (/^(?:ExitPrompt|AbortPrompt|CancelPrompt)Error$/.test(name)) throw new InterruptedError();
    throw error;
  } finally {
    process.off('beforeExit', end);
  }
}
