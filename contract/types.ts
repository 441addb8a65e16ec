/**
 * The types of the contract's requests and replies, and the route of each operation.
 * Generated from contract/openapi.yaml by `node contract/generate-types.ts`; do not edit.
 */

/** A text for a person. */
export interface Message {
  message: string;
}

/** What is wrong with the request, all of it at once. */
export interface ValidationError {
  message: string;
  transaction_id?: string | undefined;
  errors: Record<string, string[]>;
}

/**
 * Why a request that needs the provider failed.
 *
 * - `PROVIDER_UNAVAILABLE`: it could not be reached, or answered that it is unavailable, and nothing
 *   was done. The same `Idempotency-Key` and a new one are both safe; a send that has failed needs a
 *   new one.
 * - `PROVIDER_TIMEOUT`: it did not answer in time. A send did not move money; before a Pix key is
 *   created or deleted again, list the keys.
 * - `PROVIDER_REJECTED`: it refused. Do not repeat unchanged.
 * - `PIX_KEY_NOT_FOUND`: no account has this Pix key. Ask the customer to check it; wrong keys use up a
 *   small allowance of look-ups.
 * - `PIX_KEY_LIMIT`: the account has as many Pix keys as it may have, five for a person and twenty
 *   for a company.
 * - `PIX_KEY_TAKEN`: the Pix key to create is registered already, here or at another bank.
 * - `INSUFFICIENT_FUNDS`: the balance is too low.
 * - `PROVIDER_RATE_LIMITED`: too many look-ups for this payer. Wait for `Retry-After`, or a minute or more.
 * - `PROVIDER_INVALID_RESPONSE`: its response could not be read. Try again later; report it if it
 *   persists.
 */
export type ProviderErrorCode =
  | 'PROVIDER_UNAVAILABLE'
  | 'PROVIDER_TIMEOUT'
  | 'PROVIDER_REJECTED'
  | 'PIX_KEY_NOT_FOUND'
  | 'PIX_KEY_LIMIT'
  | 'PIX_KEY_TAKEN'
  | 'INSUFFICIENT_FUNDS'
  | 'PROVIDER_RATE_LIMITED'
  | 'PROVIDER_INVALID_RESPONSE';

/** A failure of the provider. Decide on `code`; its own text is never in `message`. */
export interface CodedError {
  code: ProviderErrorCode;
  message: string;
  transaction_id?: string | undefined;
}

/** The bank does not offer the service. */
export interface NotAvailableError {
  code: 'NOT_AVAILABLE';
  message: string;
}

/** The operation is reserved and does not exist in this version. */
export interface NotImplementedError {
  code: 'NOT_IMPLEMENTED';
  message: string;
}

/** The credentials of a user. */
export interface LoginRequest {
  email: string;
  password: string;
}

/** The service's access token. */
export interface LoginReply {
  access_token: string;
  token_type: 'Bearer';
  expires_in: number;
}

/** The logged-in user. */
export interface User {
  id: number;
  name: string;
  email: string;
  document: string | null;
  person_type: string | null;
}

/** The state of an account. Only an `ACTIVE` one sends, charges and manages keys; reads stay open. */
export type AccountStatus = 'PENDING' | 'ACTIVE' | 'REJECTED' | 'BLOCKED';

/** The user's bank account. */
export interface Account {
  id: number;
  provider: string;
  agency: string | null;
  account_number: string | null;
  status: AccountStatus;
  bank: PixBank;
  provider_company_id: string | null;
  provider_client_token: string | null;
}

/** The user and the account; the account is null until there is one. */
export interface Me {
  user: User;
  account: Account | null;
}

/** The balance in reais, and where it was read. */
export interface Balance {
  balance: number;
  blocked?: number | undefined;
  source: 'provider' | 'local';
}

/** The state of a Pix. `COMPLETED` and `FAILED` are final. */
export type PixStatus = 'PROCESSING' | 'COMPLETED' | 'FAILED';

/**
 * What the app does next with a payment or a return.
 *
 * - `done`: it is paid.
 * - `wait`: follow it with `GET /pix/{transactionId}`; never pay again with a new key.
 * - `correct`: show the errors beside the fields; the corrected request has the **same key**.
 * - `repeat`: send the same request with the **same key** while the customer waits, for two minutes.
 * - `log-in`: log in, then send the same request with the **same key**, within the same two minutes.
 * - `new-key`: it has failed. If the customer decides on a new payment, that one has a **new key**; never
 *   send it without a new decision.
 * - `ask`: show the list of payments first: this one may have been made, or the key is another payment's.
 *
 * More may be added: treat an unknown one as `ask`.
 */
export type PixNext = 'done' | 'wait' | 'correct' | 'repeat' | 'log-in' | 'new-key' | 'ask';

/** Why a transaction has failed. */
export interface PixReceiptFailure {
  code: string;
  message: string;
}

