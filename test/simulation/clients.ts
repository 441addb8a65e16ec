/**
 * The app on its customers' phones: it pays, loses answers, asks again with the same key, at times
 * twice at once, and takes a new key only after a definite answer.
 */
import type { Context } from '../../src/context.ts';
import { AppError } from '../../src/errors.ts';
import { getPixTransaction } from '../../src/operations/pix/get-pix-transaction.ts';
import type { sendPix } from '../../src/operations/pix/send-pix.ts';
import type { VerifiedToken } from '../../src/security/access-tokens.ts';
import { keepProviderLogin } from '../../src/services/banking-session.ts';
import { isDatabaseTrouble } from '../../src/db/unavailable.ts';
import { pixKeys } from './bank/bank.ts';
import { DatabaseFault } from './database-faults.ts';
import type { Fleet } from './fleet.ts';
import type { Owner, Scheduler } from './scheduler.ts';
import { requestFacts } from './service.ts';
import type { StoredCustomer } from './store.ts';
import { finalOf, nameOf, type Answer, type Ask, type Truth } from './oracle/truth.ts';
import type { Weather } from './weather.ts';

export type SendOperation = typeof sendPix;

export interface ClientOptions {
  readonly customer: StoredCustomer;
  readonly send: SendOperation;
  readonly fleet: Fleet;
  readonly truth: Truth;
  readonly scheduler: Scheduler;
  readonly weather: () => Weather;
  /** Makes keys that other customers use too. */
  readonly sharesKeys: boolean;
}

/** A payment that a person wants, under one key. */
interface Wish {
  readonly key: string;
  readonly pixKey: string;
  readonly amountCents: number;
}

/** Most payments are paid. */
const keysToPay = [
  ...([pixKeys.paid, pixKeys.paid, pixKeys.paid, pixKeys.paid, pixKeys.paid] as const),
  ...([pixKeys.returned, pixKeys.returned, pixKeys.returned, pixKeys.refused] as const),
  ...([pixKeys.notFound, pixKeys.flaky] as const),
] as const;

/** How often the app asks for the same payment before the person puts the phone away. */
const mostRounds = 5;

/** Longer than a send takes with all its attempts, at times. */
const longestPatienceMs = 30_000;

type Work = (context: Context) => Promise<Answer>;

const refused = { outcome: null, pix: null } as const;

export class Client {
  readonly owner: Owner;
  isDone = false;
  /** The banking session that the app's token names. */
  sessionId = '';
  readonly #options: ClientOptions;
  #keys = 0;

  constructor(options: ClientOptions) {
    this.#options = options;
    this.owner = { name: options.customer.name };
  }

