/**
 * Releases the signals that dead processes wait for. Node keeps a signal of `AbortSignal.any` in
 * memory while it has a listener, and a process that dies during a pause does not remove its own.
 */
import { getEventListeners } from 'node:events';

let combined: AbortSignal[] = [];

const combine = AbortSignal.any.bind(AbortSignal);

AbortSignal.any = (signals) => {
  const signal = combine(signals);
  combined.push(signal);
  return signal;
};

/** Removes all listeners of the signals that were combined since the last call. */
export function releaseSignals(): void {
  for (const signal of combined) {
    for (const listener of getEventListeners(signal, 'abort')) {
      signal.removeEventListener('abort', listener as () => void);
    }
  }
  combined = [];
}
