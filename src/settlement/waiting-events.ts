/**
 * Looks for the transactions that events wait for, and wakes the events whose transactions have
 * come or moved. Any number of processes do this on the same database.
 */
import type { Context } from '../context/context.ts';
import { nilUuid } from '../domain/text.ts';
import { wakeWaitingEvents } from './event-queue-repository.ts';

/** The pause is a sixtieth of the time that the newest event has waited. */
const waitPerLook = 60;
const minPauseMs = 1_000;
const maxPauseMs = 15_000;

/** The pause after a look is at least this many times its duration, up to the maximum below. */
const pausePerLook = 20;

/** A look seems to take long when the clock is set, or when the process was frozen. */
const maxPauseOfLookMs = 5_000;

export interface Look {
  /** How long the look took, in milliseconds. */
  readonly tookMs: number;
  /** How long the newest event has waited, in milliseconds; negative: it came during the look. */
  readonly waitedMs: number;
  /** Whether events are left that it has not read. */
  readonly isPart: boolean;
}

/** @returns the pause until the next look, in milliseconds. */
export function pauseAfter({ tookMs, waitedMs, isPart }: Look): number {
  const ofLook = Math.min(tookMs * pausePerLook, maxPauseOfLookMs);
  if (isPart) return ofLook;
  const ofWait = Math.min(Math.max(waitedMs / waitPerLook, minPauseMs), maxPauseMs);
  return Math.max(ofWait, ofLook);
}

/** The looks of one process. */
export class WaitingEvents {
  readonly #context: Context;
  /** The event up to which it has read; the nil UUID: it begins with the first. */
  #readUpTo = nilUuid;
  /** The time of the next look, in milliseconds since 1970. */
  #nextMs = 0;
  /** When an attempt of this process last left an event in the queue, in the same unit. */
  #leftMs = 0;

  constructor(context: Context) {
    this.#context = context;
  }

  /** An attempt has left its event in the queue: the next look comes within a second. */
  expectOne(): void {
    this.#leftMs = this.#nowMs();
    this.#nextMs = Math.min(this.#nextMs, this.#leftMs + minPauseMs);
  }

  /**
   * Looks at a part of the events, unless the next look is not due. It does not fail: a look that
   * does is logged, and repeated.
   * @returns the number of events that it has woken, and the time of the next look, in milliseconds
   *   since 1970.
   */
  async look(): Promise<{ readonly woken: number; readonly nextMs: number }> {
    const startMs = this.#nowMs();
    // After a clock that was set back, the next look seems far away.
    const isDue = this.#nextMs <= startMs || this.#nextMs > startMs + maxPauseMs;
    if (!isDue) return { woken: 0, nextMs: this.#nextMs };
    const { woken, last, newestAt } = await this.#wake();
    const nowMs = this.#nowMs();
    // One that was left since may not have been read.
    const waitedMs = this.#leftMs < startMs ? startMs - newestAt.getTime() : 0;
    const isPart = last !== null;
    this.#readUpTo = last ?? nilUuid;
    this.#nextMs = nowMs + pauseAfter({ tookMs: nowMs - startMs, waitedMs, isPart });
    return { woken, nextMs: this.#nextMs };
  }

  async #wake(): ReturnType<typeof wakeWaitingEvents> {
    try {
      return await wakeWaitingEvents(this.#context, this.#readUpTo);
    } catch (error) {
      this.#context.log.error({ error }, 'the transactions that events wait for could not be read');
      return { woken: 0, last: null, newestAt: this.#context.clock.now() };
    }
  }

  #nowMs(): number {
    return this.#context.clock.now().getTime();
  }
}
