/**
 * The port: every call that Ponte makes to the banking provider. A method takes one request object
 * and rejects with a {@link ProviderError} and nothing else. Amounts are integer centavos; the
 * provider's wire types do not pass this interface.
 */
import type { Proposal } from '../domain/onboarding.ts';
import type { Address } from '../domain/person.ts';
import type { PixStatus } from '../domain/pix.ts';
import type { TraceContext } from '../domain/trace-context.ts';
import type { ProviderError } from './errors.ts';

/**
 * The banking session that a call is made in. The provider layer knows nothing of the database:
 * it asks here when its token is refused.
 */
export interface ProviderSession {
  readonly userId: number;
  readonly token: string;
  /** The token that the session holds now, or null when it has ended. */
  currentToken(): Promise<string | null>;
  /** Marks the session expired, unless it has been renewed since `refusedToken` was read. */
  expire(refusedToken: string): Promise<void>;
}

/** What every call may carry: when to give up early, and what ties the log lines together. */
export interface CallOptions {
  readonly signal?: AbortSignal;
  readonly requestId?: string;
  /** The trace that the call is a part of; without one it stands alone. */
  readonly trace?: TraceContext;
  /** Whether a job makes the call: no caller waits for it (see `call-policy.ts`). */
  readonly isBackground?: boolean;
  /**
   * Decides right before an attempt leaves whether it may; it never rejects.
   *
   * @param last how the attempt before it in this call ended; null for the first one.
   * @returns false to stop the call: it then ends as its earlier attempts have shown.
   */
  beforeAttempt?(last: ProviderError | null): boolean | Promise<boolean>;
}

export interface Credentials {
  readonly email: string;
  readonly password: string;
}

/** The account as the provider's login answer carries it; each part may be missing. */
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
  /** When the token ends, or null when the provider does not say. */
  readonly expiresAt: Date | null;
  readonly account: ProviderAccount;
}

/** Whole days, `yyyy-mm-dd`, both included. */
export interface DayRange {
  readonly start: string;
  readonly end: string;
}

/** An item of the provider's statement: passed on as it came. */
export type ProviderStatementItem = Readonly<Record<string, unknown>>;

export interface ProviderStatement {
  readonly items: readonly ProviderStatementItem[];
}

/** The account that PIX and PIX-key calls are made for. */
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
}

export interface PaymentOrder {
  readonly endToEnd: string;
  /** The app's Idempotency-Key: the provider executes one payment for it. */
  readonly clientRequestId: string;
  readonly key: string;
  readonly amountCents: number;
  readonly description: string | null;
  readonly payer: AccountRef;
}

export interface PaymentReceipt {
  readonly endToEnd: string;
  readonly clientRequestId: string;
  /** The provider's own id of the payment. */
  readonly providerTxid: string | null;
  readonly status: PixStatus;
  /** It names our payment by the client's request id alone, which other users may have as well. */
  readonly isByRequestAlone?: true;
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
  /** An image (base64) or a payload, as the provider returns it. */
  readonly qrCode: string | null;
  readonly copyPaste: string | null;
  readonly providerTxid: string | null;
}

export type PixKeyType =
  'CPF' | 'CNPJ' | 'CELULAR' | 'E_MAIL' | 'EVP_ENDERECO_VIRTUAL_DE_PAGAMENTO';

export interface NewPixKey {
  readonly keyType: PixKeyType;
  /** Null for an EVP: the directory makes it. */
  readonly key: string | null;
  readonly account: AccountRef;
}

export interface OwnPixKey {
  readonly key: string;
  readonly account: AccountRef;
}

/** The provider's answer, passed on as `data`. */
export type ProviderPayload = Readonly<Record<string, unknown>>;

/** A person as registered here. The provider gets no password: none is kept that could be read. */
export interface NewPerson {
  readonly name: string;
  readonly email: string;
  /** CPF, eleven digits. */
  readonly document: string;
  /** E.164. */
  readonly phone: string;
}

