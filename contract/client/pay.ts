/** Pays under one key until the result is known, by the steps of `send-response.ts`. */
import type { PixReceiptFailure, PixTransactionView } from '../types.ts';
import { Countdown, type RunClock } from './clock.ts';
import type { ServiceResponse, AnyRequest } from './request.ts';
import {
  readRefusal,
  readSendResponse,
  retryAfter,
  type Refusal,
  type SendStep,
} from './send-response.ts';
import type { PayResult, StoredPayment } from './payment.ts';

type Change = (stored: StoredPayment) => Partial<StoredPayment>;

type CallOfPayment = 'sendPix' | 'refundPix' | 'cancelPix' | 'cancelRefund' | 'getPixTransaction';

/** What paying needs of the client. */
export interface PayPorts {
  /** @returns null when no response came. */
  call(id: CallOfPayment, request: AnyRequest, timeoutMs: number): Promise<ServiceResponse | null>;
  /** @returns whether the payer is logged in again. */
  logInAgain(): Promise<boolean>;
  /**
   * Changes the payment as it is stored now, by this tab or another one.
   * @returns null when it was forgotten.
   */
  update(change: Change): Promise<StoredPayment | null>;
  readonly clock: RunClock;
}

/** A result, or how long to pause before the next request; undefined: the usual pause. */
type Step = PayResult | { readonly pauseMs: number | undefined };

/** The pauses without `Retry-After`, in seconds; the last one is repeated. */
const pauses = [1, 2, 4, 8, 15] as const;

/** The service answers a `GET` of an open payment after at most this time, in seconds. */
const maxWaitSeconds = 30;

/** A request without a response ends after this time. The service answers a send earlier. */
const requestTimeoutMs = 60_000;

/** The time limit of the first and of the last request, however short the patience is. */
const leastTimeoutMs = 10_000;

/** A request without a response may still arrive at the service for this long. */
const maxTravelMs = 10 * 60_000;

export interface PaymentOptions {
  /** When the result is `pending`, at the latest. */
  readonly patienceMs: number;
  /** So long it may be sent; null: the customer has not tapped to pay, and the key is closed. */
  readonly window: Countdown | null;
  /** Whether no request has left, and the time of the first one is stored already. */
  readonly isNew: boolean;
}

export class Payment {
  readonly #ports: PayPorts;
  readonly #patience: Countdown;
  /** The time to send; null: it has been given up. */
  #window: Countdown | null;
  /** Why the service cannot read the order. */
  #fault: Refusal | null = null;
  #stored: StoredPayment;
  #logins = 0;
  #hasCalled = false;
  #isNew: boolean;

  constructor(ports: PayPorts, stored: StoredPayment, options: PaymentOptions) {
    const { patienceMs, window, isNew } = options;
    this.#ports = ports;
    this.#stored = stored;
    this.#isNew = isNew;
    this.#patience = new Countdown(ports.clock, patienceMs);
    this.#window = window;
  }

  /** Never rejects: after the first request, an error would not say what became of the payment. */
  async finish(): Promise<PayResult> {
    try {
      return await this.#find();
    } finally {
      this.#patience.stop();
    }
  }

  async #find(): Promise<PayResult> {
    for (let round = 0; ; round += 1) {
      const { transactionId: id, result } = this.#stored;
      // Another tab has found it out.
      if (result) return result;
      // The device may have slept.
      if (this.#window?.leftMs === 0) this.#window = null;
      const sending = id === null ? this.#window : null;
      const step = await this.#next(id);
      if ('result' in step) return step;
      const pauseMs = step.pauseMs ?? 1000 * (pauses[round] ?? pauses.at(-1) ?? 0);
      const limit = sending ?? this.#patience;
      if (pauseMs <= limit.leftMs) await limit.sleep(pauseMs);
      else if (sending) this.#window = null;
      else return this.#pending();
    }
  }

