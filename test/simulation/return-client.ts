/**
 * The app that returns received money: it repeats requests with the same key, sometimes at once,
 * and takes a new key only after a definite response.
 */
import { centsFromDecimal } from '../../src/domain/money.ts';
import { getPixTransaction } from '../../src/pix/get-pix-transaction.ts';
import { refundPix } from '../../src/pix/refund-pix.ts';
import { Chance } from './chance.ts';
import { isOutage } from './database-faults.ts';
import type { FaultProfile } from './fault-profile.ts';
import { findFinal, makeName, type AppRequest, type AppResponse } from './oracle/requests.ts';
import type { RequestedReturn, Returns } from './oracle/returns.ts';
import { readRefusal, type Phone } from './phone.ts';
import type { Scheduler } from './scheduler.ts';
import { completeReturnRefusal } from './sends.ts';
import { requestFacts } from './service.ts';
import type { Store, StoredCustomer } from './store.ts';

export interface ReturnClientOptions {
  readonly phone: Phone;
  readonly customer: StoredCustomer;
  readonly scheduler: Scheduler;
  readonly profile: () => FaultProfile;
  readonly returns: Returns;
  readonly violated: (text: string) => void;
  /** The rows of what the customer has received, which a list of the app shows. */
  readonly store: Store;
}

interface ReceivedPix {
  readonly id: string;
  readonly endToEnd: string;
  readonly amountCents: number;
}

interface PlannedReturn extends RequestedReturn {
  readonly transactionId: string;
}

/** In how many histories customers return money. */
const likelihood = 0.4;

const slowestMs = 60_000;

/** How often the customer looks for received money, and the pause between two looks. */
const maxLooks = 8;
const looksPauseMs = 15_000;
const maxRounds = 5;

/** @returns how often each customer returns money. A sequence of its own: the others stay. */
export function drawReturns(seed: number): readonly number[] {
  const chance = new Chance(seed + 7);
  if (!chance.happens(likelihood)) return [0, 0, 0];
  return [1, 2, 3].map(() => chance.pick([1, 2, 4]));
}

/** What a customer has received, in the order of its ids. */
async function listReceived(store: Store, { id }: StoredCustomer): Promise<ReceivedPix[]> {
  const rows = await store.rows<{ id: string; endToEnd: string; amount: string }>(
    `select id, end_to_end as "endToEnd", amount from pix_transactions
      where user_id = $1 and operation in ('CHARGE', 'RECEIVED') and status = 'COMPLETED'
        and end_to_end is not null order by created_at, id`,
    [id],
  );
  return rows.map(({ id: transactionId, endToEnd, amount }) => {
    return { id: transactionId, endToEnd, amountCents: centsFromDecimal(amount) ?? 0 };
  });
}

export class ReturnClient {
  readonly #options: ReturnClientOptions;
  readonly #plans: PlannedReturn[] = [];

  constructor(options: ReturnClientOptions) {
    this.#options = options;
  }

