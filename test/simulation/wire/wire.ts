/**
 * The wire between a process and the bank: it replaces the connections of the service's HTTP client
 * and transports bytes. Each attempt reaches the bank in one step and its response returns in
 * another, so that any event can occur in between; both can get lost, and a request that has left a
 * process may reach the bank after the process has died.
 */
import type { Pool } from 'undici';
import type { BankResponse } from '../bank/responses.ts';
import type { Bank, BankRequest } from '../bank/bank.ts';
import type { Owner, Scheduler, Step } from '../scheduler.ts';
import type { FaultProfile } from '../fault-profile.ts';
import { isDispute, isPayment, isReturn } from './requests.ts';
import { drawReplacement, drawFate, type Fate, withForeignIds } from './fates.ts';

type Dispatcher = Pick<Pool, 'dispatch' | 'destroy'>;
type RequestOptions = Parameters<Pool['dispatch']>[0];
type Handler = Parameters<Pool['dispatch']>[1];
type Controller = Parameters<NonNullable<Handler['onRequestStart']>>[0];

/** Observes the requests that leave a process and their responses. */
export interface WireWatch {
  /** The first byte of a request leaves. */
  left(process: Owner, request: BankRequest): void;
  /** The process has received the whole response; null: the attempt has ended without one. */
  ended(process: Owner, request: BankRequest, response: BankResponse | null): void;
  /** The attempt has ended, and the process knows that no byte of the request has left. */
  notSent(process: Owner, request: BankRequest): void;
}

export interface WireOptions {
  readonly bank: Bank;
  readonly scheduler: Scheduler;
  readonly profile: () => FaultProfile;
  /** How likely a 401 to a payment answers one that was executed. */
  readonly doubtfulTokens: number;
  readonly watch: WireWatch;
  readonly describe: (request: BankRequest) => string;
}

/** How likely a request that has left a process reaches the bank after the process has died. */
const arrivesAfterDeath = 0.7;

/** The factor for faults of other calls: a send that fails early reaches no later phase. */
const otherCallsFactor = 0.3;

/** @returns the dispatcher of one process. */
export function makeWire(process: Owner, options: WireOptions): Dispatcher {
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
  /** Whether the process has stopped waiting. */
  #isOver = false;

  constructor(process: Owner, exchange: Exchange, options: WireOptions) {
    const { scheduler, profile, describe, doubtfulTokens } = options;
    this.#process = process;
    this.#exchange = exchange;
    this.#options = options;
    const { attemptFaults } = profile();
    const { request } = exchange;
    const isOrder = isPayment(request) || isReturn(request);
    const factor = isOrder || isDispute(request) ? 1 : otherCallsFactor;
    this.#fate = drawFate(scheduler.chance, {
      faults: attemptFaults * factor,
      doubtfulTokens: isOrder ? doubtfulTokens : 0,
    });
    this.#step = {
      owner: process,
      label: `${process.name} calls the bank: ${describe(request)}`,
      run: () => this.#arrive(),
      outlives: () => this.#hasLeft && scheduler.chance.happens(arrivesAfterDeath),
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

  /** @returns whether the request has left; false: the caller had already stopped waiting. */
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
    const done = when === 'after' ? this.#perform() : null;
    if (kind === 'token_expired') bank.expire(request.token);
    const response = drawReplacement(this.#fate, scheduler.chance) ?? done;
    if (kind !== 'silence') this.#sendBack(response);
    return [done?.summary ?? 'not done', kind].join(', ');
  }

  #perform(): BankResponse {
    const { bank } = this.#options;
    const { request } = this.#exchange;
    const { kind } = this.#fate;
    const isOfEndedSession = kind === 'token_refused' || kind === 'token_expired';
    const response = bank.handle({ ...request, ...(isOfEndedSession && { isOfEndedSession }) });
    if (kind === 'doubled') return bank.handle({ ...request, isHiddenRepeat: true });
    return kind === 'foreign_ids' ? withForeignIds(response) : response;
  }

  /** A dead process gets no response: its steps are removed. */
  #sendBack(response: BankResponse | null): void {
    const { name } = this.#process;
    const { kind } = this.#fate;
    const isBroken = kind === 'reset' || kind === 'cut' || response === null;
    const summary = isBroken ? kind : response.summary;
    const label = `the bank answers ${name}: ${summary}`;
    const run = (): void => (isBroken ? this.#break(response) : this.#respond(response));
    this.#options.scheduler.submit({ owner: this.#process, label, run });
  }

  #respond(response: BankResponse): void {
    if (this.#isOver) return;
    this.#isOver = true;
    const { handler, request } = this.#exchange;
    this.#options.watch.ended(this.#process, request, response);
    handler.onResponseStart?.(this.#controller, response.status, response.headers);
    // In two parts, because a socket may split a response anywhere.
    const middle = Math.floor(response.body.length / 2);
    handler.onResponseData?.(this.#controller, response.body.subarray(0, middle));
    handler.onResponseData?.(this.#controller, response.body.subarray(middle));
    handler.onResponseEnd?.(this.#controller, {});
  }

  /** The connection breaks, before the response or in its middle. */
  #break(response: BankResponse | null): void {
    if (this.#isOver) return;
    this.#isOver = true;
    const { handler, request } = this.#exchange;
    this.#options.watch.ended(this.#process, request, null);
    if (this.#fate.kind === 'cut' && response) {
      handler.onResponseStart?.(this.#controller, response.status, response.headers);
      const middle = Math.floor(response.body.length / 2);
      handler.onResponseData?.(this.#controller, response.body.subarray(0, middle));
    }
    handler.onResponseError?.(this.#controller, coded('UND_ERR_SOCKET'));
  }
}

function coded(code: string): Error {
  return Object.assign(new Error(`simulated: ${code}`), { code });
}
