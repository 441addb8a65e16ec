/** Pays under one key until the result is known, by the steps of `send-response.ts`. */
import type { PixReceipt, PixTransactionView } from '../types.ts';
import type { ServiceResponse, AnyRequest } from './request.ts';
import { readRefusal, readSendResponse, retryAfter, type Refusal } from './send-response.ts';
import type { PayResult, StoredPayment } from './payment.ts';

type Change = (stored: StoredPayment) => Partial<StoredPayment>;

/** What paying needs of the client. */
export interface PayPorts {
  /** @returns null when no response came. */
  call(
    id: 'sendPix' | 'refundPix' | 'getPixTransaction' | 'getPixReceipt',
    request: AnyRequest,
  ): Promise<ServiceResponse | null>;
  /** @returns whether the payer is logged in again. */
  logInAgain(): Promise<boolean>;
  /**
   * Changes the payment as it is stored now, by this tab or another one.
   * @returns null when it was forgotten.
   */
  update(change: Change): Promise<StoredPayment | null>;
  sleep(ms: number): Promise<void>;
  /** The time in milliseconds. */
  now(): number;
}

/** A result, or how long to pause before the next request; undefined: the usual pause. */
type Step = PayResult | { readonly pauseMs: number | undefined };

/** The pauses without `Retry-After`, in seconds; the last one is repeated. */
const pauses = [1, 2, 4, 8, 15] as const;

/** The service answers a `GET` of an open payment after at most this time, in seconds. */
const maxWaitSeconds = 30;

/** A request without a response may still arrive at the service for this long. */
const maxTravelMs = 10 * 60_000;

export class Payment {
  readonly #ports: PayPorts;
  readonly #deadline: number;
  #stored: StoredPayment;
  #logins = 0;
  /** Whether no request has left, and the time of the first one is stored already. */
  #isNew: boolean;

  /** @param patienceMs when the result is `pending`, at the latest. */
  constructor(
    ports: PayPorts,
    stored: StoredPayment,
    { patienceMs, isNew }: { readonly patienceMs: number; readonly isNew: boolean },
  ) {
    this.#ports = ports;
    this.#stored = stored;
    this.#isNew = isNew;
    this.#deadline = ports.now() + patienceMs;
  }

  /** Never rejects: after the first request, an error would not say what became of the payment. */
  async finish(): Promise<PayResult> {
    for (let round = 0; ; round += 1) {
      const { transactionId: id, result } = this.#stored;
      // Another tab has found it out.
      if (result) return result;
      const step = id === null ? await this.#send() : await this.#follow(id);
      if ('result' in step) return step;
      const pauseMs = step.pauseMs ?? 1000 * (pauses[round] ?? pauses.at(-1) ?? 0);
      if (this.#ports.now() + pauseMs > this.#deadline) return this.#pending();
      await this.#ports.sleep(pauseMs);
    }
  }

  async #send(): Promise<Step> {
    const sentAt = this.#isNew ? this.#stored.unansweredAt : this.#ports.now();
    let earlier: number | null = null;
    // Without this time on the device, a restart could believe "nothing was sent" too early.
    const isStored =
      this.#isNew ||
      (await this.#save((stored) => {
        earlier = stored.unansweredAt;
        return { unansweredAt: sentAt };
      }));
    if (!isStored) return { pauseMs: undefined };
    this.#isNew = false;
    const { key, request: body, refundOf, result: found } = this.#stored;
    if (found) return found;
    const headers = { 'Idempotency-Key': key };
    const response =
      refundOf === undefined
        ? await this.#ports.call('sendPix', { headers, body })
        : await this.#ports.call('refundPix', { path: { transactionId: refundOf }, headers, body });
    const next = readSendResponse(response);
    if (next.step === 'repeat') {
      // A proxy may have passed the request on, and the service's response got lost.
      return { pauseMs: inMs(next.afterSeconds) };
    }
    // A later request of another tab may still be without a response.
    await this.#keep((stored) => (stored.unansweredAt === sentAt ? { unansweredAt: earlier } : {}));
    switch (next.step) {
      case 'wait':
        await this.#keep(() => ({ transactionId: next.transactionId }));
        return { pauseMs: 0 };
      case 'paid':
        return this.#end({ result: 'paid', transactionId: next.transactionId });
      case 'not_paid':
        return next.transactionId === undefined
          ? this.#end({ result: 'not_paid', transactionId: null, refusal: next.refusal })
          : this.#failed(next.transactionId);
      case 'not_sent':
        return this.#notSent(next.refusal);
      case 'log_in':
        return this.#logIn(next.key, response);
      case 'stop':
        return { result: 'blocked', reason: 'refused', refusal: next.refusal };
    }
  }

  /** The service has no trace of the key, so a later request with it could pay. */
  async #notSent(refusal: Refusal): Promise<Step> {
    const { unansweredAt } = this.#stored;
    const mayStillArrive = unansweredAt !== null && this.#ports.now() - unansweredAt < maxTravelMs;
    const result: PayResult = { result: 'not_paid', transactionId: null, refusal };
    const isFinal = !mayStillArrive && (await this.#save(() => ({ result })));
    return isFinal ? result : { pauseMs: undefined };
  }

  async #follow(transactionId: string): Promise<Step> {
    const leftMs = this.#deadline - this.#ports.now();
    const seconds = Math.min(maxWaitSeconds, Math.max(0, Math.ceil(leftMs / 1000)));
    const headers = { Prefer: `wait=${seconds}` };
    const path = { transactionId };
    const response = await this.#ports.call('getPixTransaction', { path, headers });
    if (response?.status === 401) return this.#logIn('same', response);
    // The service has lost the transaction: it finds the payment again by its key.
    if (response?.status === 404) await this.#keep(() => ({ transactionId: null }));
    if (response?.status !== 200)
      return { pauseMs: response ? inMs(retryAfter(response)) : undefined };
    const view = response.body as PixTransactionView | undefined;
    if (view?.status === 'COMPLETED') return this.#end({ result: 'paid', transactionId });
    return view?.status === 'FAILED' ? this.#failed(transactionId) : { pauseMs: undefined };
  }

  /** The receipt says why. */
  async #failed(transactionId: string): Promise<PayResult> {
    const response = await this.#ports.call('getPixReceipt', { path: { transactionId } });
    const receipt = response?.status === 200 ? (response.body as PixReceipt) : null;
    const message = receipt?.failure?.message;
    const refusal = message === undefined ? null : { message };
    return this.#end({ result: 'not_paid', transactionId, refusal });
  }

  async #logIn(key: 'same' | 'new', response: ServiceResponse | null): Promise<Step> {
    this.#logins += 1;
    const isLoggedIn = this.#logins < 3 && (await this.#ports.logInAgain());
    const refusal = response && readRefusal(response);
    // The payment has failed with the look-up: the customer decides on a new one.
    if (key === 'new') return this.#end({ result: 'not_paid', transactionId: null, refusal });
    return isLoggedIn ? { pauseMs: 0 } : { result: 'blocked', reason: 'log_in', refusal };
  }

  #pending(): PayResult {
    return { result: 'pending', transactionId: this.#stored.transactionId };
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

function inMs(seconds: number | null): number | undefined {
  return seconds === null ? undefined : seconds * 1000;
}
