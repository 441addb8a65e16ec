import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { PaymentTurns } from '../../../src/process/payment-turns.ts';
import { type ManualClock, manualClock } from '../../support/clock.ts';

const running = new AbortController().signal;

/** Asks for so many turns, and notes the second after which each comes, or that it is refused. */
function ask(turns: PaymentTurns, clock: ManualClock, count: number) {
  const startMs = clock.now().getTime();
  const ended: (number | 'refused')[] = [];
  const all = Array.from({ length: count }, async () => {
    const hasTurn = await turns.wait(running);
    ended.push(hasTurn ? (clock.now().getTime() - startMs) / 1_000 : 'refused');
  });
  return { ended, all: Promise.all(all) };
}

describe('the turns of payments', () => {
  it('come at once, as many as a second has, and the others a second later each', async () => {
    const clock = manualClock();
    const { ended, all } = ask(new PaymentTurns(clock, 2), clock, 5);
    await clock.advance(2_000);
    await all;
    assert.deepEqual(ended, [0, 0, 1, 1, 2]);
  });

  it('are no more within any second, however they fall', async () => {
    const clock = manualClock();
    const turns = new PaymentTurns(clock, 2);
    await ask(turns, clock, 1).all;
    await clock.advance(900);
    const later = ask(turns, clock, 3);
    await clock.advance(2_000);
    await later.all;
    assert.deepEqual(later.ended, [0, 0.1, 1]);
  });

  it('are refused at once where the wait would be longer than five seconds', async () => {
    const clock = manualClock();
    const { ended, all } = ask(new PaymentTurns(clock, 1), clock, 8);
    await clock.advance(0);
    assert.deepEqual(ended, [0, 'refused', 'refused']);
    await clock.advance(5_000);
    await all;
    assert.deepEqual(ended.slice(3), [1, 2, 3, 4, 5]);
  });

  it('count repeats, which wait for none', async () => {
    const clock = manualClock();
    const turns = new PaymentTurns(clock, 1);
    for (let nth = 0; nth < 3; nth += 1) turns.take();
    const { ended, all } = ask(turns, clock, 1);
    await clock.advance(5_000);
    await all;
    assert.deepEqual(ended, [3]);
  });

  it('end when the process stops', async () => {
    const clock = manualClock();
    const turns = new PaymentTurns(clock, 1);
    const stopping = new AbortController();
    assert.equal(await turns.wait(stopping.signal), true);
    const waiting = turns.wait(stopping.signal);
    stopping.abort();
    assert.equal(await waiting, false);
  });

  it('are not lost when the clock is set back', async () => {
    let now = Date.UTC(2026, 4, 24);
    const clock = { ...manualClock(), now: () => new Date(now) };
    const turns = new PaymentTurns(clock, 1);
    assert.equal(await turns.wait(running), true);
    now -= 3_600_000;
    assert.equal(await turns.wait(running), true);
  });

  it('have no limit with 0', async () => {
    const clock = manualClock();
    const { ended, all } = ask(new PaymentTurns(clock, 0), clock, 1_000);
    await all;
    assert.deepEqual(new Set(ended), new Set([0]));
  });
});
