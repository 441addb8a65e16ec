/**
 * The rows that the state of the simulated bank consists of. In each row `email` is the customer's
 * login e-mail in lower case, amounts are in centavos, and times in milliseconds since 1970.
 */
import type { DisputeSituation, ReportedDisputeStatus } from '../../../domain/dispute.ts';
import type { PixKeyType } from '../../../domain/pix-key.ts';
import type { AccountRef, ChargeOrder } from '../../provider.ts';
import type { Refusal } from './response.ts';

/** An end-to-end id that the directory of keys (DICT) issued for one payment to a key. */
export interface LookUp {
  readonly row: 'look_up';
  readonly endToEnd: string;
  readonly email: string;
  readonly payerId: string;
  readonly key: string;
  /** Of a dynamic code: the charge that the id may pay; absent for a key. */
  readonly txid?: string;
}

/** A payment, executed or refused: both use up its end-to-end id. */
export interface Payment {
  readonly row: 'payment';
  readonly endToEnd: string;
  readonly email: string;
  readonly payerId: string;
  readonly key: string;
  /** The customer who is paid; absent: the payee is at another bank. */
  readonly payee?: string;
  /** The charge of the dynamic code that it pays; absent for any other payment. */
  readonly txid?: string;
  /** What a static code names the payment by; absent without one. */
  readonly staticTxid?: string;
  readonly id: string;
  readonly clientRequestId: string;
  readonly amountCents: number;
  readonly description: string | null;
  readonly atMs: number;
  /** Null for an executed payment: its amount is debited. */
  readonly refusal: Refusal | null;
  /** The end of an executed payment; null until then. A failed payment is credited back. */
  readonly settlement: Settlement | null;
  /** How many of its webhooks are still to be posted. */
  readonly webhooksLeft: number;
}

export interface Settlement {
  readonly status: 'COMPLETED' | 'FAILED';
  readonly atMs: number;
}

/** A payment that a customer received. */
export interface Receipt {
  readonly row: 'receipt';
  /** That of the payment: where another customer has paid, both sides have one id. */
  readonly endToEnd: string;
  readonly email: string;
  readonly id: string;
  /** Of the customer's charge that is paid; null: it pays none. */
  readonly transactionIdentification: string | null;
  readonly amountCents: number;
  /** The key that was paid; null: the directory does not have it. */
  readonly key: string | null;
  /** The account; the document is absent where the bank has made it up. */
  readonly receiver: Pick<AccountRef, 'agency' | 'accountNumber'> &
    Partial<Pick<AccountRef, 'document'>>;
  /** The customer who has paid; absent: a payer at another bank. */
  readonly payer?: Party;
  readonly atMs: number;
  /** How many of its webhooks are still to be posted. */
  readonly webhooksLeft: number;
}

/** A person or a company as the bank names it to the other side of a payment. */
export interface Party {
  readonly name: string;
  /** CPF or CNPJ. */
  readonly document: string;
}

/**
 * One side of money that went back to the payer of a transfer. Where both are customers, each has a
 * row, and both rows have one return id.
 */
export interface Refund {
  readonly row: 'refund';
  /** The return id, in the field where other transfers have their end-to-end id. */
  readonly endToEnd: string;
  readonly email: string;
  readonly id: string;
  readonly originalEndToEnd: string;
  /** `in`: of a payment, to the customer; `out`: of a received Pix. */
  readonly direction: 'in' | 'out';
  readonly amountCents: number;
  readonly atMs: number;
  /** How many of its webhooks are still to be posted. */
  readonly webhooksLeft: number;
  /** Of a return that the customer has ordered; any other refund is made at once. */
  readonly ordered?: OrderedReturn;
}

/** What a return has besides any other refund. */
export interface OrderedReturn {
  readonly clientRequestId: string;
  /** Null for a return that is executed: its amount is debited. */
  readonly refusal: Refusal | null;
  /** Its end; null until then. A failed return is credited back. */
  readonly settlement: Settlement | null;
}

