/**
 * The wire between a process and the bank: it stands where the service's HTTP client has its
 * connections, and carries bytes. Each attempt goes to the bank in one step and its answer comes
 * back in another, so that anything can happen in between; both can get lost, and what has left a
 * process goes on its way when the process dies.
 */
import type { Pool } from 'undici';
import type { Answer } from '../bank/answers.ts';
import type { Bank, BankRequest } from '../bank/bank.ts';
import type { Owner, Scheduler, Step } from '../scheduler.ts';
import type { FaultProfile } from '../fault-profile.ts';
import { isPayment } from './requests.ts';
import { answerInstead, drawFate, type Fate, withForeignIds } from './fates.ts';

type Dispatcher = Pick<Pool, 'dispatch' | 'destroy'>;
type RequestOptions = Parameters<Pool['dispatch']>[0];
type Handler = Parameters<Pool['dispatch']>[1];
type Controller = Parameters<NonNullable<Handler['onRequestStart']>>[0];

/** Who is told of what leaves a process and of what comes back to it. */
export interface WireWatch {
  /** The first byte of a request leaves. */
  left(process: Owner, request: BankRequest): void;
  /** The process has the whole answer; null: the attempt has ended without one. */
  ended(process: Owner, request: BankRequest, answer: Answer | null): void;
  /** Nothing of the request has left, and the process knows. */
  notSent(process: Owner, request: BankRequest): void;
}

export interface WireOptions {
  readonly bank: Bank;
  readonly scheduler: Scheduler;
  readonly profile: () => FaultProfile;
  readonly watch: WireWatch;
  readonly describe: (request: BankRequest) => string;
}

/** How likely a request that has left a process goes on when the process dies. */
const momentum = 0.7;

/** How much rarer other calls go wrong: a send that fails early has nothing more to show. */
const besidePayments = 0.3;

/** @returns what carries the requests of one process. */
export function wireOf(process: Owner, options: WireOptions): Dispatcher {
  return {
    dispatch(request, handler) {
      const attempt = new Attempt(process, { request: readRequest(request), handler }, options);
      attempt.begin();
      return true;
    },
    destroy: () => Promise.resolve(),
  };
}

function readRequest({ method, path, headers, body }: RequestOptions): BankRequest {
  const { authorization } = headers as Record<string, string | undefined>;
  return {
    method: String(method),
    url: new URL(path, 'https://bank.test'),
    token: authorization?.replace('Bearer ', '') ?? null,
    body: Buffer.isBuffer(body) ? (JSON.parse(body.toString('utf8')) as BankRequest['body']) : {},
  };
}

interface Exchange {
  readonly request: BankRequest;
  readonly handler: Handler;
}

class Attempt {
  readonly #process: Owner;
  readonly #exchange: Exchange;
  readonly #options: WireOptions;
  readonly #fate: Fate;
  readonly #step: Step;
  #hasLeft = false;
  /** The process waits no longer. */
  #isOver = false;

  constructor(process: Owner, exchange: Exchange, options: WireOptions) {
    const { scheduler, profile, describe } = options;
    this.#process = process;
    this.#exchange = exchange;
    this.#options = options;
    const { attemptFaults } = profile();
    const faults = isPayment(exchange.request) ? attemptFaults : attemptFaults * besidePayments;
    this.#fate = drawFate(scheduler.chance, faults);
    this.#step = {
      owner: process,
      label: `${process.name} asks the bank: ${describe(exchange.request)}`,
      run: () => this.#arrive(),
      outlives: () => this.#hasLeft && scheduler.chance.happens(momentum),
    };
  }

  begin(): void {
    if (!this.#fate.isConnecting) this.#leave();
    this.#options.scheduler.submit(this.#step);
  }

  readonly #controller = {
    aborted: false,
    abort: (): void => {
      if (this.#isOver) return;
      this.#isOver = true;
      this.#options.watch.ended(this.#process, this.#exchange.request, null);
    },
  } as unknown as Controller;

  /** @returns whether it may leave: its caller may have given it up meanwhile. */
  #leave(): boolean {
    const { watch } = this.#options;
    const { handler, request } = this.#exchange;
    try {
      handler.onRequestStart?.(this.#controller, {});
    } catch {
      watch.notSent(this.#process, request);
      return false;
    }
    this.#hasLeft = true;
    watch.left(this.#process, request);
    return true;
  }

  #arrive(): string {
    const { scheduler, bank, watch } = this.#options;
    const { request, handler } = this.#exchange;
    const { kind, when } = this.#fate;
    if (kind !== 'answered') scheduler.count(`${kind} ${when}`);
    if (kind === 'no_connection') {
      watch.notSent(this.#process, request);
      handler.onResponseError?.(this.#controller, coded('ECONNREFUSED'));
      return 'not done, no_connection';
    }
    if (!this.#hasLeft && !this.#leave()) return 'given up before it left';
    if (kind === 'token_expired') bank.expire(request.token);
    const done = when === 'after' ? this.#perform() : null;
    const answer = answerInstead(this.#fate, scheduler.chance) ?? done;
    if (kind !== 'silence') this.#reply(answer);
    return [done?.word ?? 'not done', kind].join(', ');
  }

  #perform(): Answer {
    const { bank } = this.#options;
    const { request } = this.#exchange;
    const answer = bank.handle(request);
    if (this.#fate.kind === 'doubled') return bank.handle({ ...request, isHiddenRepeat: true });
    return this.#fate.kind === 'foreign_ids' ? withForeignIds(answer) : answer;
  }

  /** A dead process gets no answer: its steps are taken off the list. */
  #reply(answer: Answer | null): void {
    const { name } = this.#process;
    const { kind } = this.#fate;
    const isBroken = kind === 'reset' || kind === 'cut' || answer === null;
    const word = isBroken ? kind : answer.word;
    const label = `the bank answers ${name}: ${word}`;
    const run = (): void => (isBroken ? this.#break(answer) : this.#answer(answer));
    this.#options.scheduler.submit({ owner: this.#process, label, run });
  }

  #answer(answer: Answer): void {
    if (this.#isOver) return;
    this.#isOver = true;
    const { handler, request } = this.#exchange;
    this.#options.watch.ended(this.#process, request, answer);
    handler.onResponseStart?.(this.#controller, answer.status, answer.headers);
    // In two parts, as it may come from a socket.
    const middle = Math.floor(answer.body.length / 2);
    handler.onResponseData?.(this.#controller, answer.body.subarray(0, middle));
    handler.onResponseData?.(this.#controller, answer.body.subarray(middle));
    handler.onResponseEnd?.(this.#controller, {});
  }

  /** The connection breaks, before the answer or in its middle. */
  #break(answer: Answer | null): void {
    if (this.#isOver) return;
    this.#isOver = true;
    const { handler, request } = this.#exchange;
    this.#options.watch.ended(this.#process, request, null);
    if (this.#fate.kind === 'cut' && answer) {
      handler.onResponseStart?.(this.#controller, answer.status, answer.headers);
      const middle = Math.floor(answer.body.length / 2);
      handler.onResponseData?.(this.#controller, answer.body.subarray(0, middle));
    }
    handler.onResponseError?.(this.#controller, coded('UND_ERR_SOCKET'));
  }
}

function coded(code: string): Error {
  return Object.assign(new Error(`simulated: ${code}`), { code });
}
