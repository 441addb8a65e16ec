/**
 * Decides the faults of each call: the first queued rule for its path, otherwise the scheduled
 * rules by their chance. Chance depends on the seed, the path and the number of the call on that
 * path: the same seed produces the same faults, whatever calls other paths receive in between.
 */
import { createHash } from 'node:crypto';
import type { Effect, FaultRule } from './fault-language.ts';

export interface FaultPlanOptions {
  /** Apply to all calls, each with its chance. */
  readonly rules: readonly FaultRule[];
  readonly seed: string;
}

interface Queued {
  readonly rule: FaultRule;
  left: number;
}

/** The schedule and the queue of one sandbox. */
export class FaultPlan {
  readonly #rules: readonly FaultRule[];
  readonly #seed: string;
  readonly #callsOn = new Map<string, number>();
  #queue: Queued[] = [];

  constructor({ rules, seed }: FaultPlanOptions) {
    this.#rules = rules;
    this.#seed = seed;
  }

  /** Queues rules for the next calls; each applies to as many calls as it says, or to one. */
  enqueue(rules: readonly FaultRule[]): void {
    this.#queue.push(...rules.map((rule) => ({ rule, left: rule.times ?? 1 })));
  }

  /** Drops the queued rules; the schedule stays. */
  clearQueue(): void {
    this.#queue = [];
  }

  /** The rules that are still queued. */
  queued(): { readonly rule: FaultRule; readonly left: number }[] {
    return this.#queue.map(({ rule, left }) => ({ rule, left }));
  }

  /** Decides the faults of the next call on a path. @returns its effects, in order. */
  next(path: string): Effect[] {
    const nth = (this.#callsOn.get(path) ?? 0) + 1;
    this.#callsOn.set(path, nth);
    const draw = (what: string): number => this.#draw(`${path} ${nth} ${what}`);
    const effects = this.#takeQueued(path) ?? this.#drawn(path, draw);
    return effects.map((effect, index) => spread(effect, draw(`latency ${index}`)));
  }

  #takeQueued(path: string): readonly Effect[] | null {
    const first = this.#queue.find(({ rule }) => rule.path === path || rule.path === '*');
    if (first === undefined) return null;
    first.left -= 1;
    this.#queue = this.#queue.filter(({ left }) => left > 0);
    return first.rule.effects;
  }

  #drawn(path: string, draw: (what: string) => number): readonly Effect[] {
    return this.#rules.flatMap((rule, index) => {
      const isHit =
        (rule.path === path || rule.path === '*') && draw(`rule ${index}`) < rule.chance;
      return isHit ? rule.effects : [];
    });
  }

  /** A number from 0 up to 1: the same for the same seed and name. */
  #draw(name: string): number {
    const hash = createHash('sha256').update(`${this.#seed} ${name}`).digest();
    return hash.readUIntBE(0, 6) / 2 ** 48;
  }
}

/** Picks a latency out of its range. */
function spread({ upTo, ...effect }: Effect, drawn: number): Effect {
  if (upTo === undefined) return effect;
  return { ...effect, value: Math.round(effect.value + drawn * (upTo - effect.value)) };
}