export type Transfer = Payment | Receipt | Refund;

/** The end of a charge that has expired unpaid. */
export interface Expiry {
  readonly row: 'expiry';
  readonly transactionIdentification: string;
  readonly amountCents: number;
  readonly atMs: number;
  /** How many of its webhooks are still to be posted. */
  readonly webhooksLeft: number;
}

/** The dispute of a payment. */
export interface Dispute {
  readonly row: 'dispute';
  readonly id: string;
  readonly email: string;
  /** Of the payment. */
  readonly endToEnd: string;
  /** The caller's id of it; null: it was opened at another channel. */
  readonly disputeId: string | null;
  readonly situation: DisputeSituation;
  readonly status: ReportedDisputeStatus;
  /** When it got its status. */
  readonly atMs: number;
}

/** The report of a status of a dispute. */
export interface DisputeNotice extends Omit<Dispute, 'row' | 'situation'> {
  readonly row: 'dispute_notice';
  readonly noticeId: string;
  /** How many of its webhooks are still to be posted. */
  readonly webhooksLeft: number;
}

export type ChargeKind = 'dynamic' | 'static';

export interface Charge {
  readonly row: 'charge';
  readonly email: string;
  readonly id: string;
  readonly type: ChargeKind;
  readonly order: ChargeOrder;
  readonly copyPaste: string;
  readonly atMs: number;
}

/** A charge of a payee at another bank, which a dynamic code asks for. */
export interface ForeignCharge {
  readonly row: 'foreign_charge';
  readonly txid: string;
  readonly copyPaste: string;
  readonly key: string;
  /** Before discount, interest and fine; null: the payer chooses the amount. */
  readonly originalCents: number | null;
  readonly discountCents: number;
  readonly interestCents: number;
  readonly fineCents: number;
  readonly isChangeable: boolean;
  readonly minCents: number | null;
  readonly maxCents: number | null;
  /** Of a charge with a due date (cobv), `yyyy-mm-dd`. */
  readonly dueDate: string | null;
  readonly expiresAtMs: number | null;
  readonly description: string | null;
  /** A payment or the payee has ended it; an expired one is `active`. */
  readonly state: 'active' | 'paid' | 'removed';
}

export interface PixKey {
  readonly row: 'pix_key';
  readonly key: string;
  readonly email: string;
  readonly keyType: PixKeyType;
  readonly agency: string;
  readonly accountNumber: string;
  readonly document: string;
  readonly atMs: number;
  readonly isDeleted: boolean;
}

/** A customer who has logged in, as the service that uses the bank has introduced the person. */
export interface Customer {
  readonly row: 'customer';
  readonly email: string;
  /** Null: not known. */
  readonly name: string | null;
  /** CPF or CNPJ; null: not known. */
  readonly document: string | null;
}

/** A person who applies for an account, and the steps that the person has submitted. */
export interface Person {
  readonly row: 'person';
  readonly id: string;
  readonly email: string;
  readonly name: string;
  /** CPF, eleven digits. */
  readonly document: string;
  /** E.164. */
  readonly phone: string;
  readonly atMs: number;
  readonly steps: readonly PersonStep[];
}

export type PersonStep =
  | { readonly name: 'address' | 'proposal' | 'validation' | 'confirmation' }
  | ({ readonly name: 'document' } & DocumentDigest)
  | { readonly name: 'liveness'; readonly sessionId: string };

/** The type, size and hash of a document, whose content is not kept. */
export interface DocumentDigest {
  /** 1 to 21. */
  readonly tipoDocumento: number;
  readonly sizeBytes: number;
  /** Of the content, in hexadecimal. */
  readonly sha256: string;
}

/** What has webhooks. */
export type Posting = Transfer | Expiry | DisputeNotice;

export type Row = LookUp | Posting | Dispute | Charge | ForeignCharge | PixKey | Customer | Person;