  #next(transactionId: string | null): Promise<Step> {
    if (transactionId !== null) return this.#follow(transactionId);
    return this.#window ? this.#send() : this.#cancel();
  }

  async #send(): Promise<Step> {
    const sentAt = this.#isNew ? this.#stored.unansweredAt : this.#ports.clock.nowMs();
    let earlier: number | null = null;
    // Without this time on the device, a restart could believe "nothing was sent" too early.
    const isStored =
      this.#isNew ||
      (await this.#save((stored) => {
        // A time in the future comes from a clock that was wrong: it counts from now.
        earlier = stored.unansweredAt && Math.min(stored.unansweredAt, this.#ports.clock.nowMs());
        return { unansweredAt: sentAt };
      }));
    if (!isStored) return { pauseMs: undefined };
    this.#isNew = false;
    // Storing may have taken long.
    if (this.#window?.leftMs === 0) return { pauseMs: 0 };
    const { key, request: body, refundOf, result: found } = this.#stored;
    if (found) return found;
    const headers = { 'Idempotency-Key': key };
    const response =
      refundOf === undefined
        ? await this.#call('sendPix', { headers, body })
        : await this.#call('refundPix', { path: { transactionId: refundOf }, headers, body });
    if (hidesOutcome(response)) return { ...this.#pending(), problem: hiddenOutcome };
    const next = readSendResponse(response);
    if (next.step === 'repeat') {
      // A proxy may have passed the request on, and the service's response got lost.
      return { pauseMs: inMs(next.afterSeconds) };
    }
    // A later request of another tab may still be without a response.
    await this.#keep((stored) => (stored.unansweredAt === sentAt ? { unansweredAt: earlier } : {}));
    return this.#take(next, response);
  }

  /** Closes the key, so that no request with it pays any more, or learns what has the key. */
  async #cancel(): Promise<Step> {
    const { key, refundOf } = this.#stored;
    const headers = { 'Idempotency-Key': key };
    const response =
      refundOf === undefined
        ? await this.#call('cancelPix', { headers })
        : await this.#call('cancelRefund', { path: { transactionId: refundOf }, headers });
    if (hidesOutcome(response)) return { ...this.#pending(), problem: hiddenOutcome };
    if (isOlder(response)) return this.#leave();
    return this.#take(readSendResponse(response), response);
  }

  async #take(next: SendStep, response: ServiceResponse | null): Promise<Step> {
    switch (next.step) {
      case 'wait':
        await this.#keep(() => ({ transactionId: next.transactionId }));
        return { pauseMs: 0 };
      case 'paid':
        return this.#end({ result: 'paid', transactionId: next.transactionId });
      case 'not_paid':
        return this.#failed(next);
      case 'not_sent':
        // This request did nothing; an earlier one with the key may still arrive.
        if (this.#window === null) return blocked(this.#fault ?? next.refusal);
        this.#fault = next.refusal;
        this.#window = null;
        return { pauseMs: 0 };
      case 'repeat':
        return { pauseMs: inMs(next.afterSeconds) };
      case 'log_in':
        return this.#logIn(next.key, response);
      case 'stop':
        return blocked(next.refusal);
    }
  }

  /**
   * The service is older than the closing of keys: what was refused is not paid once no earlier
   * request can arrive any more. Otherwise its end is unknown; a new tap repeats it with its key.
   */
  async #leave(): Promise<PayResult> {
    const { unansweredAt } = this.#stored;
    const nowMs = this.#ports.clock.nowMs();
    const mayStillArrive = unansweredAt !== null && nowMs - unansweredAt < maxTravelMs;
    if (this.#fault === null || mayStillArrive) return this.#pending();
    const result = notPaid({ transactionId: null, refusal: this.#fault, failure: null });
    return (await this.#save(() => ({ result }))) ? result : this.#pending();
  }

  async #follow(transactionId: string): Promise<Step> {
    const seconds = Math.min(maxWaitSeconds, Math.floor(this.#patience.leftMs / 1000));
    const headers = { Prefer: `wait=${seconds}` };
    const path = { transactionId };
    const response = await this.#call('getPixTransaction', { path, headers });
    if (response?.status === 401) return this.#logIn('same', response);
    // The service has lost the transaction: it finds the payment again by its key.
    if (response?.status === 404) await this.#keep(() => ({ transactionId: null }));
    if (response?.status !== 200)
      return { pauseMs: response ? inMs(retryAfter(response)) : undefined };
    const view = response.body as PixTransactionView | undefined;
    if (view?.status === 'COMPLETED') return this.#end({ result: 'paid', transactionId });
    if (view?.status !== 'FAILED') return { pauseMs: undefined };
    const isDoubtful = response.headers.get('pix-next') === 'ask';
    return this.#failed({
      transactionId,
      refusal: null,
      failure: view.failure ?? null,
      isDoubtful,
    });
  }

  async #failed(found: Omit<SendStep & { readonly step: 'not_paid' }, 'step'>): Promise<PayResult> {
    const { transactionId, isDoubtful } = found;
    const isRead = found.failure !== null || transactionId === null;
    const failure = isRead ? found.failure : await this.#readFailure(transactionId);
    const refusal = this.#fault ?? found.refusal ?? failure;
    return this.#end(notPaid({ transactionId, refusal, failure, isDoubtful }));
  }

  async #readFailure(transactionId: string): Promise<PixReceiptFailure | null> {
    const response = await this.#call('getPixTransaction', {
      path: { transactionId },
      headers: {},
    });
    const view =
      response?.status === 200 ? (response.body as PixTransactionView | undefined) : null;
    return view?.failure ?? null;
  }

  async #logIn(key: 'same' | 'new', response: ServiceResponse | null): Promise<Step> {
    this.#logins += 1;
    // The app may reject, or its customer leave the login open.
    const login = this.#logins < 3 && this.#ports.logInAgain().catch(() => false);
    const isLoggedIn = await Promise.race([login, this.#patience.over]);
    const refusal = response && readRefusal(response);
    // The payment has failed with the look-up: the customer decides on a new one.
    if (key === 'new') {
      return this.#end(notPaid({ transactionId: null, refusal, failure: null }));
    }
    return isLoggedIn ? { pauseMs: 0 } : { result: 'blocked', reason: 'log_in', refusal };
  }

  /** @returns null when no response has come, or not before the result is due. */
  #call(id: CallOfPayment, request: AnyRequest): Promise<ServiceResponse | null> {
    const { leftMs, over } = this.#patience;
    const timeoutMs = Math.min(requestTimeoutMs, Math.max(leastTimeoutMs, leftMs));
    const response = this.#ports.call(id, request, timeoutMs);
    const isDue = this.#hasCalled && leftMs > 0;
    this.#hasCalled = true;
    return isDue ? Promise.race([response, over]) : response;
  }

  #pending() {
    return { result: 'pending', transactionId: this.#stored.transactionId } as const;
  }

  async #end(result: PayResult): Promise<PayResult> {
    await this.#keep(() => ({ result }));
    return result;
  }

  /** @returns whether the storage has kept the change; otherwise nothing is changed. */
  async #save(change: Change): Promise<boolean> {
    const updated = await this.#ports.update(change).catch(() => null);
    this.#stored = updated ?? this.#stored;
    return updated !== null;
  }

  /** What is known now can be found out again by the key: a failing storage does not hide it. */
  async #keep(change: Change): Promise<void> {
    if (!(await this.#save(change))) this.#stored = { ...this.#stored, ...change(this.#stored) };
  }
}

