/** The operations of contract/provider.yaml: the request of each to the bank, and its answer. */
import type { OperationId, Operations } from '../../../contract/provider-types.ts';
import { centsFromNumber, numberFromCents } from '../../domain/money.ts';
import type {
  AccountRef,
  ChargeCode,
  ChargeOrder,
  KycDecision,
  PaymentOrder,
  PaymentReceipt,
} from '../provider.ts';
import type { BankLogin } from './bank/accounts.ts';
import { type BankAnswer, done } from './bank/answer.ts';
import type { Bank } from './bank/bank.ts';
import type { ProviderRequest } from './request.ts';

/** The body of a successful answer. */
type Reply<Id extends OperationId> = Operations[Id]['replies'][200];

export type Operation<Id extends OperationId> = (
  bank: Bank,
  request: ProviderRequest<Id>,
) => BankAnswer<Reply<Id>> | Promise<BankAnswer<Reply<Id>>>;

/** What the bank does for each operation; the value of a successful answer is the body. */
export const operations: { readonly [Id in OperationId]: Operation<Id> } = {
  login: (bank, { body }) => mapAnswer(bank.login(body), writeLogin),
  balance: (bank, { token }) =>
    mapAnswer(bank.balance(token), ({ cents, blockedCents }) => ({
      balance: numberFromCents(cents),
      ...(blockedCents !== null && { blocked: numberFromCents(blockedCents) }),
    })),
  statement: (bank, { token, query }) =>
    mapAnswer(
      bank.statement(token, { start: query.startDate, end: query.endDate }),
      ({ items }) => ({
        items: [...items],
      }),
    ),
  lookUpKey: (bank, { token, body }) =>
    mapAnswer(bank.lookUpKey(token, body), ({ endToEnd, name, document, ispb }) => ({
      endToEnd,
      key: body.key,
      account: { participant: ispb ?? undefined },
      owner: { name: name ?? undefined, taxIdNumber: document ?? undefined },
    })),
  pay: (bank, { token, body }) => mapAnswer(bank.pay(token, readPayment(body)), writeReceipt),
  createDynamicCharge: (bank, { token, body }) => {
    const order = readDynamicCharge(body);
    return mapAnswer(bank.createCharge(token, 'dynamic', order), (code) => ({
      ...writeCharge(order, code),
      pixCopiaECola: code.copyPaste ?? undefined,
    }));
  },
  createStaticCharge: (bank, { token, body }) => {
    const order = readStaticCharge(body);
    return mapAnswer(bank.createCharge(token, 'static', order), (code) => ({
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
    mapAnswer(onboarding.register(body), (person) => ({
      pessoa_fisica_id: person.pessoaFisicaId,
      ...writeAccount(person),
    })),
  submitAddress: ({ onboarding }, { path }) =>
    mapAnswer(onboarding.submitAddress(path.id), emptyBody),
  submitDocument: ({ onboarding }, { path, body }) =>
    mapAnswer(onboarding.submitDocument(path.id, readDocument(body)), emptyBody),
  submitProposal: ({ onboarding }, { path }) =>
    mapAnswer(onboarding.submitProposal(path.id), emptyBody),
  requestValidation: ({ onboarding }, { path }) =>
    mapAnswer(onboarding.requestValidation(path.id), emptyBody),
  confirmValidation: ({ onboarding }, { path, body }) =>
    mapAnswer(onboarding.confirmValidation(path.id, body.codigo), emptyBody),
  startLivenessCheck: ({ onboarding }, { path }) =>
    mapAnswer(onboarding.startLivenessCheck(path.id), ({ sessionId, urlIframe }) => ({
      session_id: sessionId,
      url_iframe: urlIframe,
    })),
  kyc: ({ onboarding }, { path }) =>
    mapAnswer(onboarding.kyc(path.id), (decision) => ({
      status: decision.status,
      ...writeAccount(decision),
    })),
  lookUpCep: ({ onboarding }, { path }) => onboarding.lookUpCep(path.cep),
};

/** Converts the value of a successful answer to its body. */
async function mapAnswer<T, Written>(
  answering: BankAnswer<T> | Promise<BankAnswer<T>>,
  write: (value: T) => Written,
): Promise<BankAnswer<Written>> {
  const answer = await answering;
  return answer.outcome === 'done' ? done(write(answer.value)) : answer;
}

/** A successful step has an empty body. */
function emptyBody(): Record<string, never> {
  return {};
}

type RequestBody<Id extends OperationId> = ProviderRequest<Id>['body'];

function writeLogin({ token, account }: BankLogin): Reply<'login'> {
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

function readPayment(body: RequestBody<'pay'>): PaymentOrder {
  const { endToEnd, clientRequestId, key, amount, description = null, debitParty } = body;
  return {
    endToEnd,
    clientRequestId,
    key,
    amountCents: readCents(amount),
    description,
    txid: body.transactionIdentification ?? null,
    payer: readAccount(debitParty),
  };
}

function writeReceipt(receipt: PaymentReceipt): Reply<'pay'> {
  const { providerTxid, endToEnd, clientRequestId, isUnderAnalysis } = receipt;
  const status = isUnderAnalysis ? 'UNDER_ANALYSIS' : receipt.status;
  return { id: providerTxid ?? undefined, status, endToEnd, clientRequestId };
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
