/** Customers who pay, and repeat with the same key until a response arrives, as the README says. */
import { randomUUID } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import { password } from '../bench/target.ts';

/** A payment as the service has reported it to the app. */
export interface ReportedPayment {
  readonly key: string;
  readonly amount: number;
  /** Null when the payment was refused before a transaction was stored. */
  readonly transactionId: string | null;
  /** The last reported status, or the status of the refusal. */
  status: string;
}

/** The longest time that a phone waits. */
const patienceMs = 8_000;

const pauseMs = 100;

interface Body {
  readonly access_token?: string;
  readonly transaction_id?: string;
  readonly status?: string;
  readonly code?: string;
}

interface RequestParts {
  readonly path: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: unknown;
}

export class Customer {
  readonly #url: () => string;
  readonly #email: string;
  #token = '';
  readonly reported: ReportedPayment[] = [];
  /** Unexpected responses, as sentences. */
  readonly surprises: string[] = [];

  constructor(url: () => string, email: string) {
    this.#url = url;
    this.#email = email;
  }

  /** Makes payments one after the other until the run is over, and completes the last one. */
  async payUntil(isOver: () => boolean): Promise<void> {
    for (let nth = 1; !isOver(); nth += 1) {
      const reported = await this.#pay(nth);
      if (reported.transactionId !== null && nth % 3 === 0) await this.#follow(reported);
      await pause(pauseMs);
    }
  }

  async #pay(nth: number): Promise<ReportedPayment> {
    const key = randomUUID();
    const amount = (1 + (nth % 500)) / 100;
    const body = { pix_key: 'bruno@example.com', amount, description: 'chaos' };
    for (;;) {
      const response = await this.#request({
        path: '/pix/send',
        headers: { 'idempotency-key': key },
        body,
      });
      const { transaction_id: transactionId = null, status = '', code } = response?.body ?? {};
      if (response?.status === 200) return this.#note({ key, amount, transactionId, status });
      if (response?.status === 502 && code)
        return this.#note({ key, amount, transactionId, status: '502' });
      if (response && response.status < 500 && ![401, 429].includes(response.status)) {
        this.surprises.push(`a send: ${response.status} ${JSON.stringify(response.body)}`);
        return this.#note({ key, amount, transactionId, status: String(response.status) });
      }
      await pause(pauseMs);
      if (response?.status === 401) await this.#logIn();
    }
  }

  #note(reported: ReportedPayment): ReportedPayment {
    this.reported.push(reported);
    return reported;
  }

  async #follow(reported: ReportedPayment): Promise<void> {
    const path = `/pix/${reported.transactionId}`;
    const response = await this.#request({ path, headers: { prefer: 'wait=2' } });
    if (response?.status === 200) reported.status = response.body.status ?? reported.status;
    if (response?.status === 404) this.surprises.push('an acknowledged payment is not found');
  }

  async #logIn(): Promise<void> {
    const response = await this.#request({
      path: '/auth/login',
      body: { email: this.#email, password },
    });
    if (response?.status === 200) this.#token = response.body.access_token ?? '';
    else if (response && response.status < 500) this.surprises.push(`a login: ${response.status}`);
  }

  /** @returns null when no response arrives. */
  async #request({
    path,
    headers,
    body,
  }: RequestParts): Promise<{ status: number; body: Body } | null> {
    try {
      const response = await fetch(`${this.#url()}/api/v1${path}`, {
        method: body === undefined ? 'GET' : 'POST',
        headers: {
          authorization: `Bearer ${this.#token}`,
          ...(body !== undefined && { 'content-type': 'application/json' }),
          ...headers,
        },
        ...(body !== undefined && { body: JSON.stringify(body) }),
        signal: AbortSignal.timeout(patienceMs),
      });
      return { status: response.status, body: (await response.json()) as Body };
    } catch {
      return null;
    }
  }
}
