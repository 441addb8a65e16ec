/** Customers who pay, and repeat with the same key until they are answered, as the README asks. */
import { randomUUID } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import { password } from '../bench/target.ts';

/** What the app was told of a payment. */
export interface Told {
  readonly key: string;
  readonly amount: number;
  /** Null when it was refused before there was one. */
  readonly transactionId: string | null;
  /** The last status, or that of the refusal. */
  status: string;
}

/** A phone does not wait longer. */
const PATIENCE_MS = 8_000;

const PAUSE_MS = 100;

interface Body {
  readonly access_token?: string;
  readonly transaction_id?: string;
  readonly status?: string;
  readonly code?: string;
}

interface Asked {
  readonly path: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: unknown;
}

export class Customer {
  readonly #url: () => string;
  readonly #email: string;
  #token = '';
  readonly told: Told[] = [];
  /** What no answer should have been. */
  readonly surprises: string[] = [];

  constructor(url: () => string, email: string) {
    this.#url = url;
    this.#email = email;
  }

  /** Pays, one payment after the other, until it is over; the last one is carried through. */
  async payUntil(isOver: () => boolean): Promise<void> {
    for (let nth = 1; !isOver(); nth += 1) {
      const told = await this.#pay(nth);
      if (told.transactionId !== null && nth % 3 === 0) await this.#follow(told);
      await pause(PAUSE_MS);
    }
  }

  async #pay(nth: number): Promise<Told> {
    const key = randomUUID();
    const amount = (1 + (nth % 500)) / 100;
    const body = { pix_key: 'bruno@example.com', amount, description: 'chaos' };
    for (;;) {
      const answer = await this.#ask({
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

  #note(told: Told): Told {
    this.told.push(told);
    return told;
  }

  async #follow(told: Told): Promise<void> {
    const path = `/pix/${told.transactionId}`;
    const answer = await this.#ask({ path, headers: { prefer: 'wait=2' } });
    if (answer?.status === 200) told.status = answer.body.status ?? told.status;
    if (answer?.status === 404) this.surprises.push('an acknowledged payment is not found');
  }

  async #logIn(): Promise<void> {
    const answer = await this.#ask({ path: '/auth/login', body: { email: this.#email, password } });
    if (answer?.status === 200) this.#token = answer.body.access_token ?? '';
    else if (answer && answer.status < 500) this.surprises.push(`a login: ${answer.status}`);
  }

  /** @returns null when no answer came. */
  async #ask({ path, headers, body }: Asked): Promise<{ status: number; body: Body } | null> {
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
