/** Outcomes that a process knows and the database has not stored. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { createLog } from '../../../src/telemetry/log.ts';
import { createMetrics } from '../../../src/telemetry/metrics.ts';
import {
  notYet,
  storeWithRetries,
  UnstoredOutcomes,
  type UnstoredOutcome,
} from '../../../src/process/unstored-outcomes.ts';
import { manualClock } from '../../support/clock.ts';

const log = createLog({ level: 'silent', pretty: false });
const unavailable = () => Object.assign(new Error('no database'), { code: 'ECONNREFUSED' });
const refused = () => Object.assign(new Error('refused'), { code: '23514' });

/** A list, and outcomes that are stored once the database is back. */
function setUp(limit?: number) {
  const clock = manualClock();
  const metrics = createMetrics();
  const database = { error: unavailable() as Error | null };
  const outcomes = new UnstoredOutcomes({ clock, log, metrics, ...(limit && { limit }) });
  const stored: string[] = [];
  const outcome = (transactionId: string): UnstoredOutcome => ({
    transactionId,
    async store() {
      if (database.error) throw database.error;
      stored.push(transactionId);
    },
  });
  const gauge = async () => (await metrics.unstoredOutcomes.get()).values[0]?.value;
  return { clock, database, outcomes, outcome, stored, gauge };
}

describe('outcomes that the database has not stored', () => {
  it('are stored within ten seconds after the database is back', async () => {
    const { clock, database, outcomes, outcome, stored, gauge } = setUp();
    const ids = Array.from({ length: 600 }, (_, nth) => `t${nth}`);
    for (const id of ids) outcomes.keep(outcome(id));
    await clock.advance(30_000);
    assert.deepEqual([stored.length, outcomes.size, await gauge()], [0, 600, 600]);
    database.error = null;
    await clock.advance(10_000);
    assert.deepEqual(stored, ids);
    assert.deepEqual([outcomes.size, await gauge()], [0, 0]);
  });

  it('are stored when the service stops', async () => {
    const { clock, database, outcomes, outcome, stored } = setUp();
    outcomes.keep(outcome('t1'));
    const drained = outcomes.drain(10_000);
    await clock.advance(3_000);
    database.error = null;
    await clock.advance(1_000);
    await drained;
    assert.deepEqual(stored, ['t1']);
  });

  it('do not keep a service from stopping without a database', async () => {
    const { clock, outcomes, outcome, stored } = setUp();
    outcomes.keep(outcome('t1'));
    const drained = outcomes.drain(10_000);
    for (let second = 0; second < 11; second += 1) await clock.advance(1_000);
    await drained;
    assert.deepEqual(stored, []);
  });

  it('that a constraint refuses are not tried again', async () => {
    const { clock, database, outcomes, outcome } = setUp();
    database.error = refused();
    outcomes.keep(outcome('t1'));
    await clock.advance(1_000);
    assert.equal(outcomes.size, 0);
  });

  it('do not wait behind those about which the database cannot say it yet', async () => {
    const { clock, database, outcomes, outcome, stored } = setUp();
    database.error = null;
    const early = Array.from({ length: 300 }, () => ({
      transactionId: 'early',
      store: () => Promise.resolve(notYet),
    }));
    for (const one of early) outcomes.keep(one);
    outcomes.keep(outcome('t1'));
    await clock.advance(1_000);
    assert.deepEqual([stored, outcomes.size], [['t1'], 300]);
  });

  it('are bounded', () => {
    const { outcomes, outcome } = setUp(2);
    for (const id of ['t1', 't2', 't3']) outcomes.keep(outcome(id));
    assert.equal(outcomes.size, 2);
  });
});

describe('storing with retries', () => {
  const stopping = new AbortController().signal;

  /** A statement that works from so many ms on. */
  function statement(worksAfterMs: number, error = unavailable()) {
    const clock = manualClock();
    const worksAtMs = clock.now().getTime() + worksAfterMs;
    let tries = 0;
    const store = async (): Promise<string> => {
      tries += 1;
      if (clock.now().getTime() < worksAtMs) throw error;
      return 'stored';
    };
    const until = new Date(clock.now().getTime() + 20_000);
    return { clock, store, until, tries: () => tries };
  }

  it('continues until the database is available', async () => {
    const { clock, store, until } = statement(10_000);
    const result = storeWithRetries({ clock, until, stopping }, store);
    await clock.advance(12_000);
    assert.equal(await result, 'stored');
  });

  it('ends with the last error when the time is over', async () => {
    const { clock, store, until, tries } = statement(60_000);
    const result = storeWithRetries({ clock, until, stopping }, store);
    const failed = assert.rejects(result, { code: 'ECONNREFUSED' });
    await clock.advance(20_000);
    await failed;
    assert.ok(tries() > 15 && tries() < 40, `${tries()} tries`);
  });

  it('ends when the service stops', async () => {
    const { clock, store, until } = statement(60_000);
    const stop = new AbortController();
    const result = storeWithRetries({ clock, until, stopping: stop.signal }, store);
    const failed = assert.rejects(result, { code: 'ECONNREFUSED' });
    stop.abort();
    await failed;
  });

  it('does not repeat what a constraint refuses', async () => {
    const { clock, store, until, tries } = statement(60_000, refused());
    await assert.rejects(storeWithRetries({ clock, until, stopping }, store), { code: '23514' });
    assert.equal(tries(), 1);
  });
});
