/**
 * The app on its customers' phones: it pays and charges, loses answers, asks again with the same
 * key, at times twice at once, and takes a new key only after a definite answer.
 */
import type { Context } from '../../src/context.ts';
import { isDatabaseTrouble } from '../../src/db/unavailable.ts';
import { getPixTransaction } from '../../src/pix/get-pix-transaction.ts';
import type { sendPix } from '../../src/pix/send-pix.ts';
import type { VerifiedToken } from '../../src/auth/access-tokens.ts';
import { pixKeys } from './bank/bank.ts';
import { listedKeyOf } from './bank/listed-key.ts';
import { ChargeClient, type ChargeWish } from './charge-client.ts';
import { DatabaseFault } from './database-faults.ts';
import type { Processes } from './processes.ts';
import { LookUpClient } from './look-up-client.ts';
import type { Charges } from './oracle/charges.ts';
import type { LookUps, ReceivedLookUp } from './oracle/look-ups.ts';
import { finalOf, nameOf, type Answer, type Ask } from './oracle/requests.ts';
import type { Oracle } from './oracle/oracle.ts';
import { Phone, readRefusal } from './phone.ts';
import type { Owner, Scheduler } from './scheduler.ts';
import { requestFacts } from './service.ts';
import type { StoredCustomer } from './store.ts';
import type { FaultProfile } from './fault-profile.ts';

export type SendOperation = typeof sendPix;

export interface ClientOptions {
  readonly customer: StoredCustomer;
  /** Everybody who has an account here. */
  readonly customers: readonly StoredCustomer[];
  readonly send: SendOperation;
  readonly processes: Processes;
  readonly oracle: Oracle;
  readonly charges: Charges;
  readonly lookUps: LookUps;
  /** How likely a payment is confirmed by a look-up first. */
  readonly confirmations: number;
  readonly scheduler: Scheduler;
  readonly profile: () => FaultProfile;
  /** Makes keys that other customers use too. */
  readonly sharesKeys: boolean;
  /** The clients and wishes that are drawn, but left out (`Deviation`). */
  readonly leftOut: ReadonlySet<string>;
}

/** A payment that a person wants, under one key. */
interface Wish {
  readonly key: string;
  readonly pixKey: string;
  readonly amountCents: number;
  /** The look-up that the person has confirmed; drawn before the first request. */
  lookUp: ReceivedLookUp | null;
}

/** Most payments are paid. */
const keysToPay = [
  ...([pixKeys.paid, pixKeys.paid, pixKeys.paid, pixKeys.paid, pixKeys.paid] as const),
  ...([pixKeys.returned, pixKeys.returned, pixKeys.returned, pixKeys.refused] as const),
  ...([pixKeys.notFound, pixKeys.flaky] as const),
] as const;

/** How likely a payment goes to another customer. */
const transfers = 0.3;

/** How likely a second device pays by the same look-up, with a key of its own. */
const secondDevices = 0.3;

/** How often the app asks for the same payment before the person puts the phone away. */
const mostRounds = 5;

const refused = { outcome: null, pix: null } as const;

export class Client {
  readonly owner: Owner;
  readonly phone: Phone;
  isDone = false;
  readonly #options: ClientOptions;
  readonly #charging: ChargeClient;
  readonly #confirming: LookUpClient;
  readonly #wishes: Wish[] = [];
  readonly #charges: ChargeWish[] = [];
  /** How likely the person logs out between two requests. */
  readonly #logOuts: number;

