/** Tests the benchmark without a database: options, load, statistics, and the report. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { after, describe, it } from 'node:test';
import { connect } from 'node:tls';
import { authority } from '../api/db/certificates.ts';
import { UsageError } from '../support/tool.ts';
import { readStatus } from './connection.ts';
import { frozenHash } from './frozen.ts';
import { numberMark, startLoader } from './load.ts';
import type { Measurement } from './measure.ts';
import { cpuMsBetween } from './meters.ts';
import { help, readOptions } from './options.ts';
import { startBank } from './processes.ts';
import { hottest } from './profile.ts';
import { findFaults, reportJson, reportText, table, type Result } from './report.ts';
import { percentile, pool, ratio } from './statistics.ts';

const databaseUrl = 'postgres://postgres@127.0.0.1:5432/postgres';
const env = { BENCH_DATABASE_URL: databaseUrl };

/** The hash of the sources of the reference servers since the beginning of 1.3.0. */
const frozenAtTheBeginningOf130 =
  'c00d3857f1de6ac9506f037b3fd898ed81ed26cd93c5d2588a18eaac7237e732';

describe('the reference servers', () => {
  it('stay as they are until 1.3.0 is closed', async () => {
    assert.equal(
      await frozenHash(),
      frozenAtTheBeginningOf130,
      'A file of test/bench/reference has changed. The reference servers are frozen until 1.3.0 ' +
        'is closed, because each of its steps is measured against them: undo the change.',
    );
  });
});

describe('the bank', () => {
  for (const [transport, chosen] of [
    ['http', undefined],
    ['tls', 'http/1.1'],
    ['h2', 'h2'],
  ] as const) {
    it(`speaks ${chosen ?? 'plain HTTP/1.1'} as ${transport}`, async () => {
      await using parts = new AsyncDisposableStack();
      const bank = parts.adopt(await startBank(transport), (started) => started.stop());
      assert.equal(await bank.executed(), 0);
      assert.equal(await negotiated(bank.url), chosen);
    });
  }

  /** @returns the protocol that it chooses of both; undefined without TLS. */
  async function negotiated(url: string): Promise<string | undefined> {
    const { protocol, hostname: host, port } = new URL(url);
    if (protocol === 'http:') return undefined;
    const socket = connect({
      host,
      port: Number(port),
      ca: authority,
      ALPNProtocols: ['http/1.1', 'h2'],
    });
    await once(socket, 'secureConnect');
    socket.destroy();
    return socket.alpnProtocol || undefined;
  }
});

describe('the options', () => {
  it('say how to name a PostgreSQL server when none is named', () => {
    assert.throws(() => readOptions(['--quick'], {}), {
      constructor: UsageError,
      message: /BENCH_DATABASE_URL=postgres:/,
    });
  });

  it('take BENCH_DATABASE_URL before DATABASE_URL', () => {
    const options = readOptions([], { ...env, DATABASE_URL: 'postgres://other/other' });
    assert.equal(options?.databaseUrl, databaseUrl);
    assert.equal(
      readOptions([], { DATABASE_URL: 'postgres://o/o' })?.databaseUrl,
      'postgres://o/o',
    );
  });

  it('measure one and 32 connections, all cases and all servers, unless told otherwise', () => {
    const usual = readOptions([], env);
    assert.deepEqual(usual?.connections, [1, 32]);
    assert.deepEqual(usual?.only, ['read', 'replay', 'balance', 'send', 'webhook']);
    assert.deepEqual(usual?.servers, ['plain', 'grouped', 'least', 'ponte']);
    const less = readOptions(['--connections', '4', '--servers', 'ponte, plain'], env);
    assert.deepEqual([less?.connections, less?.servers], [[4], ['plain', 'ponte']]);
  });

  it('reach the bank over HTTP by default', () => {
    assert.equal(readOptions([], env)?.provider, 'http');
    assert.equal(readOptions(['--provider', 'h2'], env)?.provider, 'h2');
  });

  it('make one round of a second of --quick', () => {
    const quick = readOptions(['--quick'], env);
    assert.deepEqual([quick?.rounds, quick?.seconds, quick?.warmUpSeconds], [1, 1, 1]);
    assert.equal(readOptions(['--quick', '--rounds', '4'], env)?.rounds, 4);
  });

  it('refuse an unknown case, server, provider, option and number', () => {
    for (const args of [
      ['--only', 'read,unknown'],
      ['--servers', 'plain,other'],
      ['--provider', 'http,h2'],
      ['--fast'],
      ['--rounds', '0'],
      ['--connections', '1,none'],
      ['--transactions', 'many'],
    ]) {
      assert.throws(() => readOptions(args, env), UsageError, args.join(' '));
    }
  });

  it('show the help without a PostgreSQL server', () => {
    assert.equal(readOptions(['--help'], {}), null);
    assert.match(help, /--connections A,B/);
  });
});

