/** The turns of a simulation follow the order of Node's own event loop. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setImmediate as setMachineImmediate } from 'node:timers';
import { takeTurnsInProcess } from './turns.ts';

/** The order in which callbacks, ticks and microtasks run that lead to each other. */
async function order(setTurn: typeof setImmediate): Promise<string[]> {
  const ran: string[] = [];
  const { promise, resolve } = Promise.withResolvers<void>();
  setTurn(() => {
    ran.push('first');
    setTurn(() => void ran.push('of the next turn'));
    process.nextTick(() => {
      ran.push('tick');
      queueMicrotask(() => ran.push('microtask of the tick'));
    });
    queueMicrotask(() => {
      ran.push('microtask');
      process.nextTick(() => ran.push('tick of the microtask'));
    });
  });
  setTurn((text) => {
    ran.push(text);
    setTurn(resolve);
  }, 'second');
  await promise;
  return ran;
}

test('callbacks run with their ticks and microtasks in the order of Node', async () => {
  takeTurnsInProcess();
  assert.notEqual(globalThis.setImmediate, setMachineImmediate);
  assert.deepEqual(await order(globalThis.setImmediate), await order(setMachineImmediate));
});
