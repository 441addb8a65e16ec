/** The paths of a customer of the bank: what each asks of it, and how its answer is written. */
import type {
  AccountRef,
  ChargeCode,
  ChargeOrder,
  KeyOwner,
  NewPixKey,
  PaymentOrder,
  PaymentReceipt,
  PixKeyType,
} from '../provider.ts';
import type { BankLogin } from '../stub/accounts.ts';
import { brokenRule } from '../stub/answer.ts';
import { numberFromCents } from '../../domain/money.ts';
import { BadRequest } from './messages.ts';
import { RequestFields } from './request-fields.ts';
import { mapped, type Route } from './route.ts';

/** The calls of a customer of the bank. */
export const bankingRoutes: readonly Route[] = [
  {
    method: 'POST',
    path: 'auth/login',
    async serve(bank, { body }) {
      const fields = new RequestFields(body);
      const credentials = { email: fields.text('email'), password: fields.text('password') };
      return mapped(bank.login(credentials), writeLogin);
    },
  },
  {
    method: 'GET',
    path: 'account/balance',
    serve: async (bank, { token }) =>
      mapped(bank.balance(token), (cents) => ({ balance: numberFromCents(cents) })),
  },
  {
    method: 'GET',
    path: 'account/statement',
    async serve(bank, { token, query }) {
      const range = { start: queryText(query, 'startDate'), end: queryText(query, 'endDate') };
      return bank.statement(token, range);
    },
  },
  {
    method: 'POST',
    path: 'keys/dict',
    async serve(bank, { token, body }) {
      const fields = new RequestFields(body);
      const lookUp = { payerId: fields.text('payerId'), key: fields.text('key') };
      return mapped(bank.lookUpKey(token, lookUp), (owner) => writeOwner(lookUp.key, owner));
    },
  },
  {
    method: 'POST',
    path: 'payments',
    serve: async (bank, { token, body }) =>
      mapped(await bank.pay(token, readPayment(body)), writeReceipt),
  },
  {
    method: 'POST',
    path: 'payments/qrcode/dynamic',
    async serve(bank, { token, body }) {
      const order = readDynamicCharge(body);
      const answer = await bank.createCharge(token, 'dynamic', order);
      return mapped(answer, (code) => writeCharge(order, code, 'pixCopiaECola'));
    },
  },
  {
    method: 'POST',
    path: 'payments/qrcode/static',
    async serve(bank, { token, body }) {
      const order = readStaticCharge(body);
      const answer = await bank.createCharge(token, 'static', order);
      return mapped(answer, (code) => writeCharge(order, code, 'emv'));
    },
  },
  {
    method: 'POST',
    path: 'keys/list',
    async serve(bank, { token, body }) {
      const fields = new RequestFields(body);
      fields.text('ispb');
      return bank.listKeys(token, readAccount(fields));
    },
  },
  {
    method: 'POST',
    path: 'keys/create',
    async serve(bank, { token, body }) {
      const newKey = readNewKey(body);
      return newKey === null ? brokenRule('EntryInvalid') : bank.createKey(token, newKey);
    },
  },
  {
    method: 'DELETE',
    path: 'keys',
    async serve(bank, { token, body }) {
      const fields = new RequestFields(body);
      fields.text('ispb');
      return bank.deleteKey(token, { key: fields.text('key'), account: readAccount(fields) });
    },
  },
];

function queryText(query: URLSearchParams, name: string): string {
  const value = query.get(name);
  if (value === null) throw new BadRequest(`${name} is missing`);
  return value;
}

function writeLogin({ token, account }: BankLogin): unknown {
  const { name, agency, accountNumber, document, companyId, clientToken } = account;
  return {
    access_token: token,
    token_type: 'Bearer',
    ...(name !== null && { name }),
    agency,
    accountNumber: accountNumber.slice(0, -1),
    digitAccount: accountNumber.slice(-1),
    document,
    companyId,
    clientToken,
  };
}

/** Whose key it is does not matter here: the bank knows only its own customers. */
function writeOwner(key: string, { endToEnd }: KeyOwner): unknown {
  return { endToEnd, key, owner: { name: 'Recebedor de Teste', taxIdNumber: '12345678909' } };
}

function readAccount(fields: RequestFields): AccountRef {
  return {
    agency: fields.text('agency'),
    accountNumber: fields.text('account'),
    document: fields.text('document'),
  };
}

function readPayment(body: unknown): PaymentOrder {
  const fields = new RequestFields(body);
  if (fields.text('initiationType') !== 'DICT') throw new BadRequest('initiationType is not DICT');
  return {
    endToEnd: fields.text('endToEnd'),
    clientRequestId: fields.text('clientRequestId'),
    key: fields.text('key'),
    amountCents: fields.amountCents('amount'),
    description: fields.optionalText('description'),
    payer: readAccount(fields.object('debitParty')),
  };
}

function writeReceipt(receipt: PaymentReceipt): unknown {
  const { providerTxid: id, status, endToEnd, clientRequestId } = receipt;
  return { id, status, endToEnd, clientRequestId };
}

function readDynamicCharge(body: unknown): ChargeOrder {
  const fields = new RequestFields(body);
  return {
    ...readCharge(fields),
    amountCents: fields.amountCents('initialAmount'),
    description: fields.optionalText('payerRequest'),
    expirationSeconds: readSeconds(fields.text('expirationQR')),
    payerName: fields.optionalText('payerName'),
    payerDocument: fields.optionalText('payerCPF') ?? fields.optionalText('payerCNPJ'),
    reusable: fields.flag('reusable'),
    additionalData: fields
      .list('additionalData')
      .map((item) => ({ name: item.text('name'), value: item.text('value') })),
  };
}

function readSeconds(text: string): number {
  if (!/^\d+$/.test(text)) throw new BadRequest('expirationQR is no text of seconds');
  return Number(text);
}

function readStaticCharge(body: unknown): ChargeOrder {
  const fields = new RequestFields(body);
  return {
    ...readCharge(fields),
    amountCents: fields.amountCents('amount'),
    description: fields.optionalText('additionalInformation'),
    expirationSeconds: 0,
    payerName: null,
    payerDocument: null,
    reusable: true,
    additionalData: [],
  };
}

function readCharge(fields: RequestFields) {
  return {
    transactionIdentification: fields.text('transactionIdentification'),
    key: fields.text('key'),
    receiverName: fields.text('receiverName'),
    city: fields.text('city'),
    zipcode: fields.optionalText('zipcode'),
    categoryCode: fields.optionalText('codeCategory'),
  };
}

function writeCharge(order: ChargeOrder, code: ChargeCode, nameOfText: string): unknown {
  const { transactionIdentification } = order;
  const { providerTxid: id, qrCode: qrcode, copyPaste } = code;
  return { id, transactionIdentification, qrcode, [nameOfText]: copyPaste };
}

const keyTypes: ReadonlySet<string> = new Set<PixKeyType>([
  'CPF',
  'CNPJ',
  'CELULAR',
  'E_MAIL',
  'EVP_ENDERECO_VIRTUAL_DE_PAGAMENTO',
]);

/** @returns null for a type of key that there is not. */
function readNewKey(body: unknown): NewPixKey | null {
  const fields = new RequestFields(body);
  const keyType = fields.text('keyType');
  const account = readAccount(fields);
  if (!keyTypes.has(keyType)) return null;
  return { keyType: keyType as PixKeyType, key: fields.optionalText('key'), account };
}
