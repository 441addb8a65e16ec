/**
 * The types of the contract's requests and replies, and the route of each operation.
 * Generated from contract/provider.yaml by `node contract/generate-types.ts`; do not edit.
 */

/** An error, in the shape of RFC 9457. */
export interface Problem {
  type?: string | undefined;
  title?: string | undefined;
  status?: number | undefined;
  code?: string | undefined;
  detail?: string | undefined;
}

/** An amount in Brazilian reais. */
export type Reais = number;

/** The customer's own credentials at the provider. */
export interface Credentials {
  email: string;
  password: string;
}

/** The token and, where the provider includes it, the account. The end of the token is `expires_in`, `expiresAt`, or the `exp` of a token that is a JWT. */
export interface Login {
  access_token: string;
  token_type?: string | undefined;
  expires_in?: number | undefined;
  expiresAt?: string | undefined;
  name?: string | undefined;
  agency?: string | undefined;
  accountNumber?: string | undefined;
  digitAccount?: string | undefined;
  document?: string | undefined;
  companyId?: string | number | undefined;
  clientToken?: string | undefined;
}

/** The balance in reais; an account may be overdrawn. */
export interface Balance {
  balance: number;
  blocked?: number | undefined;
}

/** The movements. Ponte passes each on to the app as it is. */
export interface Statement {
  items: Payload[];
}

/** An object of the provider, passed on as it is. */
export type Payload = Record<string, unknown>;

/** A key, and who wants to pay to it. */
export interface KeyLookUp {
  payerId: string;
  key: string;
}

/** The id for a payment to the key. Ponte refuses a response that names another key. */
export interface KeyOwner {
  endToEnd: string;
  key?: string | undefined;
  keyType?: string | undefined;
  account?: { participant?: string | undefined } | undefined;
  owner?: { name?: string | undefined; taxIdNumber?: string | undefined } | undefined;
}

/** A dynamic code, and who wants to pay it. */
export interface CodeLookUp {
  payerId: string;
  emv: string;
}

/**
 * A charge (cob) or a charge with a due date (cobv). Ponte refuses a response whose state it does not
 * know, and one of a payable charge without an amount or an end-to-end id.
 */
export interface CodeCharge {
  status: string;
  endToEnd?: string | undefined;
  key: string;
  transactionIdentification: string;
  amount?: Reais | undefined;
  amountChangeable?: boolean | undefined;
  minimumAmount?: Reais | undefined;
  maximumAmount?: Reais | undefined;
  originalAmount?: Reais | undefined;
  discount?: Reais | undefined;
  interest?: Reais | undefined;
  fine?: Reais | undefined;
  dueDate?: string | undefined;
  expiresAt?: string | undefined;
  payerRequest?: string | undefined;
  account?: { participant?: string | undefined } | undefined;
  owner?: { name?: string | undefined; taxIdNumber?: string | undefined } | undefined;
}

/** An account of the provider. */
export interface AccountRef {
  agency: string;
  account: string;
  document: string;
}

/** A payment to a key of the directory. */
export interface Payment {
  initiationType: 'DICT' | 'DYNAMIC_QRCODE';
  endToEnd: string;
  clientRequestId: string;
  key: string;
  amount: Reais;
  description?: string | undefined;
  transactionIdentification?: string | undefined;
  debitParty: AccountRef;
}

/** The payment as the provider has it. Ids that are not of the request make it the response to another payment. */
export interface Receipt {
  id?: string | number | undefined;
  status: string;
  endToEnd: string;
  clientRequestId: string;
}

/** The dispute, by Ponte's own id of it. */
export interface DisputeId {
  disputeId: string;
}

/** What the customer says of the payment. */
export interface Dispute {
  disputeId: string;
  situation: 'SCAM' | 'ACCOUNT_TAKEOVER' | 'COERCION' | 'FRAUDULENT_ACCESS' | 'OTHER';
  details?: string | undefined;
}

/** The dispute as the provider has it. Ids that are not of the request make it the response to another one. */
export interface DisputeState {
  disputeId?: string | undefined;
  endToEnd?: string | undefined;
  status: string;
}

/** The return of a received Pix, whole or in part. Assumed. */
export interface Refund {
  endToEnd: string;
  returnId: string;
  clientRequestId: string;
  amount: Reais;
  reason: 'MD06';
  debitParty: AccountRef;
}

/** The return as the provider has it. Ids that are not of the request make it the response to another return. Assumed. */
export interface RefundReceipt {
  id?: string | number | undefined;
  status: string;
  endToEnd?: string | undefined;
  returnId: string;
  clientRequestId: string;
}

