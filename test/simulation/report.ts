/** The report of the seeds that were run. */
import { coverageText, isCoverage } from './coverage.ts';
import type { Verdict } from './simulate.ts';

/** The lines before the first violation that mostly show its cause. */
const linesBefore = 60;

/**
 * The failure of a seed: its violations, the steps before them, and how to replay it.
 * @param client whether all customers paid by the client.
 */
export function failureText({ seed, violations, trace }: Verdict, { client = false } = {}): string {
  const first = trace.findIndex((line) => line.includes('VIOLATION'));
  const end = first === -1 ? trace.length : first + 1;
  return [
    `seed ${seed} failed:`,
    ...violations.map((violation) => `  ${violation}`),
    '  …',
    ...trace.slice(Math.max(0, end - linesBefore), end),
    `replay it: npm run simulate -- --seed ${seed}${client ? ' --client' : ''}`,
  ].join('\n');
}

/** Sums the results of many seeds. */
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
    for (const [key, count] of tally) this.#count(key, count);
    for (const { status, phase } of rows) this.#count(`${status} ${phase}`, 1);
  }

  get seconds(): number {
    return (performance.now() - this.#beganAt) / 1_000;
  }

  progress(): string {
    const rate = (this.seeds / this.seconds).toFixed(1);
    return `${this.seeds} seeds, ${this.failed.length} failed, ${rate} seeds/s`;
  }

  /** The counts of all events, as proof that they occurred. */
  text(): string {
    const counts = [...this.#counts]
      .filter(([key]) => !isCoverage(key))
      .toSorted(([one], [other]) => one.localeCompare(other));
    return [
      `${this.progress()}, ${this.#steps} steps in ${this.seconds.toFixed(0)} s`,
      ...counts.map(([key, count]) => `  ${String(count).padStart(8)} ${key}`),
      ...(this.failed.length > 0 ? [`failed: ${this.failed.join(' ')}`] : []),
    ].join('\n');
  }

  /** The coverage of the seeds (`withCoverage`). */
  coverage(): string {
    return coverageText(this.#counts);
  }

  #count(key: string, count: number): void {
    this.#counts.set(key, (this.#counts.get(key) ?? 0) + count);
  }
}