/** What the provider says of an applicant; each part but the id may be missing. */
export interface RegisteredPerson {
  readonly pessoaFisicaId: string;
  readonly clientToken: string | null;
  readonly agency: string | null;
  readonly accountNumber: string | null;
}

/** An address goes out in the form that is stored. */
export type PersonAddress = Address;

/** A document on its way to the provider: read as a stream, from its beginning at each attempt. */
export interface PersonDocument {
  /** 1 to 21. */
  readonly tipoDocumento: number;
  readonly contentType: 'application/pdf' | 'image/jpeg' | 'image/png';
  readonly sizeBytes: number;
  content(): AsyncIterable<Uint8Array>;
}

/** A proposal goes out as it was asked for. */
export type AccountProposal = Proposal;

export interface LivenessSession {
  readonly sessionId: string | null;
  /** Where the person proves to be alive; http or https. */
  readonly urlIframe: string;
}

/** The provider's decision on an applicant; the account comes with an approval. */
export interface KycDecision {
  readonly status: 'PENDING' | 'APPROVED' | 'REJECTED';
  readonly clientToken: string | null;
  readonly agency: string | null;
  readonly accountNumber: string | null;
}

/** What is known of a postal code; empty where nothing is. */
export interface CepAddress {
  readonly cep: string;
  readonly logradouro: string | null;
  readonly bairro: string | null;
  readonly cidade: string | null;
  readonly estado: string | null;
}

/** What every method takes. */
export interface ProviderRequest extends CallOptions {
  readonly session?: ProviderSession;
}

/** A request that is made in a banking session. */
export interface SessionRequest extends ProviderRequest {
  readonly session: ProviderSession;
}

export type LoginRequest = ProviderRequest & Credentials;
export type StatementRequest = SessionRequest & DayRange;
export type LookUpKeyRequest = SessionRequest & KeyLookUp;
export type PayRequest = SessionRequest & { readonly order: PaymentOrder };
export type ChargeRequest = SessionRequest & { readonly order: ChargeOrder };
export type ListKeysRequest = SessionRequest & { readonly account: AccountRef };
export type CreateKeyRequest = SessionRequest & NewPixKey;
export type DeleteKeyRequest = SessionRequest & OwnPixKey;

/** A request about one applicant, by the provider's id. */
export interface PersonRequest extends ProviderRequest {
  readonly personId: string;
}

export type RegisterPersonRequest = ProviderRequest & NewPerson;
export type AddressRequest = PersonRequest & { readonly address: PersonAddress };
export type DocumentRequest = PersonRequest & { readonly document: PersonDocument };
export type ProposalRequest = PersonRequest & { readonly proposal: AccountProposal };
export type ValidationRequest = PersonRequest & { readonly tipo: number };
export type ConfirmationRequest = ValidationRequest & { readonly codigo: string };
export type CepRequest = ProviderRequest & { readonly cep: string };

/**
 * Opens an account at the provider. No banking session exists yet, so these calls carry no token.
 * The caller may repeat each of them: the provider keeps what it has.
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

  /** @returns the balance in centavos. */
  balance(request: SessionRequest): Promise<number>;

  statement(request: StatementRequest): Promise<ProviderStatement>;

  lookUpKey(request: LookUpKeyRequest): Promise<KeyOwner>;

  /**
   * Sends a payment. A {@link ProviderError} with `unknown` means that the provider may have
   * executed it, in any of the attempts.
   */
  pay(request: PayRequest): Promise<PaymentReceipt>;

  createDynamicCharge(request: ChargeRequest): Promise<ChargeCode>;
  createStaticCharge(request: ChargeRequest): Promise<ChargeCode>;
  listKeys(request: ListKeysRequest): Promise<ProviderPayload>;
  createKey(request: CreateKeyRequest): Promise<ProviderPayload>;
  deleteKey(request: DeleteKeyRequest): Promise<ProviderPayload>;
}

export type ProviderMethod = keyof Provider;