describe('the load', () => {
  const bodies: string[] = [];
  const server = createServer((request, response) => {
    let body = '';
    request.on('data', (chunk: Buffer) => (body += chunk.toString()));
    request.on('end', () => {
      bodies.push(`${request.headers['x-key'] as string} ${body}`);
      const status = request.url === '/missing' ? 404 : 200;
      response.writeHead(status, { 'content-length': 2 }).end('{}');
    });
  });
  const parts = new AsyncDisposableStack();
  const load = startLoader(parts);
  parts.defer(() => void server.close());
  parts.defer(() => server.closeAllConnections());
  after(() => parts.disposeAsync());

  async function run(path: string) {
    if (!server.listening) await once(server.listen(0, '127.0.0.1'), 'listening');
    const request = { method: 'POST', path, headers: { 'X-Key': numberMark }, body: numberMark };
    return load({
      url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
      connections: 3,
      seconds: 60,
      plan: { requests: [request as typeof request & { method: 'POST' }], numbers },
    });
  }
  const numbers = { first: 7, last: 506 };

  it('sends each number once, ends after the last, and times each response', async () => {
    const result = await run('/');
    const expected = Array.from({ length: 500 }, (_, place) => {
      const number = String(place + 7).padStart(11, '0');
      return `${number} ${number}`;
    });
    assert.deepEqual(bodies.toSorted(), expected);
    assert.deepEqual([result.requests, result.failures], [500, 0]);
    assert.ok(result.seconds < 60);
    assert.equal(result.startedAt.length, 500);
    assert.ok(result.latencies.every((ms) => ms > 0 && ms < 60_000));
  });

  it('counts each response that is not a 2xx', async () => {
    const { requests, failures } = await run('/missing');
    assert.deepEqual([requests, failures], [500, 500]);
  });
});

describe('a response', () => {
  const head = 'HTTP/1.1 201 Created\r\ncontent-length: 4\r\n';
  for (const [what, received, status] of [
    ['has a status once its body is whole', `${head}\r\n{12}`, 201],
    ['is not whole without the end of its head', head, null],
    ['is not whole without the end of its body', `${head}\r\n{12`, null],
    ['without a length is refused', 'HTTP/1.1 200 OK\r\n\r\n{}', undefined],
  ] as const) {
    it(what, () => assert.equal(readStatus(received), status));
  }
});

function measured(values: Partial<Measurement> = {}): Measurement {
  return {
    requests: 100,
    seconds: 2,
    latencies: Float64Array.of(1, 2, 3, 4),
    settledLatencies: null,
    serverCpuUs: 10_000,
    databaseCpuUs: 20_000,
    log: { bytes: 90_000, imageBytes: 400_000 },
    memoryMb: 120,
    loopDelayMs: 3,
    faults: [],
    ...values,
  };
}

describe('several rounds', () => {
  it('have the percentiles of all their requests, not those of a middle round', () => {
    // In two of three rounds no request is slow; of all requests two of a hundred are.
    const fast = Float64Array.from({ length: 49 }, () => 1);
    const slow = Float64Array.of(80, 90);
    const rounds = [fast, fast, slow].map((latencies) => measured({ latencies }));
    const { p50Ms, p99Ms } = pool(rounds);
    assert.deepEqual([p50Ms, p99Ms], [1, 80]);
  });

  it('count each request, second, byte and microsecond once', () => {
    const rounds = [
      measured({ requests: 300, seconds: 1, faults: ['one'], loopDelayMs: 2 }),
      measured({ requests: 100, seconds: 3, faults: ['one', 'two'], loopDelayMs: 9 }),
    ];
    const all = pool(rounds);
    assert.deepEqual(
      [all.requests, all.perSecond, all.serverCpuUs, all.databaseCpuUs],
      [400, 100, 50, 100],
    );
    assert.deepEqual([all.logBytes, all.imageBytes], [450, 2_000]);
    assert.deepEqual([all.faults, all.loopDelayMs], [['one', 'two'], 9]);
  });

  it('have no cost that one of them does not know', () => {
    const { serverCpuUs, logBytes, imageBytes } = pool([
      measured(),
      measured({ serverCpuUs: null, log: null }),
    ]);
    assert.deepEqual([serverCpuUs, logBytes, imageBytes], [null, null, null]);
  });

  it('are compared as a whole, and each with its turn', () => {
    const own = [measured({ requests: 100 }), measured({ requests: 300 })];
    const other = [measured({ requests: 200 }), measured({ requests: 200 })];
    assert.deepEqual(ratio(own, other), { value: 1, least: 0.5, most: 1.5 });
  });

  it('have the nearest value at a share', () => {
    assert.equal(percentile([Float64Array.of(9, 1, 5)], 0.5), 5);
    assert.ok(Number.isNaN(percentile([], 0.5)));
  });
});

