/**
 * A simulated bank: accounts and their opening, balances, keys, payments, charges, webhooks. It
 * is wire-neutral: its answers are values, which the port in process and the sandbox over HTTP turn
 * into their own errors and silences.
 *
 * Each method decides and applies its entry without a pause in between, so that calls that come at
 * the same time take their turns; only then does it wait for the journal, and answers after it.
 */
import { randomUUID } from 'node:crypto';
import type { Clock } from '../../clock.ts';
import { dayRange } from '../../domain/calendar.ts';
import { newEndToEndId } from '../../domain/end-to-end-id.ts';
import type {
  AccountRef,
  ChargeCode,
  ChargeOrder,
  Credentials,
  DayRange,
  KeyLookUp,
  KeyOwner,
  NewPixKey,
  OwnPixKey,
  PaymentOrder,
  PaymentReceipt,
  ProviderPayload,
} from '../provider.ts';
import { Accounts, type BankAccount, type BankLogin } from './accounts.ts';
import { type BankAnswer, brokenRule, done, type Faulty, refused, type Refused } from './answer.ts';
import { Books } from './books.ts';
import { brCode, qrCodePng } from './charges.ts';
import type { ChargeEntry, ChargeKind, KeyCreatedEntry } from './entries.ts';
import type { Journal } from './journal.ts';
import type { Movement } from './ledger.ts';
import { type Notify, receivedNotice } from './notices.ts';
import { Payments } from './payments.ts';
import { Onboarding } from './onboarding.ts';
import { keyListPayload, keyPayload } from './pix-keys.ts';
import type { Soon } from './soon.ts';

export interface BankOptions {
  readonly clock: Clock;
  /** The bank's identifier (ISPB): its end-to-end ids begin with it. */
  readonly ispb: string;
  /** How long after a payment its webhook is posted; 0: never, unless it is settled by hand. */
  readonly settleMs: number;
  /** Posts a webhook. When it rejects, the bank posts it again, ten times in all. */
  readonly notify: Notify;
  /** Without one, the bank forgets everything with its process. */
  readonly journal?: Journal;
  /** What an account holds when it is opened; 10 000 reais unless given. */
  readonly openingBalanceCents?: number;
  /** Is told of what goes wrong where nobody waits: a webhook given up, a journal that fails. */
  readonly onFault?: (fault: unknown) => void;
}

/** A payment that somebody has made to one of the bank's charges. */
export interface ChargePayment {
  readonly endToEnd: string;
}

const OPENING_BALANCE_CENTS = 1_000_000;

/** The bank that charges are paid from: an ISPB that no participant has. */
const PAYERS_ISPB = '99999999';

/**
 * Opens the bank. With a journal, its state is read back, and the webhooks that fell due while it
 * was closed are posted by the clock's next timers.
 */
export function createBank(options: BankOptions): Bank {
  return new Bank(options);
}

/** The simulated bank: everything that can be asked of it. */
export class Bank {
  readonly #clock: Clock;
  readonly #ispb: string;
  /** The opening of accounts. */
  readonly onboarding: Onboarding;
  readonly #accounts: Accounts;
  readonly #books: Books;
  readonly #payments: Payments;

