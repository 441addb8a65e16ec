/** Which traces are recorded, and what a collector that is away or refuses spans does. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, type AddressInfo } from 'node:net';
import { describe, it, type TestContext } from 'node:test';
import { isSampled } from '../../../src/domain/trace-context.ts';
import { createLog } from '../../../src/telemetry/log.ts';
import { openTracing, span, type Tracing } from '../../../src/telemetry/tracing.ts';
import { manualClock } from '../../support/clock.ts';
import { startCollector } from '../../support/collector.ts';

const lines: string[] = [];
const log = createLog({
  level: 'info',
  pretty: false,
  destination: { write: (line: string) => void lines.push(line) },
});
const clock = manualClock();
const id = '01a1fc38-f5e5-7517-8ecb-a7d299a5dbba';
const facts = { name: 'work', kind: 'internal', attributes: {} } as const;

const open = (endpoint: string, ratio = 1): Promise<Tracing> =>
  openTracing({
    endpoint,
    headers: {},
    serviceName: 'ponte',
    serviceVersion: '1.0.0',
    ratio,
    clock,
    log,
  });

describe('traces', () => {
  it('are recorded by the ratio, and those of one transaction alike in every process', async () => {
    const [all, half, none] = await Promise.all(
      [1, 0.5, 0].map((ratio) => open('http://x', ratio)),
    );
    assert.ok(all && half && none);
    assert.equal(isSampled(all.begin()), true);
    assert.equal(isSampled(none.begin()), false);
    const drawn = Array.from({ length: 1_000 }, () => isSampled(half.begin()));
    const share = drawn.filter(Boolean).length / drawn.length;
    assert.ok(share > 0.4 && share < 0.6, String(share));
    const another = await open('http://y', 0.5);
    assert.deepEqual(half.ofTransaction(id), another.ofTransaction(id));
  });

  it('are a plain call without a collector', async () => {
    assert.equal(await span(null, facts, async (trace) => trace ?? 'none'), 'none');
  });

  it('name the kind of a failure, not its message', async () => {
    const collector = await startCollector();
    const tracing = await open(collector.url);
    const failed = span(tracing, facts, async () => {
      throw new RangeError('of maria@example.com');
    });
    await assert.rejects(failed, RangeError);
    await tracing.stop();
    const [one] = collector.spans();
    assert.equal(one?.attributes['error.type'], 'RangeError');
    assert.ok(!collector.text().includes('maria'));
  });

  it('are lost with one warning while the collector refuses them', async () => {
    lines.length = 0;
    const collector = await startCollector();
    collector.status = 400;
    const tracing = await open(collector.url);
    await span(tracing, facts, async () => undefined);
    await tracing.stop();
    const warnings = lines.filter((line) => line.includes('does not take spans'));
    assert.equal(warnings.length, 1);
  });

  it('delay a stop by two seconds at most', async (t) => {
    const tracing = await open(await silentServer(t));
    await span(tracing, facts, async () => undefined);
    const stopped = tracing.stop();
    await clock.advance(2_000);
    await stopped;
  });
});

/** A server that takes connections and never answers. */
async function silentServer(t: TestContext): Promise<string> {
  const server = createServer((socket) => {
    t.after(() => socket.destroy());
    socket.on('error', () => undefined);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.after(() => server.close());
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}