describe('the CPU of PostgreSQL', () => {
  it('counts all of a process that started between two readings', () => {
    const before = new Map([[1, 100]]);
    const later = new Map([
      [1, 150],
      [2, 30],
    ]);
    assert.equal(cpuMsBetween(before, later), 80);
    assert.equal(cpuMsBetween(null, later), null);
  });
});

describe('a profile', () => {
  it('names the functions with the most self time, without idle time', () => {
    const frame = (functionName: string, url = 'file:///x/src/http/body.ts') => ({
      functionName,
      url,
      lineNumber: 9,
    });
    const nodes = [
      { id: 1, callFrame: frame('(idle)', '') },
      { id: 2, callFrame: frame('readBody') },
      { id: 3, callFrame: frame('') },
    ];
    const found = hottest({ nodes, samples: [1, 2, 3, 2], timeDeltas: [900, 60, 25, 15] });
    assert.deepEqual(found, [
      ['75.0 %', 'readBody', 'src/http/body.ts:10'],
      ['25.0 %', '(anonymous)', 'src/http/body.ts:10'],
    ]);
  });
});

describe('the report', () => {
  const options = readOptions(['--rounds', '2', '--connections', '32'], env);
  const settledLatencies = Float64Array.of(20, 30);
  const results: readonly Result[] = [
    {
      name: 'webhook',
      connections: 32,
      rounds: new Map([
        ['plain', [measured(), measured({ requests: 300 })]],
        ['ponte', [measured({ requests: 150, settledLatencies, faults: ['lost'] }), measured()]],
      ]),
      faults: ['plain: in the warm-up 1 of 9 requests failed'],
    },
  ];
  const comparison = {
    references: 'abc123',
    loadBefore: 4.25,
    results,
    ready: { ms: 700, idleMb: 110 },
  };
  const text = (): string => reportText({ ...comparison, options: options ?? assert.fail() });

  it('has the cost of each request, and the ratios with their range', () => {
    assert.match(text(), /^webhooks stored and settled, 32 +plain +400 +100 /m);
    assert.match(text(), / ponte +250 +63 +2\.00 +4\.00 +20\.0 +30\.0 +80 +160 +720 +3200 /);
    assert.match(text(), / 0\.63 \(0\.33–1\.50\) +- +- +1\.60 +- +- +1\.60 +1\.00$/m);
  });

  it('has the hash of the references, the load of the machine, and the way to the bank', () => {
    assert.match(text(), /^The bank is reached over HTTP\.$/m);
    assert.match(text(), /Load of the machine before the run: 4\.3 on \d+ cores\./);
    assert.match(text(), /sha256 abc123\./);
  });

  it('names each fault, also of a warm-up', () => {
    const faults = [
      'webhooks stored and settled, 32, plain: in the warm-up 1 of 9 requests failed',
      'webhooks stored and settled, 32, ponte: lost',
    ];
    assert.deepEqual(findFaults(results), faults);
    assert.match(text(), /WRONG RESULTS:\n {2}webhooks stored and settled, 32, plain/);
    const json = reportJson({ ...comparison, options: options ?? assert.fail() });
    assert.deepEqual((JSON.parse(json) as { faults: string[] }).faults, faults);
  });

  it('aligns numbers to the right', () => {
    assert.equal(
      table([
        ['case', 'server', 'req/s'],
        ['read', 'ponte', '9'],
      ]),
      'case  server  req/s\nread  ponte       9',
    );
  });
});
