/** `npm run simulate`: many seeds, or one with all that happens in it. */
import { parseArgs } from 'node:util';
import { simulate, type Verdict } from './simulate.ts';
import { openStore, type Store } from './store.ts';

const { values } = parseArgs({
  options: {
    seeds: { type: 'string', default: '200' },
    start: { type: 'string', default: '1' },
    seed: { type: 'string' },
    minutes: { type: 'string' },
  },
});

function write(text: string): void {
  process.stdout.write(`${text}\n`);
}

const store = await openStore();
try {
  const failed = values.seed === undefined ? await runMany(store) : await runOne(store, Number(values.seed));
  if (failed) process.exitCode = 1;
} finally {
  await store.close();
}

async function runOne(store: Store, seed: number): Promise<boolean> {
  const verdict = await simulate(store, seed);
  write(verdict.trace.join('\n'));
  write(`${JSON.stringify([...verdict.tally])}`);
  return tell(verdict);
}

function tell({ seed, violations }: Verdict): boolean {
  for (const violation of violations) write(`seed ${seed}: ${violation}`);
  return violations.length > 0;
}

async function runMany(store: Store): Promise<boolean> {
  const began = performance.now();
  let failed = 0;
  const tally = new Map<string, number>();
  const start = Number(values.start);
  const end = start + Number(values.seeds);
  let steps = 0;
  for (let seed = start; seed < end; seed += 1) {
    const verdict = await simulate(store, seed);
    steps += verdict.trace.length;
    if (tell(verdict)) failed += 1;
    for (const [w, n] of verdict.tally) tally.set(w, (tally.get(w) ?? 0) + n);
    for (const row of verdict.rows) { const w = `${row.status} ${row.phase}`; tally.set(w, (tally.get(w) ?? 0) + 1); }
  }
  const s = (performance.now() - began) / 1000;
  write(`${end - start} seeds, ${failed} failed, ${s.toFixed(1)} s, ${((end - start) / s).toFixed(1)} seeds/s, ${steps} lines`);
  write(JSON.stringify([...tally]));
  return failed > 0;
}
