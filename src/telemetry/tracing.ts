/**
 * Traces: spans for an OpenTelemetry collector, by OTLP over HTTP. Without
 * OTEL_EXPORTER_OTLP_ENDPOINT there is no {@link Tracing}, {@link span} is a plain call, and no
 * package of OpenTelemetry is loaded. The packages queue, send and retry; the ids are those of
 * `domain/trace-context.ts`, which the log and the provider have as well.
 *
 * A span has the ids of rows and the names of operations and outcomes. It has no personal data.
 */
import type { ReadableSpan } from '@opentelemetry/sdk-trace';
import { pause, type Clock } from '../clock.ts';
import {
  beginTrace,
  childSpan,
  isSampled,
  readTraceId,
  transactionTrace,
  type TraceContext,
} from '../domain/trace-context.ts';
import type { Log } from './log.ts';

export interface TracingOptions {
  /** The address of the collector, without `/v1/traces`. */
  readonly endpoint: string;
  /** Sent with every request to the collector. */
  readonly headers: Readonly<Record<string, string>>;
  readonly serviceName: string;
  readonly serviceVersion: string;
  /** The share of the traces that begin here and are recorded, from 0 to 1. */
  readonly ratio: number;
  readonly clock: Clock;
  readonly log: Log;
}

export type SpanAttributes = Readonly<Record<string, string | number | boolean>>;

/** OTLP's number of a kind, less one, as the packages have it. */
const kinds = { internal: 0, server: 1, client: 2, consumer: 4 } as const;

export interface SpanFacts {
  readonly name: string;
  readonly kind: keyof typeof kinds;
  readonly attributes: SpanAttributes;
}

export interface RecordedSpan extends SpanFacts {
  readonly trace: TraceContext;
  readonly startMs: number;
  /** The type of the failure; null or absent: there is none. */
  readonly error?: string | null;
  /** A span of another trace that belongs to the same work. */
  readonly link?: TraceContext | undefined;
}

export interface Tracing {
  /** Begins a trace, which is recorded by the ratio. */
  begin(): TraceContext;
  /** The first span of a transaction's trace: the request that has stored it. */
  ofTransaction(id: string): TraceContext;
  /** Records a span that ends now, unless its trace is not recorded. */
  record(span: RecordedSpan): void;
  now(): number;
  /** Sends what is queued, for two seconds at most. */
  stop(): Promise<void>;
}

/**
 * Runs work in a span: a child of `parent`, or the first one of a trace.
 * @param tracing null: a plain call.
 * @param work receives the span, for its own calls; the parent without tracing.
 */
export function span<Result>(
  tracing: Tracing | null,
  facts: ChildFacts,
  work: (trace: TraceContext | undefined) => Promise<Result>,
): Promise<Result> {
  return tracing === null ? work(facts.parent) : recordSpan(tracing, facts, work);
}

interface ChildFacts extends SpanFacts {
  readonly parent?: TraceContext | undefined;
}

async function recordSpan<Result>(
  tracing: Tracing,
  { parent, ...facts }: ChildFacts,
  work: (trace: TraceContext) => Promise<Result>,
): Promise<Result> {
  const trace = parent ? childSpan(parent) : tracing.begin();
  const startMs = tracing.now();
  try {
    const result = await work(trace);
    tracing.record({ ...facts, trace, startMs });
    return result;
  } catch (error) {
    tracing.record({ ...facts, trace, startMs, error: errorType(error) });
    throw error;
  }
}

/**
 * Runs work that may change a transaction, and records the change in the transaction's trace.
 * @param tracing null: a plain call.
 * @param work results in null when it has changed nothing.
 */
export function changeSpan<Result>(
  tracing: Tracing | null,
  change: { readonly name: string; readonly transactionId: string },
  work: () => Promise<Result | null>,
): Promise<Result | null> {
  return tracing === null ? work() : recordChange(tracing, change, work);
}

async function recordChange<Result>(
  tracing: Tracing,
  { name, transactionId }: { readonly name: string; readonly transactionId: string },
  work: () => Promise<Result | null>,
): Promise<Result | null> {
  const startMs = tracing.now();
  const result = await work();
  if (result !== null) {
    const trace = childSpan(tracing.ofTransaction(transactionId));
    const attributes = { 'ponte.transaction.id': transactionId };
    tracing.record({ name, kind: 'internal', trace, startMs, attributes });
  }
  return result;
}

