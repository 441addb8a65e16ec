/** A client of Ponte for apps, which cannot pay twice. Browsers, React Native and Node run it. */
import {
  routes,
  type LoginRequest,
  type OperationId,
  type RefundPixRequest,
  type SendPixRequest,
} from '../types.ts';
import { Payment, type PayPorts } from './pay.ts';
import type { PayResult, StoredPayment } from './payment.ts';
import {
  operationUrl,
  type ServiceResponse,
  type AnyRequest,
  type OperationRequest,
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

export interface Clock {
  now(): Date;
  /** @returns a function that cancels the work. */
  after(delayMs: number, work: () => void): () => void;
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
  /** Whether the payment was stored by this call. */
  readonly isNew?: boolean;
}

/** A request without a response ends after this time. The service answers a send earlier. */
const requestTimeoutMs = 60_000;

const defaultPatienceMs = 120_000;

export class PonteClient {
  session: Session | null = null;
  readonly #options: ClientOptions;
  readonly #payments: StoredPayments;
  readonly #clock: Clock;
  /** The payments that are in work, by key: a second tap joins the first one. */
  readonly #running = new Map<string, Promise<PayResult>>();

  constructor(options: ClientOptions) {
    this.#options = options;
    this.#payments = new StoredPayments(options.storage, options.locks ?? platformLocks());
    this.#clock = options.clock ?? systemClock;
  }

  /** @returns the response of the service; with 200 the client has a session. */
  async logIn({ email, password }: LoginRequest): Promise<ServiceResponse> {
    const response = await this.call('login', { body: { email, password } });
    if (response.status === 200) {
      const { access_token: accessToken } = response.body as { readonly access_token: string };
      this.session = { accessToken, email: normalEmail(email) };
    }
    return response;
  }

  async logOut(): Promise<void> {
    await this.call('logout', {});
    this.session = null;
  }

  /**
   * Calls any operation once, without a repeat.
   * @throws Error when no response comes.
   */
  async call<Id extends OperationId>(
    id: Id,
    request: Partial<OperationRequest<Id>>,
  ): Promise<ServiceResponse> {
    const { headers, body, ...address } = request as AnyRequest;
    const { url, language, fetch = globalThis.fetch } = this.#options;
    const aborting = new AbortController();
    const cancel = this.#clock.after(requestTimeoutMs, () => aborting.abort());
    try {
      const response = await fetch(operationUrl(url, id, address), {
        method: routes[id].method,
        headers: {
          ...headers,
          ...(language !== undefined && { 'Accept-Language': language }),
          ...(body !== undefined && { 'Content-Type': 'application/json' }),
          ...(this.session && { Authorization: `Bearer ${this.session.accessToken}` }),
        },
        ...(body !== undefined && { body: JSON.stringify(body) }),
        signal: aborting.signal,
      });
      const text = await response.text();
      return { status: response.status, headers: response.headers, body: parseJson(text) };
    } finally {
      cancel();
    }
  }

  /**
   * Pays, and waits for the result. An earlier payment of the same payee and amount that is not
   * forgotten and has not failed is resumed instead, so that a restart or a second tap does not pay
   * twice.
   *
   * @throws Error when no customer is logged in, or the storage fails: then nothing was paid.
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
    const made: StoredPayment = {
      key,
      payer,
      ...order,
      // The first request leaves at once: a second write could fail, and the payment stay stored.
      unansweredAt: this.#clock.now().getTime(),
      transactionId: null,
      result: null,
    };
    let chosen = made;
    await this.#payments.change((all) => {
      const isEqual = (one: StoredPayment): boolean =>
        one.payer === payer && payeeAndAmount(one) === payeeAndAmount(order);
      const others = all.filter((one) => !(isEqual(one) && one.result?.result === 'not_paid'));
      const earlier = options.another === true ? undefined : others.find(isEqual);
      if (!earlier) return [...others, made];
      chosen = earlier;
      return all;
    });
    return this.#finish(chosen, { ...options, isNew: chosen === made });
  }

  /**
   * Goes on with a payment of `payments`.
   * @throws Error when the logged-in customer has no such payment.
   */
  async resume(key: string, options: PayOptions = {}): Promise<PayResult & { key: string }> {
    const found = (await this.payments()).find((one) => one.key === key);
    if (!found) throw new Error('The customer has no payment with this key.');
    return this.#finish(found, options);
  }

  /** The payments of the logged-in customer that are not forgotten: resume them at start. */
  async payments(): Promise<readonly StoredPayment[]> {
    const payer = this.#payer();
    return (await this.#payments.list()).filter((one) => one.payer === payer);
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
    const running = this.#running.get(key) ?? this.#start(stored, options);
    return { ...(await running), key };
  }

  #start(
    stored: StoredPayment,
    { patienceMs = defaultPatienceMs, isNew = false }: FinishOptions,
  ): Promise<PayResult> {
    const clock = this.#clock;
    const ports: PayPorts = {
      call: (id, request) => this.call(id, request as never).catch(() => null),
      logInAgain: () => this.#logInAgain(stored.payer),
      update: (change) => this.#payments.update(stored.key, change),
      sleep: (ms) => new Promise((resolve) => void clock.after(ms, resolve)),
      now: () => clock.now().getTime(),
    };
    const running = new Payment(ports, stored, { patienceMs, isNew })
      .finish()
      .finally(() => this.#running.delete(stored.key));
    this.#running.set(stored.key, running);
    return running;
  }

  async #logInAgain(payer: string): Promise<boolean> {
    const credentials = (await this.#options.askToLogIn?.()) ?? null;
    // The key would be a new payment of another customer.
    if (credentials === null || normalEmail(credentials.email) !== payer) return false;
    const response = await this.logIn(credentials).catch(() => null);
    return response?.status === 200;
  }

  #payer(): string {
    if (!this.session) throw new Error('Log in first.');
    return this.session.email;
  }

  #newKey(): string {
    return this.#options.newKey?.() ?? globalThis.crypto.randomUUID();
  }
}

function platformLocks(): Locks | null {
  const { locks } = (globalThis.navigator ?? {}) as Partial<Navigator>;
  return locks ?? null;
}

function normalEmail(email: string): string {
  return email.trim().toLowerCase();
}

/** What makes two payments equal. A new look-up, or another reason, changes nothing. */
function payeeAndAmount({ request, refundOf }: Pick<StoredPayment, 'request' | 'refundOf'>) {
  const { pix_key: key, copy_paste: code, amount } = request as SendPixRequest;
  return JSON.stringify([key?.trim(), code?.trim(), amount, refundOf]);
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

const systemClock: Clock = {
  now: () => new Date(),
  after(delayMs, work) {
    const timer = setTimeout(work, delayMs);
    return () => clearTimeout(timer);
  },
};
