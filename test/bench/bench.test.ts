/** Tests the calculations of the benchmark, without a server. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { UsageError } from '../support/tool.ts';
import { numberMark, type LoadPlan } from './load-plan.ts';
import { shares } from './load.ts';
import { luaScript, readWrkOutput } from './load-wrk.ts';
import type { Measurement } from './measure.ts';
import { cpuMsBetween } from './meters.ts';
import { help, readOptions } from './options.ts';
import { hottest } from './profile.ts';
import { findFaults, reportText, table } from './report.ts';
import { median, summary } from './statistics.ts';
import { footprintVerdicts, judgeCase, type Results } from './targets.ts';

const databaseUrl = 'postgres://postgres@127.0.0.1:5432/postgres';
const env = { BENCH_DATABASE_URL: databaseUrl };

function measured(values: Partial<Measurement> = {}): Measurement {
  return {
    perSecond: 1_000,
    p50Ms: 1,
    p99Ms: 5,
    serverCpuUs: 100,
    databaseCpuUs: null,
    logBytes: 900,
    memoryMb: 120,
    loopDelayMs: 3,
    faults: [],
    ...values,
  };
}

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

  it('make one short round of --quick, and one connection of --one', () => {
    const quick = readOptions(['--quick'], env);
    assert.deepEqual([quick?.rounds, quick?.only.includes('login')], [1, false]);
    assert.equal(readOptions(['--one'], env)?.connections, 1);
    assert.equal(readOptions(['--flood'], env)?.mode, 'flood');
  });

  it('measure several processes with --processes', () => {
    const options = readOptions(['--processes', '1, 2,4'], env);
    assert.deepEqual([options?.mode, options?.processes], ['scale', [1, 2, 4]]);
    assert.throws(() => readOptions(['--processes', '2,none'], env), /--processes takes a whole/);
  });

  it('refuse an unknown case, option and number', () => {
    for (const args of [
      ['--only', 'read,unknown'],
      ['--fast'],
      ['--rounds', '0'],
      ['--transactions', 'many'],
    ]) {
      assert.throws(() => readOptions(args, env), UsageError, args.join(' '));
    }
  });

  it('show the help without a PostgreSQL server', () => {
    assert.equal(readOptions(['--help'], {}), null);
    assert.match(help, /whether the targets are met or not/);
  });
});

describe('the numbers', () => {
  it('have the middle value as their median, or the mean of the two middle values', () => {
    assert.equal(median([9, 1, 5]), 5);
    assert.equal(median([4, 1, 2, 9]), 3);
    assert.equal(median([7]), 7);
    assert.ok(Number.isNaN(median([])));
  });

  it('keep the longest delay and each fault of several rounds', () => {
    const rounds = [
      measured({ perSecond: 10, loopDelayMs: 2, faults: ['one'] }),
      measured({ perSecond: 30, loopDelayMs: 9, faults: ['one', 'two'] }),
      measured({ perSecond: 20, loopDelayMs: 4 }),
    ];
    const { perSecond, loopDelayMs, faults, databaseCpuUs } = summary(rounds);
    assert.deepEqual(
      [perSecond, loopDelayMs, faults, databaseCpuUs],
      [20, 9, ['one', 'two'], null],
    );
  });

  it('count all the CPU of a process that started between two readings', () => {
    const before = new Map([[1, 100]]);
    const after = new Map([
      [1, 150],
      [2, 30],
    ]);
    assert.equal(cpuMsBetween(before, after), 80);
    assert.equal(cpuMsBetween(null, after), null);
  });
});

describe('the load on several processes', () => {
  const plan = (first: number, last: number): LoadPlan => ({
    requests: [{ method: 'GET', path: '/a', headers: {} }],
    numbers: { first, last },
  });

  it('has other numbers on each process', () => {
    const numbers = shares(plan(1, 10), 3).map((share) => share.numbers);
    assert.deepEqual(numbers, [
      { first: 1, last: 3 },
      { first: 4, last: 6 },
      { first: 7, last: 9 },
    ]);
  });

  it('is the same on each when its requests have no numbers', () => {
    const numbers = shares(plan(1, 1), 2).map((share) => share.numbers);
    assert.deepEqual(numbers, [
      { first: 1, last: 1 },
      { first: 1, last: 1 },
    ]);
  });
});

describe('wrk', () => {
  const plan: LoadPlan = {
    requests: [
      { method: 'GET', path: '/a', headers: { Authorization: 'Bearer "x"' } },
      { method: 'POST', path: '/b', headers: {}, body: `{"id":"${numberMark}"}` },
    ],
    numbers: { first: 7, last: 9 },
  };

  it('receives whole requests, split where a number is inserted', () => {
    const script = luaScript(plan, 'localhost:1');
    const first = String.raw`{"GET /a HTTP/1.1\r\nHost: localhost:1\r\nAuthorization: Bearer `;
    assert.ok(script.includes(String.raw`${first}\"x\"\r\n\r\n"}`));
    assert.match(script, /Content-Length: 20\\r\\n\\r\\n\{\\"id\\":\\"", "\\"\}"\}/);
    assert.match(script, /number < 9 and number \+ 1 or 7/);
  });

  it('reports requests, seconds, failures and percentiles', () => {
    const output = 'Running 2s test @ http://localhost:1\nponte-bench 5000 2000000 3 1500 9250\n';
    assert.deepEqual(readWrkOutput(output), {
      requests: 5_000,
      seconds: 2,
      failures: 3,
      p50Ms: 1.5,
      p99Ms: 9.25,
    });
    assert.throws(() => readWrkOutput('unable to connect'), /did not print its result/);
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
  const costly = { serverCpuUs: 200, databaseCpuUs: 101 };
  const others = {
    reference: measured(),
    grouped: measured({ perSecond: 4_500 }),
    least: measured({ perSecond: 8_000 }),
  };
  const results: Results = new Map([
    ['read', { ...others, ponte: measured({ perSecond: 4_000, p99Ms: 2 }) }],
    ['read-with-logins', { ...others, ponte: measured({ perSecond: 2_800, p99Ms: 4.5 }) }],
    [
      'send',
      {
        ...others,
        ponte: measured({ ...costly, perSecond: 4_200, logBytes: 1_701, faults: ['lost'] }),
      },
    ],
  ]);
  const said = (name: 'read' | 'read-with-logins' | 'send', connections = 32) =>
    judgeCase(name, results, connections).map(({ target, isMet }) => [target, isMet]);

  it('compares each case with its target ratios and the p99 of the reference', () => {
    assert.deepEqual(said('read'), [
      ['≥ 5×', false],
      ['≥ 0.8 of grouped', true],
      ['p99 < 5.0 ms', true],
    ]);
    assert.deepEqual(said('send'), [
      ['≥ 2.5×', true],
      ['≥ 0.8 of grouped', true],
      ['p99 < 5.0 ms', false],
      ['CPU ≤ 300 µs', false],
      ['log ≤ 1700 B', false],
    ]);
  });

  it('compares reads during logins with reads alone', () => {
    assert.deepEqual(said('read-with-logins'), [
      ['≥ 0.8 of grouped', false],
      ['p99 < 5.0 ms', true],
      ['keeps ≥ 75 %', false],
      ['p99 < 2 × 2.0 ms', false],
    ]);
  });

  it('requires at one connection only that the service is no worse', () => {
    assert.deepEqual(said('send', 1)[0], ['≥ 1×', true]);
  });

  it('checks the memory, the start and the event loop of the process', () => {
    const footprint = { readyMs: 300, idleMb: 121, loadedMb: null, loopDelayMs: 12 };
    const isMet = (referenceLoopDelayMs: number) =>
      footprintVerdicts({ ...footprint, referenceLoopDelayMs }).map((verdict) => verdict.isMet);
    assert.deepEqual(isMet(12), [true, false, true]);
    assert.deepEqual(isMet(11), [true, false, false]);
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

  it('names the faults', () => {
    const footprint = {
      readyMs: 1,
      idleMb: 1,
      loadedMb: 1,
      loopDelayMs: 1,
      referenceLoopDelayMs: 1,
    };
    const run = { tool: 'wrk', connections: 32, rounds: 1, seconds: 2 } as const;
    const text = reportText({ ...run, results, footprint });
    assert.deepEqual(findFaults(results), ['send, Ponte: lost']);
    assert.match(text, /WRONG RESULTS:\n {2}send, Ponte: lost/);
    assert.match(text, /4\.20× \(≥ 2\.5×: met\)/);
    assert.match(text, /^GET \/pix\/\{id\} +1000 +4500 +8000 +4000 +4\.00 +0\.89 +0\.50 +100\+- /m);
  });
});
