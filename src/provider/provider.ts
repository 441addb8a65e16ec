/**
 * The port: every call to the banking provider. A method takes one request object and rejects only
 * with a {@link ProviderError}. Amounts are integer centavos; the provider's wire types stay behind
 * this interface.
 */
import type { DisputeSituation, ReportedDisputeStatus } from '../domain/dispute.ts';
import type { Proposal } from '../domain/onboarding.ts';
import type { Address } from '../domain/person.ts';
import type { PixKeyType } from '../domain/pix-key.ts';
import type { PixStatus } from '../domain/pix.ts';
import type { TraceContext } from '../domain/trace-context.ts';
import type { ProviderError } from './errors.ts';

/**
 * The banking session of a call. When its token is refused, the provider layer reads the current
 * one here, because it does not know the database.
 */
export interface ProviderSession {
  readonly userId: number;
  readonly token: string;
  /** The session's current token, or null when the session has ended. */
  currentToken(): Promise<string | null>;
  /** Marks the session as expired, unless its token is no longer `refusedToken`. */
  expire(refusedToken: string): Promise<void>;
}

/** Options of every call: cancellation, and the ids that correlate log lines. */
export interface CallOptions {
  readonly signal?: AbortSignal;
  readonly requestId?: string;
  /** The trace that the call is part of. */
  readonly trace?: TraceContext;
  /** Whether a job makes the call, so that no caller waits for it (see `call-policy.ts`). */
  readonly isBackground?: boolean;
  /**
   * Decides immediately before an attempt whether it is sent; it never rejects.
   *
   * @param last the error of the previous attempt of this call; null for the first one.
   * @returns false to stop the call, which then ends with the result of its earlier attempts.
   */
  beforeAttempt?(last: ProviderError | null): boolean | Promise<boolean>;
}

export interface Credentials {
  readonly email: string;
  readonly password: string;
}

/** The account in the response to a login; each part may be missing. */
export interface ProviderAccount {
  readonly agency: string | null;
  readonly accountNumber: string | null;
  /** CPF or CNPJ, without punctuation. */
  readonly document: string | null;
  readonly companyId: string | null;
  readonly clientToken: string | null;
}

export interface ProviderLogin {
  readonly token: string;
  /** When the token expires, or null when the provider does not report it. */
  readonly expiresAt: Date | null;
  readonly account: ProviderAccount;
}

/** A balance in centavos, negative for an overdrawn account. */
export interface AccountBalance {
  readonly cents: number;
  /** The part of it that the bank has blocked; null: the provider does not report it. */
  readonly blockedCents: number | null;
}

/** Whole days, `yyyy-mm-dd`, both included. */
export interface DayRange {
  readonly start: string;
  readonly end: string;
}

/** An item of the provider's statement, unchanged. */
export type ProviderStatementItem = Readonly<Record<string, unknown>>;

/** What a line of a statement says; null for what it does not say or cannot be read. */
export interface StatementLine {
  readonly ids: {
    readonly endToEnd: string | null;
    readonly clientRequestId: string | null;
    readonly transactionIdentification: string | null;
    /** The provider's own id of the movement. */
    readonly providerTxid: string | null;
    /** `D…`: the line gives the payment with the end-to-end id back. */
    readonly returnId: string | null;
  };
  /** In centavos, without its sign. */
  readonly amountCents: number | null;
  /** `other`: a hold, a fee, a schedule, or two directions at once. */
  readonly direction: 'out' | 'in' | 'other' | null;
  readonly status: PixStatus | null;
}

export interface ProviderStatement {
  /** The movements, unchanged, for the app. */
  readonly items: readonly ProviderStatementItem[];
  /** What the items say, in the same order. */
  readonly lines: readonly StatementLine[];
  /** Whether there is no sign of a further page: otherwise a missing line proves nothing. */
  readonly isWhole: boolean;
  /**
   * Whether a line is final when it appears, as the adapter declares: a rejected payment is never
   * booked as a debit that is reversed later.
   */
  readonly isFinal: boolean;
}

/** The account of Pix and Pix-key calls. */
export interface AccountRef {
  readonly agency: string;
  readonly accountNumber: string;
  readonly document: string;
}

export interface KeyLookUp {
  /** The payer's CPF or CNPJ: the directory limits look-ups by it. */
  readonly payerId: string;
  readonly key: string;
}

export interface KeyOwner {
  /** The end-to-end id that the payment must carry. */
  readonly endToEnd: string;
  readonly name: string | null;
  /** CPF or CNPJ, perhaps masked by the provider. */
  readonly document: string | null;
  /** The institution of the owner's account, by its ISPB; eight characters. */
  readonly ispb: string | null;
}

export interface CodeLookUp {
  /** The payer's CPF or CNPJ: the directory limits look-ups by it. */
  readonly payerId: string;
  /** The whole text of a dynamic Pix code. */
  readonly text: string;
}

/** `removed`: by the payee or by the payee's institution. */
export type CodeState = 'payable' | 'paid' | 'expired' | 'removed';

