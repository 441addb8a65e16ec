import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Turns, type EndTurn } from '../../../src/process/turns.ts';
import { manualClock } from '../../support/clock.ts';

const maxMs = 10_000;

test('one turn of a key at a time: those who are preferred first, then first come, first served', async () => {
  const turns = new Turns(manualClock());
  const order: string[] = [];
  const work = async (name: string, isPreferred: boolean): Promise<void> => {
    const end = await turns.take('key', { isPreferred, maxMs });
    order.push(name);
    await Promise.resolve();
    end?.();
  };
  await Promise.all([
    work('first', false),
    work('second', false),
    work('third', false),
    work('preferred', true),
  ]);
  assert.deepEqual(order, ['first', 'preferred', 'second', 'third']);
  assert.equal(turns.isTaken('key'), false);
});

test('a wait ends without a turn, and passes it on to the next one', async () => {
  const clock = manualClock();
  const turns = new Turns(clock);
  const end = await turns.take('key', { isPreferred: false, maxMs });
  const late = turns.take('key', { isPreferred: true, maxMs });
  const gone = new AbortController();
  const left = turns.take('key', { isPreferred: true, maxMs: 60_000, signal: gone.signal });
  const next = turns.take('key', { isPreferred: false, maxMs: 60_000 });
  await clock.advance(maxMs);
  gone.abort();
  assert.deepEqual(await Promise.all([late, left]), [null, null]);
  end?.();
  const endNext: EndTurn | null = await next;
  assert.ok(endNext);
  endNext();
  endNext();
  assert.equal(turns.isTaken('key'), false);
});

test('keys have turns of their own', async () => {
  const turns = new Turns(manualClock());
  const ends = ['one', 'other'].map((key) => turns.take(key, { isPreferred: false, maxMs: 0 }));
  assert.ok((await Promise.all(ends)).every((end) => end !== null));
});
