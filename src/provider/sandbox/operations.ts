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
import type { BankLogin } from '../stub/accounts.ts';
import { type BankAnswer, done } from '../stub/answer.ts';
import type { Bank } from '../stub/bank.ts';
import { digestContent } from '../stub/onboarding.ts';
import type { ProviderOperation } from './contract.ts';
import {
  BadRequest,
  checkRequest,
  type ProviderRequest,
  type UncheckedRequest,
} from './request.ts';

/** The body of a successful answer. */
type Reply<Id extends OperationId> = Operations[Id]['replies'][200];

type Operation<Id extends OperationId> = (
  bank: Bank,
  request: ProviderRequest<Id>,
) => Promise<BankAnswer<Reply<Id>>>;

/**
 * Executes a request.
 *
 * @returns the bank's answer; the value of a successful one is the body.
 * @throws BadRequest when the request breaks the contract.
 */
export async function serve(
  bank: Bank,
  { id, contract }: ProviderOperation,
  request: UncheckedRequest,
): Promise<BankAnswer<unknown>> {
  checkRequest(contract, request);
  const operation = operations[id] as Operation<OperationId>;
  return operation(bank, request as ProviderRequest<OperationId>);
}

const operations: { readonly [Id in OperationId]: Operation<Id> } = {
  login: async (bank, { body }) => mapAnswer(bank.login(body), writeLogin),
  balance: async (bank, { token }) =>
    mapAnswer(bank.balance(token), (cents) => ({ balance: numberFromCents(cents) })),
  statement: async (bank, { token, query }) =>
    mapAnswer(
      bank.statement(token, { start: query.startDate, end: query.endDate }),
      ({ items }) => ({
        items: [...items],
      }),
    ),
  lookUpKey: async (bank, { token, body }) =>
    mapAnswer(bank.lookUpKey(token, body), ({ endToEnd, name, document, ispb }) => ({
      endToEnd,
      key: body.key,
      account: { participant: ispb ?? undefined },
      owner: { name: name ?? undefined, taxIdNumber: document ?? undefined },
    })),
  pay: async (bank, { token, body }) =>
    mapAnswer(await bank.pay(token, readPayment(body)), writeReceipt),
  createDynamicCharge: async (bank, { token, body }) => {
    const order = readDynamicCharge(body);
    return mapAnswer(await bank.createCharge(token, 'dynamic', order), (code) => ({
      ...writeCharge(order, code),
      pixCopiaECola: code.copyPaste ?? undefined,
    }));
  },
  createStaticCharge: async (bank, { token, body }) => {
    const order = readStaticCharge(body);
    return mapAnswer(await bank.createCharge(token, 'static', order), (code) => ({
      ...writeCharge(order, code),
      emv: code.copyPaste ?? undefined,
    }));
  },
  listKeys: async (bank, { token, body }) => bank.listKeys(token, readAccount(body)),
  createKey: async (bank, { token, body: { keyType, key = null, ...account } }) =>
    bank.createKey(token, { keyType, key, account: readAccount(account) }),
  deleteKey: async (bank, { token, body }) =>
    bank.deleteKey(token, { key: body.key, account: readAccount(body) }),
  registerPerson: async ({ onboarding }, { body }) =>
    mapAnswer(onboarding.register(body), (person) => ({
      pessoa_fisica_id: person.pessoaFisicaId,
      ...writeAccount(person),
    })),
  submitAddress: async ({ onboarding }, { path }) =>
    mapAnswer(onboarding.submitAddress(path.id), emptyBody),
  submitDocument: async ({ onboarding }, { path, body }) =>
    mapAnswer(onboarding.submitDocument(path.id, await readDocument(body)), emptyBody),
  submitProposal: async ({ onboarding }, { path }) =>
    mapAnswer(onboarding.submitProposal(path.id), emptyBody),
  requestValidation: async ({ onboarding }, { path }) =>
    mapAnswer(onboarding.requestValidation(path.id), emptyBody),
  confirmValidation: async ({ onboarding }, { path, body }) =>
    mapAnswer(onboarding.confirmValidation(path.id, body.codigo), emptyBody),
  startLivenessCheck: async ({ onboarding }, { path }) =>
    mapAnswer(onboarding.startLivenessCheck(path.id), ({ sessionId, urlIframe }) => ({
      session_id: sessionId,
      url_iframe: urlIframe,
    })),
  kyc: async ({ onboarding }, { path }) =>
    mapAnswer(onboarding.kyc(path.id), (decision) => ({
      status: decision.status,
      ...writeAccount(decision),
    })),
  lookUpCep: async ({ onboarding }, { path }) => onboarding.lookUpCep(path.cep),
};

/** Converts the value of a successful answer to its body. */
function mapAnswer<T, Written>(
  answer: BankAnswer<T>,
  write: (value: T) => Written,
): BankAnswer<Written> {
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
  const { providerTxid, status, endToEnd, clientRequestId } = receipt;
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
    additionalData: body.additionalData ?? [],
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
    additionalData: [],
  };
}

function readCharge(body: RequestBody<'createDynamicCharge' | 'createStaticCharge'>) {
  const { transactionIdentification, key, receiverName, city } = body;
  const { zipcode = null, codeCategory: categoryCode = null } = body;
  return { transactionIdentification, key, receiverName, city, zipcode, categoryCode };
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

const contentTypes: ReadonlySet<string> = new Set(['application/pdf', 'image/jpeg', 'image/png']);

async function readDocument(body: RequestBody<'submitDocument'>) {
  const { tipo_documento: type, arquivo: file } = body;
  if (!contentTypes.has(file.type)) {
    throw new BadRequest('arquivo is neither PDF nor JPEG nor PNG', 415);
  }
  return { tipoDocumento: Number(type), ...(await digestContent(file.stream())) };
}

function writeAccount({ clientToken, agency, accountNumber }: Omit<KycDecision, 'status'>) {
  return { client_token: clientToken, agency, account_number: accountNumber };
}