  constructor(options: BankOptions) {
    const { clock, ispb, settleMs, notify } = options;
    this.#clock = clock;
    this.#ispb = ispb;
    this.#books = new Books({
      clock,
      notify,
      openingBalanceCents: options.openingBalanceCents ?? OPENING_BALANCE_CENTS,
      journal: options.journal ?? null,
      onFault: (fault) => options.onFault?.(fault),
    });
    this.#accounts = new Accounts((email) => this.#books.persons.ofEmail(email)?.entry ?? null);
    this.onboarding = new Onboarding({ books: this.#books, accounts: this.#accounts });
    this.#payments = new Payments({ books: this.#books, clock, ispb, settleMs });
    this.#payments.resume();
  }

  login(credentials: Credentials): BankAnswer<BankLogin> {
    return this.#accounts.login(credentials.email);
  }

  /** Makes one token be refused from now on. */
  expireToken(token: string): void {
    this.#accounts.expireToken(token);
  }

  /** Makes all tokens that a customer has be refused; a new login gives a good one. */
  expireTokensOf(email: string): void {
    this.#accounts.expireTokensOf(email);
  }

  /** @returns the balance in centavos. */
  balance(token: string): BankAnswer<number> {
    return this.#serve(token, ({ email }) => done(this.#books.ledger.balanceCentsOf(email)));
  }

  /** @returns the executed movements of whole days in America/Sao_Paulo, newest first. */
  statement(token: string, days: DayRange): BankAnswer<Movement[]> {
    return this.#serve(token, ({ email }) => {
      const range = dayRange(days.start, days.end, this.#clock.now());
      if ('errors' in range) return brokenRule('InvalidRange');
      return done(this.#books.ledger.movementsOf(email, range));
    });
  }

  /** Looks a key up in the directory; the id that it gives is good for one payment to that key. */
  lookUpKey(token: string, lookUp: KeyLookUp): Soon<BankAnswer<KeyOwner>> {
    return this.#serve(token, ({ email }) => this.#payments.lookUpKey(email, lookUp));
  }

  /**
   * Makes a payment, once: an order that repeats one (both ids and the amount) gets the answer of
   * the first. A receipt always says PROCESSING, because how a payment ends is told by its notice.
   */
  pay(token: string, order: PaymentOrder): Soon<BankAnswer<PaymentReceipt>> {
    return this.#serve(token, ({ email }) => this.#payments.pay(email, order));
  }

  /**
   * Ends a payment now and posts its notices, whenever they would have been posted. Repeating it
   * does nothing.
   *
   * @param outcome the end that its key provides for, unless given.
   * @returns resolved when the notices are received, or the next try is set.
   * @throws Error when no such payment was executed, or it has ended otherwise.
   */
  settle(endToEnd: string, outcome?: 'COMPLETED' | 'FAILED'): Promise<void> {
    return this.#payments.settle(endToEnd, outcome);
  }

  /** Makes a charge; an order that repeats one gets the same charge. */
  async createCharge(
    token: string,
    type: ChargeKind,
    order: ChargeOrder,
  ): Promise<BankAnswer<ChargeCode>> {
    return this.#serve(token, async ({ email }) => {
      const known = this.#books.charges.examine(email, type, order);
      if (known !== null && 'kind' in known) return refused(known);
      if (known !== null) return done(await chargeCode(known));
      const id = randomUUID();
      const copyPaste = brCode(id, type, order);
      if (typeof copyPaste !== 'string') return refused(copyPaste);
      const fact = this.#books.fact(email);
      const entry: ChargeEntry = { entry: 'charge', ...fact, id, type, order, copyPaste };
      await this.#books.record(entry);
      return done(await chargeCode(entry));
    });
  }

  /**
   * Pays a charge, as a customer of another bank would: its amount is credited and the notice of a
   * received PIX is posted.
   *
   * @returns once the notice is received, or its next try is set.
   */
  async payCharge(transactionIdentification: string): Promise<BankAnswer<ChargePayment>> {
    const at = this.#clock.now();
    const charge = this.#books.charges.payable(transactionIdentification, at);
    if ('kind' in charge) return refused(charge);
    const { key, amountCents } = charge.order;
    const endToEnd = newEndToEndId(PAYERS_ISPB, at);
    const received = { id: randomUUID(), endToEnd, transactionIdentification, amountCents };
    const receiver = this.#accounts.of(charge.email);
    const notices = [receivedNotice({ ...received, key, receiver, at })];
    const fact = this.#books.fact(charge.email);
    await this.#books.record({ entry: 'received', ...fact, ...received, notices });
    await this.#books.outbox.post(endToEnd);
    return done({ endToEnd });
  }

  listKeys(token: string, account: AccountRef): BankAnswer<ProviderPayload> {
    return this.#serve(token, ({ email }) =>
      done(keyListPayload(this.#ispb, account, this.#books.keys.of(email))),
    );
  }

  async createKey(token: string, newKey: NewPixKey): Promise<BankAnswer<ProviderPayload>> {
    return this.#serve(token, async ({ email }) => {
      const { keyType, account } = newKey;
      const isEvp = keyType === 'EVP_ENDERECO_VIRTUAL_DE_PAGAMENTO';
      const key = isEvp ? randomUUID() : (newKey.key ?? '');
      const refusal = this.#books.keys.refusalOfNew(email, newKey, key);
      if (refusal !== null) return refused(refusal);
      const { agency, accountNumber, document } = account;
      const owner = { agency, accountNumber, document };
      const fact = this.#books.fact(email);
      const entry: KeyCreatedEntry = { entry: 'key_created', ...fact, key, keyType, ...owner };
      await this.#books.record(entry);
      return done(keyPayload(this.#ispb, entry));
    });
  }

  async deleteKey(token: string, { key }: OwnPixKey): Promise<BankAnswer<ProviderPayload>> {
    return this.#serve(token, async ({ email }) => {
      const isOwn = this.#books.keys.isOf(email, key);
      if (!isOwn) return refused({ kind: 'not_found', reason: 'NotFound' });
      await this.#books.record({ entry: 'key_deleted', ...this.#books.fact(email), key });
      return done({ key, participant: this.#ispb, reason: 'USER_REQUESTED' });
    });
  }

  /** Resolves when no webhook is being posted; those that wait for their time do not count. */
  idle(): Promise<void> {
    return this.#books.outbox.idle();
  }

  /** Posts nothing more and closes the journal; what is due is posted when it is opened again. */
  close(): Promise<void> {
    return this.#books.close();
  }

  /** Serves the customer whose token it is, or says why not. */
  #serve<T>(token: string, serve: (account: BankAccount) => T): T | Refused | Faulty {
    const caller = this.#accounts.admit(token);
    return caller.outcome === 'done' ? serve(caller.value) : caller;
  }
}

async function chargeCode({ id, copyPaste }: ChargeEntry): Promise<ChargeCode> {
  return { qrCode: await qrCodePng(copyPaste), copyPaste, providerTxid: id };
}
