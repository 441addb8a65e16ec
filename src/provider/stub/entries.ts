/**
 * Everything that happens at the bank, as plain facts. The bank's state is what its entries add up
 * to: they are applied as they happen, and again, from the journal, when the bank starts anew.
 */
import type { ChargeOrder, PixKeyType } from '../provider.ts';
import type { Refusal } from './answer.ts';
import type { ContentDigest } from './content-digest.ts';

/** Amounts are centavos. */
interface Fact {
  /** Milliseconds since 1970. */
  readonly atMs: number;
  /** The customer's login e-mail, lower case. */
  readonly email: string;
}

/** The directory found a key and gave out an end-to-end id for one payment to it. */
export interface LookUpEntry extends Fact {
  readonly entry: 'look_up';
  readonly endToEnd: string;
  readonly payerId: string;
  readonly key: string;
}

/** A payment was executed, or refused for good. */
export interface PaymentEntry extends Fact {
  readonly entry: 'payment';
  readonly id: string;
  readonly endToEnd: string;
  readonly clientRequestId: string;
  readonly amountCents: number;
  readonly description: string | null;
  readonly refusal: Refusal | null;
}

/** A payment has ended, and these notices (JSON texts) are to be posted, in this order. */
export interface SettlementEntry extends Fact {
  readonly entry: 'settlement';
  readonly endToEnd: string;
  readonly status: 'COMPLETED' | 'FAILED';
  readonly notices: readonly string[];
}

export type ChargeKind = 'dynamic' | 'static';

/** A charge was made. */
export interface ChargeEntry extends Fact {
  readonly entry: 'charge';
  readonly id: string;
  readonly type: ChargeKind;
  readonly order: ChargeOrder;
  readonly copyPaste: string;
}

/** Somebody has paid a charge. */
export interface ReceivedEntry extends Fact {
  readonly entry: 'received';
  readonly id: string;
  readonly endToEnd: string;
  readonly transactionIdentification: string;
  readonly amountCents: number;
  readonly notices: readonly string[];
}

/** The first notice about a transfer that was still to be posted was delivered, or given up. */
export interface NoticeClosedEntry {
  readonly entry: 'notice_closed';
  readonly atMs: number;
  readonly endToEnd: string;
  readonly isDelivered: boolean;
}

export interface KeyCreatedEntry extends Fact {
  readonly entry: 'key_created';
  readonly key: string;
  readonly keyType: PixKeyType;
  readonly agency: string;
  readonly accountNumber: string;
  readonly document: string;
}

export interface KeyDeletedEntry extends Fact {
  readonly entry: 'key_deleted';
  readonly key: string;
}

/** Somebody asks for an account; the entry's e-mail is theirs. */
export interface PersonEntry extends Fact {
  readonly entry: 'person';
  readonly id: string;
  readonly name: string;
  /** CPF, eleven digits. */
  readonly document: string;
  /** E.164. */
  readonly phone: string;
}

/** What the bank keeps of a document: not its content. */
export interface DocumentMark extends ContentDigest {
  /** 1 to 21. */
  readonly tipoDocumento: number;
}

/** One step on the way to an account. */
export type PersonStep =
  | { readonly name: 'address' | 'proposal' | 'validation' | 'confirmation' }
  | ({ readonly name: 'document' } & DocumentMark)
  | { readonly name: 'liveness'; readonly sessionId: string };

/** A person has taken a step. */
export interface PersonStepEntry extends Fact {
  readonly entry: 'person_step';
  readonly personId: string;
  readonly step: PersonStep;
}

export type BankEntry =
  | LookUpEntry
  | PaymentEntry
  | SettlementEntry
  | ChargeEntry
  | ReceivedEntry
  | NoticeClosedEntry
  | KeyCreatedEntry
  | KeyDeletedEntry
  | PersonEntry
  | PersonStepEntry;
