/** Records what the settlement decides in a range of seeds (`test/unit/ledger/yardstick`). */
import { writeFile } from 'node:fs/promises';
import { triplesFile, type Triple } from '../../unit/ledger/yardstick/triples.ts';
import { runElsewhere, type Order, type Range } from '../seeds.ts';
import { prepareStore } from '../store.ts';

/**
 * Runs seeds, shared by some processes, and writes one decision of each signature; review the
 * difference before a commit.
 * @returns how many decisions were written.
 */
export async function recordDecisions(range: Range, workers: number): Promise<number> {
  const prepared = await prepareStore();
  const recorded = new Map<string, Triple>();
  const parts = Array.from({ length: workers }, (_, index): Order => {
    const { start, seeds } = range;
    const part = { ...range, start: start + index, seeds: seeds - index, step: workers };
    return { prepared, part };
  });
  const found = await Promise.all(
    parts.map(async (order) => {
      const entries: (readonly [string, Triple])[] = [];
      await runElsewhere('decisions/worker.ts', order, (message) => {
        entries.push(...(message as typeof entries));
      });
      return entries;
    }),
  );
  for (const [signature, triple] of found.flat()) {
    if (!recorded.has(signature)) recorded.set(signature, triple);
  }
  const lines = [...recorded]
    .toSorted(([one], [other]) => (one < other ? -1 : 1))
    .map(([, triple]) => JSON.stringify(triple));
  await writeFile(triplesFile, `${lines.join('\n')}\n`);
  return lines.length;
}
