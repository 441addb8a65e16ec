/**
 * The state of the simulated bank: rows in maps, and the few values that follow from them. A change
 * saves one whole row, first in the state file, then in memory. A start puts the rows of the file
 * back; when an id has several rows, the last one is valid.
 */
import { staticTxidLength } from '../../../domain/pix.ts';
import type { StateFile } from './state-file.ts';
import { findReversal } from './statement.ts';
import type {
  Charge,
  Customer,
  Dispute,
  DisputeNotice,
  Expiry,
  ForeignCharge,
  LookUp,
  OrderedReturn,
  Payment,
  Person,
  PixKey,
  Posting,
  Receipt,
  Refund,
  Row,
  Transfer,
} from './rows.ts';

/** The values that are derived from the rows of one customer. */
interface Holdings {
  balanceCents: number;
  /** By the bank's id, oldest first. */
  readonly transfers: Map<string, Transfer>;
  /** The end-to-end id of the payment of each `clientRequestId`. */
  readonly requests: Map<string, string>;
  /** Oldest first. */
  readonly pixKeys: Map<string, PixKey>;
  person: Person | null;
}

export interface StateOptions {
  /** The balance of an account before its first transfer. */
  readonly openingBalanceCents: number;
  /** Without a file the state ends with the process. */
  readonly file: StateFile | null;
}

/** The rows, which change only through `save`. */
export class State {
  /** The end-to-end ids that no payment has used, by id. */
  readonly lookUps = new Map<string, LookUp>();
  /**
   * By the bank's id, oldest first: the two sides of a payment between customers have one
   * end-to-end id.
   */
  readonly transfers = new Map<string, Transfer>();
  /** By `transactionIdentification`, oldest first. */
  readonly charges = new Map<string, Charge>();
  /** The newest charge that is paid to a key, by that key. */
  readonly chargesOfKeys = new Map<string, Charge>();
  /** The charges of other banks, by txid. */
  readonly foreignCharges = new Map<string, ForeignCharge>();
  /** By `transactionIdentification`, oldest first. */
  readonly expiries = new Map<string, Expiry>();
  /** By the end-to-end id of the payment, oldest first. */
  readonly disputes = new Map<string, Dispute>();
  readonly disputeNotices = new Map<string, DisputeNotice>();
  readonly pixKeys = new Map<string, PixKey>();
  /** The customers who have logged in, by e-mail. */
  readonly known = new Map<string, Customer>();
  /** By id, oldest first. */
  readonly persons = new Map<string, Person>();
  /** The `transactionIdentification` of each charge that was paid at least once. */
  readonly paidCharges = new Set<string>();
  readonly #payments = new Map<string, Payment>();
  readonly #receipts = new Map<string, Receipt>();
  /** By return id; of two sides, that of the customer who returns the money. */
  readonly #refunds = new Map<string, Refund>();
  /** By the part of the identification that a static code carries. */
  readonly #staticCharges = new Map<string, Charge>();
  readonly #customers = new Map<string, Holdings>();
  readonly #openingBalanceCents: number;
  readonly #file: StateFile | null;

  /** @throws Error when a line of the file cannot be read. */
  constructor({ openingBalanceCents, file }: StateOptions) {
    this.#openingBalanceCents = openingBalanceCents;
    this.#file = file;
    for (const row of file?.read() ?? []) this.#put(row);
  }

  /**
   * Saves a row: when it returns, the row outlives the process.
   *
   * @throws Error when the file cannot be written; the state is then as before.
   */
  save(row: Row): void {
    this.#file?.append(row);
    this.#put(row);
  }

  close(): void {
    this.#file?.close();
  }

  /**
   * Finds what has webhooks: a transfer, an expiry, or a notice of a dispute.
   *
   * @param id the bank's id, a charge's identification, or a notice's id.
   */
  posting(id: string): Posting | undefined {
    return this.transfers.get(id) ?? this.expiries.get(id) ?? this.disputeNotices.get(id);
  }

  refund(returnId: string): Refund | null {
    return this.#refunds.get(returnId) ?? null;
  }

  payment(endToEnd: string): Payment | null {
    return this.#payments.get(endToEnd) ?? null;
  }

