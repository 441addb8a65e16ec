/**
 * The app on its customers' phones: it pays and charges, loses responses, repeats requests with the
 * same key, sometimes concurrently, and uses a new key only after a definite response.
 */
import type { Context } from '../../src/context/context.ts';
import { getPixTransaction } from '../../src/pix/get-pix-transaction.ts';
import type { VerifiedToken } from '../../src/process/access-tokens.ts';
import type { PayingApp } from './app/paying-app.ts';
import { pixKeys } from './bank/bank.ts';
import { toListedKey } from './bank/listed-key.ts';
import { ChargeClient, type PlannedCharge } from './charge-client.ts';
import { CodeClient, type Code, type PaidCode } from './code-client.ts';
import { isOutage } from './database-faults.ts';
import { DisputeClient, type DisputeClientOptions } from './dispute-client.ts';
import type { Processes } from './processes.ts';
import { listKeys } from './key-list-client.ts';
import { changeOwnLimits, type LimitChange } from './limit-client.ts';
import { LookUpClient } from './look-up-client.ts';
import type { OtherChannels } from './other-channels.ts';
import type { Charges } from './oracle/charges.ts';
import type { LookUps, ReceivedLookUp } from './oracle/look-ups.ts';
import { findFinal, makeName, type AppResponse, type AppRequest } from './oracle/requests.ts';
import type { Oracle } from './oracle/oracle.ts';
import { Phone, readRefusal } from './phone.ts';
import { ReturnClient, type ReturnClientOptions } from './return-client.ts';
import { completeRefusal, type SendOperation } from './sends.ts';
import type { Owner, Scheduler } from './scheduler.ts';
import { requestFacts } from './service.ts';
import type { StoredCustomer } from './store.ts';

export interface ClientOptions {
  readonly customer: StoredCustomer;
  /** All customers of the bank. */
  readonly customers: readonly StoredCustomer[];
  readonly send: SendOperation;
  readonly processes: Processes;
  readonly oracle: Oracle;
  readonly charges: Charges;
  readonly lookUps: LookUps;
  /** The dynamic codes that customers find; none in most seeds. */
  readonly codesToPay: readonly Code[];
  /** How likely a payment is confirmed by a look-up first. */
  readonly confirmations: number;
  readonly otherChannels: OtherChannels;
  readonly scheduler: Scheduler;
  readonly profile: ReturnClientOptions['profile'];
  /** Whether other customers use the same idempotency keys. */
  readonly sharesKeys: boolean;
  /** How often the customer returns received money. */
  readonly returns: number;
  /** How often the customer disputes a payment. */
  readonly disputeTimes: number;
  readonly disputes: DisputeClientOptions['disputes'];
  readonly store: ReturnClientOptions['store'];
  /** What the user changes of the own limits, before anything else. */
  readonly limitChanges: readonly LimitChange[];
  /** Makes the app of a customer who pays by the client of the contract; null: the phone pays. */
  readonly app: ((phone: Phone) => PayingApp) | null;
  /** The clients and requests to draw but not to run: see `Deviation.leftOut`. */
  readonly leftOut: ReadonlySet<string>;
}

/** A payment that the user requests, under one key. */
interface PlannedPayment {
  readonly key: string;
  readonly pixKey: string;
  readonly amountCents: number;
  /** The look-up that the user has confirmed; drawn before the first request. */
  lookUp: ReceivedLookUp | null;
  /** The dynamic code that is paid in place of the key. */
  readonly code?: PaidCode;
}

/** The PIX keys to pay to. Repeated keys are more likely: the bank executes most payments. */
const keysToPay = [
  ...([pixKeys.paid, pixKeys.paid, pixKeys.paid, pixKeys.paid, pixKeys.paid] as const),
  ...([pixKeys.returned, pixKeys.returned, pixKeys.returned, pixKeys.refused] as const),
  ...([pixKeys.notFound, pixKeys.flaky] as const),
] as const;

/** How likely the payee is another customer. */
const transfers = 0.3;

/** How likely a second device pays with the same look-up and its own key. */
const secondDevices = 0.3;

/** How often the app requests the same payment before the user gives up. */
const maxRounds = 5;

const refused = { outcome: null, pix: null } as const;

