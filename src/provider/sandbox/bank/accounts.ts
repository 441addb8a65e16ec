/** The accounts of the bank's customers, their logins and their tokens. */
import { createHash, randomBytes } from 'node:crypto';
import { accountCheckDigit } from '../../../domain/account.ts';
import { cpfCheckDigits, isCnpj, isCpf } from '../../../domain/tax-id.ts';
import type { AccountRef } from '../../provider.ts';
import { type BankResponse, done, faulty, refused } from './response.ts';
import { customerScript } from './scenarios.ts';
import type { Customer, Party } from './rows.ts';
import type { State } from './state.ts';

/** A customer's account, complete. The same e-mail has the same account in every bank. */
export interface BankAccount extends AccountRef {
  /** The login e-mail, lower case. */
  readonly email: string;
  /** The name of the customer; null: not known. */
  readonly name: string | null;
  /** Whether the bank has derived the document from the e-mail: the real one is not known. */
  readonly isDocumentMadeUp: boolean;
  readonly companyId: string;
  readonly clientToken: string;
}

export interface BankLogin {
  readonly token: string;
  readonly account: BankAccount;
}

/** Who a customer is, as far as it is known. */
export type Identity = Pick<Customer, 'name' | 'document'>;

/** Finds the customer with an e-mail; null: not known. */
export type Introduce = (email: string) => Promise<Identity | null>;

const unknown: Identity = { name: null, document: null };

/** The documentation's customer, with a CPF that is recognisable as a test value. */
const developer = { email: 'dev@ponte.test', document: '11144477735' } as const;

const stubAgency = '0001';

const invalidToken = refused({ kind: 'token', reason: 'InvalidToken' });

/**
 * A token names its customer, as `stub.<e-mail>.<generation>.<random>`, and is not stored: banking
 * sessions survive a restart of the service, so their tokens stay valid. Expiring all tokens of a
 * customer begins a new generation.
 */
export class Accounts {
  readonly #accounts = new Map<string, BankAccount>();
  readonly #state: State;
  readonly #introduce: Introduce;
  readonly #generations = new Map<string, number>();
  readonly #expired = new Set<string>();
  readonly #refusedOnce = new Set<string>();
  /** The number of calls that still fail, by customer. */
  readonly #failing = new Map<string, number>();

  constructor(state: State, introduce: Introduce) {
    this.#state = state;
    this.#introduce = introduce;
  }

  /**
   * Learns who a customer is, from the service that registers people without the bank.
   *
   * @throws the error of that service.
   */
  async meet(typedEmail: string): Promise<void> {
    const email = typedEmail.trim().toLowerCase();
    const identity = await this.#introduce(email);
    if (identity !== null) this.#remember(email, identity);
  }

