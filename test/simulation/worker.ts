/** A worker process that runs a part of a range of seeds (`seeds.ts`) and sends each verdict. */
import { once } from 'node:events';
import { runPart, type Order } from './seeds.ts';
import type { Verdict } from './simulate.ts';
import { openStore } from './store.ts';

/** Reduces the trace of a passed seed to its length. */
function brief(verdict: Verdict): Verdict {
  const { violations, trace } = verdict;
  return violations.length > 0 ? verdict : { ...verdict, trace: Array<string>(trace.length) };
}

// Nobody receives the verdicts any more.
process.once('disconnect', () => process.exit());

const [order] = (await once(process, 'message')) as [Order];
const store = await openStore({ prepared: order.prepared });
await runPart(store, order.part, (verdict) => process.send?.(brief(verdict)));
await store.close();
process.disconnect?.();
