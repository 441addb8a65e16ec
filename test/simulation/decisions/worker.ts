/**
 * A worker process that runs a part of a range of seeds, and sends what the settlement has judged:
 * its import of the judge leads to `judge.ts` beside this file.
 */
import { once } from 'node:events';
import { registerHooks } from 'node:module';
import type { Order } from '../seeds.ts';

const own = import.meta.resolve('./judge.ts');
const original = import.meta.resolve('../../../src/ledger/judge.ts');

registerHooks({
  resolve(specifier, context, next) {
    const found = next(specifier, context);
    const isOfSettlement = context.parentURL?.includes('/src/settlement/') ?? false;
    return isOfSettlement && found.url === original ? { ...found, url: own } : found;
  },
});

const { recorded } = await import('./judge.ts');
const { runPart } = await import('../seeds.ts');
const { openStore } = await import('../store.ts');

process.once('disconnect', () => process.exit());

const [order] = (await once(process, 'message')) as [Order];
const store = await openStore({ prepared: order.prepared });
await runPart(store, order.part, ({ seed, violations }) => {
  if (violations.length > 0) throw new Error(`seed ${seed}: ${violations[0]}`);
});
await store.close();
process.send?.([...recorded], () => process.disconnect?.());
