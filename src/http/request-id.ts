/** The caller's request id and trace. */
import { randomUUID } from 'node:crypto';
import { beginTrace, type TraceContext } from '../domain/trace-context.ts';

const USABLE_ID = /^[\x21-\x7e]{1,128}$/;

/** The caller's id when it is 1 to 128 visible ASCII characters, otherwise a new UUID. */
export function requestId(header: string | string[] | undefined): string {
  return typeof header === 'string' && USABLE_ID.test(header) ? header : randomUUID();
}

/** The trace of a request, or a new one if its id contains the secret application id of the URL. */
export function withoutSecret(trace: TraceContext, url: string | undefined): TraceContext {
  return holdsSecret(trace.traceparent, url) ? beginTrace() : trace;
}

/** Whether an id contains the application id of the URL, in any notation. */
function holdsSecret(id: string, url: string | undefined): boolean {
  const [, named] = APPLICATION.exec(url ?? '') ?? [];
  if (named === undefined) return false;
  const secret = hexDigits(decoded(named));
  return secret.length === UUID_DIGITS && hexDigits(id).includes(secret);
}

/** Matches unknown routes as well, because they are also logged. */
const APPLICATION = /\/onboarding\/([^/?#]+)/;

const UUID_DIGITS = 32;

function hexDigits(text: string): string {
  return text.toLowerCase().replaceAll(/[^\da-f]/g, '');
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
