/** Requests and answers of the sandbox as values: what is read off the wire, what is written. */
import { STATUS_CODES } from 'node:http';
import type { BankAnswer, RefusalKind } from '../stub/answer.ts';

/** What a route gets of a request that was read. */
export interface SandboxRequest {
  /** The bearer token, or an empty text. */
  readonly token: string;
  readonly query: URLSearchParams;
  /** What stands in the path's open places, such as `id`. */
  readonly parameters: Readonly<Record<string, string>>;
  /** The JSON body, or undefined without one; of a form, its fields and what its files are. */
  readonly body: unknown;
}

/** An answer before it is written. */
export interface SandboxAnswer {
  readonly status: number;
  readonly headers?: Readonly<Record<string, string>>;
  /** Written as JSON; a text is written as HTML. */
  readonly body: unknown;
}

/** How the bank's answer fails to come at all. */
export type Silence = 'hang';

/** A request that the sandbox cannot make sense of. */
export class BadRequest extends Error {
  override readonly name = 'BadRequest';
  readonly status: number;

  constructor(detail: string, status = 400) {
    super(detail);
    this.status = status;
  }
}

const refusalStatuses: Readonly<Record<RefusalKind, number>> = {
  token: 401,
  credentials: 401,
  not_found: 404,
  missing: 404,
  rate_limited: 429,
  insufficient_funds: 422,
  rule: 422,
};

/** A page as a proxy in maintenance shows it. */
export const htmlPage: SandboxAnswer = {
  status: 200,
  body: '<!doctype html><title>Maintenance</title><p>We will be back soon.</p>\n',
};

/** Turns the bank's answer into the wire's, or tells that there is to be none. */
export function answerOf(answer: BankAnswer<unknown>): SandboxAnswer | Silence {
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

/** An error as RFC 7807 shapes it, with the provider's code. */
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
