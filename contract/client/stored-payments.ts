/** The payments of this device whose result the customer may not have seen, with their keys. */
import type { StoredPayment } from './payment.ts';

/**
 * Where payments are stored: `localStorage` and React Native's AsyncStorage fit. A payment holds
 * a Pix key and an amount, so prefer an encrypted storage. It must survive the end of the app.
 */
export interface Storage {
  /** @returns null, undefined or an empty text for an item that is absent. */
  getItem(name: string): StoredText | Promise<StoredText>;
  setItem(name: string, value: string): unknown;
}

type StoredText = string | null | undefined;

/** Locks that all pages with the same storage share, such as `navigator.locks`. */
export interface Locks {
  /** Runs `work` under an exclusive lock, which a page releases when it is closed. */
  request(name: string, work: () => Promise<void>): Promise<unknown>;
}

const itemName = 'ponte.payments';

/** Where `discardUnreadable` leaves what it has discarded. */
const discardedName = 'ponte.payments.unreadable';

/**
 * The device has payments that cannot be read, because the storage has cut or changed its item. One
 * of them may be in process: nothing is paid until the app calls `discardUnreadable`.
 */
export class UnreadablePaymentsError extends Error {
  override readonly name = 'UnreadablePaymentsError';
}

export class StoredPayments {
  readonly #storage: Storage;
  readonly #locks: Locks | null;
  #last: Promise<unknown> = Promise.resolve();

  /** @param locks null: no other page shares the storage. */
  constructor(storage: Storage, locks: Locks | null) {
    this.#storage = storage;
    this.#locks = locks;
  }

  /** @throws UnreadablePaymentsError: an empty list would forget payments. */
  async list(): Promise<readonly StoredPayment[]> {
    const text = await this.#storage.getItem(itemName);
    return text ? readPayments(text) : [];
  }

  /** Puts a text that is not readable aside, and begins with an empty list; otherwise nothing. */
  async discardUnreadable(): Promise<void> {
    await this.#alone(async () => {
      const text = await this.#storage.getItem(itemName);
      if (!text || isReadable(text)) return;
      await this.#storage.setItem(discardedName, text);
      await this.#storage.setItem(itemName, '[]');
    });
  }

  /**
   * Replaces the list by the result of `change`; the same list is not written. Changes run one
   * after another.
   */
  async change(
    change: (payments: readonly StoredPayment[]) => readonly StoredPayment[],
  ): Promise<void> {
    await this.#alone(async () => {
      const all = await this.list();
      const payments = change(all);
      if (payments === all) return;
      const text = JSON.stringify(payments);
      await this.#storage.setItem(itemName, text);
      // Some storages drop what they cannot keep, without an error.
      const isKept = (await this.#storage.getItem(itemName)) === text;
      if (!isKept) throw new Error('The storage has not kept the payments.');
    });
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

  /** Runs work after all earlier work of this tab, and while no other tab runs any. */
  async #alone(work: () => Promise<void>): Promise<void> {
    const run = async (): Promise<void> => {
      await (this.#locks ? this.#locks.request(itemName, work) : work());
    };
    const done = this.#last.then(run, run);
    this.#last = done.catch(() => undefined);
    await done;
  }
}

function readPayments(text: string): readonly StoredPayment[] {
  let payments: unknown;
  try {
    payments = JSON.parse(text);
  } catch (cause) {
    throw new UnreadablePaymentsError('The stored payments are not readable.', { cause });
  }
  if (Array.isArray(payments) && payments.every(isPayment)) return payments;
  throw new UnreadablePaymentsError('What is stored under the name of the payments is not theirs.');
}

function isReadable(text: string): boolean {
  try {
    return readPayments(text).length >= 0;
  } catch {
    return false;
  }
}

function isPayment(one: unknown): one is StoredPayment {
  const { key, payer, request } = (one ?? {}) as Partial<StoredPayment>;
  return typeof key === 'string' && typeof payer === 'string' && typeof request === 'object';
}