function notPaid({
  isDoubtful = false,
  ...of
}: Omit<PayResult & { readonly result: 'not_paid' }, 'result' | 'lookFirst'> & {
  readonly isDoubtful?: boolean;
}): PayResult {
  return { result: 'not_paid', ...of, ...(isDoubtful && { lookFirst: true }) };
}

function blocked(refusal: Refusal): PayResult {
  return { result: 'blocked', reason: 'refused', refusal };
}

/** Whether a service has answered that does not know the closing of keys yet. */
function isOlder(response: ServiceResponse | null): boolean {
  const isUnknown = response?.status === 404 || response?.status === 405;
  return isUnknown && response.headers.get('pix-outcome') === null;
}

/** The message for an app whose proxy hides the headers of the service. */
const hiddenOutcome =
  'The response has the transaction, and not the header Pix-Outcome: something between the app ' +
  'and the service hides it. Let a browser read the headers that contract/client/README.md ' +
  'lists (CORS).';

/** Whether a response to an order is the service's, but for its headers. */
function hidesOutcome(response: ServiceResponse | null): boolean {
  if (response === null || response.status >= 300) return false;
  const { transaction_id: id } = (response.body ?? {}) as Partial<PixTransactionView>;
  return typeof id === 'string' && response.headers.get('pix-outcome') === null;
}

function inMs(seconds: number | null): number | undefined {
  return seconds === null ? undefined : seconds * 1000;
}
