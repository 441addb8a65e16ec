/**
 * The state of the simulated bank: rows in maps, and the few values that follow from them. A change
 * saves one whole row, first in the state file, then in memory. A start puts the rows of the file
 * back; when an id has several rows, the last one is valid.
 */
import type { StateFile } from './state-file.ts';
import type {
  Charge,
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
  Refund,
  Row,
  Transfer,
} from './rows.ts';

/** The values that are derived from the rows of one customer. */
interface Customer {
  balanceCents: number;
  /** By end-to-end id, oldest first. */
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
  /** By end-to-end id, oldest first. */
  readonly transfers = new Map<string, Transfer>();
  /** By `transactionIdentification`, oldest first. */
  readonly charges = new Map<string, Charge>();
  /** The charges of other banks, by txid. */
  readonly foreignCharges = new Map<string, ForeignCharge>();
  /** By `transactionIdentification`, oldest first. */
  readonly expiries = new Map<string, Expiry>();
  /** By the end-to-end id of the payment, oldest first. */
  readonly disputes = new Map<string, Dispute>();
  readonly disputeNotices = new Map<string, DisputeNotice>();
  readonly pixKeys = new Map<string, PixKey>();
  /** By id, oldest first. */
  readonly persons = new Map<string, Person>();
  /** The `transactionIdentification` of each charge that was paid at least once. */
  readonly paidCharges = new Set<string>();
  readonly #customers = new Map<string, Customer>();
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

  /** Finds what has webhooks: a transfer, an expiry, or a notice of a dispute. */
  posting(id: string): Posting | undefined {
    return this.transfers.get(id) ?? this.expiries.get(id) ?? this.disputeNotices.get(id);
  }

  refund(returnId: string): Refund | null {
    const transfer = this.transfers.get(returnId);
    return transfer?.row === 'refund' ? transfer : null;
  }

  payment(endToEnd: string): Payment | null {
    const transfer = this.transfers.get(endToEnd);
    return transfer?.row === 'payment' ? transfer : null;
  }

  /** @param email lower case. */
  customer(email: string): Readonly<Customer> {
    return this.#customer(email);
  }

  #customer(email: string): Customer {
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
        this.#customer(row.email).requests.set(row.clientRequestId, row.endToEnd);
        return this.#putTransfer(row);
      case 'receipt':
        this.paidCharges.add(row.transactionIdentification);
        return this.#putTransfer(row);
      case 'refund':
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
        this.charges.set(row.order.transactionIdentification, row);
        return;
      case 'foreign_charge':
        this.foreignCharges.set(row.txid, row);
        return;
      case 'pix_key':
        return this.#putPixKey(row);
      case 'person':
        this.persons.set(row.id, row);
        this.#customer(row.email).person = row;
    }
  }

  #putTransfer(transfer: Transfer): void {
    const { endToEnd } = transfer;
    const customer = this.#customer(transfer.email);
    customer.balanceCents += effectCents(transfer) - effectCents(this.transfers.get(endToEnd));
    customer.transfers.set(endToEnd, transfer);
    this.transfers.set(endToEnd, transfer);
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
  const isDebited = transfer.refusal === null && transfer.settlement?.status !== 'FAILED';
  return isDebited ? -transfer.amountCents : 0;
}