  /** Each password is correct: the service decides which users may log in. */
  login(typedEmail: string): BankResponse<BankLogin> {
    const email = typedEmail.trim().toLowerCase();
    const script = customerScript(email);
    if (script === 'login_unavailable') return faulty('unavailable');
    if (script === 'login_refused' || email === '') {
      return refused({ kind: 'credentials', reason: 'InvalidCredentials' });
    }
    if (!this.#state.known.has(email)) this.#remember(email, unknown);
    return done({ token: this.#newToken(email), account: this.of(email) });
  }

  /** Finds the account of a token. The scenario of some customers is a fault in its place. */
  admit(token: string): BankResponse<BankAccount> {
    const parts = token.split('.');
    const [bank, name = '', generation = '', random = ''] = parts;
    if (bank !== 'stub' || random === '' || parts.length > 4) return invalidToken;
    const email = Buffer.from(name, 'base64url').toString('utf8');
    if (!this.#isValid(token, email, Number(generation))) return invalidToken;
    const failing = this.#failing.get(email) ?? 0;
    if (failing > 0) {
      this.#failing.set(email, failing - 1);
      return faulty('unavailable');
    }
    const script = customerScript(email);
    if (script === 'unavailable') return faulty('unavailable');
    if (script === 'token_works_once') this.expireToken(token);
    if (script === 'token_refused_once' && !this.#refusedOnce.has(token)) {
      this.#refusedOnce.add(token);
      return invalidToken;
    }
    return done(this.of(email));
  }

  expireToken(token: string): void {
    this.#expired.add(token);
  }

  failCalls(typedEmail: string, count: number): void {
    this.#failing.set(typedEmail.trim().toLowerCase(), count);
  }

  expireCustomerTokens(typedEmail: string): void {
    const email = typedEmail.trim().toLowerCase();
    this.#generations.set(email, this.#readGeneration(email) + 1);
  }

  /**
   * The account of a customer. Its document is the one that was introduced or registered with the
   * e-mail; otherwise it is derived from the e-mail.
   */
  of(email: string): BankAccount {
    const account = this.#opened(email);
    const { person } = this.#state.customer(email);
    const known = this.#state.known.get(email);
    const document = known?.document ?? person?.document;
    return {
      ...account,
      name: known?.name ?? person?.name ?? null,
      ...(document !== undefined && { document, isDocumentMadeUp: false }),
    };
  }

  /** A customer as the bank names it to the other side of a payment. */
  party(email: string): Party {
    const { name, document } = this.of(email);
    return { name: name ?? 'Cliente de Teste', document };
  }

  /** @returns the e-mail of the customer who has logged in and has it, or the document, or null. */
  find(emailOrDocument: string): string | null {
    const { known } = this.#state;
    if (known.has(emailOrDocument)) return emailOrDocument;
    const isTaxId = isCpf(emailOrDocument) || isCnpj(emailOrDocument);
    const holder = isTaxId && known.keys().find((one) => this.of(one).document === emailOrDocument);
    return holder || null;
  }

  #remember(email: string, { name, document }: Identity): void {
    const known = this.#state.known.get(email);
    if (known && known.name === name && known.document === document) return;
    this.#state.save({ row: 'customer', email, name, document });
  }

  #opened(email: string): BankAccount {
    const known = this.#accounts.get(email);
    if (known !== undefined) return known;
    const account = openAccount(email);
    this.#accounts.set(email, account);
    return account;
  }

  #newToken(email: string): string {
    const name = Buffer.from(email, 'utf8').toString('base64url');
    return `stub.${name}.${this.#readGeneration(email)}.${randomBytes(16).toString('base64url')}`;
  }

  #isValid(token: string, email: string, generation: number): boolean {
    if (!Number.isSafeInteger(generation) || this.#expired.has(token) || email === '') return false;
    // Generations are counted in memory only: after a restart, the newest token shows the current
    // one.
    if (generation > this.#readGeneration(email)) this.#generations.set(email, generation);
    return generation === this.#readGeneration(email);
  }

  #readGeneration(email: string): number {
    return this.#generations.get(email) ?? 0;
  }
}

function openAccount(email: string): BankAccount {
  const hash = createHash('sha256').update(email).digest();
  const number = digits(hash, { from: 0, count: 8 });
  return {
    email,
    name: null,
    agency: stubAgency,
    accountNumber: number + accountCheckDigit(number),
    document: email === developer.email ? developer.document : cpf(hash),
    isDocumentMadeUp: email !== developer.email,
    companyId: String(hash.readUInt32BE(24)),
    clientToken: uuid(hash.toString('hex')),
  };
}

/** Thirty-two digits of a hash in the form of a random UUID (RFC 9562, version 4). */
function uuid(hex: string): string {
  const [time, mid, version, variant] = [
    [0, 8],
    [8, 12],
    [13, 16],
    [17, 20],
  ].map(([from, to]) => hex.slice(from, to));
  return `${time}-${mid}-4${version}-8${variant}-${hex.slice(20, 32)}`;
}

/** Nine equal digits would make a CPF that is never issued; other first digits prevent it. */
function cpf(hash: Buffer): string {
  const drawn = digits(hash, { from: 8, count: 9 });
  const base = drawn === drawn.charAt(0).repeat(9) ? `123${drawn.slice(3)}` : drawn;
  return base + cpfCheckDigits(base);
}

function digits(hash: Buffer, { from, count }: { from: number; count: number }): string {
  return [...hash.subarray(from, from + count)].map((byte) => byte % 10).join('');
}