/** A line that the payer sees with a charge. */
export interface AdditionalData {
  name: string;
  value: string;
}

/** A charge that can be paid once, until it expires. */
export interface DynamicCharge {
  key: string;
  receiverName: string;
  city: string;
  zipcode?: string | undefined;
  codeCategory?: string | undefined;
  initialAmount: Reais;
  expirationQR: string;
  transactionIdentification: string;
  payerRequest?: string | undefined;
  payerName?: string | undefined;
  payerCPF?: string | undefined;
  payerCNPJ?: string | undefined;
  reusable: boolean;
  additionalData?: AdditionalData[] | undefined;
}

/** A charge that can be paid many times. */
export interface StaticCharge {
  key: string;
  amount: Reais;
  transactionIdentification: string;
  additionalInformation?: string | undefined;
  receiverName: string;
  city: string;
  zipcode?: string | undefined;
  codeCategory?: string | undefined;
  additionalData?: AdditionalData[] | undefined;
}

/** The code of a charge. `qrcode` is a PNG in base64; the text is in `pixCopiaECola` or `emv`. */
export interface ChargeCode {
  id?: string | number | undefined;
  transactionIdentification?: string | undefined;
  qrcode: string;
  pixCopiaECola?: string | undefined;
  emv?: string | undefined;
}

/** The account whose keys to list, and its institution. */
export interface KeyList {
  ispb: string;
  agency: string;
  account: string;
  document: string;
}

/** A key to register; the directory draws a random one (EVP) itself. */
export interface NewKey {
  keyType: 'CPF' | 'CNPJ' | 'CELULAR' | 'E_MAIL' | 'EVP_ENDERECO_VIRTUAL_DE_PAGAMENTO';
  key?: string | undefined;
  agency: string;
  account: string;
  document: string;
}

/** A key to delete. */
export interface OwnKey {
  key: string;
  ispb: string;
  agency: string;
  account: string;
  document: string;
}

/** A person to register. No password is sent, because Ponte keeps only a hash of it. */
export interface NewPerson {
  name: string;
  email: string;
  document: string;
  phone: string;
}

/** A registered person; each part but the id may be absent or null. */
export interface Person {
  pessoa_fisica_id: string;
  client_token?: string | null | undefined;
  agency?: string | null | undefined;
  account_number?: string | null | undefined;
}

/** The person's address. */
export interface Address {
  cep: string;
  logradouro: string;
  numero: string;
  complemento?: string | undefined;
  bairro: string;
  cidade: string;
  estado: string;
}

/** A document; its type precedes its file. */
export interface DocumentForm {
  tipo_documento: string;
  arquivo: unknown;
}

/** The account that the person requests. */
export interface Proposal {
  tipo: string;
  observacoes?: string | undefined;
  valor_solicitado?: Reais | undefined;
}

/** How the person receives the code. */
export interface Validation {
  tipo: number;
}

/** The code that the person received. */
export interface Confirmation {
  codigo: string;
  tipo: number;
}

/** A web page where the person proves to be alive. */
export interface Liveness {
  session_id?: string | null | undefined;
  url_iframe: string;
}

/** The decision on a person. A word that is not in provider.md decides nothing. */
export interface Decision {
  status: string;
  client_token?: string | null | undefined;
  agency?: string | null | undefined;
  account_number?: string | null | undefined;
}

/** What is known of a postal code. */
export interface PostalCode {
  cep: string;
  logradouro?: string | null | undefined;
  bairro?: string | null | undefined;
  cidade?: string | null | undefined;
  estado?: string | null | undefined;
}

/**
 * A payment that has ended (`PIX_PAYMENT_OUT`), one that was received (`PIX_RECEIVED`), an unpaid
 * charge that has expired, a refund with its `returnId`, or a dispute with its status
 * (`PIX_DISPUTE`, assumed). At least one id names the transaction.
 */
export interface PostedEvent {
  event:
    | 'PIX_PAYMENT_OUT'
    | 'PIX_RECEIVED'
    | 'CHARGE_EXPIRED'
    | 'PIX_REFUND_IN'
    | 'PIX_REFUND_OUT'
    | 'PIX_DISPUTE';
  id?: string | number | undefined;
  endToEnd?: string | undefined;
  returnId?: string | undefined;
  disputeId?: string | undefined;
  clientRequestId?: string | undefined;
  transactionIdentification?: string | undefined;
  status?: string | undefined;
  amount?: Reais | undefined;
  key?: string | undefined;
  account?:
    | {
        agency?: string | undefined;
        accountNumber?: string | undefined;
        document?: string | undefined;
      }
    | undefined;
  payer?: { name?: string | undefined; document?: string | undefined } | undefined;
  error?: { code?: string | undefined } | undefined;
  createdAt?: string | undefined;
}

