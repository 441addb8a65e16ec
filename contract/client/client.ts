/** A client of Ponte for apps, which cannot pay twice. Browsers, React Native and Node run it. */
import {
  routes,
  type LoginReply,
  type LoginRequest,
  type OperationId,
  type RefundPixRequest,
  type SendPixRequest,
} from '../types.ts';
import { Countdown, RunClock, systemClock, type Clock } from './clock.ts';
import { Payment, type PayPorts } from './pay.ts';
import type { PayResult, StoredPayment } from './payment.ts';
import {
  encodeBody,
  operationUrl,
  type AnyRequest,
  type OperationRequest,
  type OperationResponse,
  type ServiceResponse,
} from './request.ts';
import { StoredPayments, type Locks, type Storage } from './stored-payments.ts';

/** The access token of a login. It is a secret: keep it in the device's secure storage or not. */
export interface Session {
  readonly accessToken: string;
  /** The e-mail of the login. */
  readonly email: string;
}

export interface ClientOptions {
  /** Where the service listens, such as `https://api.example.com`. */
  readonly url: string;
  readonly storage: Storage;
  /** Asks the customer to log in again, for a payment. Null: not now. */
  readonly askToLogIn?: () => Promise<LoginRequest | null>;
  /** The language of messages, such as `pt-BR`; by default the platform's. */
  readonly language?: string;
  /** By default the platform's. */
  readonly fetch?: (url: string, init: RequestInit) => Promise<Response>;
  /** A new random `Idempotency-Key`. Needed where `crypto.randomUUID` is missing. */
  readonly newKey?: () => string;
  /**
   * What keeps two tabs with the same storage apart. By default the platform's `navigator.locks`;
   * React Native has neither tabs nor locks.
   */
  readonly locks?: Locks;
  /** For tests. */
  readonly clock?: Clock;
}

export interface PayOptions {
  /**
   * Makes a second payment although an equal one is not forgotten. Ask the customer first.
   */
  readonly another?: boolean;
  /** How long to try before the result is `pending`. */
  readonly patienceMs?: number;
}

interface FinishOptions extends PayOptions {
  /** So long it may be sent; null: the customer has not tapped to pay. */
  readonly window: Countdown | null;
  /** Whether the payment was stored by this call. */
  readonly isNew: boolean;
}

/** What is known of a payment that is in work. */
interface Run {
  readonly isTapped: boolean;
  readonly result: Promise<PayResult>;
}

/** A request without a response ends after this time. The service answers a send earlier. */
const requestTimeoutMs = 60_000;

/** A document may have ten megabytes. */
const uploadTimeoutMs = 5 * 60_000;

const defaultPatienceMs = 120_000;

/** So long after a tap its payment may be sent: a customer who waits longer has given it up. */
const windowMs = 120_000;

export class PonteClient {
  session: Session | null = null;
  readonly #options: ClientOptions;
  readonly #payments: StoredPayments;
  readonly #clock: RunClock;
  /** The payments that are in work, by key: a second tap joins the first one. */
  readonly #running = new Map<string, Run>();

  constructor(options: ClientOptions) {
    this.#options = options;
    this.#payments = new StoredPayments(options.storage, options.locks ?? platformLocks());
    this.#clock = new RunClock(options.clock ?? systemClock);
  }

  /** @returns the response of the service; with 200 the client has a session. */
  async logIn({ email, password }: LoginRequest): Promise<OperationResponse<'login'>> {
    const response = await this.call('login', { body: { email, password } });
    if (response.status === 200) this.session = newSession(email, response.body);
    return response;
  }

  async logOut(): Promise<void> {
    await this.call('logout', {});
    this.session = null;
  }

  /**
   * Calls any operation once, without a repeat. It follows no redirect.
   *
   * @throws Error when no response comes, or a 2xx that is not the service's.
   */
  async call<Id extends OperationId>(
    id: Id,
    request: Partial<OperationRequest<Id>>,
  ): Promise<OperationResponse<Id>> {
    const timeoutMs = id === 'submitDocument' ? uploadTimeoutMs : requestTimeoutMs;
    const response = await this.#request(id, request as AnyRequest, timeoutMs);
    const { status, body } = response;
    const isForeign = status < 300 && status !== 204 && body === undefined;
    if (isForeign) throw new Error(`A proxy has answered ${status} in place of the service.`);
    // The service checks its responses against the contract.
    return response as OperationResponse<Id>;
  }

