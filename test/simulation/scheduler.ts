/**
 * The scheduler of a simulation. Everything that leaves or reaches a process (a statement to the
 * database, a call to the bank, a response, a notification, a timer) is a step that waits here
 * until the scheduler picks it. It runs one step at a time to its end, waits until the work that
 * the step has started is idle, and picks the next one. So the seed determines the order of all
 * events.
 */
import { nextTurn, type Clock } from '../../src/clock.ts';
import { runZeroTimersAtNextTurn } from '../support/zero-timers.ts';
import type { Chance } from './chance.ts';
import { awaitsTurn, takeTurnsInProcess } from './turns.ts';

runZeroTimersAtNextTurn();
takeTurnsInProcess();

/** The owner of steps; when it dies, its steps are removed. */
export interface Owner {
  readonly name: string;
}

export interface Step {
  readonly owner: Owner;
  /** Describes the step in the trace. */
  readonly label: string;
  /** @returns the result, for the trace. */
  run(): Promise<string | void> | string | void;
  /** Called when the owner dies before the step runs; true: the step runs anyway. */
  outlives?(): boolean;
  /** Whether it runs outside of its owner, also while the owner is frozen. */
  readonly isOutside?: boolean;
}

interface Timer {
  readonly owner: Owner;
  readonly dueMs: number;
  readonly work: () => void;
}

export interface SchedulerOptions {
  readonly chance: Chance;
  readonly startMs: number;
  /** Called with the owner of every step before it runs; it may kill the owner. */
  readonly beforeStep: (owner: Owner) => void;
}

/** The waiting steps that are likely to run next. */
export type Order = 'any' | 'oldest' | 'newest';

export class Scheduler {
  /** One line for each step. */
  readonly trace: string[] = [];
  readonly chance: Chance;
  /** The number of events of each kind. */
  readonly tally = new Map<string, number>();
  /** The number of steps that were taken. */
  taken = 0;
  order: Order = 'any';
  /** How likely the next timer fires although steps are waiting. */
  stalls = 0;
  readonly #startMs: number;
  readonly #beforeStep: (owner: Owner) => void;
  #nowMs: number;
  #waiting: Step[] = [];
  readonly #timers = new Set<Timer>();
  readonly #buried = new Set<Owner>();
  readonly #frozen = new Set<Owner>();
  /** How far the wall clock of an owner is ahead, in milliseconds. */
  readonly #clockOffsets = new Map<Owner, number>();

  constructor({ chance, startMs, beforeStep }: SchedulerOptions) {
    this.chance = chance;
    this.#startMs = startMs;
    this.#nowMs = startMs;
    this.#beforeStep = beforeStep;
  }

  get nowMs(): number {
    return this.#nowMs;
  }

  get elapsedMs(): number {
    return this.#nowMs - this.#startMs;
  }

  /** Whether no step is waiting; timers may be. */
  get isQuiet(): boolean {
    return this.#waiting.length === 0;
  }

  /** Adds a step, unless its owner is dead. */
  submit(step: Step): void {
    if (!this.isBuried(step.owner)) this.#waiting.push(step);
  }

  /** A step without work: a message on its way. */
  hop(owner: Owner, label: string): Promise<void> {
    return new Promise((resolve) => this.submit({ owner, label, run: resolve }));
  }