/** The input and the replies of each operation, by operationId. */
export interface Operations {
  /** Log a customer in. */
  login: {
    path: Record<string, never>;
    query: Record<string, never>;
    headers: Record<string, never>;
    body: Credentials;
    replies: { 200: Login; 401: Problem; 503: Problem };
  };
  /** Read the balance. */
  balance: {
    path: Record<string, never>;
    query: Record<string, never>;
    headers: Record<string, never>;
    body: undefined;
    replies: { 200: Balance; 401: Problem; 503: Problem };
  };
  /** Read the movements of whole days. */
  statement: {
    path: Record<string, never>;
    query: { startDate: string; endDate: string };
    headers: Record<string, never>;
    body: undefined;
    replies: { 200: Statement; 401: Problem; 422: Problem; 503: Problem };
  };
  /** Look a Pix key up in the directory. */
  lookUpKey: {
    path: Record<string, never>;
    query: Record<string, never>;
    headers: Record<string, never>;
    body: KeyLookUp;
    replies: { 200: KeyOwner; 401: Problem; 404: Problem; 429: Problem; 503: Problem };
  };
  /** Pay. */
  pay: {
    path: Record<string, never>;
    query: Record<string, never>;
    headers: Record<string, never>;
    body: Payment;
    replies: { 200: Receipt; 400: Problem; 401: Problem; 422: Problem; 500: Problem; 503: Problem };
  };
  /** Read the dispute of a payment. */
  readDispute: {
    path: { endToEnd: string };
    query: Record<string, never>;
    headers: Record<string, never>;
    body: undefined;
    replies: { 200: DisputeState; 401: Problem; 404: Problem; 500: Problem; 503: Problem };
  };
  /** Dispute a payment. */
  openDispute: {
    path: { endToEnd: string };
    query: Record<string, never>;
    headers: Record<string, never>;
    body: Dispute;
    replies: {
      200: DisputeState;
      401: Problem;
      404: Problem;
      422: Problem;
      500: Problem;
      503: Problem;
    };
  };
  /** Withdraw an open dispute. */
  withdrawDispute: {
    path: { endToEnd: string };
    query: Record<string, never>;
    headers: Record<string, never>;
    body: DisputeId;
    replies: { 200: DisputeState; 401: Problem; 404: Problem; 500: Problem; 503: Problem };
  };
  /** Read the charge of a dynamic Pix code. */
  readCode: {
    path: Record<string, never>;
    query: Record<string, never>;
    headers: Record<string, never>;
    body: CodeLookUp;
    replies: { 200: CodeCharge; 401: Problem; 404: Problem; 429: Problem; 503: Problem };
  };
  /** Return a received Pix. */
  refund: {
    path: Record<string, never>;
    query: Record<string, never>;
    headers: Record<string, never>;
    body: Refund;
    replies: {
      200: RefundReceipt;
      400: Problem;
      401: Problem;
      404: Problem;
      422: Problem;
      500: Problem;
      503: Problem;
    };
  };
  /** Make a charge that can be paid once. */
  createDynamicCharge: {
    path: Record<string, never>;
    query: Record<string, never>;
    headers: Record<string, never>;
    body: DynamicCharge;
    replies: { 200: ChargeCode; 401: Problem; 422: Problem; 503: Problem };
  };
  /** Make a charge that can be paid many times. */
  createStaticCharge: {
    path: Record<string, never>;
    query: Record<string, never>;
    headers: Record<string, never>;
    body: StaticCharge;
    replies: { 200: ChargeCode; 401: Problem; 422: Problem; 503: Problem };
  };
  /** List the Pix keys of an account. */
  listKeys: {
    path: Record<string, never>;
    query: Record<string, never>;
    headers: Record<string, never>;
    body: KeyList;
    replies: { 200: Payload; 401: Problem; 503: Problem };
  };
  /** Register a Pix key for an account. */
  createKey: {
    path: Record<string, never>;
    query: Record<string, never>;
    headers: Record<string, never>;
    body: NewKey;
    replies: { 200: Payload; 401: Problem; 422: Problem; 503: Problem };
  };
  /** Delete a Pix key of an account. */
  deleteKey: {
    path: Record<string, never>;
    query: Record<string, never>;
    headers: Record<string, never>;
    body: OwnKey;
    replies: { 200: Payload; 401: Problem; 404: Problem; 503: Problem };
  };
  /** Register a person. */
  registerPerson: {
    path: Record<string, never>;
    query: Record<string, never>;
    headers: Record<string, never>;
    body: NewPerson;
    replies: { 200: Person; 404: Problem; 422: Problem; 503: Problem };
  };
  /** Send the address. */
  submitAddress: {
    path: { id: string };
    query: Record<string, never>;
    headers: Record<string, never>;
    body: Address;
    replies: { 200: Record<string, unknown>; 404: Problem; 503: Problem };
  };
  /** Send a document. */
  submitDocument: {
    path: { id: string };
    query: Record<string, never>;
    headers: Record<string, never>;
    body: DocumentForm;
    replies: { 200: Record<string, unknown>; 404: Problem; 503: Problem };
  };
  /** Propose the account. */
  submitProposal: {
    path: { id: string };
    query: Record<string, never>;
    headers: Record<string, never>;
    body: Proposal;
    replies: { 200: Record<string, unknown>; 404: Problem; 503: Problem };
  };
  /** Request a validation code for the person. */
  requestValidation: {
    path: { id: string };
    query: Record<string, never>;
    headers: Record<string, never>;
    body: Validation;
    replies: { 200: Record<string, unknown>; 404: Problem; 503: Problem };
  };
  /** Confirm the code that the person received. */
  confirmValidation: {
    path: { id: string };
    query: Record<string, never>;
    headers: Record<string, never>;
    body: Confirmation;
    replies: { 200: Record<string, unknown>; 404: Problem; 422: Problem; 503: Problem };
  };
  /** Start the proof of life. */
  startLivenessCheck: {
    path: { id: string };
    query: Record<string, never>;
    headers: Record<string, never>;
    body: undefined;
    replies: { 200: Liveness; 404: Problem; 503: Problem };
  };
  /** Read the decision. */
  kyc: {
    path: { id: string };
    query: Record<string, never>;
    headers: Record<string, never>;
    body: undefined;
    replies: { 200: Decision; 404: Problem; 503: Problem };
  };
  /** Look a postal code up. */
  lookUpCep: {
    path: { cep: string };
    query: Record<string, never>;
    headers: Record<string, never>;
    body: undefined;
    replies: { 200: PostalCode; 404: Problem; 503: Problem };
  };
}

