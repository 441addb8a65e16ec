/** The bank's state as one: every change is an entry, applied here and written to the journal. */
import type { Clock } from '../../clock.ts';
import { Charges } from './charges.ts';
import type { BankEntry } from './entries.ts';
import type { Journal } from './journal.ts';
import { Ledger } from './ledger.ts';
import { type Notify, Outbox } from './notices.ts';
import { Persons } from './persons.ts';
import { PixKeys } from './pix-keys.ts';
import type { Soon } from './soon.ts';

export interface BooksOptions {
  readonly clock: Clock;
  readonly notify: Notify;
  readonly openingBalanceCents: number;
  readonly journal: Journal | null;
  readonly onFault: (fault: unknown) => void;
}

/** Where the bank writes: its journal, its ledger and its notices, in that order. */
export class Books {
  readonly ledger: Ledger;
  readonly charges = new Charges();
  readonly keys = new PixKeys();
  readonly persons = new Persons();
  readonly outbox: Outbox;
  readonly #clock: Clock;
  readonly #journal: Journal | null;

  /** Opens the books at the state that the journal's entries add up to. */
  constructor(options: BooksOptions) {
    this.#clock = options.clock;
    this.#journal = options.journal;
    this.ledger = new Ledger(options.openingBalanceCents);
    this.outbox = new Outbox({
      ...options,
      close: async (notice) =>
        this.record({ entry: 'notice_closed', atMs: this.#clock.now().getTime(), ...notice }),
    });
    for (const entry of options.journal?.history ?? []) this.#apply(entry);
  }

  /** What every entry about a customer begins with. */
  fact(email: string): { readonly atMs: number; readonly email: string } {
    return { atMs: this.#clock.now().getTime(), email };
  }

  /**
   * Applies an entry at once and writes it.
   *
   * @returns when it is in the journal, at once where there is none; nobody may be answered before.
   */
  record(entry: BankEntry): Soon<void> {
    this.#apply(entry);
    return this.#journal?.append(entry);
  }

  /** Posts nothing more; what is due is posted when the journal is opened again. */
  async close(): Promise<void> {
    this.outbox.close();
    await this.#journal?.close();
  }

  #apply(entry: BankEntry): void {
    switch (entry.entry) {
      case 'look_up':
        return this.ledger.applyLookUp(entry);
      case 'payment':
        return this.ledger.applyPayment(entry);
      case 'settlement':
        this.ledger.applySettlement(entry);
        return this.outbox.add(entry.endToEnd, entry.notices);
      case 'charge':
        return this.charges.applyCharge(entry);
      case 'received':
        this.ledger.applyReceived(entry);
        this.charges.applyReceived(entry);
        return this.outbox.add(entry.endToEnd, entry.notices);
      case 'notice_closed':
        return this.outbox.removeFirst(entry.endToEnd);
      case 'key_created':
        return this.keys.applyCreated(entry);
      case 'key_deleted':
        return this.keys.applyDeleted(entry);
      case 'person':
        return this.persons.applyPerson(entry);
      case 'person_step':
        return this.persons.applyStep(entry);
    }
  }
}
