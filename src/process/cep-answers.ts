/** Caches what the provider answers about CEPs: anyone may ask, and streets rarely change. */
import { dayMs, type Clock } from '../clock.ts';
import type { CepAddress } from '../provider/provider.ts';

/** Bounds the memory, about 4 MB; the CEP that was asked for longest ago is dropped. */
const maxAnswers = 10_000;

/** How long an address is kept, in ms. */
const knownMs = dayMs;

/** How long it is kept that the provider does not know a CEP, in ms: it may learn it. */
const unknownMs = dayMs / 24;

interface CepAnswer {
  /** Null when the provider does not know the CEP. */
  readonly address: CepAddress | null;
  readonly endsAtMs: number;
}

/** The answers of one process. Concurrent look-ups of one CEP share one call. */
export class CepAnswers {
  readonly #clock: Clock;
  readonly #answers = new Map<string, CepAnswer>();
  readonly #underWay = new Map<string, Promise<CepAddress | null>>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** @returns null when the provider does not know the CEP; undefined when nothing is cached. */
  find(cep: string): CepAddress | null | undefined {
    const answer = this.#answers.get(cep);
    if (!answer) return undefined;
    this.#answers.delete(cep);
    if (answer.endsAtMs <= this.#clock.now().getTime()) return undefined;
    this.#answers.set(cep, answer);
    return answer.address;
  }

  /**
   * Asks for a CEP, unless it is known by now, or joins a look-up of it that is under way.
   * @param call calls the provider; null when it does not know the CEP. A failure is not cached.
   */
  ask(cep: string, call: () => Promise<CepAddress | null>): Promise<CepAddress | null> {
    const known = this.find(cep);
    if (known !== undefined) return Promise.resolve(known);
    const underWay = this.#underWay.get(cep);
    if (underWay) return underWay;
    const asked = call()
      .then((address) => this.#add(cep, address))
      .finally(() => this.#underWay.delete(cep));
    this.#underWay.set(cep, asked);
    return asked;
  }

  #add(cep: string, address: CepAddress | null): CepAddress | null {
    const keptMs = address === null ? unknownMs : knownMs;
    this.#answers.set(cep, { address, endsAtMs: this.#clock.now().getTime() + keptMs });
    const [oldest] = this.#answers.keys();
    if (this.#answers.size > maxAnswers && oldest !== undefined) this.#answers.delete(oldest);
    return address;
  }
}
