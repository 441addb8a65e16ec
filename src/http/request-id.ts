/** The id by which a request is found again in both sides' logs. */
import { randomUUID } from 'node:crypto';
import { taxIdKind } from '../domain/tax-id.ts';
import { beginTrace, type TraceContext } from '../domain/trace-context.ts';

const USABLE_ID = /^[\x21-\x7e]{1,128}$/;

/** The caller's id when it is 1 to 128 visible ASCII characters, otherwise a new UUID. */
export function requestId(given: string | string[] | undefined): string {
  return typeof given === 'string' && USABLE_ID.test(given) ? given : randomUUID();
}

/**
 * The id under which a request is logged, and which the provider is told: the answer's own, unless
 * that holds an e-mail, a phone, a tax id or the secret of the URL. Some apps make ids of what they
 * know of a person.
 */
export function loggableId(id: string, url: string | undefined): string {
  return looksPersonal(id) || holdsSecret(id, url) ? randomUUID() : id;
}

/** The trace of a request, or a new one where the caller has made its id of the URL's secret. */
export function loggableTrace(trace: TraceContext, url: string | undefined): TraceContext {
  return holdsSecret(trace.traceId, url) ? beginTrace() : trace;
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

/** Also of what is written for a URL, once or twice over. What is drawn at random is nobody's. */
function looksPersonal(id: string): boolean {
  if (RANDOM.test(id)) return false;
  const text = decoded(decoded(id));
  if (/@|\+\d{8}/.test(text) || MOBILE.test(text) || TOKEN.test(text)) return true;
  return [...text.matchAll(TAX_ID)].some(([found]) => taxIdKind(found.replace(/\D/g, '')) !== null);
}

/** A UUID, with or without hyphens. */
const RANDOM = /^[\da-f]{8}-?(?:[\da-f]{4}-?){3}[\da-f]{12}$/i;

/** A Brazilian mobile number. Landlines are left out: a point in time in seconds looks like one. */
const MOBILE = /(?<!\d)(?:55[-._]?)?\(?[1-9]{2}\)?[-._]?9\d{4}[-._]?\d{4}(?!\d)/;

/** The head of a JWT: an object's brace and quote, in base64. */
const TOKEN = /eyJ[\w-]{10}/;

/** The form of a CPF or CNPJ, with or without punctuation; its check digits decide. */
const TAX_ID = new RegExp(
  String.raw`(?<!\d)(?:\d{3}[-._]?\d{3}[-._]?\d{3}[-._]?\d{2}` +
    String.raw`|\d{2}[-._]?\d{3}[-._]?\d{3}[-._/]?\d{4}[-._]?\d{2})(?!\d)`,
  'g',
);
