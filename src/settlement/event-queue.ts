/**
 * Settles the events of the queue in this process: those that it has just stored, with the event in
 * memory, and those that are due. Any number of processes do this on the same database.
 *
 * An attempt moves the time of the event on before it begins. If the process dies, another one
 * takes the event up at that time.
 */
import type { Context } from '../context/context.ts';
import { backOffMs, describeError } from '../jobs/runner.ts';
import type { EventPlace } from '../process/event-places.ts';
import { Poller } from '../process/poller.ts';
import {
  adoptEvents,
  eventsChannel,
  eventsKind,
  postponeEvent,
  takeEvents,
  type QueuedEvent,
} from './event-queue-repository.ts';
import { settleQueued } from './settle-event.ts';
import { WaitingEvents } from './waiting-events.ts';

export interface EventQueueOptions {
  readonly context: Context;
  /** The longest sleep, in milliseconds. */
  readonly pollMs?: number;
  /** How many events stored by itself it settles at the same time. */
  readonly places?: number;
  /** How many other events, from the queue, it settles at the same time. */
  readonly room?: number;
  /** Spreads retries; between 0 and 1. */
  readonly random?: () => number;
}

/** How long others leave an event alone whose attempt has begun; an attempt takes milliseconds. */
const attemptMs = 10_000;

/** The same for an event at which many attempts have begun and none has ended. */
const rareMs = 60 * 60_000;

/** The queue of one process. */
export class EventQueue {
  readonly #context: Context;
  readonly #places: number;
  readonly #room: number;
  readonly #random: () => number;
  readonly #poller: Poller;
  /** The attempts that run, each with its event: a slow one may be attempted a second time. */
  readonly #underWay = new Map<Promise<void>, string>();
  /** How many places are reserved, or have an attempt. */
  #reserved = 0;
  /** How many events from the queue are attempted. */
  #taken = 0;
  /** Whether the last read found as many events as there was room for: more may be due. */
  #mayBeMore = false;
  readonly #waiting: WaitingEvents;
  #healthy = false;
  #stopListening: () => Promise<void> = () => Promise.resolve();

  constructor(options: EventQueueOptions) {
    const { context, pollMs = 5_000, places = 256, room = 64, random = Math.random } = options;
    this.#context = context;
    this.#places = places;
    this.#room = room;
    this.#random = random;
    this.#waiting = new WaitingEvents(context);
    const { clock } = context;
    this.#poller = new Poller({ clock, pollMs, poll: () => this.#poll() });
  }

  /** Whether the queue could be read the last time. */
  get healthy(): boolean {
    return this.#poller.isRunning && this.#healthy;
  }

  async start(): Promise<void> {
    await adoptEvents(this.#context).catch((error: unknown) => {
      this.#context.log.error({ error }, 'the events of release 1.2.0 were not taken over');
    });
    this.#stopListening = await this.#context.db.listen(eventsChannel, () => this.wake());
    await this.#poller.start();
  }

  /** Reads the queue now. */
  wake(): void {
    this.#poller.wake();
  }

  /** Begins no more attempts, and waits for those that run. It may be called twice. */
  async stop(): Promise<void> {
    const stopped = this.#poller.stop();
    await this.#stopListening().catch(() => undefined);
    await stopped;
    await Promise.all(this.#underWay.keys());
  }

  /** @returns a place for an event that is about to be stored; null: it waits in the queue. */
  reserve(): EventPlace | null {
    if (!this.#poller.isRunning || this.#reserved >= this.#places) return null;
    this.#reserved += 1;
    const release = (): void => {
      this.#reserved -= 1;
    };
    const dueAt = this.#after(attemptMs);
    return {
      dueAt,
      release,
      begin: (eventId, settle) => this.#begin({ eventId, dueAt, failures: 0 }, settle, release),
    };
  }

  /** Reads the queue once, and begins an attempt at each event that it takes. */
  async #poll(): Promise<number> {
    const room = this.#room - this.#taken;
    this.#mayBeMore = true;
    // It is read again when half of the attempts have ended.
    if (room <= 0) return Infinity;
    try {
      const { events, nextDueAt, someWait } = await takeEvents(this.#context, {
        nextAt: this.#after(attemptMs),
        rareAt: this.#after(rareMs),
        underWay: [...this.#underWay.values()],
        room,
      });
      for (const event of events) this.#beginTaken(event);
      this.#mayBeMore = events.length === room;
      this.#healthy = true;
      const lookAt = someWait ? await this.#wakeWaiting() : Infinity;
      return Math.min(nextDueAt?.getTime() ?? Infinity, lookAt);
    } catch (error) {
      this.#healthy = false;
      this.#context.log.error({ error }, 'the queue of events could not be read');
      return Infinity;
    }
  }

  /** @returns when to look again for what events wait for, in milliseconds since 1970. */
  async #wakeWaiting(): Promise<number> {
    const { woken, nextMs } = await this.#waiting.look();
    if (woken > 0) this.wake();
    return nextMs;
  }

  #beginTaken(event: QueuedEvent): void {
    this.#taken += 1;
    const settle = (): Promise<boolean> => settleQueued(this.#context, event);
    this.#begin(event, settle, () => {
      this.#taken -= 1;
    });
  }

  #begin(event: BegunEvent, settle: () => Promise<boolean>, release: () => void): void {
    const attempt = this.#attempt(event, settle).then((isQueued) => {
      this.#underWay.delete(attempt);
      release();
      if (isQueued) this.#waiting.expectOne();
      if (isQueued || (this.#mayBeMore && this.#taken <= this.#room / 2)) this.wake();
    });
    this.#underWay.set(attempt, event.eventId);
  }

  /** It does not fail: an attempt that does is logged, and its event put off. */
  async #attempt(event: BegunEvent, settle: () => Promise<boolean>): Promise<boolean> {
    const { metrics, log } = this.#context;
    try {
      const isQueued = await settle();
      metrics.jobs.inc({ kind: eventsKind, result: 'done' });
      return isQueued;
    } catch (error) {
      metrics.jobs.inc({ kind: eventsKind, result: 'failed' });
      const { eventId } = event;
      const attempt = event.failures + 1;
      log.error({ error, eventId, attempt }, 'an event could not be settled');
      const nextAt = this.#after(backOffMs(attempt, this.#random));
      const failed = { nextAt, error: describeError(error) };
      await postponeEvent(this.#context, event, failed).catch((cause: unknown) => {
        // The time that the attempt has set comes, and the event is taken up again.
        log.error({ error: cause, eventId }, 'an event was not put off');
      });
      return true;
    }
  }

  #after(ms: number): Date {
    return new Date(this.#context.clock.now().getTime() + ms);
  }
}

/** An event at which an attempt has begun. */
type BegunEvent = Pick<QueuedEvent, 'eventId' | 'dueAt' | 'failures'>;
