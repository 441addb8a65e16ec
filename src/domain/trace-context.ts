/**
 * W3C Trace Context (Recommendation of 23 November 2021): the two headers that tie what several
 * services log about one request together. What breaks its grammar is ignored, never refused.
 */
import { randomFillSync } from 'node:crypto';

/** A place in a trace: whoever is called next is told of it as its parent. */
export interface TraceContext {
  /**
   * What the log calls the trace, 32 hexadecimal digits: the id of one that has begun here, and the
   * digest of a caller's, who may have written anything into it.
   */
  readonly traceId: string;
  /** 16 hexadecimal digits: this request, or this run of a job. */
  readonly spanId: string;
  /** What goes out in the header `traceparent`. */
  readonly traceparent: string;
  /** What goes out in the header `tracestate`: as it came in, or nothing. */
  readonly tracestate?: string;
}

/**
 * Continues the trace of a caller; without a valid `traceparent` a new one begins.
 * @param headers by their lower-case names.
 * @param digest makes 32 hexadecimal digits of the caller's trace id.
 */
export function continueTrace(
  headers: Readonly<Record<string, unknown>>,
  digest: (traceId: string) => string,
): TraceContext {
  const { traceparent, tracestate } = headers;
  const parent = readTraceparent(traceparent);
  if (parent === null) return beginTrace();
  const continued = span(parent.traceId, parent.flags);
  const context = { ...continued, traceId: digest(parent.traceId) };
  const state = readTracestate(tracestate);
  return state === null ? context : { ...context, tracestate: state };
}

/** Begins a trace. Nothing of it is recorded here, so it is not marked as sampled. */
export function beginTrace(): TraceContext {
  return span(randomHex(16), 0);
}

function span(traceId: string, flags: number): TraceContext {
  const spanId = randomHex(8);
  const traceparent = `00-${traceId}-${spanId}-${flags.toString(16).padStart(2, '0')}`;
  return { traceId, spanId, traceparent };
}

/** Random bytes drawn ahead: to ask the system for a few costs more than the rest of a request. */
const drawn = Buffer.alloc(4_096);
let drawnUsed = drawn.length;

/** All zeros would be an invalid id; chance does not give them. */
function randomHex(bytes: number): string {
  if (drawnUsed + bytes > drawn.length) {
    randomFillSync(drawn);
    drawnUsed = 0;
  }
  drawnUsed += bytes;
  return drawn.toString('hex', drawnUsed - bytes, drawnUsed);
}

/** Section 3.2.2: lower case only; what a later version adds stands behind a further hyphen. */
const parentPattern = /^([0-9a-f]{2})-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})(-.*)?$/;

/** The one flag that is defined: the caller records this trace. The others are not passed on. */
const sampled = 1;

function readTraceparent(header: unknown): { traceId: string; flags: number } | null {
  const [, version, traceId, parentId, flags, rest] =
    (typeof header === 'string' && parentPattern.exec(header)) || [];
  if (version === undefined || traceId === undefined) return null;
  if (version === 'ff' || (version === '00' && rest !== undefined)) return null;
  if (/^0+$/.test(traceId) || /^0+$/.test(parentId ?? '')) return null;
  return { traceId, flags: Number.parseInt(flags ?? '', 16) & sampled };
}

/** At least so much is to be passed on (section 3.3.1); what is longer is dropped as a whole. */
const longestState = 512;

/** Section 3.3.1, like the form of a member: a simple key or `tenant@system`, and a value. */
const mostMembers = 32;

const keyPattern =
  /^(?:[a-z][a-z0-9_\-*/]{0,255}|[a-z0-9][a-z0-9_\-*/]{0,240}@[a-z][a-z0-9_\-*/]{0,13})$/;

/** Printable ASCII without `,` and `=`, and no blank at its end. */
const valuePattern = /^[\x20-\x2b\x2d-\x3c\x3e-\x7e]{0,255}[\x21-\x2b\x2d-\x3c\x3e-\x7e]$/;

/** @returns the header unchanged, or null when it is invalid, too long or says nothing. */
function readTracestate(header: unknown): string | null {
  if (typeof header !== 'string' || header.length > longestState) return null;
  const members = header.split(',').map((member) => member.replaceAll(/^[ \t]+|[ \t]+$/g, ''));
  const keys = members.filter((member) => member !== '').map(keyOf);
  const isValid = keys.every((key) => key !== null) && new Set(keys).size === keys.length;
  return isValid && keys.length > 0 && members.length <= mostMembers ? header : null;
}

/** @returns null when the member has another form than `key=value`. */
function keyOf(member: string): string | null {
  const [key = '', ...values] = member.split('=');
  const isValid = keyPattern.test(key) && valuePattern.test(values.join('='));
  return isValid ? key : null;
}
