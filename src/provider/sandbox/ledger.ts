/** What the bank behind the sandbox has really done, whatever it answered: read off its journal. */
import { numberFromCents } from '../../domain/money.ts';
import type { PixStatus } from '../../domain/pix.ts';
import type { BankEntry, PaymentEntry, ReceivedEntry } from '../stub/entries.ts';
import type { Journal } from '../stub/journal.ts';

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

/** Oldest first. */
export interface LedgerView {
  readonly payments: readonly LedgerPayment[];
  readonly refused: readonly RefusedPayment[];
  readonly received: readonly LedgerReceipt[];
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
    const entries = Map.groupBy(this.#entries, ({ entry }) => entry);
    const orders = (entries.get('payment') ?? []) as PaymentEntry[];
    const received = (entries.get('received') ?? []) as ReceivedEntry[];
    const keys = new Map<string, string>();
    const ends = new Map<string, PixStatus>();
    for (const entry of this.#entries) {
      if (entry.entry === 'look_up') keys.set(entry.endToEnd, entry.key);
      if (entry.entry === 'settlement') ends.set(entry.endToEnd, entry.status);
    }
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
      received: received.map(receiptOf),
    };
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