  /** A dead owner sets no timer: what it still hears from a late statement ends there. */
  after(owner: Owner, delayMs: number, work: () => void): () => void {
    if (this.isBuried(owner)) return () => undefined;
    const timer = { owner, dueMs: this.#nowMs + Math.max(0, delayMs), work };
    this.#timers.add(timer);
    return () => void this.#timers.delete(timer);
  }

  sleep(owner: Owner, delayMs: number): Promise<void> {
    return new Promise((resolve) => void this.after(owner, delayMs, resolve));
  }

  getClock(owner: Owner): Clock {
    return {
      now: () => new Date(this.#nowMs + (this.#clockOffsets.get(owner) ?? 0)),
      after: (delayMs, work) => this.after(owner, delayMs, work),
    };
  }

  /** Sets the wall clock of an owner; its timers are monotonic, as in Node. */
  setClock(owner: Owner, offsetMs: number): void {
    this.#clockOffsets.set(owner, offsetMs);
  }

  clockOffsetMs(owner: Owner): number {
    return this.#clockOffsets.get(owner) ?? 0;
  }

  /** Suspends the timers of an owner, and its steps except those with `isOutside`. */
  freeze(owner: Owner): void {
    this.#frozen.add(owner);
  }

  /** The owner continues; its due timers compete with its steps. */
  thaw(owner: Owner): void {
    this.#frozen.delete(owner);
  }

  isFrozen(owner: Owner): boolean {
    return this.#frozen.has(owner);
  }

  /** Removes a waiting step: it never runs. */
  withdraw(step: Step): void {
    this.#waiting = this.#waiting.filter((one) => one !== step);
  }

  /** The owner is dead: removes its steps and timers, except the steps that outlive it. */
  bury(owner: Owner): void {
    this.#buried.add(owner);
    this.#frozen.delete(owner);
    this.#waiting = this.#waiting.filter(
      (step) => step.owner !== owner || step.outlives?.() === true,
    );
    for (const timer of this.#timers) if (timer.owner === owner) this.#timers.delete(timer);
  }

  isBuried(owner: Owner): boolean {
    return this.#buried.has(owner);
  }

  /** Advances the clock without a step; later timers may be due then. */
  leap(ms: number): void {
    this.#nowMs += ms;
    this.note(`${Math.round(ms / 3_600_000)} hours pass`);
  }

  note(text: string): void {
    const seconds = (this.elapsedMs / 1_000).toFixed(3);
    this.trace.push(`${seconds.padStart(10)} ${text}`);
  }

  count(event: string): void {
    this.tally.set(event, (this.tally.get(event) ?? 0) + 1);
  }

  /** Takes one step; false when neither a step nor a timer is left. */
  async step(): Promise<boolean> {
    const timer = this.#nextTimer();
    const ready = this.#ready();
    if (ready.length > 0 && (!timer || !this.#firesFirst(timer, ready.length))) {
      await this.#take(this.#pick(ready));
    } else if (timer) {
      await this.#fire(timer);
    } else {
      return false;
    }
    await waitUntilIdle();
    return true;
  }

  #ready(): readonly Step[] {
    if (this.#frozen.size === 0) return this.#waiting;
    return this.#waiting.filter((step) => step.isOutside || !this.#frozen.has(step.owner));
  }

  #firesFirst(timer: Timer, ready: number): boolean {
    if (timer.dueMs <= this.#nowMs) return this.chance.happens(1 / (ready + 1));
    return this.chance.happens(this.stalls);
  }

  #pick(ready: readonly Step[]): Step {
    const last = ready.length - 1;
    const drawn = this.order === 'any' ? this.chance.next() : this.chance.next() ** 3;
    const index = Math.floor(drawn * (last + 1));
    const step = ready[this.order === 'newest' ? last - index : index];
    if (!step) throw new Error('no step was waiting');
    return step;
  }

  async #take(step: Step): Promise<void> {
    this.#begin(step.owner);
    // The owner may just have died, which removes the step.
    if (!this.#waiting.includes(step)) return;
    this.withdraw(step);
    const result = await step.run();
    this.note(`${step.label}${result ? ` → ${result}` : ''}`);
  }

  async #fire(timer: Timer): Promise<void> {
    this.#nowMs = Math.max(this.#nowMs, timer.dueMs);
    this.#begin(timer.owner);
    if (!this.#timers.delete(timer)) return;
    this.note(`${timer.owner.name} timer`);
    timer.work();
  }

  /** Each step has a distinct time, so that only the seed determines the order. */
  #begin(owner: Owner): void {
    this.taken += 1;
    this.#nowMs += this.chance.between(1, 3);
    this.#beforeStep(owner);
  }

  #nextTimer(): Timer | null {
    let next: Timer | null = null;
    for (const timer of this.#timers) {
      if ((!next || timer.dueMs < next.dueMs) && !this.#frozen.has(timer.owner)) next = timer;
    }
    return next;
  }
}

/**
 * The service waits only for steps and turns of the event loop: the batcher waits for one turn
 * before it sends a batch, and for another after its result. Most steps lead to no such wait.
 */
async function waitUntilIdle(): Promise<void> {
  let turns = 0;
  do {
    await nextTurn();
    turns += 1;
  } while (awaitsTurn() && turns < turnsOfBatching);
}

const turnsOfBatching = 3;