/**
 * Why a payment is `PROCESSING` for long. `UNDER_ANALYSIS`: the bank holds it, to protect the
 * payer from fraud, at most 30 minutes by day and 60 by night; inform the customer, and go on
 * waiting. `BEING_CHECKED`: the bank has not said for 15 minutes whether it has made the
 * payment, and it is checked; inform the customer, and never pay again meanwhile. Absent
 * otherwise. Further words may be added: ignore those that you do not know.
 */
export type PixDetail = 'UNDER_ANALYSIS' | 'BEING_CHECKED';

/** A transaction that this service knows. */
export interface StatementItem {
  id: string;
  type: 'PIX_SEND' | 'PIX_CHARGE' | 'PIX_RECEIVED';
  amount: number;
  status: PixStatus;
  pix_key: string | null;
  provider_txid: string | null;
  created_at: string;
  payer?: PixReceiptParty | undefined;
  payee?: PixReceiptParty | undefined;
  description?: string | undefined;
  end_to_end?: string | undefined;
}

/** A refund that this service knows, in the statement. */
export interface StatementRefund {
  id: string;
  type: 'PIX_REFUND_IN' | 'PIX_REFUND_OUT';
  amount: number;
  status: PixStatus;
  original_transaction_id: string;
  return_id: string;
  provider_txid: string | null;
  created_at: string;
  payer?: PixReceiptParty | undefined;
  payee?: PixReceiptParty | undefined;
  description?: string | undefined;
  end_to_end?: string | undefined;
}

/** An item of the provider's statement, passed on unchanged. */
export type RemoteStatementItem = Record<string, unknown>;

/** The statement of a period, in two lists that may overlap. */
export interface Statement {
  items: {
    local: StatementItem[];
    remote: RemoteStatementItem[];
    refunds?: StatementRefund[] | undefined;
  };
}

/**
 * A payment. Name the payee by `pix_key`, with an `amount`, or by `copy_paste`, not by both: a
 * static code names the key, and often the amount. A dynamic code also needs its `lookup_id`.
 */
export interface SendPixRequest {
  pix_key?: string | undefined;
  amount?: number | undefined;
  description?: string | undefined;
  copy_paste?: PixCode | undefined;
  lookup_id?: string | undefined;
}

/**
 * The text of a Pix QR code (copia e cola), at most 512 characters. Space and quotation marks around it, and
 * invisible characters and line breaks anywhere in it, are ignored.
 */
export type PixCode = string;

/** The code to read. */
export interface DecodePixCodeRequest {
  copy_paste: PixCode;
}

/** What a Pix code says. A field that the code does not have is absent. */
export interface DecodedPixCode {
  kind: ChargeType;
  one_time: boolean;
  purpose?: 'PIX_SAQUE' | 'PIX_AUTOMATICO' | undefined;
  url?: string | undefined;
  pix_key?: string | undefined;
  key_type?: PixKeyType | undefined;
  pix_key_type?: PixKeyType | undefined;
  state?: 'PAYABLE' | 'PAID' | 'EXPIRED' | 'REMOVED' | undefined;
  payee?: PixPayee | undefined;
  amount?: number | undefined;
  amount_changeable?: boolean | undefined;
  minimum_amount?: number | undefined;
  maximum_amount?: number | undefined;
  original_amount?: number | undefined;
  discount?: number | undefined;
  interest?: number | undefined;
  fine?: number | undefined;
  due_date?: string | undefined;
  charge_expires_at?: string | undefined;
  lookup_id?: string | undefined;
  expires_at?: string | undefined;
  unread?: ProviderErrorCode | undefined;
  payee_name: string;
  payee_city: string;
  description?: string | undefined;
  txid?: string | undefined;
}

/** Who is paid by a `dynamic` code, as the payee's bank says it. A field that it does not send is absent. */
export interface PixPayee {
  name?: string | undefined;
  document?: string | undefined;
  bank?: PixBank | undefined;
  institution?: string | undefined;
}

/** The key to look up. */
export interface LookUpPixKeyRequest {
  pix_key: string;
}

/** The owner of a Pix key. A field that the provider does not send is absent. */
export interface PixKeyOwner {
  pix_key: string;
  key_type?: PixKeyType | undefined;
  pix_key_type?: PixKeyType | undefined;
  ambiguous?: boolean | undefined;
  name?: string | undefined;
  document?: string | undefined;
  bank?: PixBank | undefined;
  institution?: string | undefined;
  lookup_id: string;
  expires_at: string;
}

/** A sent Pix. */
export interface PixTransaction {
  transaction_id: string;
  status: PixStatus;
  failure?: PixReceiptFailure | undefined;
  detail?: PixDetail | undefined;
  end_to_end?: string | undefined;
}