/** Which amount pays a charge; null: the provider does not say it. */
export interface CodeAmounts {
  /** What is paid today, in centavos; null: the payer chooses it. */
  readonly amountCents: number | null;
  /** Whether the payer may pay another amount. */
  readonly isChangeable: boolean;
  readonly minCents: number | null;
  readonly maxCents: number | null;
}

/** The charge of a dynamic Pix code, as the payee's institution has it now. */
export interface CodeCharge extends Omit<KeyOwner, 'endToEnd'> {
  readonly state: CodeState;
  /** The end-to-end id that the payment must carry; a payable charge has one. */
  readonly endToEnd: string | null;
  /** The key that the charge is paid to. */
  readonly key: string;
  /** The payee's id of the charge: 1 to 35 alphanumerics. */
  readonly txid: string;
  readonly amounts: CodeAmounts;
  /** What the amount of today consists of, in centavos; null: nothing, or not stated. */
  readonly originalCents: number | null;
  readonly discountCents: number | null;
  readonly interestCents: number | null;
  readonly fineCents: number | null;
  /** `yyyy-mm-dd`; null for a charge without a due date. */
  readonly dueDate: string | null;
  readonly expiresAt: Date | null;
  /** The payee's text for the payer. */
  readonly description: string | null;
}

export interface PaymentOrder {
  readonly endToEnd: string;
  /** The app's Idempotency-Key: the provider executes one payment for it. */
  readonly clientRequestId: string;
  readonly key: string;
  readonly amountCents: number;
  readonly description: string | null;
  /** The payee's id of the charge that a Pix code is for: 1 to 35 alphanumerics. */
  readonly txid: string | null;
  /** A dynamic Pix code has started the payment. */
  readonly isByDynamicCode?: true;
  readonly payer: AccountRef;
}

/** The return of a received Pix, whole or in part. */
export interface RefundOrder {
  /** The id of the return, `D…`: the provider makes one return for it. */
  readonly returnId: string;
  /** The provider makes one return for it, too. */
  readonly clientRequestId: string;
  /** The end-to-end id of the Pix. */
  readonly endToEnd: string;
  readonly amountCents: number;
  /** The account that returns the money. */
  readonly account: AccountRef;
}

/** The receipt of a payment or of a return. */
export interface PaymentReceipt {
  /** The end-to-end id of a payment, or the return id of a return. */
  readonly endToEnd: string;
  readonly clientRequestId: string;
  /** The provider's own id of the payment. */
  readonly providerTxid: string | null;
  /** A receipt of a failed payment is a ProviderError. */
  readonly status: Exclude<PixStatus, 'FAILED'>;
  /** The provider holds the payment for analysis. */
  readonly isUnderAnalysis?: true;
  /** Only the client's request id identifies the payment; other users may have the same id. */
  readonly isByRequestAlone?: true;
}

/** The dispute of a payment. */
export interface DisputeOrder extends DisputeRef {
  readonly situation: DisputeSituation;
  readonly details: string | null;
}

/** A dispute, by the service's id and the payment's. */
export interface DisputeRef {
  /** The service's id: a repeat has the same. */
  readonly disputeId: string;
  readonly endToEnd: string;
}

export interface ChargeOrder {
  readonly transactionIdentification: string;
  readonly key: string;
  readonly amountCents: number;
  readonly description: string | null;
  readonly receiverName: string;
  readonly city: string;
  readonly zipcode: string | null;
  /** Seconds; dynamic charges only. */
  readonly expirationSeconds: number;
  readonly payerName: string | null;
  /** CPF or CNPJ of the payer, without punctuation. */
  readonly payerDocument: string | null;
  readonly reusable: boolean;
  readonly categoryCode: string | null;
  readonly additionalData: readonly { readonly name: string; readonly value: string }[];
}

export interface ChargeCode {
  /** A PNG in base64. */
  readonly qrCode: string;
  readonly copyPaste: string | null;
  readonly providerTxid: string | null;
}

export interface NewPixKey {
  readonly keyType: PixKeyType;
  /** Null for an EVP, which the directory generates. */
  readonly key: string | null;
  readonly account: AccountRef;
}

export interface OwnPixKey {
  readonly key: string;
  readonly account: AccountRef;
}

/** The provider's response, returned to the app as `data`. */
export type ProviderPayload = Readonly<Record<string, unknown>>;

/** A registered person, without the password: only its hash is stored. */
export interface NewPerson {
  readonly name: string;
  readonly email: string;
  /** CPF, eleven digits. */
  readonly document: string;
  /** E.164. */
  readonly phone: string;
}

/** The provider's data of an applicant; each part except the id may be missing. */
export interface RegisteredPerson {
  readonly pessoaFisicaId: string;
  readonly clientToken: string | null;
  readonly agency: string | null;
  readonly accountNumber: string | null;
}

/** A document for the provider; each attempt streams it from the beginning. */
export interface PersonDocument {
  /** 1 to 21. */
  readonly tipoDocumento: number;
  readonly contentType: 'application/pdf' | 'image/jpeg' | 'image/png';
  readonly sizeBytes: number;
  content(): AsyncIterable<Uint8Array>;
}

