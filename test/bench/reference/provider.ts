/** The provider behind the reference server: in process, without latency, as the service's stub. */
import { randomBytes, randomUUID } from 'node:crypto';

export interface BankAccount {
  readonly agency: string;
  readonly accountNumber: string;
  readonly document: string;
}

export interface Bank {
  login(email: string): Promise<{ readonly token: string; readonly account: BankAccount }>;
  /** In centavos. */
  balance(token: string): Promise<number>;
  lookUpKey(token: string, key: string): Promise<{ readonly endToEnd: string }>;
  pay(token: string, payment: Payment): Promise<{ readonly providerTxid: string }>;
}

export interface Payment {
  readonly endToEnd: string;
  readonly clientRequestId: string;
  readonly amountCents: number;
}

const openingCents = 1_000_000;

/** A bank that takes every login, and forgets everything with its process. */
export function createBank(ispb: string): Bank {
  const balances = new Map<string, number>();
  const paid = new Map<string, string>();

  function holderOf(token: string): string {
    const [bank, holder] = token.split('.');
    if (bank !== 'stub' || !holder) throw new Error('the token is refused');
    return holder;
  }

  return {
    async login(email) {
      const holder = Buffer.from(email).toString('base64url');
      const token = `stub.${holder}.${randomBytes(16).toString('base64url')}`;
      const digits = String(Number.parseInt(randomBytes(6).toString('hex'), 16)).padStart(15, '0');
      const account = {
        agency: '0001',
        accountNumber: digits.slice(0, 9),
        document: digits.slice(0, 11),
      };
      return { token, account };
    },
    async balance(token) {
      return balances.get(holderOf(token)) ?? openingCents;
    },
    async lookUpKey(token) {
      holderOf(token);
      const minute = new Date().toISOString().slice(0, 16).replace(/[-T:]/g, '');
      return { endToEnd: `E${ispb}${minute}${randomBytes(6).toString('hex').slice(0, 11)}` };
    },
    async pay(token, { endToEnd, amountCents }) {
      const holder = holderOf(token);
      const known = paid.get(endToEnd);
      if (known !== undefined) return { providerTxid: known };
      const left = (balances.get(holder) ?? openingCents) - amountCents;
      if (left < 0) throw new Error('the balance is too low');
      balances.set(holder, left);
      const providerTxid = randomUUID();
      paid.set(endToEnd, providerTxid);
      return { providerTxid };
    },
  };
}
