/** The bank's ledger: balances, the end-to-end ids given out, payments, and what came in. */
import { MAX_AMOUNT_CENTS } from '../../domain/money.ts';
import type { PixStatus } from '../../domain/pix.ts';
import type { PaymentOrder } from '../provider.ts';
import type { Refusal } from './answer.ts';
import type { LookUpEntry, PaymentEntry, ReceivedEntry, SettlementEntry } from './entries.ts';
import { type PaymentScript, paymentScript } from './scenarios.ts';

/**
 * A payment that the bank has executed, or refused for good. It is a line of the statement itself,
 * and has what is still needed of its look-up: a bank that runs for long has many of them.
 */
export interface Payment {
  readonly line: 'payment';
  readonly entry: PaymentEntry;
  /** Whose look-up it was, and of which key. */
  readonly payerId: string;
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

type Line =
  | Payment
  | { readonly line: 'reversal'; readonly atMs: number; readonly payment: Payment }
  | { readonly line: 'received'; readonly atMs: number; readonly received: ReceivedEntry };

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
  /** By the end-to-end id that the directory gave out; it is good for one payment. */
  readonly #lookUps = new Map<string, LookUpEntry>();
  readonly #payments = new Map<string, Payment>();

  constructor(openingBalanceCents: number) {
    this.#openingBalanceCents = openingBalanceCents;
  }

  balanceCentsOf(email: string): number {
    return this.#bookOf(email).balanceCents;
  }

  /** The executed payments whose end is still to be decided. */
  unsettled(): Payment[] {
    const payments = [...this.#payments.values()];
    return payments.filter(({ entry, isSettled }) => entry.refusal === null && !isSettled);
  }

  payment(endToEnd: string): Payment | null {
    return this.#payments.get(endToEnd) ?? null;
  }

  /**
   * Holds a payment order against the ids that it carries, both of which are good for one payment.
   *
   * @returns the payment of which the order is a repeat, the refusal of an order whose ids do not
   *   belong together, or null for a new payment.
   */
  examine(email: string, order: PaymentOrder): Payment | Refusal | null {
    const first = this.payment(order.endToEnd);
    const lookUp = first ? lookUpOf(first) : this.#lookUps.get(order.endToEnd);
    if (lookUp === undefined || !isIssuedFor(lookUp, email, order)) {
      return { kind: 'rule', reason: 'EndToEndIdNotIssued' };
    }
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
    this.#lookUps.set(entry.endToEnd, entry);
  }

  /** A refused payment has used up its ids too: one end-to-end id is one transfer, made or not. */
  applyPayment(entry: PaymentEntry): void {
    const { endToEnd } = entry;
    const lookUp = this.#lookUps.get(endToEnd);
    if (lookUp === undefined) throw new Error('a payment without its look-up');
    const { payerId, key } = lookUp;
    const script = paymentScript(key);
    const payment: Payment = {
      line: 'payment',
      entry,
      payerId,
      key,
      script,
      status: script.settlement === 'COMPLETED' ? 'COMPLETED' : 'PROCESSING',
      isSettled: false,
    };
    this.#lookUps.delete(endToEnd);
    this.#payments.set(endToEnd, payment);
    const book = this.#bookOf(entry.email);
    book.paymentsByRequest.set(entry.clientRequestId, payment);
    if (entry.refusal !== null) return;
    book.balanceCents -= entry.amountCents;
    book.lines.push(payment);
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
    book.lines.push({ line: 'reversal', atMs: entry.atMs, payment });
  }

  applyReceived(entry: ReceivedEntry): void {
    const book = this.#bookOf(entry.email);
    book.balanceCents += entry.amountCents;
    book.lines.push({ line: 'received', atMs: entry.atMs, received: entry });
  }

  /** The executed movements of a customer, newest first. */
  movementsOf(email: string, range: { fromInclusive: Date; toExclusive: Date }): Movement[] {
    const fromMs = range.fromInclusive.getTime();
    const toMs = range.toExclusive.getTime();
    return this.#bookOf(email)
      .lines.filter((line) => timeOf(line) >= fromMs && timeOf(line) < toMs)
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

type LookUp = Pick<LookUpEntry, 'email' | 'payerId' | 'key'>;

function lookUpOf({ entry: { email }, payerId, key }: Payment): LookUp {
  return { email, payerId, key };
}

/** Issued to that customer and that payer, for that key: a transfer to another key is another. */
function isIssuedFor(lookUp: LookUp, email: string, order: PaymentOrder): boolean {
  return (
    lookUp.email === email && lookUp.payerId === order.payer.document && lookUp.key === order.key
  );
}

/** Milliseconds since 1970. */
function timeOf(line: Line): number {
  return line.line === 'payment' ? line.entry.atMs : line.atMs;
}

function movement(line: Line): Movement {
  const common = { kind: line.line, createdAt: new Date(timeOf(line)) };
  if (line.line === 'received') {
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
  const isPayment = line.line === 'payment';
  const { entry, status } = isPayment ? line : line.payment;
  const { id, endToEnd, clientRequestId, amountCents, description } = entry;
  return {
    ...common,
    // A reversal is a movement of its own, and two movements never share an id.
    id: isPayment ? id : `${id}-reversal`,
    endToEnd,
    clientRequestId,
    transactionIdentification: null,
    amountCents,
    status: isPayment ? status : 'COMPLETED',
    description,
  };
}