  constructor(options: ClientOptions) {
    this.#options = options;
    const { customer, processes, scheduler, profile, charges, oracle } = options;
    const { lookUps, confirmations } = options;
    const outlived = (): void => oracle.outlived(customer);
    this.phone = new Phone({ customer, processes, scheduler, profile, outlived });
    this.owner = this.phone.owner;
    this.#charging = new ChargeClient({ phone: this.phone, customer, scheduler, profile, charges });
    this.#confirming = new LookUpClient({
      phone: this.phone,
      customer,
      scheduler,
      lookUps,
      confirmations,
      violated: (text) => oracle.violated(text),
    });
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
    const sends = Array.from({ length }, () => this.#wish());
    const charges = Array.from({ length: chance.pick([0, 0, 1, 2]) }, () => this.#chargeWish());
    const work = chance.shuffled([
      ...sends.map((wish) => () => this.#fulfil(wish)),
      ...charges
        .filter((wish) => !this.#leavesOut('charge', wish))
        .map((wish) => () => this.#charging.fulfil(wish)),
    ]);
    if (burst > 0 || chance.happens(0.3)) {
      await Promise.all(work.map((begin) => begin()));
    } else {
      for (const begin of work) {
        await begin();
        if (chance.happens(this.#logOuts)) await this.phone.logOut();
      }
    }
    this.isDone = true;
  }

  /** Asks once more for all that was asked for: each answer is what it was, however old it is. */
  async askAgain(): Promise<void> {
    for (const wish of this.#wishes) {
      if (!this.#leavesOut('send', wish)) await this.#send(wish);
    }
    for (const wish of this.#charges) {
      if (!this.#leavesOut('charge', wish)) await this.#charging.ask(wish);
    }
  }

  /** The names of what the person has wanted, as they can be left out. */
  get wished(): readonly string[] {
    return [
      ...this.#wishes.map((wish) => this.#nameOf('send', wish)),
      ...this.#charges.map((wish) => this.#nameOf('charge', wish)),
    ];
  }

  #nameOf(verb: 'send' | 'charge', { key }: { readonly key: string }): string {
    return `${verb} ${nameOf(this.customer, key)}`;
  }

  #leavesOut(verb: 'send' | 'charge', wish: { readonly key: string }): boolean {
    const { leftOut } = this.#options;
    return leftOut.has(this.customer.name) || leftOut.has(this.#nameOf(verb, wish));
  }

  get customer(): StoredCustomer {
    return this.#options.customer;
  }

  /** One key may be used for a send and for a charge: they are two operations. */
  #key(count: number): string {
    const { customer, sharesKeys } = this.#options;
    return sharesKeys ? `key-${count}` : `${customer.name}-${count}`;
  }

  #wish(): Wish {
    const { customer, customers, scheduler } = this.#options;
    const { chance } = scheduler;
    // Few amounts, so that two payments are alike at times; the last one is over any balance.
    const amountCents = chance.pick([1_000, 1_000, 2_550, 7_001, 90_000]);
    const [other] = chance.shuffled(customers.filter((one) => one !== customer));
    const isTransfer = other !== undefined && chance.happens(transfers);
    const pixKey = isTransfer
      ? chance.pick([listedKeyOf(other), listedKeyOf(other), other.account.document])
      : chance.pick(keysToPay);
    return this.#add({ pixKey, amountCents, lookUp: null });
  }

  #add(terms: Omit<Wish, 'key'>): Wish {
    const wish = { ...terms, key: this.#key(this.#wishes.length + 1) };
    this.#wishes.push(wish);
    return wish;
  }

  #chargeWish(): ChargeWish {
    const wish = this.#charging.wish(this.#key(this.#charges.length + 1));
    this.#charges.push(wish);
    return wish;
  }

  /** Pays, at times by a look-up first, and at times from two devices by one look-up. */
  async #fulfil(wish: Wish): Promise<void> {
    const { chance } = this.#options.scheduler;
    if (this.#leavesOut('send', wish)) return;
    wish.lookUp = await this.#confirming.confirm(wish.pixKey);
    const isTwice = wish.lookUp !== null && chance.happens(secondDevices);
    const wishes = isTwice ? [wish, this.#add(wish)] : [wish];
    await Promise.all(wishes.map((one) => this.#pursue(one)));
  }

  /** Asks until the answer is definite, or the person gives up. */
  async #pursue(wish: Wish): Promise<void> {
    const { scheduler, profile } = this.#options;
    const { chance } = scheduler;
    if (this.#leavesOut('send', wish)) return;
    for (let round = 0; round < mostRounds; round += 1) {
      const answers = await this.#round(wish);
      if (answers.some((answer) => answer?.status === 401) || chance.happens(profile().renewals)) {
        await this.phone.logIn();
      }
      const final = answers.find((answer) => answer && finalOf(answer));
      if (final && finalOf(final) === 'FAILED' && chance.happens(0.3)) {
        return this.#fulfil({ ...this.#wish(), amountCents: wish.amountCents });
      }
      // Some apps ask on although they know.
      if (final && !chance.happens(0.2)) return;
      if (chance.happens(this.#logOuts)) await this.phone.logOut();
      await scheduler.sleep(this.owner, 100 + chance.delayMs(60_000));
    }
  }

  async #round(wish: Wish): Promise<(Answer | null)[]> {
    const { scheduler, profile, customer, oracle } = this.#options;
    const { chance } = scheduler;
    const id = oracle.transactions.get(nameOf(customer, wish.key));
    if (id !== undefined && chance.happens(0.4)) return [await this.#view(wish, id)];
    const requests = [this.#send(wish)];
    while (chance.happens(profile().impatience)) requests.push(this.#send(wish));
    if (chance.happens(profile().impatience / 10)) {
      requests.push(this.#send({ ...wish, amountCents: wish.amountCents + 1 }));
    }
    return Promise.all(requests);
  }

  #send(wish: Wish): Promise<Answer | null> {
    const { customer, oracle, send, lookUps } = this.#options;
    const { key, pixKey, amountCents, lookUp } = wish;
    oracle.asked(customer, key, amountCents);
    if (lookUp) lookUps.requested(customer, key, lookUp);
    return this.#call(key, 'send', async (context, token) => {
      const body = {
        pix_key: pixKey,
        amount: amountCents / 100,
        ...(lookUp && { lookup_id: lookUp.id }),
      };
      const headers = { 'Idempotency-Key': key };
      const input = { path: {}, query: {}, headers, body };
      const reply = await send.run(context, { input, token, request: requestFacts(context) });
      if (reply.status !== 200) throw new Error(`a send was answered ${reply.status}`);
      const { transaction_id: transactionId, status, end_to_end: endToEnd } = reply.body;
      const outcome = reply.headers?.['Pix-Outcome'] ?? null;
      return { status: 200, outcome, pix: { transactionId, status, endToEnd: endToEnd ?? null } };
    });
  }

  #view({ key }: Wish, transactionId: string): Promise<Answer | null> {
    const { scheduler, customer, oracle } = this.#options;
    const headers = scheduler.chance.happens(0.5) ? { Prefer: 'wait=20' } : {};
    return this.#call(key, 'view', async (context, token) => {
      const input = { path: { transactionId }, query: {}, headers, body: undefined };
      const request = requestFacts(context);
      const reply = await getPixTransaction.run(context, { input, token, request });
      if (reply.status !== 200) throw new Error(`a view was answered ${reply.status}`);
      const endToEnd = oracle.attemptOf(customer, key);
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
    work: (context: Context, token: VerifiedToken) => Promise<Answer>,
  ): Promise<Answer | null> {
    const { scheduler, customer, oracle } = this.#options;
    const ask: Ask = { customer, key, askedAt: scheduler.taken };
    return this.phone.ask({
      label: `${what} ${nameOf(customer, key)}`,
      describe,
      // What the service answers is compared with the ledger at that moment.
      run: async (context, token) => {
        const answer = await work(context, token).catch((error: unknown) => this.#refusal(error));
        oracle.told(ask, answer);
        return answer;
      },
    });
  }

  #refusal(error: unknown): Answer {
    const refusal = readRefusal(error);
    if (refusal) return { ...refusal, pix: null };
    if (!(error instanceof DatabaseFault) || !isDatabaseTrouble(error)) {
      this.#options.oracle.violated(`a defect: ${String(error)}`);
    }
    return { status: 503, ...refused };
  }
}

function describe(answer: Answer | null): string {
  if (!answer) return 'by nobody';
  return [answer.status, answer.pix?.status, answer.outcome].filter(Boolean).join(' ');
}