  /** Returns money some times. */
  async run(times: number): Promise<void> {
    const { scheduler, phone, store, customer } = this.#options;
    const { chance } = scheduler;
    for (let left = times; left > 0; left -= 1) {
      await scheduler.sleep(phone.owner, 100 + chance.delayMs(slowestMs));
      let received: readonly ReceivedPix[] = [];
      for (let looks = 0; looks < maxLooks && received.length === 0; looks += 1) {
        if (looks > 0) await scheduler.sleep(phone.owner, looksPauseMs);
        received = await listReceived(store, customer);
      }
      if (received.length === 0) return;
      const pix = chance.pick(received as [ReceivedPix, ...ReceivedPix[]]);
      const count = chance.pick([1, 1, 2, 3]);
      const plans = Array.from({ length: count }, () => this.#plan(pix));
      await Promise.all(plans.map((plan) => this.#pursue(plan)));
    }
  }

  /** Repeats every request: none of them returns again. */
  async repeatRequests(): Promise<void> {
    for (const plan of this.#plans) await this.#request(plan);
  }

  #plan({ id, endToEnd, amountCents: originalCents }: ReceivedPix): PlannedReturn {
    const { chance } = this.#options.scheduler;
    const part = Math.max(1, Math.floor(originalCents / 3));
    const amountCents = chance.pick([originalCents, part, part, originalCents - part, 1]);
    // A send may have the same key: it is another operation.
    const key = `key-${this.#plans.length + 1}`;
    const of = { transactionId: id, endToEnd, originalCents };
    const plan = { key, ...of, amountCents: Math.max(1, amountCents) };
    this.#plans.push(plan);
    return plan;
  }

  async #pursue(plan: PlannedReturn): Promise<void> {
    const { scheduler, profile, phone } = this.#options;
    const { chance } = scheduler;
    let known: string | null = null;
    for (let round = 0; round < maxRounds; round += 1) {
      const viewed: string | null = chance.happens(0.4) ? known : null;
      const requests: Promise<AppResponse | null>[] = [
        viewed === null ? this.#request(plan) : this.#view(plan, viewed),
      ];
      while (chance.happens(profile().impatience)) requests.push(this.#request(plan));
      if (chance.happens(profile().impatience / 10)) {
        requests.push(this.#request({ ...plan, amountCents: plan.amountCents + 1 }));
      }
      const responses = await Promise.all(requests);
      const isEnded = responses.some((response) => response?.status === 401);
      if (isEnded || chance.happens(profile().renewals)) await phone.logIn();
      known = responses.find((one) => one?.pix)?.pix?.transactionId ?? known;
      const final = responses.find((response) => response && findFinal(response));
      if (final && !chance.happens(0.2)) return;
      await scheduler.sleep(phone.owner, 100 + chance.delayMs(60_000));
    }
  }

  #request(plan: PlannedReturn): Promise<AppResponse | null> {
    const { customer, returns } = this.#options;
    const { key, transactionId, amountCents } = plan;
    returns.requested(customer, plan);
    return this.#call(key, 'return', async (context, token) => {
      const headers = { 'Idempotency-Key': key };
      const body = { amount: amountCents / 100, reason: 'OTHER' } as const;
      const input = { path: { transactionId }, query: {}, headers, body };
      const request = requestFacts(context);
      const made = refundPix.run(context, { input, token, request });
      const reply = await made.catch((error: unknown) =>
        completeReturnRefusal(context, { error, token, headers }),
      );
      if (reply.status !== 200) throw new Error(`a return was answered ${reply.status}`);
      const { transaction_id: id, status, return_id: returnId } = reply.body;
      const outcome = reply.headers?.['Pix-Outcome'] ?? null;
      return {
        status: 200,
        outcome,
        pix: { transactionId: id, status, endToEnd: returnId ?? null },
      };
    });
  }

  #view({ key }: PlannedReturn, transactionId: string): Promise<AppResponse | null> {
    return this.#call(key, 'view return', async (context, token) => {
      const input = { path: { transactionId }, query: {}, headers: {}, body: undefined };
      const reply = await getPixTransaction.run(context, {
        input,
        token,
        request: requestFacts(context),
      });
      if (reply.status !== 200) throw new Error(`a view was answered ${reply.status}`);
      const pix = { transactionId, status: reply.body.status, endToEnd: null };
      return { status: 200, outcome: null, pix };
    });
  }

  #call(
    key: string,
    what: string,
    work: (...of: Parameters<Parameters<Phone['request']>[0]['run']>) => Promise<AppResponse>,
  ): Promise<AppResponse | null> {
    const { scheduler, customer, returns, phone } = this.#options;
    const request: AppRequest = { customer, key, requestedAt: scheduler.taken };
    return phone.request({
      label: `${what} ${makeName(customer, key)}`,
      describe,
      run: async (context, token) => {
        const response = await work(context, token).catch((error: unknown) => this.#refusal(error));
        returns.answered(request, response);
        return response;
      },
    });
  }

  #refusal(error: unknown): AppResponse {
    const refusal = readRefusal(error);
    if (refusal) return { ...refusal, pix: null };
    if (!isOutage(error)) {
      this.#options.violated(`a defect in a return: ${String(error)}`);
    }
    return { status: 503, outcome: null, pix: null };
  }
}

function describe(response: AppResponse | null): string {
  if (!response) return 'by no process';
  return [response.status, response.pix?.status, response.outcome].filter(Boolean).join(' ');
}
