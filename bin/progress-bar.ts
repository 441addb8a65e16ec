/** The progress of long work, on standard error and only at a terminal. */
import { SingleBar } from 'cli-progress';
import type { Progress } from '../src/operator/op.ts';
import type { Streams } from './terminal.ts';

export interface ProgressBar {
  readonly update: Progress;
  /** Takes the bar away. */
  stop(): void;
}

/** Makes a bar that appears with the first progress; a total of 0 is one that nobody knows. */
export function createProgressBar({ stderr }: Streams): ProgressBar {
  if (stderr.isTTY !== true) return { update: () => undefined, stop: () => undefined };
  let bar: SingleBar | null = null;
  return {
    update(done, total) {
      if (bar === null) {
        const format = total > 0 ? '{bar} {value}/{total}' : '{value} done';
        const shown = { stream: stderr, format, barsize: 30, clearOnComplete: true };
        bar = new SingleBar({ ...shown, hideCursor: false });
        bar.start(total, done);
        return;
      }
      bar.setTotal(total);
      bar.update(done);
    },
    stop: () => bar?.stop(),
  };
}
