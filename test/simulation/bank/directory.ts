/** The directory: who owns a PIX key. A key may get another owner at any time. */
import type { StoredCustomer } from '../store.ts';
import { hasKey } from './identifiers.ts';
import { toListedKey, portableKey, portableKeyOwners } from './listed-key.ts';

/** The owner of a key, as a look-up shows it. */
export interface KeyOwner {
  readonly name: string;
  readonly document: string;
  /** The institution. */
  readonly ispb: string;
}

export const ownIspb = '11165756';

/** The payees at other institutions, one after the other, of a key of no customer. */
const payees = [
  { name: 'Maria Souza', document: '39053344705', ispb: '60701190' },
  { name: 'Paulo Lima', document: '86288366757', ispb: '60701190' },
  { name: 'Maria Souza', document: '39053344705', ispb: '00000208' },
] as const satisfies KeyOwner[];

export class Directory {
  readonly #customers: readonly StoredCustomer[];
  /** How often each key has changed its owner. */
  readonly #moves = new Map<string, number>();
  /** The name of the customer who owns the portable key. */
  #portableOwner: string = portableKeyOwners[0];

  constructor(customers: readonly StoredCustomer[]) {
    this.#customers = customers;
  }

  /** The customer who owns a key; null: somebody at another institution. */
  findCustomer(key: string): StoredCustomer | null {
    return this.#customers.find((one) => hasKey(one, key)) ?? null;
  }

  /** The keys of a customer's account, in the format of the list. */
  listKeys(customer: StoredCustomer): readonly object[] {
    const isOwner = customer.name === this.#portableOwner;
    const keys = [toListedKey(customer), ...(isOwner ? [portableKey] : [])];
    return keys.map((key) => ({ key, status: 'ACTIVE' }));
  }

  findOwner(key: string): KeyOwner {
    const customer = this.findCustomer(key);
    if (customer) {
      return { name: customer.name, document: customer.account.document, ispb: ownIspb };
    }
    return payees[(this.#moves.get(key) ?? 0) % payees.length] ?? payees[0];
  }

  /** Gives the portable key to its second owner. */
  carryOver(): void {
    [, this.#portableOwner] = portableKeyOwners;
  }

  /** Gives a key of no customer to another owner. */
  move(key: string): void {
    this.#moves.set(key, (this.#moves.get(key) ?? 0) + 1);
  }
}
