/**
 * W3C Trace Context (Recommendation of 23 November 2021): two headers that correlate the logs of
 * several services. Malformed headers are ignored, not refused.
 */
import { randomFillSync } from 'node:crypto';

/** A span of a trace; it is the parent of the next service's span. */
export interface TraceContext {
  /**
   * The trace's id in the log, 32 hexadecimal digits: the digest of a caller's id, which may
   * contain anything, or the id of a trace that began here.
   */
  readonly traceId: string;
  /** 16 hexadecimal digits: this request, or this run of a job. */
  readonly spanId: string;
  /** The span that caused this one; absent: the trace begins here. */
  readonly parentSpanId?: string;
  /** The outgoing header `traceparent`. */
  readonly traceparent: string;
  /** The outgoing header `tracestate`, unchanged from the caller's. */
  readonly tracestate?: string;
}

/**
 * Continues the trace of a caller, or begins a new one without a valid `traceparent`.
 * @param headers the headers by lower-case name.
 * @param digest turns the caller's trace id into 32 hexadecimal digits.
 */
export function continueTrace(
  headers: Readonly<Record<string, unknown>>,
  digest: (traceId: string) => string,
  begin: () => TraceContext = beginTrace,
): TraceContext {
  const { traceparent, tracestate } = headers;
  const parent = readTraceparent(traceparent);
  if (parent === null) return begin();
  const { parentId: parentSpanId, flags } = parent;
  const context = {
    ...span(parent.traceId, { flags }),
    traceId: digest(parent.traceId),
    parentSpanId,
  };
  const state = readTracestate(tracestate);
  return state === null ? context : { ...context, tracestate: state };
}

/** Begins a trace. It is marked as sampled only if this service records its spans. */
export function beginTrace(isRecorded = false): TraceContext {
  return span(randomHex(16), { flags: isRecorded ? sampled : 0 });
}

/** Begins a span of a trace, caused by another span of it. */
export function childSpan(parent: TraceContext): TraceContext {
  const spanId = randomHex(8);
  const { traceparent, spanId: parentSpanId } = parent;
  const [start, end] = [traceparent.slice(0, 36), traceparent.slice(52)];
  return { ...parent, spanId, parentSpanId, traceparent: `${start}${spanId}${end}` };
}

/**
 * The first span of a transaction's trace. Its ids follow from the transaction's UUID, so that
 * every process continues the trace, and finds it, without storing it.
 */
export function transactionTrace(id: string, isRecorded: boolean): TraceContext {
  const traceId = id.replaceAll('-', '');
  return span(traceId, { flags: isRecorded ? sampled : 0, spanId: traceId.slice(16) });
}

/** Whether the spans of the trace are recorded. */
export function isSampled({ traceparent }: TraceContext): boolean {
  return traceparent.endsWith('1');
}

/** The id of the trace as the caller has it. */
export function readTraceId({ traceparent }: TraceContext): string {
  return traceparent.slice(3, 35);
}

function span(
  traceId: string,
  { flags, spanId = randomHex(8) }: { readonly flags: number; readonly spanId?: string },
): TraceContext {
  const traceparent = `00-${traceId}-${spanId}-${flags.toString(16).padStart(2, '0')}`;
  return { traceId, spanId, traceparent };
}

/** Random bytes in reserve: drawing a few at a time costs more than the rest of a request. */
const drawn = Buffer.alloc(4_096);
let drawnUsed = drawn.length;

/** An id of zeros would be invalid, but its probability is negligible. */
function randomHex(bytes: number): string {
  if (drawnUsed + bytes > drawn.length) {
    randomFillSync(drawn);
    drawnUsed = 0;
  }
  drawnUsed += bytes;
  return drawn.toString('hex', drawnUsed - bytes, drawnUsed);
}

/** Section 3.2.2: lower case only; later versions append fields after a further hyphen. */
const parentPattern = /^([0-9a-f]{2})-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})(-.*)?$/;

/** The only defined flag: the caller records this trace. Other flags are not propagated. */
const sampled = 1;

interface Parent {
  readonly traceId: string;
  readonly parentId: string;
  readonly flags: number;
}

function readTraceparent(header: unknown): Parent | null {
  const [, version, traceId, parentId, flags, rest] =
    (typeof header === 'string' && parentPattern.exec(header)) || [];
  if (version === undefined || traceId === undefined || parentId === undefined) return null;
  if (version === 'ff' || (version === '00' && rest !== undefined)) return null;
  if (/^0+$/.test(traceId) || /^0+$/.test(parentId)) return null;
  return { traceId, parentId, flags: Number.parseInt(flags ?? '', 16) & sampled };
}

/** The length that must be propagated (section 3.3.1); a longer header is dropped. */
const maxStateLength = 512;

/** The largest number of members (section 3.3.1). */
const maxMembers = 32;

/** Section 3.3.1: a simple key or `tenant@system`. */
const keyPattern =
  /^(?:[a-z][a-z0-9_\-*/]{0,255}|[a-z0-9][a-z0-9_\-*/]{0,240}@[a-z][a-z0-9_\-*/]{0,13})$/;

/** Section 3.3.1: printable ASCII without `,` and `=`, and no blank at the end. */
const valuePattern = /^[\x20-\x2b\x2d-\x3c\x3e-\x7e]{0,255}[\x21-\x2b\x2d-\x3c\x3e-\x7e]$/;

/** @returns the header unchanged, or null when it is invalid, too long or empty. */
function readTracestate(header: unknown): string | null {
  if (typeof header !== 'string' || header.length > maxStateLength) return null;
  const members = header.split(',').map((member) => member.replaceAll(/^[ \t]+|[ \t]+$/g, ''));
  const keys = members.filter((member) => member !== '').map(readKey);
  const isValid = keys.every((key) => key !== null) && new Set(keys).size === keys.length;
  return isValid && keys.length > 0 && members.length <= maxMembers ? header : null;
}

/** @returns the key of a member, or null when it is not a valid `key=value`. */
function readKey(member: string): string | null {
  const [key = '', ...values] = member.split('=');
  const isValid = keyPattern.test(key) && valuePattern.test(values.join('='));
  return isValid ? key : null;
}