  async run(): Promise<void> {
    const { scheduler, weather } = this.#options;
    const { burst } = weather();
    const length = burst > 0 ? scheduler.chance.between(2, burst) : scheduler.chance.between(1, 3);
    const wishes = Array.from({ length }, () => this.#wish());
    if (burst > 0 || scheduler.chance.happens(0.3)) {
      await Promise.all(wishes.map((wish) => this.#fulfil(wish)));
    } else {
      for (const wish of wishes) await this.#fulfil(wish);
    }
    this.isDone = true;
  }

  get customer(): StoredCustomer {
    return this.#options.customer;
  }

  /**
   * Logs in again, as far as the provider's part goes.
   * @returns whether it succeeded.
   */
  async logIn(): Promise<boolean> {
    const { customer, fleet, scheduler } = this.#options;
    await scheduler.hop(this.owner, `${customer.name} logs in`);
    const work = async (context: Context): Promise<void> => {
      const login = await context.provider.login({ email: customer.email, password: '' });
      this.sessionId = (await keepProviderLogin(context, customer, login)) ?? this.sessionId;
    };
    const login = fleet.pick()?.serve(work);
    if (!login) return false;
    return login.then(
      () => true,
      () => false,
    );
  }

  #wish(): Wish {
    const { customer, sharesKeys, scheduler } = this.#options;
    this.#keys += 1;
    const key = sharesKeys ? `key-${this.#keys}` : `${customer.name}-${this.#keys}`;
    // Few amounts, so that two payments are alike at times; the last one is over any balance.
    const amountCents = scheduler.chance.pick([1_000, 1_000, 2_550, 7_001, 90_000]);
    return { key, pixKey: scheduler.chance.pick(keysToPay), amountCents };
  }

  /** Asks until the answer is definite, or the person gives up. */
  async #fulfil(wish: Wish): Promise<void> {
    const { scheduler, weather } = this.#options;
    const { chance } = scheduler;
    for (let round = 0; round < mostRounds; round += 1) {
      const answers = await this.#round(wish);
      if (answers.some((answer) => answer?.status === 401) || chance.happens(weather().renewals)) {
        await this.logIn();
      }
      const final = answers.find((answer) => answer && finalOf(answer));
      if (final && finalOf(final) === 'FAILED' && chance.happens(0.3)) {
        return this.#fulfil({ ...this.#wish(), amountCents: wish.amountCents });
      }
      // Some apps ask on although they know.
      if (final && !chance.happens(0.2)) return;
      await scheduler.sleep(this.owner, 100 + chance.delayMs(60_000));
    }
  }

  async #round(wish: Wish): Promise<(Answer | null)[]> {
    const { scheduler, weather, customer, truth } = this.#options;
    const { chance } = scheduler;
    const id = truth.transactions.get(nameOf(customer, wish.key));
    if (id !== undefined && chance.happens(0.4)) return [await this.#view(wish, id)];
    const requests = [this.#send(wish)];
    while (chance.happens(weather().impatience)) requests.push(this.#send(wish));
    if (chance.happens(weather().impatience / 10)) {
      requests.push(this.#send({ ...wish, amountCents: wish.amountCents + 1 }));
    }
    return Promise.all(requests);
  }

  #send(wish: Wish): Promise<Answer | null> {
    const { customer, truth, send } = this.#options;
    const { key, pixKey, amountCents } = wish;
    truth.asked(customer, key, amountCents);
    return this.#call(key, 'send', async (context) => {
      const token = this.#token(context);
      const body = { pix_key: pixKey, amount: amountCents / 100 };
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
    const { scheduler, customer, truth } = this.#options;
    const headers = scheduler.chance.happens(0.5) ? { Prefer: 'wait=20' } : {};
    return this.#call(key, 'view', async (context) => {
      const token = this.#token(context);
      const input = { path: { transactionId }, query: {}, headers, body: undefined };
      const request = requestFacts(context);
      const reply = await getPixTransaction.run(context, { input, token, request });
      if (reply.status !== 200) throw new Error(`a view was answered ${reply.status}`);
      const endToEnd = truth.attemptOf(customer, key);
      return {
        status: 200,
        outcome: null,
        pix: { transactionId, status: reply.body.status, endToEnd },
      };
    });
  }

  #token(context: Context): VerifiedToken {
    const { customer } = this.#options;
    return {
      userId: customer.id,
      sessionId: this.sessionId,
      tokenId: 'simulation',
      expiresAt: context.clock.now(),
    };
  }

  /** @returns the answer, or null when none comes in time. */
  async #call(key: string, what: string, work: Work): Promise<Answer | null> {
    const { scheduler, customer } = this.#options;
    const ask: Ask = { customer, key, askedAt: scheduler.taken };
    const label = `${what} ${nameOf(customer, key)}`;
    const patienceMs = 2_000 + scheduler.chance.below(longestPatienceMs);
    const noAnswer = Promise.withResolvers<null>();
    const cancel = scheduler.after(this.owner, patienceMs, () => noAnswer.resolve(null));
    const answer = await Promise.race([this.#exchange(ask, label, work), noAnswer.promise]);
    cancel();
    return answer;
  }

  async #exchange(ask: Ask, label: string, work: Work): Promise<Answer | null> {
    const { scheduler, weather, fleet } = this.#options;
    await scheduler.hop(this.owner, `${label} is on its way`);
    const service = fleet.pick();
    if (!service || scheduler.chance.happens(weather().lostMessages / 2)) return this.#lost();
    scheduler.note(`${label} reaches ${service.name}`);
    const answer = await service
      .serve((context) => this.#answer(ask, work(context)))
      .catch(() => null);
    await scheduler.hop(this.owner, `${label} is answered ${describe(answer)}`);
    return answer && scheduler.chance.happens(weather().lostMessages / 2) ? this.#lost() : answer;
  }

  /** Only time tells the app that its message was lost. */
  #lost(): Promise<never> {
    return new Promise(() => undefined);
  }

  /** What the service answers, held against the truth at that moment. */
  async #answer(ask: Ask, work: Promise<Answer>): Promise<Answer> {
    const { truth } = this.#options;
    const answer = await work.catch((error: unknown) => this.#refusal(error));
    truth.told(ask, answer);
    return answer;
  }

  #refusal(error: unknown): Answer {
    if (error instanceof AppError) {
      return { status: error.status, outcome: error.headers['Pix-Outcome'] ?? null, pix: null };
    }
    if (!(error instanceof DatabaseFault) || !isDatabaseTrouble(error)) {
      this.#options.truth.violated(`a defect: ${String(error)}`);
    }
    return { status: 503, ...refused };
  }
}

function describe(answer: Answer | null): string {
  if (!answer) return 'by nobody';
  return [answer.status, answer.pix?.status, answer.outcome].filter(Boolean).join(' ');
}
