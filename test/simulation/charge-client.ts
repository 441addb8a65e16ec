/** The app that charges: it requests a code, loses it, and repeats with the same key. */
import { isDatabaseTrouble } from '../../src/db/unavailable.ts';
import { AppError } from '../../src/errors.ts';
import { createCharge } from '../../src/pix/create-charge.ts';
import { getPixTransaction } from '../../src/pix/get-pix-transaction.ts';
import type { Context } from '../../src/context/context.ts';
import type { VerifiedToken } from '../../src/process/access-tokens.ts';
import { findPrincipal } from '../../src/auth/banking-sessions.ts';
import { refusedChargeKey } from './bank/collections.ts';
import { toListedKey } from './bank/listed-key.ts';
import type { ChargeResponse, Charges } from './oracle/charges.ts';
import { makeName } from './oracle/requests.ts';
import { readRefusal, type Phone } from './phone.ts';
import type { Scheduler } from './scheduler.ts';
import { requestFacts } from './service.ts';
import type { StoredCustomer } from './store.ts';
import type { FaultProfile } from './fault-profile.ts';

export interface ChargeClientOptions {
  readonly phone: Phone;
  readonly customer: StoredCustomer;
  readonly scheduler: Scheduler;
  readonly profile: () => FaultProfile;
  readonly charges: Charges;
}

/** A charge that the user requests, under one key. */
export interface PlannedCharge {
  readonly key: string;
  readonly type: 'dynamic' | 'static';
  readonly pixKey: string | null;
  readonly amountCents: number;
  /** The lifetime of a dynamic charge in seconds; null: the default of the service. */
  readonly expirationSeconds: number | null;
}

const maxRounds = 4;

export class ChargeClient {
  readonly #options: ChargeClientOptions;

  constructor(options: ChargeClientOptions) {
    this.#options = options;
  }

  /** Draws a charge. */
  plan(key: string): PlannedCharge {
    const { customer, scheduler } = this.#options;
    const { chance } = scheduler;
    return {
      key,
      type: chance.pick(['dynamic', 'static']),
      pixKey: chance.pick([null, null, toListedKey(customer), refusedChargeKey]),
      amountCents: chance.pick([1_000, 1_000, 2_550]),
      expirationSeconds: chance.pick([null, 60, 120, 240]),
    };
  }

  /** Repeats the request until the response contains a code, or the user gives up. */
  async fulfil(plan: PlannedCharge): Promise<void> {
    const { scheduler, profile, phone } = this.#options;
    const { chance } = scheduler;
    for (let round = 0; round < maxRounds; round += 1) {
      const requests = [this.#viewOrRequest(plan)];
      while (chance.happens(profile().impatience)) requests.push(this.request(plan));
      if (chance.happens(profile().impatience / 10)) {
        requests.push(this.request({ ...plan, amountCents: plan.amountCents + 1 }));
      }
      const responses = await Promise.all(requests);
      if (responses.some((response) => response?.status === 401)) await phone.logIn();
      const isOver = responses.some(
        (response) =>
          response?.charge && (response.charge.code || response.charge.status !== 'PROCESSING'),
      );
      if (isOver && !chance.happens(0.3)) return;
      await scheduler.sleep(phone.owner, 100 + chance.delayMs(60_000));
    }
  }

  /** Requests the charge once. */
  request(plan: PlannedCharge): Promise<ChargeResponse | null> {
    const { customer, charges } = this.#options;
    const { key, type, pixKey, amountCents, expirationSeconds: seconds } = plan;
    charges.requested(customer, key, amountCents);
    return this.#call(key, 'charge', async (context, token) => {
      const principal = await findPrincipal(context, token);
      if (!principal) throw new AppError('UNAUTHENTICATED');
      const body = {
        type,
        amount: amountCents / 100,
        ...(pixKey !== null && { key: pixKey }),
        ...(seconds !== null && { expiration_qr: seconds }),
      };
      const headers = { 'Idempotency-Key': key };
      const input = { path: {}, query: {}, headers, body };
      const request = requestFacts(context);
      const reply = await createCharge.run(context, { input, principal, request });
      if (reply.status !== 200) throw new Error(`a charge was answered ${reply.status}`);
      return readChargeResponse(reply.body);
    });
  }

  #viewOrRequest(plan: PlannedCharge): Promise<ChargeResponse | null> {
    const { scheduler, customer, charges } = this.#options;
    const transactionId = charges.transactions.get(makeName(customer, plan.key));
    if (transactionId === undefined || !scheduler.chance.happens(0.4)) return this.request(plan);
    return this.#call(plan.key, 'view charge', async (context, token) => {
      const input = { path: { transactionId }, query: {}, headers: {}, body: undefined };
      const request = requestFacts(context);
      const reply = await getPixTransaction.run(context, { input, token, request });
      if (reply.status !== 200) throw new Error(`a view was answered ${reply.status}`);
      return readChargeResponse(reply.body);
    });
  }

  #call(
    key: string,
    what: string,
    work: (context: Context, token: VerifiedToken) => Promise<ChargeResponse>,
  ): Promise<ChargeResponse | null> {
    const { scheduler, customer, charges, phone } = this.#options;
    const request = { customer, key, requestedAt: scheduler.taken };
    return phone.request({
      label: `${what} ${makeName(customer, key)}`,
      describe,
      run: async (context, token) => {
        const response = await work(context, token).catch((error: unknown) => this.#refusal(error));
        charges.answered(request, response);
        return response;
      },
    });
  }

  #refusal(error: unknown): ChargeResponse {
    const refusal = readRefusal(error);
    if (refusal) return { ...refusal, charge: null };
    if (!isDatabaseTrouble(error)) this.#options.charges.violated(`a defect: ${String(error)}`);
    return { status: 503, fields: [], charge: null };
  }
}

interface ChargeBody {
  readonly transaction_id: string;
  readonly status: 'PROCESSING' | 'COMPLETED' | 'FAILED';
  readonly copy_paste?: string | undefined;
}

function readChargeResponse(body: ChargeBody): ChargeResponse {
  const { transaction_id: transactionId, status, copy_paste: code = null } = body;
  return { status: 200, fields: [], charge: { transactionId, status, code } };
}

function describe(response: ChargeResponse | null): string {
  if (!response) return 'by no process';
  const { status, charge } = response;
  return [status, charge?.status, charge?.code && 'with its code'].filter(Boolean).join(' ');
}
