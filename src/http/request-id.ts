/** What a caller calls a request: its id, and the trace that it belongs to. */
import { randomUUID } from 'node:crypto';
import { beginTrace, type TraceContext } from '../domain/trace-context.ts';

const USABLE_ID = /^[\x21-\x7e]{1,128}$/;

/** The caller's id when it is 1 to 128 visible ASCII characters, otherwise a new UUID. */
export function requestId(given: string | string[] | undefined): string {
  return typeof given === 'string' && USABLE_ID.test(given) ? given : randomUUID();
}

/** The trace of a request, or a new one where the caller has made its id of the URL's secret. */
export function withoutSecret(trace: TraceContext, url: string | undefined): TraceContext {
  return holdsSecret(trace.traceparent, url) ? beginTrace() : trace;
}

/** Whether an id holds the application id that the URL names, in whatever way it is written. */
function holdsSecret(id: string, url: string | undefined): boolean {
  const [, named] = APPLICATION.exec(url ?? '') ?? [];
  if (named === undefined) return false;
  const secret = hexDigits(decoded(named));
  return secret.length === UUID_DIGITS && hexDigits(id).includes(secret);
}

/** Whether or not there is such a route: the log tells of the others too. */
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
