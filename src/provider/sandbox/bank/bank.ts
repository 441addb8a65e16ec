/**
 * A simulated bank: logins, balances, keys, payments, charges, onboarding and webhooks. Its
 * responses are values, which the port in process and the sandbox over HTTP convert to errors of
 * their own.
 *
 * Each method decides and saves in one turn of the event loop, so concurrent calls run one after
 * another, and each response follows the saved row.
 */
import type { Clock } from '../../../clock.ts';
import { dayRange } from '../../../domain/calendar.ts';
import { maxAmountCents } from '../../../domain/money.ts';
import type {
  AccountBalance,
  AccountRef,
  ChargeCode,
  ChargeOrder,
  CodeCharge,
  CodeLookUp,
  Credentials,
  DayRange,
  DisputeOrder,
  DisputeRef,
  KeyLookUp,
  KeyOwner,
  NewPixKey,
  OwnPixKey,
  PaymentOrder,
  PaymentReceipt,
  ProviderPayload,
  RefundOrder,
} from '../../provider.ts';
import { Accounts, type BankAccount, type BankLogin, type Introduce } from './accounts.ts';
import { type BankResponse, brokenRule, done, type Faulty, type Refused } from './response.ts';
import { type ChargePayment, Charges } from './charges.ts';
import { Codes, type MadeCode, type NewCode } from './codes.ts';
import { Directory } from './directory.ts';
import { Disputes, type DisputeDecision } from './disputes.ts';
import { Onboarding } from './onboarding.ts';
import { Payments } from './payments.ts';
import { PixKeys } from './pix-keys.ts';
import type { ChargeKind, Dispute, Settlement } from './rows.ts';
import { Receipts } from './receipts.ts';
import { Refunds, type RefundMade } from './refunds.ts';
import { blockedCents } from './scenarios.ts';
import { State } from './state.ts';
import type { StateFile } from './state-file.ts';
import { writeStatement, type BankStatement } from './statement.ts';
import { type Notify, Webhooks } from './webhooks.ts';

export interface BankOptions {
  readonly clock: Clock;
  /** The bank's identifier (ISPB): its end-to-end ids begin with it. */
  readonly ispb: string;
  /** Milliseconds from a payment to its webhook; 0: never, unless `settle` is called. */
  readonly settleMs: number;
  /** Posts a webhook. When it rejects, the bank posts it again, ten times in all. */
  readonly notify: Notify;
  /** Keeps the state. Without a file the state ends with the process. */
  readonly file?: StateFile;
  /** The balance of a new account in centavos; 10 000 reais by default. */
  readonly openingBalanceCents?: number;
  /** Receives the errors of background work: an undelivered webhook, a failed write. */
  readonly onFault?: (fault: unknown) => void;
  /**
   * Finds a customer whom the service has registered without the bank. Where it finds none, as by
   * default, the bank derives the document of the customer from the e-mail.
   */
  readonly introduce?: Introduce;
}

const initialBalanceCents = 1_000_000;

/**
 * Opens the bank. With a file, its state is read back, and the webhooks that were due while it was
 * closed are posted by the clock's next timers.
 *
 * @throws Error when the file cannot be read.
 */
export function createBank(options: BankOptions): Bank {
  return new Bank(options);
}

/** The simulated bank: every request that it answers. */
export class Bank {
  readonly state: State;
  /** The onboarding of individuals. */
  readonly onboarding: Onboarding;
  readonly #clock: Clock;
  readonly #accounts: Accounts;
  readonly #payments: Payments;
  readonly #refunds: Refunds;
  readonly #disputes: Disputes;
  readonly #charges: Charges;
  readonly #codes: Codes;
  readonly #pixKeys: PixKeys;
  readonly #webhooks: Webhooks;

  constructor(options: BankOptions) {
    const { clock, ispb, settleMs, notify, file = null } = options;
    const { openingBalanceCents = initialBalanceCents, onFault = () => {} } = options;
    const { introduce = async () => null } = options;
    const state = new State({ openingBalanceCents, file });
    const accounts = new Accounts(state, introduce);
    const webhooks = new Webhooks({ state, clock, notify, onFault });
    this.state = state;
    this.#clock = clock;
    this.#accounts = accounts;
    const parts = { state, accounts, webhooks, clock, ispb, settleMs };
    const refunds = new Refunds(parts);
    const receipts = new Receipts(parts);
    const directory = new Directory(parts);
    this.#refunds = refunds;
    this.#disputes = new Disputes({ ...parts, refunds });
    this.#charges = new Charges({ ...parts, receipts });
    this.#codes = new Codes({ ...parts, charges: this.#charges });
    this.#payments = new Payments({ ...parts, refunds, receipts, directory, codes: this.#codes });
    this.#pixKeys = new PixKeys(parts);
    this.onboarding = new Onboarding(parts);
    this.#webhooks = webhooks;
    this.#payments.resume();
    this.#disputes.resume();
    this.#charges.resume();
    this.#refunds.resume();
    webhooks.resume();
  }