/** The name of an operation of the contract. */
export type OperationId = keyof Operations;

/** Where each operation is found, below the server of the contract. */
export const routes = {
  login: { method: 'POST', path: '/internal/api/v1/auth/login' },
  balance: { method: 'GET', path: '/internal/api/v1/account/balance' },
  statement: { method: 'GET', path: '/internal/api/v1/account/statement' },
  lookUpKey: { method: 'POST', path: '/internal/api/v1/keys/dict' },
  pay: { method: 'POST', path: '/internal/api/v1/payments' },
  readDispute: { method: 'GET', path: '/internal/api/v1/payments/{endToEnd}/dispute' },
  openDispute: { method: 'POST', path: '/internal/api/v1/payments/{endToEnd}/dispute' },
  withdrawDispute: { method: 'DELETE', path: '/internal/api/v1/payments/{endToEnd}/dispute' },
  readCode: { method: 'POST', path: '/internal/api/v1/payments/qrcode/decode' },
  refund: { method: 'POST', path: '/internal/api/v1/payments/refund' },
  createDynamicCharge: { method: 'POST', path: '/internal/api/v1/payments/qrcode/dynamic' },
  createStaticCharge: { method: 'POST', path: '/internal/api/v1/payments/qrcode/static' },
  listKeys: { method: 'POST', path: '/internal/api/v1/keys/list' },
  createKey: { method: 'POST', path: '/internal/api/v1/keys/create' },
  deleteKey: { method: 'DELETE', path: '/internal/api/v1/keys' },
  registerPerson: { method: 'POST', path: '/core/v2/onboarding/pf' },
  submitAddress: { method: 'POST', path: '/core/v2/onboarding/pf/{id}/endereco' },
  submitDocument: { method: 'POST', path: '/core/v2/onboarding/pf/{id}/documentos' },
  submitProposal: { method: 'POST', path: '/core/v2/onboarding/pf/{id}/proposta' },
  requestValidation: { method: 'POST', path: '/core/v2/onboarding/pf/{id}/validacao-eletronica' },
  confirmValidation: {
    method: 'POST',
    path: '/core/v2/onboarding/pf/{id}/validacao-eletronica/confirmar',
  },
  startLivenessCheck: { method: 'POST', path: '/core/v2/onboarding/pf/{id}/prova-vida' },
  kyc: { method: 'GET', path: '/core/v2/onboarding/pf/{id}/kyc' },
  lookUpCep: { method: 'GET', path: '/core/v2/onboarding/cep/{cep}' },
} as const;