  /** Finds what a customer has received by a payment. */
  receipt(endToEnd: string): Receipt | null {
    return this.#receipts.get(endToEnd) ?? null;
  }

  /** Finds the charge that a txid names: a static code carries the first 25 characters only. */
  chargeNamed(txid: string): Charge | null {
    return this.charges.get(txid) ?? this.#staticCharges.get(txid) ?? null;
  }

  /** @param email lower case. */
  customer(email: string): Readonly<Holdings> {
    return this.#customer(email);
  }

  #customer(email: string): Holdings {
    let customer = this.#customers.get(email);
    if (customer === undefined) {
      customer = {
        balanceCents: this.#openingBalanceCents,
        transfers: new Map(),
        requests: new Map(),
        pixKeys: new Map(),
        person: null,
      };
      this.#customers.set(email, customer);
    }
    return customer;
  }

  #put(row: Row): void {
    switch (row.row) {
      case 'look_up':
        this.lookUps.set(row.endToEnd, row);
        return;
      case 'payment':
        this.lookUps.delete(row.endToEnd);
        this.#payments.set(row.endToEnd, row);
        this.#customer(row.email).requests.set(row.clientRequestId, row.endToEnd);
        return this.#putTransfer(row);
      case 'receipt':
        if (row.transactionIdentification) this.paidCharges.add(row.transactionIdentification);
        this.#receipts.set(row.endToEnd, row);
        return this.#putTransfer(row);
      case 'refund':
        if (row.direction === 'out' || this.refund(row.endToEnd)?.direction !== 'out') {
          this.#refunds.set(row.endToEnd, row);
        }
        if (row.ordered) {
          this.#customer(row.email).requests.set(row.ordered.clientRequestId, row.endToEnd);
        }
        return this.#putTransfer(row);
      case 'expiry':
        this.expiries.set(row.transactionIdentification, row);
        return;
      case 'dispute':
        this.disputes.set(row.endToEnd, row);
        return;
      case 'dispute_notice':
        this.disputeNotices.set(row.noticeId, row);
        return;
      case 'charge':
        return this.#putCharge(row);
      case 'foreign_charge':
        this.foreignCharges.set(row.txid, row);
        return;
      case 'pix_key':
        return this.#putPixKey(row);
      case 'customer':
        this.known.set(row.email, row);
        return;
      case 'person':
        this.persons.set(row.id, row);
        this.#customer(row.email).person = row;
    }
  }

  #putTransfer(transfer: Transfer): void {
    const { id } = transfer;
    const customer = this.#customer(transfer.email);
    customer.balanceCents += effectCents(transfer) - effectCents(this.transfers.get(id));
    customer.transfers.set(id, transfer);
    this.transfers.set(id, transfer);
  }

  #putCharge(charge: Charge): void {
    const { type, order } = charge;
    const { transactionIdentification: txid, key } = order;
    this.charges.set(txid, charge);
    this.chargesOfKeys.set(key, charge);
    if (type === 'static') this.#staticCharges.set(txid.slice(0, staticTxidLength), charge);
  }

  #putPixKey(pixKey: PixKey): void {
    for (const keys of [this.pixKeys, this.#customer(pixKey.email).pixKeys]) {
      if (pixKey.isDeleted) keys.delete(pixKey.key);
      else keys.set(pixKey.key, pixKey);
    }
  }
}

/** Whether a refund has moved its money, and has not failed since. */
export function isMade({ ordered }: Refund): boolean {
  return ordered === undefined || (ordered.refusal === null && !hasFailed(ordered));
}

function hasFailed({ settlement }: OrderedReturn): boolean {
  return settlement?.status === 'FAILED';
}

/** The change of the customer's balance by a transfer, in centavos. */
function effectCents(transfer: Transfer | undefined): number {
  if (transfer === undefined) return 0;
  if (transfer.row === 'receipt') return transfer.amountCents;
  if (transfer.row === 'refund') {
    if (!isMade(transfer)) return 0;
    return transfer.direction === 'in' ? transfer.amountCents : -transfer.amountCents;
  }
  const isDebited = transfer.refusal === null && findReversal(transfer) === null;
  return isDebited ? -transfer.amountCents : 0;
}