  /** Learns who a customer is, before a login. @throws the error of the service that is asked. */
  meet(email: string): Promise<void> {
    return this.#accounts.meet(email);
  }

  login(credentials: Credentials): BankResponse<BankLogin> {
    return this.#accounts.login(credentials.email);
  }

  /** Refuses one token from now on. */
  expireToken(token: string): void {
    this.#accounts.expireToken(token);
  }

  /** Refuses all current tokens of a customer; a new login returns a valid one. */
  expireCustomerTokens(email: string): void {
    this.#accounts.expireCustomerTokens(email);
  }

  balance(token: string): BankResponse<AccountBalance> {
    return this.#serve(token, ({ email }) => {
      const { balanceCents: cents } = this.state.customer(email);
      return done({ cents, blockedCents: blockedCents(email) });
    });
  }

  /** @returns the executed movements of whole days in America/Sao_Paulo, newest first. */
  statement(token: string, days: DayRange): BankResponse<BankStatement> {
    return this.#serve(token, ({ email }) => {
      const range = dayRange(days.start, days.end, this.#clock.now());
      if ('errors' in range) return brokenRule('InvalidRange');
      return done(writeStatement(this.state.customer(email).transfers.values(), range));
    });
  }

  /** Looks a key up in the directory; the end-to-end id is valid for one payment to that key. */
  lookUpKey(token: string, lookUp: KeyLookUp): BankResponse<KeyOwner> {
    return this.#serve(token, ({ email }) => this.#payments.lookUpKey(email, lookUp));
  }

  /** Reads the charge of a dynamic code; the end-to-end id is valid for one payment of it. */
  readCode(token: string, lookUp: CodeLookUp): BankResponse<CodeCharge> {
    return this.#serve(token, ({ email }) => this.#payments.readCode(email, lookUp));
  }

  /** Makes a charge of a payee at another bank, with its dynamic code. */
  makeCode(wish: NewCode = {}): BankResponse<MadeCode> {
    return this.#codes.make(wish);
  }

  /** Ends a charge that `makeCode` has made. @returns whether there is one with the txid. */
  endCode(txid: string, state: 'paid' | 'removed' | 'expired'): boolean {
    return this.#codes.end(txid, state);
  }

  /**
   * Makes a payment, once: an order that repeats one (both ids and the amount) gets the response of
   * the first. A receipt always says PROCESSING: the webhook reports how a payment ends.
   */
  pay(
    token: string,
    order: PaymentOrder,
  ): BankResponse<PaymentReceipt> | Promise<BankResponse<PaymentReceipt>> {
    return this.#serve(token, ({ email }) => this.#payments.pay(email, order));
  }

  /** Returns a received Pix for its customer, once. A receipt always says PROCESSING. */
  returnReceived(token: string, order: RefundOrder): BankResponse<PaymentReceipt> {
    return this.#serve(token, ({ email }) => this.#refunds.order(email, order));
  }

  /**
   * Ends a payment or a return now and posts its webhooks, even before their time. A repeat does
   * nothing.
   *
   * @param outcome the final status; by default the one of the key.
   * @returns resolved when the webhooks are received, or their next attempt is scheduled.
   * @throws Error when no such payment was executed, or it has ended otherwise.
   */
  settle(endToEnd: string, outcome?: Settlement['status']): Promise<void> {
    return this.state.refund(endToEnd)
      ? this.#refunds.settle(endToEnd, outcome)
      : this.#payments.settle(endToEnd, outcome);
  }

  /** Opens the dispute of a completed payment, once; a repeat gets it as it is. */
  openDispute(token: string, order: Omit<DisputeOrder, 'details'>): BankResponse<Dispute> {
    return this.#serve(token, ({ email }) => this.#disputes.open(email, order));
  }

  /** Withdraws an open dispute; one that has ended stays as it is. */
  withdrawDispute(
    token: string,
    { endToEnd }: Pick<DisputeRef, 'endToEnd'>,
  ): BankResponse<Dispute> {
    return this.#serve(token, ({ email }) => this.#disputes.withdraw(email, endToEnd));
  }

  /** Shows the dispute of a payment as it is now. */
  readDispute(token: string, { endToEnd }: Pick<DisputeRef, 'endToEnd'>): BankResponse<Dispute> {
    return this.#serve(token, ({ email }) => this.#disputes.read(email, endToEnd));
  }

  /** Opens a dispute as another channel of the bank does, and posts its webhook. */
  openDisputeElsewhere(endToEnd: string): Promise<void> {
    return this.#disputes.openElsewhere(endToEnd);
  }

  /**
   * Decides an open dispute now and posts its webhooks; the money of an accepted one comes back.
   *
   * @param decision by default the one of the payment's key.
   * @throws Error when the payment has no open dispute.
   */
  decideDispute(endToEnd: string, decision?: DisputeDecision): Promise<void> {
    return this.#disputes.decide(endToEnd, decision);
  }

  /** Creates a charge; an order that repeats one gets the same charge. */
  async createCharge(
    token: string,
    type: ChargeKind,
    order: ChargeOrder,
  ): Promise<BankResponse<ChargeCode>> {
    return this.#serve(token, ({ email }) => this.#charges.create(email, type, order));
  }

  /**
   * Pays a charge, as a customer of another bank would: its amount is credited and the webhook of a
   * received Pix is posted.
   *
   * @returns once the webhook is received, or its next attempt is scheduled.
   */
  payCharge(transactionIdentification: string): Promise<BankResponse<ChargePayment>> {
    return this.#charges.pay(transactionIdentification);
  }

  /** Ends an unpaid dynamic charge, even before its time, and posts the webhook. */
  expireCharge(transactionIdentification: string): Promise<BankResponse<null>> {
    return this.#charges.expire(transactionIdentification);
  }

  /**
   * Refunds a completed payment or a received Pix, whole or in part, and posts the webhook.
   *
   * @param amountCents by default everything that is left.
   */
  refund(endToEnd: string, amountCents?: number): Promise<BankResponse<RefundMade>> {
    return this.#refunds.refund(endToEnd, amountCents);
  }

  /**
   * Credits a customer with a Pix that pays no charge, and posts its webhook.
   *
   * @returns once the webhook is received, or its next attempt is scheduled.
   */
  async receive(email: string, amountCents: number): Promise<BankResponse<ChargePayment>> {
    if (email === '' || amountCents < 1 || amountCents > maxAmountCents) {
      return brokenRule('InvalidCredit');
    }
    await this.meet(email);
    return this.#charges.receive(email, amountCents);
  }

  /** @returns the `transactionIdentification` of the charge with this code, or null. */
  findCharge(copyPaste: string): string | null {
    const charges = [...this.state.charges.values()];
    const found = charges.find((charge) => charge.copyPaste === copyPaste);
    return found?.order.transactionIdentification ?? null;
  }

  /** Answers the next calls of a customer with 503. */
  failCalls(email: string, count: number): void {
    this.#accounts.failCalls(email, count);
  }

  listKeys(token: string, account: AccountRef): BankResponse<ProviderPayload> {
    return this.#serve(token, ({ email }) => this.#pixKeys.list(email, account));
  }

  createKey(token: string, newKey: NewPixKey): BankResponse<ProviderPayload> {
    return this.#serve(token, ({ email }) => this.#pixKeys.create(email, newKey));
  }

  deleteKey(token: string, { key }: OwnPixKey): BankResponse<ProviderPayload> {
    return this.#serve(token, ({ email }) => this.#pixKeys.delete(email, key));
  }

  /** Resolves when no webhook is being posted; those that wait for their time do not count. */
  idle(): Promise<void> {
    return this.#webhooks.idle();
  }

  /** Posts no more webhooks and closes the file; due webhooks are posted after the next start. */
  async close(): Promise<void> {
    this.#webhooks.close();
    this.state.close();
  }

  /** Serves the customer of a token, or returns the refusal of the token. */
  #serve<T>(token: string, serve: (account: BankAccount) => T): T | Refused | Faulty {
    const caller = this.#accounts.admit(token);
    return caller.outcome === 'done' ? serve(caller.value) : caller;
  }
}