/** A return of a received Pix. */
export interface RefundPixRequest {
  amount: number;
  reason: 'WRONG_AMOUNT' | 'PAID_TWICE' | 'ORDER_CANCELLED' | 'NOT_EXPECTED' | 'OTHER';
}

/** A return of a received Pix. */
export interface PixRefund {
  transaction_id: string;
  status: PixStatus;
  failure?: PixReceiptFailure | undefined;
  detail?: PixDetail | undefined;
  return_id?: string | undefined;
}

/** `dynamic`: a charge that expires. `static`: a code that does not expire. */
export type ChargeType = 'dynamic' | 'static';

/** A named text that the payer sees with the charge. */
export interface AdditionalDatum {
  name: string;
  value: string;
}

/** A charge and what its QR code shows. */
export interface ChargeRequest {
  type: ChargeType;
  amount: number;
  description?: string | undefined;
  key?: string | undefined;
  receiver_name?: string | undefined;
  city?: string | undefined;
  zipcode?: string | undefined;
  expiration_qr?: number | undefined;
  payer_name?: string | undefined;
  payer_cpf?: string | undefined;
  reusable?: boolean | undefined;
  code_category?: string | undefined;
  additional_data?: AdditionalDatum[] | undefined;
}

/** A charge and its QR code. */
export interface Charge {
  transaction_id: string;
  status: PixStatus;
  failure?: PixReceiptFailure | undefined;
  qr_code?: string | undefined;
  copy_paste?: string | undefined;
  expires_at?: string | undefined;
}

/** A Pix as the service knows it; `qr_code`, `copy_paste` and `expires_at` only for charges, when stored. */
export interface PixTransactionView {
  transaction_id: string;
  status: PixStatus;
  failure?: PixReceiptFailure | undefined;
  detail?: PixDetail | undefined;
  qr_code?: string | undefined;
  copy_paste?: string | undefined;
  expires_at?: string | undefined;
  corrected_at?: string | undefined;
  paid_again_by?: string | undefined;
  overruled_at?: string | undefined;
}

/** What a transaction is. `PIX_SEND` is sent, `PIX_CHARGE` a charge, `PIX_RECEIVED` received without a charge; `PIX_REFUND_IN` came back, `PIX_REFUND_OUT` was returned. */
export type PixType =
  'PIX_SEND' | 'PIX_CHARGE' | 'PIX_RECEIVED' | 'PIX_REFUND_IN' | 'PIX_REFUND_OUT';

/** A Pix in a list. `qr_code`, `copy_paste` and `expires_at` only for charges, when stored. */
export interface PixListItem {
  transaction_id: string;
  type: PixType;
  amount: number;
  status: PixStatus;
  failure?: PixReceiptFailure | undefined;
  detail?: PixDetail | undefined;
  created_at: string;
  qr_code?: string | undefined;
  copy_paste?: string | undefined;
  expires_at?: string | undefined;
  corrected_at?: string | undefined;
  paid_again_by?: string | undefined;
  overruled_at?: string | undefined;
  payer?: PixReceiptParty | undefined;
  payee?: PixReceiptParty | undefined;
  description?: string | undefined;
  end_to_end?: string | undefined;
  return_id?: string | undefined;
  original_transaction_id?: string | undefined;
}

/** A page of the user's transactions, newest first. */
export interface PixPage {
  items: PixListItem[];
  next_cursor?: string | undefined;
}

/** The payer or the payee, as far as they are known. */
export interface PixReceiptParty {
  name?: string | undefined;
  document?: string | undefined;
  bank?: PixBank | undefined;
  institution?: PixReceiptInstitution | undefined;
  key?: string | undefined;
}

/** The institution of an account. */
export interface PixBank {
  ispb: string;
  name: string | null;
  document?: string | undefined;
}

/** The institution of an account, without its name; read `bank` instead. */
export interface PixReceiptInstitution {
  ispb: string;
}

/** What a receipt of a Pix shows. Unknown parts are left out. */
export interface PixReceipt {
  transaction_id: string;
  type: PixType;
  status: PixStatus;
  amount: number;
  currency: 'BRL';
  created_at: string;
  settled_at?: string | undefined;
  corrected_at?: string | undefined;
  paid_again_by?: string | undefined;
  overruled_at?: string | undefined;
  expires_at?: string | undefined;
  end_to_end?: string | undefined;
  return_id?: string | undefined;
  original_transaction_id?: string | undefined;
  refunded_amount?: number | undefined;
  description?: string | undefined;
  payer?: PixReceiptParty | undefined;
  payee?: PixReceiptParty | undefined;
  failure?: PixReceiptFailure | undefined;
  issued_at: string;
}

/** The type of a Pix key: tax id, phone, e-mail, or random. */
export type PixKeyType =
  'CPF' | 'CNPJ' | 'CELULAR' | 'E_MAIL' | 'EVP_ENDERECO_VIRTUAL_DE_PAGAMENTO';