export interface LivenessSession {
  readonly sessionId: string | null;
  /** The page of the check; http or https. */
  readonly urlIframe: string;
}

/** The provider's decision on an applicant, with the account of an approval. */
export interface KycDecision {
  readonly status: 'PENDING' | 'APPROVED' | 'REJECTED';
  readonly clientToken: string | null;
  readonly agency: string | null;
  readonly accountNumber: string | null;
}

/** The address of a postal code; unknown parts are null. */
export interface CepAddress {
  readonly cep: string;
  readonly logradouro: string | null;
  readonly bairro: string | null;
  readonly cidade: string | null;
  readonly estado: string | null;
}

/** The request of every method. */
export interface ProviderRequest extends CallOptions {
  readonly session?: ProviderSession;
}

/** A request in a banking session. */
export interface SessionRequest extends ProviderRequest {
  readonly session: ProviderSession;
}

export type LoginRequest = ProviderRequest & Credentials;
export type StatementRequest = SessionRequest & DayRange;
export type LookUpKeyRequest = SessionRequest & KeyLookUp;
export type ReadCodeRequest = SessionRequest & CodeLookUp;
export type PayRequest = SessionRequest & { readonly order: PaymentOrder };
export type DisputeRequest = SessionRequest & { readonly order: DisputeOrder };
export type DisputeRefRequest = SessionRequest & { readonly dispute: DisputeRef };
export type RefundRequest = SessionRequest & { readonly order: RefundOrder };
export type ChargeRequest = SessionRequest & { readonly order: ChargeOrder };
export type ListKeysRequest = SessionRequest & { readonly account: AccountRef };
export type CreateKeyRequest = SessionRequest & NewPixKey;
export type DeleteKeyRequest = SessionRequest & OwnPixKey;

/** A request about an applicant, by the provider's id. */
export interface PersonRequest extends ProviderRequest {
  readonly personId: string;
}

export type RegisterPersonRequest = ProviderRequest & NewPerson;
export type AddressRequest = PersonRequest & { readonly address: Address };
export type DocumentRequest = PersonRequest & { readonly document: PersonDocument };
export type ProposalRequest = PersonRequest & { readonly proposal: Proposal };
export type ValidationRequest = PersonRequest & { readonly tipo: number };
export type ConfirmationRequest = ValidationRequest & { readonly codigo: string };
export type CepRequest = ProviderRequest & { readonly cep: string };

/**
 * Opens an account at the provider, without a token because no banking session exists yet. The
 * calls are idempotent.
 */
export interface ProviderOnboarding {
  registerPerson(request: RegisterPersonRequest): Promise<RegisteredPerson>;
  submitAddress(request: AddressRequest): Promise<void>;
  submitDocument(request: DocumentRequest): Promise<void>;
  submitProposal(request: ProposalRequest): Promise<void>;
  requestValidation(request: ValidationRequest): Promise<void>;
  confirmValidation(request: ConfirmationRequest): Promise<void>;
  startLivenessCheck(request: PersonRequest): Promise<LivenessSession>;
  kyc(request: PersonRequest): Promise<KycDecision>;
  lookUpCep(request: CepRequest): Promise<CepAddress>;
}

export interface Provider extends ProviderOnboarding {
  login(request: LoginRequest): Promise<ProviderLogin>;

  balance(request: SessionRequest): Promise<AccountBalance>;

  statement(request: StatementRequest): Promise<ProviderStatement>;

  lookUpKey(request: LookUpKeyRequest): Promise<KeyOwner>;

  /** Reads the charge of a dynamic Pix code: no one else calls the address in a code. */
  readCode(request: ReadCodeRequest): Promise<CodeCharge>;

  /**
   * Sends a payment. A {@link ProviderError} with `unknown` means that the provider may have
   * executed it in any attempt.
   */
  pay(request: PayRequest): Promise<PaymentReceipt>;

  /** Opens a dispute; a repeat gets the dispute as it is by then. */
  openDispute(request: DisputeRequest): Promise<ReportedDisputeStatus>;

  /** Withdraws an open dispute. @returns what became of it: it may have ended before. */
  withdrawDispute(request: DisputeRefRequest): Promise<Exclude<ReportedDisputeStatus, 'OPEN'>>;

  /** Reads a dispute as it is now. @returns null: the payment has none. */
  readDispute(request: DisputeRefRequest): Promise<ReportedDisputeStatus | null>;

  /** Returns a received Pix; an error means what it means for `pay`. */
  refund(request: RefundRequest): Promise<PaymentReceipt>;

  createDynamicCharge(request: ChargeRequest): Promise<ChargeCode>;
  createStaticCharge(request: ChargeRequest): Promise<ChargeCode>;
  listKeys(request: ListKeysRequest): Promise<ProviderPayload>;
  createKey(request: CreateKeyRequest): Promise<ProviderPayload>;
  deleteKey(request: DeleteKeyRequest): Promise<ProviderPayload>;
}

export type ProviderMethod = keyof Provider;
