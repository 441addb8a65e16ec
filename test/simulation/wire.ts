/**
 * The wire between a process and the bank. Each attempt goes there in one step and its answer comes
 * back in another, so that anything can happen in between; both can get lost, and what has left a
 * process goes on its way when the process dies.
 */
import { optionsOf, type ProviderCall, wrapProvider } from '../../src/provider/methods.ts';
import { ProviderError } from '../../src/provider/outcome.ts';
import type { Provider } from '../../src/provider/provider.ts';
import type { BankDesk } from './desk.ts';
import { drawFate, type Fate, timedOut, verdictOn } from './faults.ts';
import type { Owner, Scheduler, Step } from './scheduler.ts';
import type { Weather } from './weather.ts';

export interface WireOptions {
  readonly desk: BankDesk;
  readonly scheduler: Scheduler;
  readonly weather: () => Weather;
}

/** @returns the bank as one process reaches it, without what makes it resilient. */
export function wireFrom(process: Owner, options: WireOptions): Provider {
  return wrapProvider(options.desk.provider, (call) => new Attempt(process, call, options).answer);
}

/** How likely a request that has left a process goes on when the process dies. */
const momentum = 0.7;

/** How much rarer other calls go wrong: a send that fails early has nothing more to show. */
const besidePayments = 0.3;

/** What the bank has made of a request: a word for the trace, and how the caller is told. */
interface Verdict {
  readonly word: string;
  readonly tell: () => void;
}

class Attempt {
  readonly #process: Owner;
  readonly #call: ProviderCall;
  readonly #options: WireOptions;
  readonly #fate: Fate;
  readonly #result = Promise.withResolvers<unknown>();
  readonly #request: Step;
  #hasArrived = false;

  constructor(process: Owner, call: ProviderCall, options: WireOptions) {
    const { scheduler, desk, weather } = options;
    this.#process = process;
    this.#call = call;
    this.#options = options;
    const { attemptFaults } = weather();
    const faults = call.method === 'pay' ? attemptFaults : attemptFaults * besidePayments;
    this.#fate = drawFate(scheduler.chance, faults);
    this.#request = {
      owner: process,
      label: `${process.name} asks the bank: ${desk.describe(call)}`,
      run: () => this.#arrive(),
      outlives: () => !this.#fate.isConnecting && scheduler.chance.happens(momentum),
    };
    optionsOf(call).signal?.addEventListener('abort', () => this.#giveUp(), { once: true });
    scheduler.submit(this.#request);
  }

  get answer(): Promise<unknown> {
    return this.#result.promise;
  }

  /** The caller waits no longer. What has left may still arrive. */
  #giveUp(): void {
    const hasStayed = !this.#hasArrived && this.#fate.isConnecting;
    if (hasStayed) this.#options.scheduler.withdraw(this.#request);
    this.#result.reject(timedOut(hasStayed ? 'not_sent' : 'unknown'));
  }

  async #arrive(): Promise<string> {
    this.#hasArrived = true;
    const { kind, when } = this.#fate;
    if (kind !== 'answered') this.#options.scheduler.count(`${kind} ${when}`);
    if (kind === 'token_expired') this.#options.desk.expireToken(this.#call);
    const done = when === 'after' ? await this.#perform() : null;
    const error = verdictOn(this.#fate);
    const told = error ? { word: kind, tell: () => this.#result.reject(error) } : done;
    if (told && kind !== 'silence') this.#reply(told);
    return [done?.word ?? 'not done', kind].join(', ');
  }

  async #perform(): Promise<Verdict> {
    try {
      const value = await this.#options.desk.perform(this.#call);
      const shown = this.#fate.kind === 'foreign_ids' ? withForeignIds(value) : value;
      return { word: 'done', tell: () => this.#result.resolve(shown) };
    } catch (error) {
      if (!(error instanceof ProviderError)) throw error;
      return { word: `refused ${error.reason}`, tell: () => this.#result.reject(error) };
    }
  }

  /** A dead process gets no answer: its steps are taken off the list. */
  #reply({ word, tell }: Verdict): void {
    const { name } = this.#process;
    const label = `the bank answers ${name}: ${word}`;
    this.#options.scheduler.submit({ owner: this.#process, label, run: tell });
  }
}

/** Another payment's receipt; what is no receipt stays as it is. */
function withForeignIds(value: unknown): unknown {
  const isReceipt = typeof value === 'object' && value !== null && 'clientRequestId' in value;
  return isReceipt ? { ...value, endToEnd: 'E00000000202601010000foreign0000' } : value;
}
