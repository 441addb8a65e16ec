/** What is told of the seeds that were run. */
import { coverageText, isCoverage } from './coverage.ts';
import type { Verdict } from './simulate.ts';

/** So many lines before the first violation tell how it came about, mostly. */
const linesBefore = 60;

/** How a seed has failed: what did not hold, what led to it, and how to see all of it. */
export function failureText({ seed, violations, trace }: Verdict): string {
  const first = trace.findIndex((line) => line.includes('VIOLATION'));
  const end = first === -1 ? trace.length : first + 1;
  return [
    `seed ${seed} failed:`,
    ...violations.map((violation) => `  ${violation}`),
    '  …',
    ...trace.slice(Math.max(0, end - linesBefore), end),
    `replay it: npm run simulate -- --seed ${seed}`,
  ].join('\n');
}

/** Adds up what many seeds have brought. */
export class Summary {
  seeds = 0;
  readonly failed: number[] = [];
  readonly #counts = new Map<string, number>();
  readonly #beganAt = performance.now();
  #steps = 0;

  add({ seed, violations, trace, rows, tally }: Verdict): void {
    this.seeds += 1;
    this.#steps += trace.length;
    if (violations.length > 0) this.failed.push(seed);
    for (const [word, count] of tally) this.#count(word, count);
    for (const { status, phase } of rows) this.#count(`${status} ${phase}`, 1);
  }

  get seconds(): number {
    return (performance.now() - this.#beganAt) / 1_000;
  }

  progress(): string {
    const rate = (this.seeds / this.seconds).toFixed(1);
    return `${this.seeds} seeds, ${this.failed.length} failed, ${rate} seeds/s`;
  }

  /** What came about, so that one can see that it did. */
  text(): string {
    const counts = [...this.#counts]
      .filter(([word]) => !isCoverage(word))
      .toSorted(([one], [other]) => one.localeCompare(other));
    return [
      `${this.progress()}, ${this.#steps} steps in ${this.seconds.toFixed(0)} s`,
      ...counts.map(([word, count]) => `  ${String(count).padStart(8)} ${word}`),
      ...(this.failed.length > 0 ? [`failed: ${this.failed.join(' ')}`] : []),
    ].join('\n');
  }

  /** What the seeds have reached (`withCoverage`). */
  coverage(): string {
    return coverageText(this.#counts);
  }

  #count(word: string, count: number): void {
    this.#counts.set(word, (this.#counts.get(word) ?? 0) + count);
  }
}
