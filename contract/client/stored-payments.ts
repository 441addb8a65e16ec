/** The payments of this device whose result the customer may not have seen, with their keys. */
import type { StoredPayment } from './payment.ts';

/**
 * Where payments are stored: `localStorage` and React Native's AsyncStorage fit. A payment holds
 * a Pix key and an amount, so prefer an encrypted storage. It must survive the end of the app.
 */
export interface Storage {
  getItem(name: string): string | null | Promise<string | null>;
  setItem(name: string, value: string): unknown;
}

const itemName = 'ponte.payments';

export class StoredPayments {
  readonly #storage: Storage;
  #last: Promise<unknown> = Promise.resolve();

  constructor(storage: Storage) {
    this.#storage = storage;
  }

  /** @throws Error when the stored text is not readable: an empty list would forget payments. */
  async list(): Promise<readonly StoredPayment[]> {
    const text = await this.#storage.getItem(itemName);
    return text === null ? [] : (JSON.parse(text) as StoredPayment[]);
  }

  /** Replaces the list by the result of `change`. Changes run one after another. */
  async change(
    change: (payments: readonly StoredPayment[]) => readonly StoredPayment[],
  ): Promise<void> {
    const run = (): Promise<void> =>
      inLock(async () => {
        const payments = change(await this.list());
        await this.#storage.setItem(itemName, JSON.stringify(payments));
      });
    const done = this.#last.then(run, run);
    this.#last = done.catch(() => undefined);
    await done;
  }

  /** Replaces the payment with this key. */
  save(payment: StoredPayment): Promise<void> {
    return this.change((all) => all.map((one) => (one.key === payment.key ? payment : one)));
  }
}

/** Two tabs of a browser share the storage. React Native has neither tabs nor locks. */
async function inLock(work: () => Promise<void>): Promise<void> {
  const { locks } = (globalThis.navigator ?? {}) as Partial<Navigator>;
  await (locks ? locks.request(itemName, work) : work());
}
