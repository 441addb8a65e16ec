/** The operations of contract/provider.yaml: the request of each to the bank, and its response. */
import type { OperationId, Operations } from '../../../contract/provider-types.ts';
import { centsFromNumber, numberFromCents } from '../../domain/money.ts';
import type {
  AccountRef,
  ChargeCode,
  ChargeOrder,
  CodeCharge,
  CodeState,
  KycDecision,
  PaymentOrder,
  PaymentReceipt,
  RefundOrder,
} from '../provider.ts';
import type { BankLogin } from './bank/accounts.ts';
import { type BankResponse, done } from './bank/response.ts';
import type { Bank } from './bank/bank.ts';
import type { Dispute } from './bank/rows.ts';
import type { ProviderRequest } from './request.ts';

/** The body of a successful response. */
type ResponseBody<Id extends OperationId> = Operations[Id]['replies'][200];

export type Operation<Id extends OperationId> = (
  bank: Bank,
  request: ProviderRequest<Id>,
) => BankResponse<ResponseBody<Id>> | Promise<BankResponse<ResponseBody<Id>>>;

/** What the bank does for each operation; the value of a successful response is the body. */
export const operations: { readonly [Id in OperationId]: Operation<Id> } = {
  async login(bank, { body }) {
    await bank.meet(body.email);
    return mapResponse(bank.login(body), writeLogin);
  },
  balance: (bank, { token }) =>
    mapResponse(bank.balance(token), ({ cents, blockedCents }) => ({
      balance: numberFromCents(cents),
      ...(blockedCents !== null && { blocked: numberFromCents(blockedCents) }),
    })),
  statement: (bank, { token, query }) =>
    mapResponse(
      bank.statement(token, { start: query.startDate, end: query.endDate }),
      ({ items }) => ({
        items: [...items],
      }),
    ),
  lookUpKey: (bank, { token, body }) =>
    mapResponse(bank.lookUpKey(token, body), ({ endToEnd, name, document, ispb }) => ({
      endToEnd,
      key: body.key,
      account: { participant: ispb ?? undefined },
      owner: { name: name ?? undefined, taxIdNumber: document ?? undefined },
    })),
  readCode: (bank, { token, body: { payerId, emv } }) =>
    mapResponse(bank.readCode(token, { payerId, text: emv }), writeCodeCharge),
  pay: (bank, { token, body }) => mapResponse(bank.pay(token, readPayment(body)), writeReceipt),
  openDispute: (bank, { token, path, body: { disputeId, situation } }) =>
    mapResponse(bank.openDispute(token, { ...path, disputeId, situation }), writeDispute),
  withdrawDispute: (bank, { token, path }) =>
    mapResponse(bank.withdrawDispute(token, path), writeDispute),
  readDispute: (bank, { token, path }) => mapResponse(bank.readDispute(token, path), writeDispute),
  refund: (bank, { token, body }) =>
    mapResponse(bank.returnReceived(token, readRefund(body)), (receipt) => ({
      id: receipt.providerTxid ?? undefined,
      status: receipt.status,
      endToEnd: body.endToEnd,
      returnId: receipt.endToEnd,
      clientRequestId: receipt.clientRequestId,
    })),
  createDynamicCharge: (bank, { token, body }) => {
    const order = readDynamicCharge(body);
    return mapResponse(bank.createCharge(token, 'dynamic', order), (code) => ({
      ...writeCharge(order, code),
      pixCopiaECola: code.copyPaste ?? undefined,
    }));
  },
  createStaticCharge: (bank, { token, body }) => {
    const order = readStaticCharge(body);
    return mapResponse(bank.createCharge(token, 'static', order), (code) => ({
      ...writeCharge(order, code),
      emv: code.copyPaste ?? undefined,
    }));
  },
  listKeys: (bank, { token, body }) => bank.listKeys(token, readAccount(body)),
  createKey: (bank, { token, body: { keyType, key = null, ...account } }) =>
    bank.createKey(token, { keyType, key, account: readAccount(account) }),
  deleteKey: (bank, { token, body }) =>
    bank.deleteKey(token, { key: body.key, account: readAccount(body) }),
  registerPerson: ({ onboarding }, { body }) =>
    mapResponse(onboarding.register(body), (person) => ({
      pessoa_fisica_id: person.pessoaFisicaId,
      ...writeAccount(person),
    })),
  submitAddress: ({ onboarding }, { path }) =>
    mapResponse(onboarding.submitAddress(path.id), emptyBody),
  submitDocument: ({ onboarding }, { path, body }) =>
    mapResponse(onboarding.submitDocument(path.id, readDocument(body)), emptyBody),
  submitProposal: ({ onboarding }, { path }) =>
    mapResponse(onboarding.submitProposal(path.id), emptyBody),
  requestValidation: ({ onboarding }, { path }) =>
    mapResponse(onboarding.requestValidation(path.id), emptyBody),
  confirmValidation: ({ onboarding }, { path, body }) =>
    mapResponse(onboarding.confirmValidation(path.id, body.codigo), emptyBody),
  startLivenessCheck: ({ onboarding }, { path }) =>
    mapResponse(onboarding.startLivenessCheck(path.id), ({ sessionId, urlIframe }) => ({
      session_id: sessionId,
      url_iframe: urlIframe,
    })),
  kyc: ({ onboarding }, { path }) =>
    mapResponse(onboarding.kyc(path.id), (decision) => ({
      status: decision.status,
      ...writeAccount(decision),
    })),
  lookUpCep: ({ onboarding }, { path }) => onboarding.lookUpCep(path.cep),
};

