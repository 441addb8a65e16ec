/** Calls a service, for the commands that act as someone outside it does. */
import type { Context } from './context.ts';

export interface Post {
  readonly url: URL;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: Buffer;
}

/** Longer than a service takes to store an event, or the simulated bank to post its webhook. */
const timeoutMs = 10_000;

/** @throws UnreachableError when there is no response: exit 3. */
export function post(context: Context, { url, headers, body = Buffer.of() }: Post) {
  return call(context, url, { method: 'POST', headers, body });
}

/**
 * @returns the body of a 200.
 * @throws UnreachableError when there is no response, or another one.
 */
export async function readPage(context: Pick<Context, 'clock'>, url: URL): Promise<string> {
  const { status, body } = await call(context, url, { method: 'GET' });
  if (status === 200) return body;
  const { UnreachableError } = await import('../src/operator/failure-message.ts');
  throw new UnreachableError(`${url.origin} answers ${status}`);
}

type Sent = { readonly method: 'GET' | 'POST' } & Partial<Pick<Post, 'headers' | 'body'>>;

async function call({ clock }: Pick<Context, 'clock'>, url: URL, sent: Sent) {
  const { request } = await import('undici');
  const timeout = new AbortController();
  const cancel = clock.after(timeoutMs, () => timeout.abort());
  try {
    const response = await request(url, { ...sent, signal: timeout.signal });
    return { status: response.statusCode, body: await response.body.text() };
  } catch (error) {
    const { UnreachableError } = await import('../src/operator/failure-message.ts');
    throw new UnreachableError(`${url.origin} does not answer${errorCode(error)}`);
  } finally {
    cancel();
  }
}

/** Formats the code of a system error, such as ` (ENOENT)`. */
export function errorCode(error: unknown): string {
  return error instanceof Error && 'code' in error ? ` (${String(error.code)})` : '';
}

/** The error that the service reports. */
interface Refusal {
  readonly message?: unknown;
  /** By the name of the value. */
  readonly errors?: Readonly<Record<string, readonly string[]>>;
}

/**
 * @param say says what is wrong with a value.
 * @returns what is wrong with each value, or the sentence; the body itself of another server.
 */
export function readRefusal(
  body: string,
  say = (name: string, text: string): string => `${name}: ${text}`,
): string {
  try {
    const { message, errors = {} } = JSON.parse(body) as Refusal;
    const faults = Object.entries(errors).map(([name, texts]) => say(name, texts.join(' ')));
    if (faults.length > 0) return faults.join(' ');
    return typeof message === 'string' ? message : body;
  } catch {
    return body;
  }
}
