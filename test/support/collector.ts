/** An OpenTelemetry collector for tests: takes spans as OTLP in JSON, and any other request. */
import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterFile } from './suite.ts';

export interface CollectedSpan {
  readonly name: string;
  readonly traceId: string;
  readonly spanId: string;
  /** Undefined: the first span of its trace. */
  readonly parentSpanId: string | undefined;
  readonly attributes: Readonly<Record<string, string | number | boolean | undefined>>;
  readonly links: readonly { readonly traceId: string; readonly spanId: string }[];
}

interface Received {
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

export interface Collector {
  readonly url: string;
  /** The requests to other paths than /v1/traces. */
  readonly events: readonly Received[];
  readonly authorizations: readonly (string | undefined)[];
  /** The status of its responses. */
  status: number;
  spans(): CollectedSpan[];
  serviceNames(): (string | number | boolean | undefined)[];
  /** Everything that it has received as spans. */
  text(): string;
}

interface Attribute {
  readonly key: string;
  readonly value: {
    readonly stringValue?: string;
    readonly intValue?: number | string;
    readonly boolValue?: boolean;
  };
}

interface Otlp {
  readonly resourceSpans: readonly {
    readonly resource: { readonly attributes: readonly Attribute[] };
    readonly scopeSpans: readonly {
      readonly spans: readonly (Pick<CollectedSpan, 'name' | 'traceId' | 'spanId'> & {
        readonly links?: CollectedSpan['links'];
        readonly parentSpanId?: string;
        readonly attributes: readonly Attribute[];
      })[];
    }[];
  }[];
}

/** Starts a collector for a test file. */
export async function startCollector(): Promise<Collector> {
  const batches: Received[] = [];
  const events: Received[] = [];
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const received = { headers: request.headers, body: Buffer.concat(chunks).toString() };
      (request.url === '/v1/traces' ? batches : events).push(received);
      response.writeHead(collector.status, { 'content-type': 'application/json' }).end('{}');
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  afterFile(() => {
    server.closeAllConnections();
    server.close();
  });
  const read = () => batches.flatMap(({ body }) => (JSON.parse(body) as Otlp).resourceSpans);
  const collector: Collector = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    events,
    status: 200,
    get authorizations() {
      return batches.map(({ headers }) => headers.authorization);
    },
    spans: () =>
      read().flatMap(({ scopeSpans }) =>
        scopeSpans.flatMap(({ spans }) =>
          spans.map(({ name, traceId, spanId, parentSpanId, attributes, links = [] }) => ({
            name,
            traceId,
            spanId,
            parentSpanId: parentSpanId || undefined,
            attributes: readAttributes(attributes),
            links: links.map((link) => ({ traceId: link.traceId, spanId: link.spanId })),
          })),
        ),
      ),
    serviceNames: () => [
      ...new Set(read().map(({ resource }) => readAttributes(resource.attributes)['service.name'])),
    ],
    text: () => batches.map(({ body }) => body).join('\n'),
  };
  return collector;
}

function readAttributes(attributes: readonly Attribute[]): CollectedSpan['attributes'] {
  return Object.fromEntries(
    attributes.map(({ key, value: { stringValue, intValue, boolValue } }) => [
      key,
      stringValue ?? (intValue === undefined ? boolValue : Number(intValue)),
    ]),
  );
}
