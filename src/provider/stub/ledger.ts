/** The bank's ledger: balances, the end-to-end ids given out, payments, and what came in. */
import { MAX_AMOUNT_CENTS } from '../../domain/money.ts';
import type { PixStatus } from '../../domain/pix.ts';
import type { PaymentOrder } from '../provider.ts';
import type { Refusal } from './answer.ts';
import type { LookUpEntry, PaymentEntry, ReceivedEntry, SettlementEntry } from './entries.ts';
import { type PaymentScript, paymentScript } from './scenarios.ts';

/** A payment that the bank has executed, or refused for good. */
export interface Payment {
  readonly entry: PaymentEntry;
  readonly key: string;
  readonly script: PaymentScript;
  /**
   * What the statement shows. The money leaves at once, so a payment that will not fail is
   * COMPLETED from the start, whenever its notice comes.
   */
  status: PixStatus;
  /** Whether its end has been decided and its notices are made. */
  isSettled: boolean;
}

/** One line of an account's statement. */
export interface Movement {
  readonly id: string;
  readonly kind: 'payment' | 'reversal' | 'received';
  readonly endToEnd: string;
  /** Payments and their reversals only. */
  readonly clientRequestId: string | null;
  /** Received payments only. */
  readonly transactionIdentification: string | null;
  readonly amountCents: number;
  readonly status: PixStatus;
  readonly description: string | null;
  readonly createdAt: Date;
}

/** An end-to-end id as the directory gave it out: good for one payment. */
interface Issued {
  readonly entry: LookUpEntry;
  payment: Payment | null;
}

type Line =
  | { readonly kind: 'payment' | 'reversal'; readonly atMs: number; readonly payment: Payment }
  | { readonly kind: 'received'; readonly atMs: number; readonly received: ReceivedEntry };

/** One customer's part of the ledger. */
interface Book {
  balanceCents: number;
  readonly lines: Line[];
  readonly paymentsByRequest: Map<string, Payment>;
}

/** What the accounts hold and what moved. */
export class Ledger {
  readonly #openingBalanceCents: number;
  readonly #books = new Map<string, Book>();
  readonly #issued = new Map<string, Issued>();

  constructor(openingBalanceCents: number) {
    this.#openingBalanceCents = openingBalanceCents;
  }

  balanceCentsOf(email: string): number {
    return this.#bookOf(email).balanceCents;
  }

