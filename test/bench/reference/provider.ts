/** The bank as the reference servers call it: over HTTP, with a pool of kept connections. */
import { Pool } from 'undici';

export interface Account {
  readonly agency: string;
  readonly accountNumber: string;
  readonly document: string;
}

export interface PaymentOrder {
  readonly endToEnd: string;
  readonly clientRequestId: string;
  readonly key: string;
  readonly amountCents: number;
  readonly description: string | null;
  readonly payer: Account;
}

export interface Provider {
  login(email: string, password: string): Promise<{ token: string; account: Account }>;
  /** @returns the balance in reais. */
  balance(token: string): Promise<number>;
  /** Looks a key up. @returns the end-to-end id of the payment that may follow. */
  lookUpKey(token: string, payerId: string, key: string): Promise<string>;
  /** Pays. @returns the bank's id of the payment. @throws Error unless the bank accepted it. */
  pay(token: string, order: PaymentOrder): Promise<string>;
  close(): Promise<void>;
}

const timeoutMs = 10_000;
const connections = 64;

export function openProvider(url: string): Provider {
  const pool = new Pool(url, { connections, headersTimeout: timeoutMs, bodyTimeout: timeoutMs });

  async function call(path: string, token: string | null, body?: object) {
    const response = await pool.request({
      method: body ? 'POST' : 'GET',
      path: `/internal/api/v1${path}`,
      headers: {
        accept: 'application/json',
        ...(token !== null && { authorization: `Bearer ${token}` }),
        ...(body && { 'content-type': 'application/json' }),
      },
      ...(body && { body: JSON.stringify(body) }),
    });
    const fields = (await response.body.json()) as Record<string, unknown>;
    if (response.statusCode !== 200) throw new Error(`the bank answered ${response.statusCode}`);
    return fields;
  }

  return {
    async login(email, password) {
      const fields = await call('/auth/login', null, { email, password });
      const accountNumber = text(fields, 'accountNumber') + text(fields, 'digitAccount');
      const account = { agency: text(fields, 'agency'), document: text(fields, 'document') };
      return { token: text(fields, 'access_token'), account: { ...account, accountNumber } };
    },
    async balance(token) {
      const { balance } = await call('/account/balance', token);
      if (typeof balance !== 'number') throw new Error('the bank reports no balance');
      return Math.round(balance * 100) / 100;
    },
    async lookUpKey(token, payerId, key) {
      return text(await call('/keys/dict', token, { payerId, key }), 'endToEnd');
    },
    async pay(token, { endToEnd, clientRequestId, key, amountCents, description, payer }) {
      const { agency, accountNumber, document } = payer;
      const paid = await call('/payments', token, {
        initiationType: 'DICT',
        endToEnd,
        clientRequestId,
        key,
        amount: amountCents / 100,
        ...(description !== null && { description }),
        debitParty: { agency, account: accountNumber, document },
      });
      if (text(paid, 'endToEnd') !== endToEnd) throw new Error('the bank names another payment');
      return text(paid, 'id');
    },
    close: () => pool.close(),
  };
}

function text(fields: Record<string, unknown>, name: string): string {
  const value = fields[name];
  if (typeof value !== 'string' || value === '') throw new Error(`the bank sent no ${name}`);
  return value;
}
