/**
 * A gauge that a job sets shows the value of one process, and 0 in every other: facts of the
 * database are read at the scrape (`metrics-gauges.ts`), where each process has the same. Two files
 * set gauges: both describe their own process.
 */
import { Gauge } from 'prom-client';
import { createMetrics } from '../../src/telemetry/metrics.ts';
import { mentions } from './texts.ts';

/** Files that declare or set gauges, with the reason. */
const keepers: ReadonlyMap<string, string> = new Map([
  ['src/telemetry/metrics.ts', 'declares the gauges of a process'],
  ['src/telemetry/metrics-gauges.ts', 'declares the gauges that are read at a scrape'],
  ['src/provider/compose.ts', 'the circuit breakers of this process'],
  ['src/process/unstored-outcomes.ts', 'the outcomes that only this process knows'],
]);

const names = Object.entries(createMetrics())
  .filter(([, metric]) => metric instanceof Gauge)
  .map(([name]) => name)
  .join('|');

const gauge = new RegExp(
  [
    String.raw`\bGauge\b|\bprom-client\b`,
    String.raw`\bmetrics\b.*\b(?:${names})\b`,
    String.raw`\b(?:${names})\.(?:set|inc|dec)\(`,
  ].join('|'),
);

/** @returns where a file of `src` declares or sets a gauge, although it is no keeper. */
export function gaugesIn(path: string, text: string): string[] {
  return path.startsWith('src/') && !keepers.has(path) ? mentions(path, text, gauge) : [];
}
