/** The app that shows the payee before the payment, and pays with that look-up. */
import type { VerifiedToken } from '../../src/process/access-tokens.ts';
import { findPrincipal } from '../../src/auth/banking-sessions.ts';
import type { Context } from '../../src/context/context.ts';
import { isDatabaseTrouble } from '../../src/db/unavailable.ts';
import { AppError } from '../../src/errors.ts';
import { lookUpPixKey } from '../../src/pix/look-up-pix-key.ts';
import { Chance } from './chance.ts';
import type { LookUps, ReceivedLookUp } from './oracle/look-ups.ts';
import { readRefusal, type Phone } from './phone.ts';
import type { Scheduler } from './scheduler.ts';
import { requestFacts } from './service.ts';
import type { StoredCustomer } from './store.ts';

export interface LookUpClientOptions {
  readonly phone: Phone;
  readonly customer: StoredCustomer;
  readonly scheduler: Scheduler;
  readonly lookUps: LookUps;
  /** How likely a payment is confirmed. */
  readonly confirmations: number;
  readonly violated: (text: string) => void;
}

interface LookUpResponse {
  readonly status: number;
  readonly lookUp: ReceivedLookUp | null;
}

/** Draws how likely payments are confirmed in a seed, from a separate random sequence. */
export function drawConfirmations(seed: number): number {
  return new Chance(seed + 2).pick([0, 0, 0, 0.4, 0.8]);
}

/** How likely the app pays with a look-up that it has not just received. */
const otherLookUps = 0.25;

/** How likely the user waits for minutes: a look-up is fresh for five minutes. */
const longPauses = 0.15;
const maxPauseMs = 20 * 60_000;

export class LookUpClient {
  readonly #options: LookUpClientOptions;

  constructor(options: LookUpClientOptions) {
    this.#options = options;
  }

  /** @returns the look-up to pay with; null: none, or its response was lost. */
  async confirm(pixKey: string): Promise<ReceivedLookUp | null> {
    const { scheduler, confirmations, phone } = this.#options;
    const { chance } = scheduler;
    if (!chance.happens(confirmations)) return null;
    const other = chance.happens(otherLookUps) ? this.#otherLookUp(pixKey) : null;
    if (other) return other;
    const response = await this.#lookUp(pixKey);
    if (response?.status === 401) await phone.logIn();
    if (!response?.lookUp) return null;
    const isLong = chance.happens(longPauses);
    await scheduler.sleep(phone.owner, isLong ? chance.below(maxPauseMs) : chance.delayMs(30_000));
    return response.lookUp;
  }

  /** An earlier look-up of any user and any key; mostly of this key. */
  #otherLookUp(pixKey: string): ReceivedLookUp | null {
    const { lookUps, scheduler } = this.#options;
    const { received } = lookUps;
    const ofKey = received.filter((one) => one.pixKey === pixKey);
    const [first, ...others] = ofKey.length > 0 ? ofKey : received;
    return first ? scheduler.chance.pick([first, ...others]) : null;
  }

  #lookUp(pixKey: string): Promise<LookUpResponse | null> {
    const { customer, phone, lookUps, scheduler } = this.#options;
    return phone.request({
      label: `look-up for ${customer.name}`,
      describe: (response) => (response ? String(response.status) : 'by no process'),
      run: async (context, token) => {
        const response = await this.#run(context, { token, pixKey }).catch((error: unknown) =>
          this.#refusal(error),
        );
        scheduler.count(`look-up answered ${response.status}`);
        if (response.lookUp) lookUps.receive(response.lookUp);
        return response;
      },
    });
  }

  async #run(
    context: Context,
    { token, pixKey }: { readonly token: VerifiedToken; readonly pixKey: string },
  ): Promise<LookUpResponse> {
    const principal = await findPrincipal(context, token);
    if (!principal) throw new AppError('UNAUTHENTICATED');
    const input = { path: {}, query: {}, headers: {}, body: { pix_key: pixKey } };
    const request = requestFacts(context);
    const reply = await lookUpPixKey.run(context, { input, principal, request });
    if (reply.status !== 200) throw new Error(`a look-up was answered ${reply.status}`);
    const { lookup_id: id, expires_at: expiresAt } = reply.body;
    const { customer } = this.#options;
    return { status: 200, lookUp: { customer, pixKey, id, expiresAtMs: Date.parse(expiresAt) } };
  }

  #refusal(error: unknown): LookUpResponse {
    const refusal = readRefusal(error);
    if (refusal) return { status: refusal.status, lookUp: null };
    if (!isDatabaseTrouble(error)) this.#options.violated(`a defect: ${String(error)}`);
    return { status: 503, lookUp: null };
  }
}