export class Client {
  readonly owner: Owner;
  readonly phone: Phone;
  isDone = false;
  readonly #options: ClientOptions;
  readonly #charging: ChargeClient;
  readonly #confirming: LookUpClient;
  readonly #reading: CodeClient;
  readonly #returning: ReturnClient;
  readonly #disputing: DisputeClient;
  readonly #plans: PlannedPayment[] = [];
  readonly #charges: PlannedCharge[] = [];
  /** Null: the phone pays. */
  readonly app: PayingApp | null;
  /** How likely the user logs out between two requests. */
  readonly #logOuts: number;

  constructor(options: ClientOptions) {
    this.#options = options;
    const { customer, processes, scheduler, profile, charges, oracle } = options;
    const { lookUps, confirmations } = options;
    const servedAfterLogOut = (): void => oracle.servedAfterLogOut(customer);
    this.phone = new Phone({ customer, processes, scheduler, profile, servedAfterLogOut });
    this.owner = this.phone.owner;
    this.app = options.app?.(this.phone) ?? null;
    this.#charging = new ChargeClient({ phone: this.phone, customer, scheduler, profile, charges });
    this.#confirming = new LookUpClient({
      phone: this.phone,
      customer,
      scheduler,
      lookUps,
      confirmations,
      violated: (text) => oracle.violated(text),
    });
    const { codes } = oracle;
    const violated = (text: string): void => oracle.violated(text);
    this.#reading = new CodeClient({ phone: this.phone, customer, scheduler, codes, violated });
    const { store } = options;
    const { returns } = oracle;
    const common = { phone: this.phone, customer, scheduler, profile, store, violated };
    this.#returning = new ReturnClient({ ...common, returns });
    const { disputes } = options;
    this.#disputing = new DisputeClient({ ...common, disputes });
    this.#logOuts = scheduler.chance.pick([0, 0, 0.1, 0.3]);
  }

  async run(): Promise<void> {
    const { scheduler, profile, leftOut } = this.#options;
    const { chance } = scheduler;
    if (leftOut.has(this.customer.name)) {
      this.isDone = true;
      return;
    }
    const { burst } = profile();
    const length = burst > 0 ? chance.between(2, burst) : chance.between(1, 3);
    const sends = Array.from({ length }, () => this.#planPayment());
    const charges = Array.from({ length: chance.pick([0, 0, 1, 2]) }, () => this.#planCharge());
    const { limitChanges, oracle } = this.#options;
    const changes = limitChanges.map((change) => () => {
      oracle.limitsRequested(this.customer, [change.day, change.night]);
      return changeOwnLimits(this.phone, this.customer.name, change);
    });
    const payments = chance.shuffled([
      ...sends.map((plan) => () => this.#fulfil(plan)),
      ...charges
        .filter((plan) => !this.#leavesOut('charge', plan))
        .map((plan) => () => this.#charging.fulfil(plan)),
    ]);
    const { codesToPay } = this.#options;
    const work = [...changes, ...payments, ...codesToPay.map((code) => () => this.#payCode(code))];
    const returned = this.#returning.run(this.#options.returns);
    const disputed = this.#disputing.run(this.#options.disputeTimes);
    if (burst > 0 || chance.happens(0.3)) {
      await Promise.all(work.map((begin) => begin()));
    } else {
      for (const begin of work) {
        await begin();
        if (chance.happens(this.#logOuts)) await this.phone.logOut();
      }
    }
    await returned;
    await disputed;
    this.isDone = true;
  }

  /** @returns whether the app has received the list of the customer's keys. */
  listKeys(): Promise<boolean> {
    return listKeys(this.phone, this.customer.name);
  }

  /** Repeats every request: each response must be the same as before. */
  async repeatRequests(): Promise<void> {
    for (const plan of this.#plans) {
      const { transactions } = this.#options.oracle;
      // The app has never sent some keys, and has shown that others are not paid.
      const isKnown = !this.app || transactions.has(makeName(this.customer, plan.key));
      if (isKnown && !this.#leavesOut('send', plan)) await this.#send(plan);
    }
    for (const plan of this.#charges) {
      if (!this.#leavesOut('charge', plan)) await this.#charging.request(plan);
    }
    await this.#returning.repeatRequests();
    await this.#disputing.repeatRequests();
  }

  /** The names of the requested payments and charges, in the format of `leftOut`. */
  get wished(): readonly string[] {
    return [
      ...this.#plans.map((plan) => this.makeName('send', plan)),
      ...this.#charges.map((plan) => this.makeName('charge', plan)),
    ];
  }

  makeName(verb: 'send' | 'charge', { key }: { readonly key: string }): string {
    return `${verb} ${makeName(this.customer, key)}`;
  }

  #leavesOut(verb: 'send' | 'charge', plan: { readonly key: string }): boolean {
    const { leftOut } = this.#options;
    return leftOut.has(this.customer.name) || leftOut.has(this.makeName(verb, plan));
  }

  /** How often the customer returns received money. */
  get returns(): number {
    return this.#options.returns;
  }

  get customer(): StoredCustomer {
    return this.#options.customer;
  }

  /** A send and a charge may have the same key: they are different operations. */
  #key(count: number): string {
    const { customer, sharesKeys } = this.#options;
    return sharesKeys ? `key-${count}` : `${customer.name}-${count}`;
  }

  /** @param again the amount of an earlier payment; by default one is drawn. */
  #planPayment(again?: number): PlannedPayment {
    const { customer, customers, scheduler } = this.#options;
    const { chance } = scheduler;
    // Few amounts, so that payments are sometimes equal; the last one often exceeds the balance.
    const amountCents = chance.pick([1_000, 1_000, 2_550, 7_001, 90_000]);
    const [other] = chance.shuffled(customers.filter((one) => one !== customer));
    const isTransfer = other !== undefined && chance.happens(transfers);
    const pixKey = isTransfer
      ? chance.pick([toListedKey(other), toListedKey(other), other.account.document])
      : chance.pick(keysToPay);
    return this.#add({ pixKey, amountCents: again ?? amountCents, lookUp: null });
  }

  #add(terms: Omit<PlannedPayment, 'key'>): PlannedPayment {
    const plan = { ...terms, key: this.#key(this.#plans.length + 1) };
    this.#plans.push(plan);
    return plan;
  }

  #planCharge(): PlannedCharge {
    const plan = this.#charging.plan(this.#key(this.#charges.length + 1));
    this.#charges.push(plan);
    return plan;
  }

  /** Pays, sometimes with a look-up first, and sometimes from two devices with one look-up. */
  async #fulfil(plan: PlannedPayment): Promise<void> {
    const { chance } = this.#options.scheduler;
    if (this.#leavesOut('send', plan)) return;
    plan.lookUp = await this.#confirming.confirm(plan.pixKey);
    const isTwice = plan.lookUp !== null && chance.happens(secondDevices);
    const plans = isTwice ? [plan, this.#add(plan)] : [plan];
    await Promise.all(plans.map((one) => this.#pursue(one)));
  }

  /** Pays a code, often from several devices, each with its own key. */
  async #payCode(code: Code): Promise<void> {
    const { chance } = this.#options.scheduler;
    const devices = chance.pick([1, 1, 2, 3]);
    await Promise.all(Array.from({ length: devices }, () => this.#fulfilCode(code)));
  }

  async #fulfilCode(code: Code): Promise<void> {
    const { chance } = this.#options.scheduler;
    const lookUp = await this.#reading.read(code);
    if (!lookUp) return;
    const isBare = lookUp.amountCents !== null && chance.happens(0.5);
    const amountCents = lookUp.amountCents ?? chance.pick([1_000, 2_550]);
    const paid = { code, lookUp, isBare };
    const plan = this.#add({ pixKey: code.key, amountCents, lookUp: null, code: paid });
    const isTwice = chance.happens(secondDevices);
    const plans = isTwice ? [plan, this.#add(plan)] : [plan];
    await Promise.all(plans.map((one) => this.#pursue(one)));
  }

  /** Repeats the request until the response is definite, or the user gives up. */
  async #pursue(plan: PlannedPayment): Promise<void> {
    const { scheduler, profile, otherChannels, sharesKeys } = this.#options;
    const { chance } = scheduler;
    if (this.#leavesOut('send', plan)) return;
    // A payment of another customer with the same key might be older than the event.
    if (!sharesKeys) await otherChannels.before(plan);
    if (this.app && !plan.code) {
      const shown = await this.app.fulfil(plan);
      if (chance.happens(this.#logOuts)) await this.phone.logOut();
      if (shown?.result !== 'not_paid' || !chance.happens(0.3)) return;
      return this.#fulfil(this.#planPayment(plan.amountCents));
    }
    for (let round = 0; round < maxRounds; round += 1) {
      const responses = await this.#round(plan);
      if (
        responses.some((response) => response?.status === 401) ||
        chance.happens(profile().renewals)
      ) {
        await this.phone.logIn();
      }
      const final = responses.find((response) => response && findFinal(response));
      if (final && findFinal(final) === 'FAILED' && chance.happens(0.3)) {
        if (plan.code) return this.#fulfilCode(plan.code.code);
        return this.#fulfil(this.#planPayment(plan.amountCents));
      }
      // Some apps repeat the request after a final response.
      if (final && !chance.happens(0.2)) return;
      if (chance.happens(this.#logOuts)) await this.phone.logOut();
      await scheduler.sleep(this.owner, 100 + chance.delayMs(60_000));
    }
  }

  async #round(plan: PlannedPayment): Promise<(AppResponse | null)[]> {
    const { scheduler, profile, customer, oracle } = this.#options;
    const { chance } = scheduler;
    const id = oracle.transactions.get(makeName(customer, plan.key));
    if (id !== undefined && chance.happens(0.4)) return [await this.#view(plan, id)];
    const requests = [this.#send(plan)];
    while (chance.happens(profile().impatience)) requests.push(this.#send(plan));
    // Another amount does not pay most codes.
    if (!plan.code && chance.happens(profile().impatience / 10)) {
      requests.push(this.#send({ ...plan, amountCents: plan.amountCents + 1 }));
    }
    return Promise.all(requests);
  }

  #send(plan: PlannedPayment): Promise<AppResponse | null> {
    const { customer, oracle, send, lookUps } = this.#options;
    const { key, pixKey, amountCents, lookUp, code } = plan;
    oracle.requested(customer, key, amountCents);
    if (lookUp) lookUps.requested({ customer, key }, { lookUp, pixKey });
    if (code) oracle.codes.requested({ customer, key }, code);
    return this.#call(key, 'send', async (context, token) => {
      const amount = amountCents / 100;
      const body = code
        ? {
            copy_paste: code.code.text,
            lookup_id: code.lookUp.id,
            ...(!code.isBare && { amount }),
          }
        : { pix_key: pixKey, amount, ...(lookUp && { lookup_id: lookUp.id }) };
      const headers = { 'Idempotency-Key': key };
      const input = { path: {}, query: {}, headers, body };
      const request = requestFacts(context);
      const sent = send.run(context, { input, token, request });
      const reply = await sent.catch((error: unknown) =>
        completeRefusal(context, { error, token, headers }),
      );
      if (reply.status !== 200) throw new Error(`a send was answered ${reply.status}`);
      const { transaction_id: transactionId, status, end_to_end: endToEnd } = reply.body;
      const outcome = reply.headers?.['Pix-Outcome'] ?? null;
      return { status: 200, outcome, pix: { transactionId, status, endToEnd: endToEnd ?? null } };
    });
  }

  #view({ key }: PlannedPayment, transactionId: string): Promise<AppResponse | null> {
    const { scheduler, customer, oracle } = this.#options;
    const headers = scheduler.chance.happens(0.5) ? { Prefer: 'wait=20' } : {};
    return this.#call(key, 'view', async (context, token) => {
      const input = { path: { transactionId }, query: {}, headers, body: undefined };
      const request = requestFacts(context);
      const reply = await getPixTransaction.run(context, { input, token, request });
      if (reply.status !== 200) throw new Error(`a view was answered ${reply.status}`);
      const endToEnd = oracle.findAttempt(customer, key);
      return {
        status: 200,
        outcome: null,
        pix: { transactionId, status: reply.body.status, endToEnd },
      };
    });
  }

  #call(
    key: string,
    what: string,
    work: (context: Context, token: VerifiedToken) => Promise<AppResponse>,
  ): Promise<AppResponse | null> {
    const { scheduler, customer, oracle } = this.#options;
    const request: AppRequest = { customer, key, requestedAt: scheduler.taken };
    return this.phone.request({
      label: `${what} ${makeName(customer, key)}`,
      describe,
      // The oracle compares each response with the ledger at once.
      run: async (context, token) => {
        const response = await work(context, token).catch((error: unknown) => this.#refusal(error));
        oracle.answered(request, response);
        return response;
      },
    });
  }

  #refusal(error: unknown): AppResponse {
    const refusal = readRefusal(error);
    if (refusal) return { ...refusal, pix: null };
    if (!isOutage(error)) {
      this.#options.oracle.violated(`a defect: ${String(error)}`);
    }
    return { status: 503, ...refused };
  }
}

function describe(response: AppResponse | null): string {
  if (!response) return 'by no process';
  return [response.status, response.pix?.status, response.outcome].filter(Boolean).join(' ');
}