/** The class or the code of an error, never its message, which may contain values. */
function errorType(error: unknown): string {
  if (!(error instanceof Error)) return 'unknown';
  const { code } = error as { readonly code?: unknown };
  return typeof code === 'string' ? code : error.name;
}

const stopMs = 2_000;

/** Loads the packages, and sends spans from then on. */
export async function openTracing(options: TracingOptions): Promise<Tracing> {
  const { clock, ratio } = options;
  const processor = await openProcessor(options);
  const { resourceFromAttributes } = await import('@opentelemetry/resources');
  const resource = resourceFromAttributes({
    'service.name': options.serviceName,
    'service.version': options.serviceVersion,
  });
  const scope = { name: 'ponte', version: options.serviceVersion };
  const now = (): number => clock.now().getTime();
  return {
    begin() {
      const trace = beginTrace(true);
      return isDrawn(readTraceId(trace), ratio) ? trace : beginTrace();
    },
    ofTransaction: (id) => transactionTrace(id, isDrawn(id.replaceAll('-', ''), ratio)),
    record(recorded) {
      if (!isSampled(recorded.trace)) return;
      const endMs = Math.max(recorded.startMs, now());
      processor.onEnd({
        ...toReadable(recorded, endMs),
        resource,
        instrumentationScope: scope,
      });
    },
    now,
    async stop() {
      const stopped = processor.shutdown().catch(() => undefined);
      await Promise.race([stopped, pause(clock, stopMs)]);
    },
  };
}

/** The packages' queue in front of their HTTP client. */
async function openProcessor({ endpoint, headers, log }: TracingOptions) {
  const [{ BatchSpanProcessor }, { OTLPTraceExporter }] = await Promise.all([
    import('@opentelemetry/sdk-trace'),
    import('@opentelemetry/exporter-trace-otlp-http'),
  ]);
  const exporter = new OTLPTraceExporter({
    url: `${endpoint.replace(/\/+$/, '')}/v1/traces`,
    headers: { ...headers },
  });
  let isFailing = false;
  const report = (failed: boolean): void => {
    if (failed && !isFailing) log.warn('the collector of traces does not take spans');
    if (!failed && isFailing) log.info('the collector of traces takes spans again');
    isFailing = failed;
  };
  return new BatchSpanProcessor({
    exporter: {
      export: (spans, done) =>
        exporter.export(spans, (result) => {
          const { code }: { readonly code: number } = result;
          report(code !== 0);
          done(result);
        }),
      forceFlush: () => exporter.forceFlush(),
      shutdown: () => exporter.shutdown(),
    },
  });
}

/** The same decision in every process, because it follows from the id. */
function isDrawn(traceId: string, ratio: number): boolean {
  return ratio >= 1 || Number.parseInt(traceId.slice(-13), 16) / 16 ** 13 < ratio;
}

function toReadable(
  { name, kind, attributes, trace, startMs, error = null, link }: RecordedSpan,
  endMs: number,
): Omit<ReadableSpan, 'resource' | 'instrumentationScope'> {
  const { parentSpanId } = trace;
  return {
    name,
    // The enums are those of packages that are loaded on demand; these are their numbers.
    // oxlint-disable-next-line typescript/no-unsafe-enum-assignment
    kind: kinds[kind],
    spanContext: () => spanContext(trace),
    ...(parentSpanId !== undefined && {
      parentSpanContext: spanContext({ ...trace, spanId: parentSpanId }),
    }),
    startTime: hrTime(startMs),
    endTime: hrTime(endMs),
    duration: hrTime(endMs - startMs),
    // 2: ERROR; 0: UNSET.
    // oxlint-disable-next-line typescript/no-unsafe-enum-assignment
    status: { code: error === null ? 0 : 2 },
    attributes: error === null ? { ...attributes } : { ...attributes, 'error.type': error },
    links: link === undefined ? [] : [{ context: spanContext(link) }],
    events: [],
    ended: true,
    droppedAttributesCount: 0,
    droppedEventsCount: 0,
    droppedLinksCount: 0,
  };
}

function spanContext(trace: TraceContext) {
  return { traceId: readTraceId(trace), spanId: trace.spanId, traceFlags: 1 };
}

function hrTime(ms: number): [seconds: number, nanoseconds: number] {
  return [Math.floor(ms / 1_000), (ms % 1_000) * 1_000_000];
}
