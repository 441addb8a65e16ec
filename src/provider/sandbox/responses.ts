/** The sandbox's responses as values, before they are written. */
import { STATUS_CODES } from 'node:http';
import { refusalStatuses, type BankResponse } from './bank/response.ts';

/** A response before it is written. */
export interface SandboxResponse {
  readonly status: number;
  readonly headers?: Readonly<Record<string, string>>;
  /** Written as JSON; a text is written as HTML. */
  readonly body: unknown;
}

/** No response is sent. */
export type Silence = 'hang';

/** The maintenance page of a proxy. */
export const htmlPage: SandboxResponse = {
  status: 200,
  body: '<!doctype html><title>Maintenance</title><p>We will be back soon.</p>\n',
};

/** Converts the bank's response to one on the wire, or to silence. */
export function toSandboxResponse(response: BankResponse<unknown>): SandboxResponse | Silence {
  if (response.outcome === 'done') return { status: 200, body: response.value };
  if (response.outcome === 'refused') {
    const { kind, reason, retryAfterMs } = response.refusal;
    return problem(refusalStatuses[kind], { code: reason, retryAfterMs });
  }
  switch (response.fault) {
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
export function problem(status: number, details: ProblemDetails = {}): SandboxResponse {
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
 * The bytes and the headers of a response.
 *
 * @param cut shortens the body; Content-Length is that of the rest, which so seems complete.
 */
export function encodeResponse(
  { status, headers, body }: SandboxResponse,
  cut: (bytes: Buffer) => Buffer = (bytes) => bytes,
): { status: number; headers: Record<string, string>; bytes: Buffer } {
  const isText = typeof body === 'string';
  const bytes = cut(Buffer.from(isText ? body : JSON.stringify(body), 'utf8'));
  const type = isText ? 'text/html; charset=utf-8' : 'application/json';
  const length = String(bytes.length);
  return { status, headers: { 'content-type': type, 'content-length': length, ...headers }, bytes };
}
