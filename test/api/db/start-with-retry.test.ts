/** A start while the database is away: it waits up to a minute and says so, and no longer. */
import assert from 'node:assert/strict';
import { after, describe, it, type TestContext } from 'node:test';
import { startApp, startWorker } from '../../../src/app/app.ts';
import type { Clock } from '../../../src/clock.ts';
import { isDatabaseAway } from '../../../src/db/unavailable.ts';
import { createLog } from '../../../src/telemetry/log.ts';
import { sharedDialects, testConfig } from '../../support/app.ts';
import { manualClock } from '../../support/clock.ts';
import { startDatabaseProxy } from '../../support/database-proxy.ts';
import { createTestDatabase, serverUrl, type TestDatabase } from '../../support/db.ts';
import { eventually } from '../../support/eventually.ts';
import { onlyOnServer } from '../../support/open-database.ts';
import { passUntil } from '../../support/passing-time.ts';

const database = await createTestDatabase();
after(() => database.drop());

/** A start without a server never opens a connection. */
const nowhere = 'postgres://ponte@127.0.0.1:1/ponte';

interface LogLine {
  readonly msg: string;
  readonly reason: string;
  readonly leftSeconds: number;
}

/** A start behind a proxy, on a clock of the test. */
async function behindProxy(t: TestContext) {
  const proxy = await startDatabaseProxy(database.databaseUrl ?? nowhere);
  t.after(() => proxy.cut());
  const clock = manualClock();
  const pauses = new Set<object>();
  const watched: Clock = {
    now: clock.now,
    after(delayMs, work) {
      const pause = {};
      pauses.add(pause);
      const cancel = clock.after(delayMs, work);
      return () => {
        pauses.delete(pause);
        cancel();
      };
    },
  };
  const lines: string[] = [];
  const write = (line: string) => void lines.push(line);
  const log = createLog({ level: 'info', pretty: false, destination: { write } });
  const through: TestDatabase = { ...database, databaseUrl: proxy.url };
  const cancelled = new AbortController();
  const config = testConfig(through);
  const dialects = sharedDialects(config);
  const options = { clock: watched, log, dialects, cancelled: cancelled.signal };
  return {
    proxy,
    clock,
    cancelled,
    /** Lets the time pass, but only while the start pauses between two attempts. */
    async pass(start: Promise<unknown>): Promise<void> {
      let isOver = false;
      const over = start.finally(() => (isOver = true));
      await eventually(async () => {
        if (pauses.size > 0) await clock.advance(250);
        return isOver;
      }, 'the end of the start');
      await over;
    },
    waits: () =>
      lines
        .map((line) => JSON.parse(line) as LogLine)
        .filter(({ msg }) => msg === 'the start waits for the database'),
    startApp: () => startApp(config, options),
    startWorker: () => startWorker(config, options),
  };
}

describe('a start while the database is away', () => {
  for (const sqlstate of ['53300', '57P03']) {
    it(`waits a minute when it is answered ${sqlstate}, says so, and gives up`, async (t) => {
      const start = await behindProxy(t);
      start.proxy.refuse(sqlstate);
      const beganMs = start.clock.now().getTime();
      await start.pass(assert.rejects(start.startWorker(), { code: sqlstate }));
      assert.equal(start.clock.now().getTime() - beganMs, 60_000);
      const left = start.waits().map(({ leftSeconds }) => leftSeconds);
      assert.deepEqual(left, [60, 48, 38, 28, 18, 8]);
      assert.match(start.waits()[0]?.reason ?? '', new RegExp(`\\(${sqlstate}\\)$`));
    });
  }

  it('waits when the connection is refused, and names the address', async (t) => {
    const start = await behindProxy(t);
    await start.proxy.cut();
    await start.pass(assert.rejects(start.startApp(), { code: 'ECONNREFUSED' }));
    assert.match(start.waits()[0]?.reason ?? '', /at 127\.0\.0\.1:\d+ cannot be reached/);
  });

  for (const sqlstate of ['28P01', '28000', '3D000', '42501']) {
    it(`ends at once when it is answered ${sqlstate}`, async (t) => {
      const start = await behindProxy(t);
      start.proxy.refuse(sqlstate);
      await assert.rejects(start.startApp(), { code: sqlstate });
      assert.deepEqual(start.waits(), []);
    });
  }

  it('ends when it is no longer wanted', async (t) => {
    const start = await behindProxy(t);
    start.proxy.refuse('57P03');
    const started = assert.rejects(start.startWorker(), { code: '57P03' });
    await eventually(() => start.waits().length === 1, 'the wait');
    start.cancelled.abort();
    await started;
  });

  it('takes an address of its own that is unknown for no database', () => {
    const unknown = { code: 'ENOTFOUND', syscall: 'getaddrinfo' };
    assert.equal(isDatabaseAway(Object.assign(new Error('database'), unknown)), true);
    const own = { ...unknown, syscall: 'listen' };
    assert.equal(isDatabaseAway(Object.assign(new Error('HOST'), own)), false);
  });

  for (const kind of ['startApp', 'startWorker'] as const) {
    it(`${kind} goes on as soon as it is there`, onlyOnServer, async (t) => {
      assert.ok(serverUrl);
      const start = await behindProxy(t);
      start.proxy.refuse('53300');
      const started: Promise<{ stop(): Promise<void> }> = start[kind]();
      await eventually(() => start.waits().length === 1, 'the wait');
      await start.proxy.mend();
      const running = await passUntil(start.clock, started);
      await running.stop();
    });
  }
});

describe('an error that nothing has handled', () => {
  it('is logged without its values, and counted', async () => {
    const own = await createTestDatabase();
    const lines: string[] = [];
    const write = (line: string) => void lines.push(line);
    const log = createLog({ level: 'info', pretty: false, destination: { write } });
    const app = await startApp(testConfig(own), { clock: manualClock(), log });
    app.reportDefect('unhandled_rejection', new Error('of ana@example.com'));
    app.reportDefect('uncaught_exception', undefined);
    const text = await app.context.metrics.registry.metrics();
    assert.match(text, /^ponte_defects_total\{kind="unhandled_rejection"\} 1$/m);
    assert.match(text, /^ponte_defects_total\{kind="uncaught_exception"\} 1$/m);
    const defects = lines.filter((line) => line.includes('a defect: an error was not handled'));
    assert.equal(defects.length, 2);
    assert.doesNotMatch(defects.join(), /ana@/);
    await app.stop();
    await own.drop();
  });
});
