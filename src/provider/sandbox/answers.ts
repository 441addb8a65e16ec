/** The sandbox's answers as values, before they are written. */
import { STATUS_CODES } from 'node:http';
import { refusalStatuses, type BankAnswer } from './bank/answer.ts';

/** An answer before it is written. */
export interface SandboxAnswer {
  readonly status: number;
  readonly headers?: Readonly<Record<string, string>>;
  /** Written as JSON; a text is written as HTML. */
  readonly body: unknown;
}

/** No answer is sent. */
export type Silence = 'hang';

/** The maintenance page of a proxy. */
export const htmlPage: SandboxAnswer = {
  status: 200,
  body: '<!doctype html><title>Maintenance</title><p>We will be back soon.</p>\n',
};

/** Converts the bank's answer to one on the wire, or to silence. */
export function toSandboxAnswer(answer: BankAnswer<unknown>): SandboxAnswer | Silence {
  if (answer.outcome === 'done') return { status: 200, body: answer.value };
  if (answer.outcome === 'refused') {
    const { kind, reason, retryAfterMs } = answer.refusal;
    return problem(refusalStatuses[kind], { code: reason, retryAfterMs });
  }
  switch (answer.fault) {
    case 'hang':
      return 'hang';
    case 'garbled':
      return htmlPage;
    case 'unavailable':
      return problem(503);
    case 'internal_error':
      return problem(500);
  }
}

interface ProblemDetails {
  readonly code?: string;
  readonly detail?: string;
  readonly retryAfterMs?: number | undefined;
}

/** An error in the shape of RFC 9457, with the provider's code. */
export function problem(status: number, details: ProblemDetails = {}): SandboxAnswer {
  const { code, detail, retryAfterMs } = details;
  const headers = {
    'content-type': 'application/problem+json',
    ...(retryAfterMs !== undefined && { 'retry-after': String(Math.ceil(retryAfterMs / 1_000)) }),
  };
  const title = STATUS_CODES[status] ?? 'Error';
  const body = {
    type: 'about:blank',
    title,
    status,
    ...(code && { code }),
    ...(detail && { detail }),
  };
  return { status, headers, body };
}

/**
 * The bytes and the headers of an answer.
 *
 * @param cut shortens the body; Content-Length is that of the rest, which so seems complete.
 */
export function encodeAnswer(
  { status, headers, body }: SandboxAnswer,
  cut: (bytes: Buffer) => Buffer = (bytes) => bytes,
): { status: number; headers: Record<string, string>; bytes: Buffer } {
  const isText = typeof body === 'string';
  const bytes = cut(Buffer.from(isText ? body : JSON.stringify(body), 'utf8'));
  const type = isText ? 'text/html; charset=utf-8' : 'application/json';
  const length = String(bytes.length);
  return { status, headers: { 'content-type': type, 'content-length': length, ...headers }, bytes };
}