/** The key to create. */
export interface CreatePixKeyRequest {
  key_type: PixKeyType;
  email?: string | undefined;
}

/** The limits of a customer's sends. Hours are those of the clock in São Paulo. */
export interface PixLimits {
  period: 'day' | 'night';
  day: PixLimit;
  night: PixLimit;
  companies: PixLimitsOfPayees;
  own_document: PixLimitsOfPayees;
  night_from: 20 | 22;
  pending_night_from?: { night_from: 20 | 22; applies_at: string } | undefined;
}

/** The limits of sends to one class of payees. */
export interface PixLimitsOfPayees {
  day: PixLimit;
  night: PixLimit;
}

/** The limit of a period, in reais. */
export interface PixLimit {
  limit: number | null;
  left: number | null;
  own: number | null;
  maximum: number | null;
  renews_at: string;
  pending_own?: PendingPixLimit | undefined;
  pending_maximum?: PendingPixLimit | undefined;
}

/** An amount that applies later. */
export interface PendingPixLimit {
  amount: number | null;
  applies_at: string;
}

/**
 * What happened.
 *
 * - `SCAM`: the customer was deceived into sending it (golpe).
 * - `ACCOUNT_TAKEOVER`: someone else has sent it, from the customer's account.
 * - `COERCION`: the customer was forced to send it (coação).
 * - `FRAUDULENT_ACCESS`: someone had access to the customer's device or credentials.
 * - `OTHER`: another fraud; say it in `details`.
 */
export type DisputeSituation =
  'SCAM' | 'ACCOUNT_TAKEOVER' | 'COERCION' | 'FRAUDULENT_ACCESS' | 'OTHER';

/** What happened. */
export interface OpenDisputeRequest {
  situation: DisputeSituation;
  details?: string | undefined;
}

/**
 * - `REQUESTED`: stored here; the bank has not answered yet.
 * - `REFUSED`: the bank has not taken the request, and no dispute is open. It may be requested again.
 * - `OPEN`: the bank has the dispute.
 * - `ACCEPTED`: the bank has accepted it. Money that comes back is a refund of the payment.
 * - `REJECTED`: the bank has rejected it.
 * - `WITHDRAWN`: the customer has withdrawn it.
 */
export type DisputeStatus =
  'REQUESTED' | 'REFUSED' | 'OPEN' | 'ACCEPTED' | 'REJECTED' | 'WITHDRAWN';

/** The dispute of a payment. */
export interface PixDispute {
  transaction_id: string;
  status: DisputeStatus;
  situation?: DisputeSituation | undefined;
  requested_at: string;
  opened_at?: string | undefined;
  withdrawal_requested_at?: string | undefined;
  ended_at?: string | undefined;
  refunded_amount?: number | undefined;
}

/** The limits that the customer sets. An absent field stays as it is. */
export interface SetPixLimitsRequest {
  password: string;
  day?: number | null | undefined;
  night?: number | null | undefined;
  companies?: SetPixLimitsOfPayees | undefined;
  own_document?: SetPixLimitsOfPayees | undefined;
  night_from?: 20 | 22 | undefined;
}

/** The limits that the customer sets for one class of payees. An absent field stays as it is. */
export interface SetPixLimitsOfPayees {
  day?: number | null | undefined;
  night?: number | null | undefined;
}

/** The key to remove. */
export interface DeletePixKeyRequest {
  key: string;
}

/** The provider's payload about Pix keys. */
export interface PixKeysReply {
  data: Record<string, unknown>;
}

/** The person who opens an account. */
export interface StartOnboardingRequest {
  name: string;
  email: string;
  password: string;
  password_confirmation: string;
  document: string;
  phone: string;
}

/** The person who opens an account, and the address when it is known. */
export interface RegisterPfRequest {
  name: string;
  email: string;
  password: string;
  password_confirmation: string;
  document: string;
  phone: string;
  address?: OnboardingAddress | undefined;
}

/** The result of the single-request registration. */
export interface RegisterPfReply {
  user_id: number;
  account_id: number | null;
  onboarding_id: string;
  pessoa_fisica_id: string | null;
  message: string;
  onboarding: OnboardingApplication;
}

/** The company that would open an account, and the person responsible for it. */
export interface RegisterPjRequest {
  name: string;
  company_name: string;
  email: string;
  password: string;
  password_confirmation: string;
  document: string;
  phone: string;
}

/** The state of an application. `APPROVED` and `REJECTED` are final. */
export type OnboardingStatus = 'IN_PROGRESS' | 'UNDER_ANALYSIS' | 'APPROVED' | 'REJECTED';

/** The state of the analysis of an applicant. */
export type KycStatus = 'PENDING' | 'APPROVED' | 'REJECTED';