/** Converts the value of a successful response to its body. */
async function mapResponse<T, Written>(
  pending: BankResponse<T> | Promise<BankResponse<T>>,
  write: (value: T) => Written,
): Promise<BankResponse<Written>> {
  const response = await pending;
  return response.outcome === 'done' ? done(write(response.value)) : response;
}

/** A successful step has an empty body. */
function emptyBody(): Record<string, never> {
  return {};
}

type RequestBody<Id extends OperationId> = ProviderRequest<Id>['body'];

function writeLogin({ token, account }: BankLogin): ResponseBody<'login'> {
  const { name, agency, accountNumber, document, companyId, clientToken } = account;
  return {
    access_token: token,
    token_type: 'Bearer',
    name: name ?? undefined,
    agency,
    accountNumber: accountNumber.slice(0, -1),
    digitAccount: accountNumber.slice(-1),
    document,
    companyId,
    clientToken,
  };
}

/** The words of the central bank's Pix API. */
const codeStates = {
  payable: 'ATIVA',
  paid: 'CONCLUIDA',
  expired: 'EXPIRADA',
  removed: 'REMOVIDA_PELO_USUARIO_RECEBEDOR',
} as const satisfies Record<CodeState, string>;

function writeCodeCharge(charge: CodeCharge): ResponseBody<'readCode'> {
  const { amountCents, isChangeable, minCents, maxCents } = charge.amounts;
  const reais = (cents: number | null) => (cents === null ? undefined : numberFromCents(cents));
  return {
    status: codeStates[charge.state],
    endToEnd: charge.endToEnd ?? undefined,
    key: charge.key,
    transactionIdentification: charge.txid,
    amount: reais(amountCents),
    amountChangeable: isChangeable,
    minimumAmount: reais(minCents),
    maximumAmount: reais(maxCents),
    originalAmount: reais(charge.originalCents),
    discount: reais(charge.discountCents),
    interest: reais(charge.interestCents),
    fine: reais(charge.fineCents),
    dueDate: charge.dueDate ?? undefined,
    expiresAt: charge.expiresAt?.toISOString(),
    payerRequest: charge.description ?? undefined,
    account: { participant: charge.ispb ?? undefined },
    owner: { name: charge.name ?? undefined, taxIdNumber: charge.document ?? undefined },
  };
}

function readPayment(body: RequestBody<'pay'>): PaymentOrder {
  const { endToEnd, clientRequestId, key, amount, description = null, debitParty } = body;
  return {
    endToEnd,
    clientRequestId,
    key,
    amountCents: readCents(amount),
    description,
    txid: body.transactionIdentification ?? null,
    ...(body.initiationType === 'DYNAMIC_QRCODE' && { isByDynamicCode: true as const }),
    payer: readAccount(debitParty),
  };
}

function readRefund(body: RequestBody<'refund'>): RefundOrder {
  const { endToEnd, returnId, clientRequestId, amount, debitParty } = body;
  const account = readAccount(debitParty);
  return { endToEnd, returnId, clientRequestId, amountCents: readCents(amount), account };
}

function writeReceipt(receipt: PaymentReceipt): ResponseBody<'pay'> {
  const { providerTxid, endToEnd, clientRequestId, isUnderAnalysis } = receipt;
  const status = isUnderAnalysis ? 'UNDER_ANALYSIS' : receipt.status;
  return { id: providerTxid ?? undefined, status, endToEnd, clientRequestId };
}

function writeDispute({ disputeId, endToEnd, status }: Dispute): ResponseBody<'openDispute'> {
  return { ...(disputeId !== null && { disputeId }), endToEnd, status };
}

function readDynamicCharge(body: RequestBody<'createDynamicCharge'>): ChargeOrder {
  return {
    ...readCharge(body),
    amountCents: readCents(body.initialAmount),
    description: body.payerRequest ?? null,
    expirationSeconds: Number(body.expirationQR),
    payerName: body.payerName ?? null,
    payerDocument: body.payerCPF ?? body.payerCNPJ ?? null,
    reusable: body.reusable,
  };
}

function readStaticCharge(body: RequestBody<'createStaticCharge'>): ChargeOrder {
  return {
    ...readCharge(body),
    amountCents: readCents(body.amount),
    description: body.additionalInformation ?? null,
    expirationSeconds: 0,
    payerName: null,
    payerDocument: null,
    reusable: true,
  };
}

function readCharge(body: RequestBody<'createDynamicCharge' | 'createStaticCharge'>) {
  const { transactionIdentification, key, receiverName, city } = body;
  const { zipcode = null, codeCategory: categoryCode = null, additionalData = [] } = body;
  const receiver = { receiverName, city, zipcode, categoryCode };
  return { transactionIdentification, key, ...receiver, additionalData };
}

function writeCharge({ transactionIdentification }: ChargeOrder, code: ChargeCode) {
  const { providerTxid, qrCode } = code;
  return { id: providerTxid ?? undefined, transactionIdentification, qrcode: qrCode ?? '' };
}

interface WireAccount {
  readonly agency: string;
  readonly account: string;
  readonly document: string;
}

function readAccount({ agency, account, document }: WireAccount): AccountRef {
  return { agency, accountNumber: account, document };
}

/** @returns centavos; NaN for an amount that the bank refuses. */
function readCents(reais: number): number {
  return centsFromNumber(reais) ?? Number.NaN;
}

function readDocument({ tipo_documento: type, arquivo }: RequestBody<'submitDocument'>) {
  const { sizeBytes, sha256 } = arquivo;
  return { tipoDocumento: Number(type), sizeBytes, sha256 };
}

function writeAccount({ clientToken, agency, accountNumber }: Omit<KycDecision, 'status'>) {
  return { client_token: clientToken, agency, account_number: accountNumber };
}
