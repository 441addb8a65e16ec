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

/** Locks that all pages with the same storage share, such as `navigator.locks`. */
export interface Locks {
  /** Runs `work` under an exclusive lock, which a page releases when it is closed. */
  request(name: string, work: () => Promise<void>): Promise<unknown>;
}

const itemName = 'ponte.payments';

export class StoredPayments {
  readonly #storage: Storage;
  readonly #locks: Locks | null;
  #last: Promise<unknown> = Promise.resolve();

  /** @param locks null: no other page shares the storage. */
  constructor(storage: Storage, locks: Locks | null) {
    this.#storage = storage;
    this.#locks = locks;
  }

  /** @throws Error when the stored text is not readable: an empty list would forget payments. */
  async list(): Promise<readonly StoredPayment[]> {
    const text = await this.#storage.getItem(itemName);
    return text === null ? [] : (JSON.parse(text) as StoredPayment[]);
  }

  /**
   * Replaces the list by the result of `change`; the same list is not written. Changes run one
   * after another.
   */
  async change(
    change: (payments: readonly StoredPayment[]) => readonly StoredPayment[],
  ): Promise<void> {
    const run = (): Promise<void> =>
      this.#inLock(async () => {
        const all = await this.list();
        const payments = change(all);
        if (payments === all) return;
        await this.#storage.setItem(itemName, JSON.stringify(payments));
      });
    const done = this.#last.then(run, run);
    this.#last = done.catch(() => undefined);
    await done;
  }

  /**
   * Changes one payment as it is stored now: another tab may have changed it.
   * @returns the payment; null: it was forgotten meanwhile.
   */
  async update(
    key: string,
    change: (stored: StoredPayment) => Partial<StoredPayment>,
  ): Promise<StoredPayment | null> {
    let updated: StoredPayment | null = null;
    await this.change((all) =>
      all.map((one) => {
        if (one.key !== key) return one;
        updated = { ...one, ...change(one) };
        return updated;
      }),
    );
    return updated;
  }

  async #inLock(work: () => Promise<void>): Promise<void> {
    await (this.#locks ? this.#locks.request(itemName, work) : work());
  }
}
