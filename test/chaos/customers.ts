/** Customers who pay, and repeat with the same key until an answer arrives, as the README says. */
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
const PATIENCE_MS = 8_000;

const PAUSE_MS = 100;

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
  /** Unexpected answers, as sentences. */
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
      await pause(PAUSE_MS);
    }
  }

  async #pay(nth: number): Promise<ReportedPayment> {
    const key = randomUUID();
    const amount = (1 + (nth % 500)) / 100;
    const body = { pix_key: 'bruno@example.com', amount, description: 'chaos' };
    for (;;) {
      const answer = await this.#request({
        path: '/pix/send',
        headers: { 'idempotency-key': key },
        body,
      });
      const { transaction_id: transactionId = null, status = '', code } = answer?.body ?? {};
      if (answer?.status === 200) return this.#note({ key, amount, transactionId, status });
      if (answer?.status === 502 && code)
        return this.#note({ key, amount, transactionId, status: '502' });
      if (answer && answer.status < 500 && ![401, 429].includes(answer.status)) {
        this.surprises.push(`a send: ${answer.status} ${JSON.stringify(answer.body)}`);
        return this.#note({ key, amount, transactionId, status: String(answer.status) });
      }
      await pause(PAUSE_MS);
      if (answer?.status === 401) await this.#logIn();
    }
  }

  #note(reported: ReportedPayment): ReportedPayment {
    this.reported.push(reported);
    return reported;
  }

  async #follow(reported: ReportedPayment): Promise<void> {
    const path = `/pix/${reported.transactionId}`;
    const answer = await this.#request({ path, headers: { prefer: 'wait=2' } });
    if (answer?.status === 200) reported.status = answer.body.status ?? reported.status;
    if (answer?.status === 404) this.surprises.push('an acknowledged payment is not found');
  }

  async #logIn(): Promise<void> {
    const answer = await this.#request({
      path: '/auth/login',
      body: { email: this.#email, password },
    });
    if (answer?.status === 200) this.#token = answer.body.access_token ?? '';
    else if (answer && answer.status < 500) this.surprises.push(`a login: ${answer.status}`);
  }

  /** @returns null when no answer arrives. */
  async #request({
    path,
    headers,
    body,
  }: RequestParts): Promise<{ status: number; body: Body } | null> {
    try {
      const answer = await fetch(`${this.#url()}/api/v1${path}`, {
        method: body === undefined ? 'GET' : 'POST',
        headers: {
          authorization: `Bearer ${this.#token}`,
          ...(body !== undefined && { 'content-type': 'application/json' }),
          ...headers,
        },
        ...(body !== undefined && { body: JSON.stringify(body) }),
        signal: AbortSignal.timeout(PATIENCE_MS),
      });
      return { status: answer.status, body: (await answer.json()) as Body };
    } catch {
      return null;
    }
  }
}