  async #request(
    id: OperationId,
    { headers, body: content, ...address }: AnyRequest,
    timeoutMs: number,
  ): Promise<ServiceResponse> {
    const { url, language, fetch = globalThis.fetch } = this.#options;
    const { body, type } = encodeBody(id, content);
    const aborting = new AbortController();
    const exchange = async (): Promise<ServiceResponse> => {
      const response = await fetch(operationUrl(url, id, address), {
        method: routes[id].method,
        headers: {
          ...headers,
          ...(language !== undefined && { 'Accept-Language': language }),
          ...(type !== undefined && { 'Content-Type': type }),
          ...(this.session && { Authorization: `Bearer ${this.session.accessToken}` }),
        },
        ...(body !== undefined && { body }),
        // The service never redirects: the token and the payment are for its origin only.
        redirect: 'error',
        signal: aborting.signal,
      });
      const text = await response.text();
      return { status: response.status, headers: response.headers, body: parseJson(text) };
    };
    let cancel = (): void => undefined;
    // Some platforms do not end an aborted request.
    const timeOut = new Promise<never>((_, reject) => {
      cancel = this.#clock.after(timeoutMs, () => {
        aborting.abort();
        reject(new Error('No response has come in time.'));
      });
    });
    try {
      return await Promise.race([exchange(), timeOut]);
    } finally {
      cancel();
    }
  }

  /**
   * Pays, and waits for the result: call it when the customer taps, and only then. An earlier
   * payment of the same payee and amount that is not forgotten and has not failed goes on instead,
   * under its key, so that a second tap does not pay twice.
   *
   * It is sent for two minutes, or for `patienceMs` if that is shorter. Then it is given up: its
   * key is closed, unless the service has the payment.
   *
   * @throws Error when no customer is logged in, or the storage fails: then nothing was paid. Of
   * payments that are not readable it is an `UnreadablePaymentsError`.
   */
  pay(request: SendPixRequest, options: PayOptions = {}): Promise<PayResult & { key: string }> {
    return this.#order({ request }, options);
  }

  /**
   * Returns a received Pix or a part of it, as safely as `pay`: `paid` means that the money has
   * gone back. An equal return that is not forgotten and has not failed is resumed.
   *
   * @param transactionId the received Pix, or the paid charge.
   * @throws Error when no customer is logged in, or the storage fails: then nothing was returned.
   */
  refund(
    transactionId: string,
    request: RefundPixRequest,
    options: PayOptions = {},
  ): Promise<PayResult & { key: string }> {
    return this.#order({ request, refundOf: transactionId }, options);
  }

  async #order(
    order: Pick<StoredPayment, 'request' | 'refundOf'>,
    options: PayOptions,
  ): Promise<PayResult & { key: string }> {
    const payer = this.#payer();
    const key = this.#newKey();
    const { patienceMs = defaultPatienceMs } = options;
    const window = new Countdown(this.#clock, Math.min(windowMs, patienceMs));
    try {
      return await this.#pay({ ...order, payer, key }, { ...options, window });
    } finally {
      window.stop();
    }
  }

  async #pay(
    order: Pick<StoredPayment, 'request' | 'refundOf' | 'payer' | 'key'>,
    options: Omit<FinishOptions, 'isNew'>,
  ): Promise<PayResult & { key: string }> {
    for (;;) {
      const made: StoredPayment = {
        ...order,
        // The first request leaves at once: a second write could fail, and the payment stay stored.
        unansweredAt: this.#clock.nowMs(),
        transactionId: null,
        result: null,
      };
      const chosen = await this.#choose(made, options);
      const running = this.#running.get(chosen.key);
      if (!running || running.isTapped) {
        return this.#finish(chosen, { ...options, isNew: chosen === made });
      }
      // A start of the app gives the earlier one up; this tap has come since.
      await running.result;
    }
  }

  /** Stores a payment, unless there is an equal one. @returns the one that is paid. */
  async #choose(made: StoredPayment, { another = false }: PayOptions): Promise<StoredPayment> {
    let chosen = made;
    await this.#payments.change((all) => {
      const isEqual = (one: StoredPayment): boolean =>
        isOf(one, made.payer) && payeeAndAmount(one) === payeeAndAmount(made);
      const others = all.filter((one) => !(isEqual(one) && one.result?.result === 'not_paid'));
      const earlier = another ? undefined : others.find(isEqual);
      if (!earlier) return [...others, made];
      chosen = earlier;
      return all;
    });
    return chosen;
  }

  /**
   * Finds out what became of a payment of `payments`; it never pays. If the service has the
   * payment, it is followed; otherwise its key is closed, and it is `not_paid`.
   *
   * @throws Error when the logged-in customer has no such payment.
   */
  async resume(key: string, options: PayOptions = {}): Promise<PayResult & { key: string }> {
    const found = (await this.payments()).find((one) => one.key === key);
    if (!found) throw new Error('The customer has no payment with this key.');
    return this.#finish(found, { ...options, window: null, isNew: false });
  }

  /** The payments of the logged-in customer that are not forgotten: resume them at start. */
  async payments(): Promise<readonly StoredPayment[]> {
    const payer = this.#payer();
    return (await this.#payments.list()).filter((one) => isOf(one, payer));
  }

  /**
   * The way out of an `UnreadablePaymentsError`, once the customer has looked at their payments:
   * what cannot be read is put aside, under another name, and the device has no payments any more.
   */
  async discardUnreadable(): Promise<void> {
    await this.#payments.discardUnreadable();
  }

  /**
   * Forgets a payment, once the customer has seen its result: an equal payment is then a new one.
   *
   * @param force forgets it without a final result, after the customer has checked the statement.
   * @throws Error when it has no final result.
   */
  async forget(key: string, { force = false } = {}): Promise<void> {
    await this.#payments.change((all) => {
      const isOpen = all.some((one) => one.key === key && one.result === null);
      if (isOpen && !force) throw new Error('This payment has no final result: it may be paid.');
      return all.filter((one) => one.key !== key);
    });
  }

  async #finish(
    stored: StoredPayment,
    options: FinishOptions,
  ): Promise<PayResult & { key: string }> {
    const { key } = stored;
    if (stored.result) return { ...stored.result, key };
    const { result } = this.#running.get(key) ?? this.#start(stored, options);
    return { ...(await result), key };
  }

  #start(stored: StoredPayment, options: FinishOptions): Run {
    const { patienceMs = defaultPatienceMs, window, isNew } = options;
    const ports: PayPorts = {
      call: async (id, request, timeoutMs) => {
        // The key would be a new payment of another customer, who has logged in since.
        if (this.#isOthers(stored)) return null;
        return this.#request(id, request, timeoutMs).catch(() => null);
      },
      logInAgain: () => this.#logInAgain(stored),
      update: (change) => this.#payments.update(stored.key, change),
      clock: this.#clock,
    };
    const result = new Payment(ports, stored, { patienceMs, window, isNew })
      .finish()
      .finally(() => this.#running.delete(stored.key));
    const run = { isTapped: window !== null, result };
    this.#running.set(stored.key, run);
    return run;
  }

  async #logInAgain(stored: StoredPayment): Promise<boolean> {
    const credentials = (await this.#options.askToLogIn?.()) ?? null;
    // The key would be a new payment of another customer.
    if (credentials === null || !isOf(stored, credentials.email)) return false;
    if (this.#isOthers(stored)) return false;
    const { email, password } = credentials;
    const response = await this.call('login', { body: { email, password } }).catch(() => null);
    // Another customer who has logged in meanwhile would pay from this one's account.
    if (response?.status !== 200 || this.#isOthers(stored)) return false;
    this.session = newSession(email, response.body);
    return true;
  }

  /** Whether another customer than the payer is logged in. */
  #isOthers(stored: StoredPayment): boolean {
    return this.session !== null && !isOf(stored, this.session.email);
  }

  #payer(): string {
    if (!this.session) throw new Error('Log in first.');
    return normalEmail(this.session.email);
  }

  #newKey(): string {
    return this.#options.newKey?.() ?? globalThis.crypto.randomUUID();
  }
}

function platformLocks(): Locks | null {
  const { locks } = (globalThis.navigator ?? {}) as Partial<Navigator>;
  return locks ?? null;
}

/** An earlier client has stored the e-mail of a session as the app had written it. */
function isOf(stored: StoredPayment, email: string): boolean {
  return normalEmail(stored.payer) === normalEmail(email);
}

function newSession(email: string, { access_token: accessToken }: LoginReply): Session {
  return { accessToken, email: normalEmail(email) };
}

function normalEmail(email: string): string {
  return clean(email).toLowerCase();
}

/** Removes what pasting adds: blanks at the ends, and invisible characters. So does the service. */
function clean(text = ''): string {
  return text.replace(/[\u00ad\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff]/g, '').trim();
}

/** What makes two payments equal. A new look-up, or another reason, changes nothing. */
function payeeAndAmount({ request, refundOf }: Pick<StoredPayment, 'request' | 'refundOf'>) {
  const { pix_key: key, copy_paste: code, amount } = request as SendPixRequest;
  return JSON.stringify([clean(key).toLowerCase(), clean(code), amount, refundOf]);
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