/** One step of an application. */
export interface OnboardingStep {
  name:
    | 'registration'
    | 'address'
    | 'documents'
    | 'proposal'
    | 'electronic_validation'
    | 'electronic_validation_confirm'
    | 'prova_vida'
    | 'kyc'
    | 'account';
  status: 'pending' | 'queued' | 'done' | 'failed' | 'not_required';
  attempts: number;
  updated_at: string | null;
  error: string | null;
}

/** An individual's application for an account. */
export interface OnboardingApplication {
  id: string;
  user_id: number;
  person_type: string;
  status: OnboardingStatus;
  name: string;
  email: string;
  document: string;
  phone: string;
  provider: {
    pessoa_fisica_id: string | null;
    client_token: string | null;
    agency: string | null;
    account_number: string | null;
  };
  prova_vida: { session_id: string | null; url_iframe: string | null };
  kyc_status: KycStatus | null;
  conta_bancaria_criada: boolean;
  steps: OnboardingStep[];
}

/** An address in Brazil. Some towns have one CEP, which ends in 000, and no districts. */
export interface OnboardingAddress {
  cep: string;
  logradouro: string;
  numero: string;
  complemento?: string | null | undefined;
  bairro?: string | undefined;
  cidade: string;
  estado: string;
}

/**
 * What is known of a CEP. Street and district are empty or null where a town has one CEP: ask the
 * person for them. Other fields may be present.
 */
export interface CepAddress {
  cep?: string | null | undefined;
  logradouro?: string | null | undefined;
  bairro?: string | null | undefined;
  cidade?: string | null | undefined;
  estado?: string | null | undefined;
  [name: string]: unknown;
}

/** The response of a CEP look-up. */
export interface CepReply {
  cep: CepAddress;
}

/** One document of the person. */
export interface SubmitDocumentRequest {
  tipo_documento: number;
  arquivo: unknown;
}

/** The requested product. */
export interface ProposalRequest {
  tipo?: string | undefined;
  observacoes?: string | undefined;
  valor_solicitado?: number | undefined;
}

/** The kind of validation. */
export interface ElectronicValidationRequest {
  tipo?: number | undefined;
}

/** The code that the person received. */
export interface ConfirmElectronicValidationRequest {
  codigo?: string | undefined;
  tipo?: number | undefined;
}

/** A step was accepted; the application shows the progress. */
export interface StepAccepted {
  message: string;
  application: OnboardingApplication;
}

/** The proof-of-life session. */
export interface ProvaVidaReply {
  application: OnboardingApplication;
  url_iframe: string;
}

/** The application with its refreshed KYC status. */
export interface KycReply {
  application: OnboardingApplication;
}

/** An event of the provider, or a batch, in any shape. What cannot be read is stored and ignored. A bare text, number, `true`, `false` or `null` is refused. */
export type ProviderEvent = Record<string, unknown> | unknown[];

/** The proof that an event is stored. */
export interface WebhookReceipt {
  message: string;
  event_id: string;
  duplicate: boolean;
}