  /** The executed payments whose end is still to be decided. */
  unsettled(): Payment[] {
    const isUnsettled = (payment: Payment | null): payment is Payment =>
      payment !== null && payment.entry.refusal === null && !payment.isSettled;
    return Array.from(this.#issued.values(), ({ payment }) => payment).filter(isUnsettled);
  }

  payment(endToEnd: string): Payment | null {
    return this.#issued.get(endToEnd)?.payment ?? null;
  }

  /**
   * Holds a payment order against the ids that it carries, both of which are good for one payment.
   *
   * @returns the payment of which the order is a repeat, the refusal of an order whose ids do not
   *   belong together, or null for a new payment.
   */
  examine(email: string, order: PaymentOrder): Payment | Refusal | null {
    const issued = this.#issued.get(order.endToEnd);
    if (issued === undefined || !isIssuedFor(issued.entry, email, order)) {
      return { kind: 'rule', reason: 'EndToEndIdNotIssued' };
    }
    const first = issued.payment;
    const ofRequest = this.#bookOf(email).paymentsByRequest.get(order.clientRequestId) ?? null;
    if (ofRequest !== null && ofRequest !== first) {
      return { kind: 'rule', reason: 'DuplicatedClientRequestId' };
    }
    if (first === null) return null;
    const isRepeat = first === ofRequest && first.entry.amountCents === order.amountCents;
    return isRepeat ? first : { kind: 'rule', reason: 'DuplicatedEndToEndId' };
  }

  /** Why a new payment is refused, or null when it is not. */
  refusalOf(email: string, order: PaymentOrder): Refusal | null {
    const { amountCents } = order;
    if (!Number.isSafeInteger(amountCents) || amountCents < 1 || amountCents > MAX_AMOUNT_CENTS) {
      return { kind: 'rule', reason: 'AM12' };
    }
    if (paymentScript(order.key).answer === 'refused') return { kind: 'rule', reason: 'AC03' };
    if (amountCents > this.balanceCentsOf(email)) {
      return { kind: 'insufficient_funds', reason: 'NOT_ENOUGH_BALANCE' };
    }
    return null;
  }

  applyLookUp(entry: LookUpEntry): void {
    this.#issued.set(entry.endToEnd, { entry, payment: null });
  }

  /** A refused payment has used up its ids too: one end-to-end id is one transfer, made or not. */
  applyPayment(entry: PaymentEntry): void {
    const issued = this.#issued.get(entry.endToEnd);
    if (issued === undefined) throw new Error('a payment without its look-up');
    const { key } = issued.entry;
    const script = paymentScript(key);
    const payment: Payment = {
      entry,
      key,
      script,
      status: script.settlement === 'COMPLETED' ? 'COMPLETED' : 'PROCESSING',
      isSettled: false,
    };
    issued.payment = payment;
    const book = this.#bookOf(entry.email);
    book.paymentsByRequest.set(entry.clientRequestId, payment);
    if (entry.refusal !== null) return;
    book.balanceCents -= entry.amountCents;
    book.lines.push({ kind: 'payment', atMs: entry.atMs, payment });
  }

  /** A payment that fails is credited back. */
  applySettlement(entry: SettlementEntry): void {
    const payment = this.payment(entry.endToEnd);
    if (payment === null) throw new Error('a settlement without its payment');
    payment.isSettled = true;
    payment.status = entry.status;
    if (entry.status === 'COMPLETED') return;
    const book = this.#bookOf(entry.email);
    book.balanceCents += payment.entry.amountCents;
    book.lines.push({ kind: 'reversal', atMs: entry.atMs, payment });
  }

  applyReceived(entry: ReceivedEntry): void {
    const book = this.#bookOf(entry.email);
    book.balanceCents += entry.amountCents;
    book.lines.push({ kind: 'received', atMs: entry.atMs, received: entry });
  }

  /** The executed movements of a customer, newest first. */
  movementsOf(email: string, range: { fromInclusive: Date; toExclusive: Date }): Movement[] {
    const fromMs = range.fromInclusive.getTime();
    const toMs = range.toExclusive.getTime();
    return this.#bookOf(email)
      .lines.filter(({ atMs }) => atMs >= fromMs && atMs < toMs)
      .map((line) => movement(line))
      .toReversed();
  }

  #bookOf(email: string): Book {
    let book = this.#books.get(email);
    if (book === undefined) {
      book = { balanceCents: this.#openingBalanceCents, lines: [], paymentsByRequest: new Map() };
      this.#books.set(email, book);
    }
    return book;
  }
}

/** Issued to that customer and that payer, for that key: a transfer to another key is another. */
function isIssuedFor(lookUp: LookUpEntry, email: string, order: PaymentOrder): boolean {
  return (
    lookUp.email === email && lookUp.payerId === order.payer.document && lookUp.key === order.key
  );
}

function movement(line: Line): Movement {
  const common = { kind: line.kind, createdAt: new Date(line.atMs) };
  if (line.kind === 'received') {
    const { id, endToEnd, transactionIdentification, amountCents } = line.received;
    return {
      ...common,
      id,
      endToEnd,
      clientRequestId: null,
      transactionIdentification,
      amountCents,
      status: 'COMPLETED',
      description: null,
    };
  }
  const { id, endToEnd, clientRequestId, amountCents, description } = line.payment.entry;
  return {
    ...common,
    // A reversal is a movement of its own, and two movements never share an id.
    id: line.kind === 'payment' ? id : `${id}-reversal`,
    endToEnd,
    clientRequestId,
    transactionIdentification: null,
    amountCents,
    status: line.kind === 'payment' ? line.payment.status : 'COMPLETED',
    description,
  };
}
