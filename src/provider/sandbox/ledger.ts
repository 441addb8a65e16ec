/** What the bank behind the sandbox has really done, whatever it answered: read off its journal. */
import { numberFromCents } from '../../domain/money.ts';
import type { PixStatus } from '../../domain/pix.ts';
import type {
  BankEntry,
  ChargeEntry,
  ChargeKind,
  DocumentMark,
  PaymentEntry,
  PersonStep,
  ReceivedEntry,
} from '../stub/entries.ts';
import type { Journal } from '../stub/journal.ts';
import { decisionOn, documentsOf, type Person, Persons } from '../stub/persons.ts';
import type { KycScript } from '../stub/scenarios.ts';

/** A payment as the control path shows it; the amount is in reais. */
export interface LedgerPayment {
  readonly at: string;
  readonly id: string;
  readonly endToEnd: string;
  readonly clientRequestId: string;
  readonly key: string | null;
  readonly amount: number;
  readonly status: PixStatus;
}

/** An order that was refused for good: nothing was debited. */
export interface RefusedPayment extends Omit<LedgerPayment, 'status'> {
  readonly code: string;
}

/** A charge that somebody has paid; the amount is in reais. */
export interface LedgerReceipt {
  readonly at: string;
  readonly endToEnd: string;
  readonly transactionIdentification: string;
  readonly amount: number;
}

/** A charge as the control path shows it; the amount is in reais. */
export interface LedgerCharge {
  readonly at: string;
  readonly id: string;
  readonly type: ChargeKind;
  readonly transactionIdentification: string;
  readonly key: string;
  readonly amount: number;
  readonly isPaid: boolean;
}

/** Somebody who asks for an account, without who they are. */
export interface LedgerPerson {
  readonly at: string;
  readonly id: string;
  /** The steps that were taken, in that order; a document each. */
  readonly steps: readonly PersonStep['name'][];
  readonly documents: readonly DocumentMark[];
  readonly kyc: KycScript;
}

/** Oldest first. */
export interface LedgerView {
  readonly payments: readonly LedgerPayment[];
  readonly refused: readonly RefusedPayment[];
  readonly charges: readonly LedgerCharge[];
  readonly received: readonly LedgerReceipt[];
  readonly persons: readonly LedgerPerson[];
}

/** A journal that remembers, in front of one that writes, if there is one. */
export class RememberingJournal implements Journal {
  readonly history: readonly BankEntry[];
  readonly #entries: BankEntry[];
  readonly #file: Journal | null;

  /** @param file keeps the entries beyond this process. */
  constructor(file: Journal | null) {
    this.#file = file;
    this.history = file?.history ?? [];
    this.#entries = [...this.history];
  }

  async append(entry: BankEntry): Promise<void> {
    this.#entries.push(entry);
    await this.#file?.append(entry);
  }

  async close(): Promise<void> {
    await this.#file?.close();
  }

  /** The ledger as the entries add up to it now. */
  view(): LedgerView {
    const received = this.#of('received');
    const paid = new Set(received.map((entry) => entry.transactionIdentification));
    return {
      ...this.#orders(),
      charges: this.#of('charge').map((charge) =>
        chargeOf(charge, paid.has(charge.order.transactionIdentification)),
      ),
      received: received.map(receiptOf),
      persons: this.#persons(),
    };
  }

  #orders(): Pick<LedgerView, 'payments' | 'refused'> {
    const orders = this.#of('payment');
    const keys = new Map(this.#of('look_up').map(({ endToEnd, key }) => [endToEnd, key]));
    const ends = new Map<string, PixStatus>(
      this.#of('settlement').map(({ endToEnd, status }) => [endToEnd, status]),
    );
    const shown = (order: PaymentEntry) => shownOrder(order, keys.get(order.endToEnd) ?? null);
    return {
      payments: orders
        .filter(({ refusal }) => refusal === null)
        .map((order) =>
          Object.assign(shown(order), { status: ends.get(order.endToEnd) ?? 'PROCESSING' }),
        ),
      refused: orders.flatMap((order) =>
        order.refusal === null ? [] : [Object.assign(shown(order), { code: order.refusal.reason })],
      ),
    };
  }

  #persons(): LedgerPerson[] {
    const persons = new Persons();
    for (const entry of this.#of('person')) persons.applyPerson(entry);
    for (const entry of this.#of('person_step')) persons.applyStep(entry);
    return persons.all().map(personOf);
  }

  /** The entries of one kind, oldest first. */
  #of<Kind extends BankEntry['entry']>(kind: Kind): Extract<BankEntry, { entry: Kind }>[] {
    return this.#entries.filter(
      (entry): entry is Extract<BankEntry, { entry: Kind }> => entry.entry === kind,
    );
  }
}

function shownOrder(entry: PaymentEntry, key: string | null): Omit<LedgerPayment, 'status'> {
  const { atMs, id, endToEnd, clientRequestId, amountCents } = entry;
  const at = new Date(atMs).toISOString();
  return { at, id, endToEnd, clientRequestId, key, amount: numberFromCents(amountCents) };
}

function receiptOf(entry: ReceivedEntry): LedgerReceipt {
  const { atMs, endToEnd, transactionIdentification, amountCents } = entry;
  const at = new Date(atMs).toISOString();
  return { at, endToEnd, transactionIdentification, amount: numberFromCents(amountCents) };
}

function chargeOf({ atMs, id, type, order }: ChargeEntry, isPaid: boolean): LedgerCharge {
  const at = new Date(atMs).toISOString();
  const { transactionIdentification, key, amountCents } = order;
  const amount = numberFromCents(amountCents);
  return { at, id, type, transactionIdentification, key, amount, isPaid };
}

function personOf(person: Person): LedgerPerson {
  const { id, atMs } = person.entry;
  return {
    at: new Date(atMs).toISOString(),
    id,
    steps: person.steps.map(({ name }) => name),
    documents: documentsOf(person),
    kyc: decisionOn(person),
  };
}