/** The input and the replies of each operation, by operationId. */
export interface Operations {
  /** Log in and get an access token. */
  login: {
    path: Record<string, never>;
    query: Record<string, never>;
    headers: Record<string, never>;
    body: LoginRequest;
    replies: {
      200: LoginReply;
      400: Message;
      413: Message;
      415: Message;
      422: ValidationError;
      429: Message;
      502: CodedError;
      503: Message;
    };
  };
  /** Log out and end the banking session. */
  logout: {
    path: Record<string, never>;
    query: Record<string, never>;
    headers: Record<string, never>;
    body: undefined;
    replies: { 200: Message; 401: Message; 429: Message; 503: Message };
  };
  /** The user and the account. */
  getMe: {
    path: Record<string, never>;
    query: Record<string, never>;
    headers: Record<string, never>;
    body: undefined;
    replies: { 200: Me; 401: Message; 429: Message; 503: Message };
  };
  /** The account's balance. */
  getBalance: {
    path: Record<string, never>;
    query: Record<string, never>;
    headers: Record<string, never>;
    body: undefined;
    replies: { 200: Balance; 401: Message; 404: Message; 429: Message; 503: Message };
  };
  /** The account's statement. */
  getStatement: {
    path: Record<string, never>;
    query: { start_date?: string | undefined; end_date?: string | undefined };
    headers: Record<string, never>;
    body: undefined;
    replies: { 200: Statement; 401: Message; 422: ValidationError; 429: Message; 503: Message };
  };
  /** Register an individual in one request. */
  registerPf: {
    path: Record<string, never>;
    query: Record<string, never>;
    headers: Record<string, never>;
    body: RegisterPfRequest;
    replies: {
      201: RegisterPfReply;
      400: Message;
      413: Message;
      415: Message;
      422: ValidationError;
      429: Message;
      503: Message;
    };
  };
  /** Register a company (not implemented). */
  registerPj: {
    path: Record<string, never>;
    query: Record<string, never>;
    headers: Record<string, never>;
    body: RegisterPjRequest;
    replies: {
      400: Message;
      413: Message;
      415: Message;
      429: Message;
      501: NotImplementedError;
      503: Message;
    };
  };
  /** Send a Pix. */
  sendPix: {
    path: Record<string, never>;
    query: Record<string, never>;
    headers: { 'Idempotency-Key': string };
    body: SendPixRequest;
    replies: {
      200: PixTransaction;
      400: Message;
      401: Message;
      413: Message;
      415: Message;
      422: ValidationError;
      429: Message;
      501: NotAvailableError;
      502: CodedError;
      503: Message;
    };
  };
  /** Give a send up. */
  cancelPix: {
    path: Record<string, never>;
    query: Record<string, never>;
    headers: { 'Idempotency-Key': string };
    body: undefined;
    replies: {
      200: PixTransaction;
      401: Message;
      422: ValidationError;
      429: Message;
      503: Message;
    };
  };
  /** Charge by Pix with a QR code. */
  createCharge: {
    path: Record<string, never>;
    query: Record<string, never>;
    headers: { 'Idempotency-Key': string };
    body: ChargeRequest;
    replies: {
      200: Charge;
      400: Message;
      401: Message;
      413: Message;
      415: Message;
      422: ValidationError;
      429: Message;
      502: CodedError;
      503: Message;
    };
  };
  /** Read a Pix code. */
  decodePixCode: {
    path: Record<string, never>;
    query: Record<string, never>;
    headers: Record<string, never>;
    body: DecodePixCodeRequest;
    replies: {
      200: DecodedPixCode;
      400: Message;
      401: Message;
      413: Message;
      415: Message;
      422: ValidationError;
      429: Message;
      503: Message;
    };
  };
  /** Look up the owner of a Pix key. */
  lookUpPixKey: {
    path: Record<string, never>;
    query: Record<string, never>;
    headers: Record<string, never>;
    body: LookUpPixKeyRequest;
    replies: {
      200: PixKeyOwner;
      400: Message;
      401: Message;
      413: Message;
      415: Message;
      422: ValidationError;
      429: Message;
      502: CodedError;
      503: Message;
    };
  };
  /** List the user's Pix transactions. */
  listPixTransactions: {
    path: Record<string, never>;
    query: {
      type?: PixType | undefined;
      status?: PixStatus | undefined;
      start_date?: string | undefined;
      end_date?: string | undefined;
      limit?: number | undefined;
      cursor?: string | undefined;
    };
    headers: Record<string, never>;
    body: undefined;
    replies: { 200: PixPage; 401: Message; 422: ValidationError; 429: Message; 503: Message };
  };
  /** Follow a Pix. */
  getPixTransaction: {
    path: { transactionId: string };
    query: Record<string, never>;
    headers: { 'If-None-Match'?: string | undefined; Prefer?: string | undefined };
    body: undefined;
    replies: {
      200: PixTransactionView;
      304: undefined;
      401: Message;
      404: Message;
      429: Message;
      503: Message;
    };
  };
  /** The receipt of a Pix. */
  getPixReceipt: {
    path: { transactionId: string };
    query: Record<string, never>;
    headers: Record<string, never>;
    body: undefined;
    replies: { 200: PixReceipt; 401: Message; 404: Message; 429: Message; 503: Message };
  };
  /** The dispute of a payment. */
  getDispute: {
    path: { transactionId: string };
    query: Record<string, never>;
    headers: Record<string, never>;
    body: undefined;
    replies: {
      200: PixDispute;
      401: Message;
      404: Message;
      422: ValidationError;
      429: Message;
      501: NotAvailableError;
      503: Message;
    };
  };
  /** Dispute a payment. */
  openDispute: {
    path: { transactionId: string };
    query: Record<string, never>;
    headers: Record<string, never>;
    body: OpenDisputeRequest;
    replies: {
      200: PixDispute;
      400: Message;
      401: Message;
      404: Message;
      413: Message;
      415: Message;
      422: ValidationError;
      429: Message;
      501: NotAvailableError;
      502: CodedError;
      503: Message;
    };
  };
  /** Withdraw an open dispute. */
  withdrawDispute: {
    path: { transactionId: string };
    query: Record<string, never>;
    headers: Record<string, never>;
    body: undefined;
    replies: {
      200: PixDispute;
      401: Message;
      404: Message;
      422: ValidationError;
      429: Message;
      501: NotAvailableError;
      502: CodedError;
      503: Message;
    };
  };
  /** Return a received Pix. */
  refundPix: {
    path: { transactionId: string };
    query: Record<string, never>;
    headers: { 'Idempotency-Key': string };
    body: RefundPixRequest;
    replies: {
      200: PixRefund;
      400: Message;
      401: Message;
      404: Message;
      413: Message;
      415: Message;
      422: ValidationError;
      429: Message;
      501: NotAvailableError;
      502: CodedError;
      503: Message;
    };
  };
  /** Give a return up. */
  cancelRefund: {
    path: { transactionId: string };
    query: Record<string, never>;
    headers: { 'Idempotency-Key': string };
    body: undefined;
    replies: {
      200: PixRefund;
      401: Message;
      404: Message;
      422: ValidationError;
      429: Message;
      503: Message;
    };
  };
  /** The limits of the caller's sends. */
  getPixLimits: {
    path: Record<string, never>;
    query: Record<string, never>;
    headers: Record<string, never>;
    body: undefined;
    replies: { 200: PixLimits; 401: Message; 422: ValidationError; 429: Message; 503: Message };
  };
  /** Set the caller's own limits. */
  setPixLimits: {
    path: Record<string, never>;
    query: Record<string, never>;
    headers: Record<string, never>;
    body: SetPixLimitsRequest;
    replies: {
      200: PixLimits;
      400: Message;
      401: Message;
      413: Message;
      415: Message;
      422: ValidationError;
      429: Message;
      503: Message;
    };
  };
  /** List the account's Pix keys. */
  listPixKeys: {
    path: Record<string, never>;
    query: Record<string, never>;
    headers: Record<string, never>;
    body: undefined;
    replies: {
      200: PixKeysReply;
      401: Message;
      422: ValidationError;
      429: Message;
      502: CodedError;
      503: Message;
    };
  };
  /** Create a Pix key. */
  createPixKey: {
    path: Record<string, never>;
    query: Record<string, never>;
    headers: Record<string, never>;
    body: CreatePixKeyRequest;
    replies: {
      201: PixKeysReply;
      400: Message;
      401: Message;
      413: Message;
      415: Message;
      422: ValidationError;
      429: Message;
      502: CodedError;
      503: Message;
    };
  };
  /** Delete a Pix key. */
  deletePixKey: {
    path: Record<string, never>;
    query: Record<string, never>;
    headers: Record<string, never>;
    body: DeletePixKeyRequest;
    replies: {
      200: PixKeysReply;
      400: Message;
      401: Message;
      413: Message;
      415: Message;
      422: ValidationError;
      429: Message;
      502: CodedError;
      503: Message;
    };
  };
  /** Start an individual's onboarding. */
  startOnboarding: {
    path: Record<string, never>;
    query: Record<string, never>;
    headers: Record<string, never>;
    body: StartOnboardingRequest;
    replies: {
      201: OnboardingApplication;
      400: Message;
      413: Message;
      415: Message;
      422: ValidationError;
      429: Message;
      503: Message;
    };
  };
  /** Look up a postal code. */
  lookUpCep: {
    path: { cep: string };
    query: Record<string, never>;
    headers: Record<string, never>;
    body: undefined;
    replies: { 200: CepReply; 422: ValidationError; 429: Message; 502: CodedError; 503: Message };
  };
  /** The current application. */
  getOnboarding: {
    path: { applicationId: string };
    query: Record<string, never>;
    headers: Record<string, never>;
    body: undefined;
    replies: { 200: OnboardingApplication; 404: Message; 429: Message; 503: Message };
  };
  /** Submit the address. */
  submitAddress: {
    path: { applicationId: string };
    query: Record<string, never>;
    headers: Record<string, never>;
    body: OnboardingAddress;
    replies: {
      201: OnboardingApplication;
      400: Message;
      404: Message;
      413: Message;
      415: Message;
      422: ValidationError;
      429: Message;
      503: Message;
    };
  };
  /** Upload one document. */
  submitDocument: {
    path: { applicationId: string };
    query: Record<string, never>;
    headers: Record<string, never>;
    body: SubmitDocumentRequest;
    replies: {
      201: OnboardingApplication;
      400: Message;
      404: Message;
      413: Message;
      415: Message;
      422: ValidationError;
      429: Message;
      503: Message;
    };
  };
  /** Request the account. */
  submitProposal: {
    path: { applicationId: string };
    query: Record<string, never>;
    headers: Record<string, never>;
    body: ProposalRequest | undefined;
    replies: {
      202: StepAccepted;
      400: Message;
      404: Message;
      413: Message;
      415: Message;
      422: ValidationError;
      429: Message;
      503: Message;
    };
  };
  /** Request the validation code. */
  requestElectronicValidation: {
    path: { applicationId: string };
    query: Record<string, never>;
    headers: Record<string, never>;
    body: ElectronicValidationRequest | undefined;
    replies: {
      202: StepAccepted;
      400: Message;
      404: Message;
      413: Message;
      415: Message;
      422: ValidationError;
      429: Message;
      503: Message;
    };
  };
  /** Confirm the validation code. */
  confirmElectronicValidation: {
    path: { applicationId: string };
    query: Record<string, never>;
    headers: Record<string, never>;
    body: ConfirmElectronicValidationRequest | undefined;
    replies: {
      202: StepAccepted;
      400: Message;
      404: Message;
      413: Message;
      415: Message;
      422: ValidationError;
      429: Message;
      503: Message;
    };
  };
  /** Start the proof of life. */
  startProvaVida: {
    path: { applicationId: string };
    query: Record<string, never>;
    headers: Record<string, never>;
    body: undefined;
    replies: {
      202: ProvaVidaReply;
      404: Message;
      422: ValidationError;
      429: Message;
      502: CodedError;
      503: Message;
    };
  };
  /** Refresh the KYC decision. */
  getKyc: {
    path: { applicationId: string };
    query: Record<string, never>;
    headers: Record<string, never>;
    body: undefined;
    replies: { 200: KycReply; 404: Message; 429: Message; 503: Message };
  };
  /** Retry the unfinished steps. */
  syncOnboarding: {
    path: { applicationId: string };
    query: Record<string, never>;
    headers: Record<string, never>;
    body: undefined;
    replies: { 202: StepAccepted; 404: Message; 422: ValidationError; 429: Message; 503: Message };
  };
  /** Receive an event of the provider. */
  receiveProviderWebhook: {
    path: Record<string, never>;
    query: Record<string, never>;
    headers: Record<string, never>;
    body: ProviderEvent;
    replies: {
      200: WebhookReceipt;
      400: Message;
      401: Message;
      413: Message;
      415: Message;
      422: ValidationError;
      429: Message;
      503: Message;
    };
  };
}

