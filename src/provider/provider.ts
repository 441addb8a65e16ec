/**
 * The port: all that Ponte asks of the banking provider behind it. Amounts are integer centavos;
 * wire types never pass here. Every method rejects with a {@link ProviderError} and nothing else.
 */
import type { PixStatus } from '../domain/pix.ts';

/**
 * The banking session that a call is made in. The provider layer knows nothing of the database:
 * it asks here when its token is refused.
 */
export interface ProviderSession {
  readonly userId: number;
  readonly token: string;
  /** The token of the same session if another login has renewed it since, or null. */
  renewedToken(refusedToken: string): Promise<string | null>;
  /** Marks the session expired, unless it has been renewed since `refusedToken` was read. */
  expire(refusedToken: string): Promise<void>;
}

/** What goes with every call: when to give up early, and what ties the log lines together. */
export interface CallOptions {
  readonly signal?: AbortSignal;
  readonly requestId?: string;
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

/** One payment that the provider's statement shows as executed. */
export interface StatementPayment {
  readonly endToEnd: string;
  readonly amountCents: number;
}

export interface ProviderStatement {
  readonly items: readonly ProviderStatementItem[];
  /** The items that could be read as executed PIX payments going out. */
  readonly payments: readonly StatementPayment[];
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

export interface Provider {
  login(credentials: Credentials, options?: CallOptions): Promise<ProviderLogin>;

  /** @returns the balance in centavos. */
  balance(session: ProviderSession, options?: CallOptions): Promise<number>;

  statement(
    session: ProviderSession,
    range: DayRange,
    options?: CallOptions,
  ): Promise<ProviderStatement>;

  lookUpKey(session: ProviderSession, lookUp: KeyLookUp, options?: CallOptions): Promise<KeyOwner>;

  /**
   * Sends a payment. A {@link ProviderError} with `unknown` means that it may have been executed,
   * whichever attempt that was.
   */
  pay(
    session: ProviderSession,
    order: PaymentOrder,
    options?: CallOptions,
  ): Promise<PaymentReceipt>;

  createDynamicCharge(
    session: ProviderSession,
    order: ChargeOrder,
    options?: CallOptions,
  ): Promise<ChargeCode>;

  createStaticCharge(
    session: ProviderSession,
    order: ChargeOrder,
    options?: CallOptions,
  ): Promise<ChargeCode>;

  listKeys(
    session: ProviderSession,
    account: AccountRef,
    options?: CallOptions,
  ): Promise<ProviderPayload>;

  createKey(
    session: ProviderSession,
    key: NewPixKey,
    options?: CallOptions,
  ): Promise<ProviderPayload>;

  deleteKey(
    session: ProviderSession,
    key: OwnPixKey,
    options?: CallOptions,
  ): Promise<ProviderPayload>;
}