/** The name of an operation of the contract. */
export type OperationId = keyof Operations;

/** Where each operation is found, below the server of the contract. */
export const routes = {
  login: { method: 'POST', path: '/auth/login' },
  logout: { method: 'POST', path: '/auth/logout' },
  getMe: { method: 'GET', path: '/accounts/me' },
  getBalance: { method: 'GET', path: '/accounts/balance' },
  getStatement: { method: 'GET', path: '/accounts/statement' },
  registerPf: { method: 'POST', path: '/accounts/pf' },
  registerPj: { method: 'POST', path: '/accounts/pj' },
  sendPix: { method: 'POST', path: '/pix/send' },
  cancelPix: { method: 'POST', path: '/pix/send/cancel' },
  createCharge: { method: 'POST', path: '/pix/charge' },
  decodePixCode: { method: 'POST', path: '/pix/decode' },
  lookUpPixKey: { method: 'POST', path: '/pix/lookup' },
  listPixTransactions: { method: 'GET', path: '/pix' },
  getPixTransaction: { method: 'GET', path: '/pix/{transactionId}' },
  getPixReceipt: { method: 'GET', path: '/pix/{transactionId}/receipt' },
  getDispute: { method: 'GET', path: '/pix/{transactionId}/dispute' },
  openDispute: { method: 'POST', path: '/pix/{transactionId}/dispute' },
  withdrawDispute: { method: 'DELETE', path: '/pix/{transactionId}/dispute' },
  refundPix: { method: 'POST', path: '/pix/{transactionId}/refund' },
  cancelRefund: { method: 'POST', path: '/pix/{transactionId}/refund/cancel' },
  getPixLimits: { method: 'GET', path: '/pix/limits' },
  setPixLimits: { method: 'PUT', path: '/pix/limits' },
  listPixKeys: { method: 'GET', path: '/pix/keys' },
  createPixKey: { method: 'POST', path: '/pix/keys' },
  deletePixKey: { method: 'DELETE', path: '/pix/keys' },
  startOnboarding: { method: 'POST', path: '/onboarding/pf' },
  lookUpCep: { method: 'GET', path: '/onboarding/cep/{cep}' },
  getOnboarding: { method: 'GET', path: '/onboarding/{applicationId}' },
  submitAddress: { method: 'POST', path: '/onboarding/{applicationId}/address' },
  submitDocument: { method: 'POST', path: '/onboarding/{applicationId}/documents' },
  submitProposal: { method: 'POST', path: '/onboarding/{applicationId}/proposal' },
  requestElectronicValidation: {
    method: 'POST',
    path: '/onboarding/{applicationId}/electronic-validation',
  },
  confirmElectronicValidation: {
    method: 'POST',
    path: '/onboarding/{applicationId}/electronic-validation/confirm',
  },
  startProvaVida: { method: 'POST', path: '/onboarding/{applicationId}/prova-vida' },
  getKyc: { method: 'GET', path: '/onboarding/{applicationId}/kyc' },
  syncOnboarding: { method: 'POST', path: '/onboarding/{applicationId}/sync' },
  receiveProviderWebhook: { method: 'POST', path: '/webhooks/provider' },
} as const;
