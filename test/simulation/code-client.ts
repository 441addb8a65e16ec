/** The app that reads a dynamic code, shows its payee, and pays with that look-up. */
import { findPrincipal } from '../../src/auth/banking-sessions.ts';
import type { Context } from '../../src/context/context.ts';
import { isDatabaseTrouble } from '../../src/db/unavailable.ts';
import { AppError } from '../../src/errors.ts';
import { decodePixCode } from '../../src/pix/decode-pix-code.ts';
import type { VerifiedToken } from '../../src/process/access-tokens.ts';
import type { Code } from './bank/codes.ts';
import type { PaidCodes, ReceivedCode } from './oracle/paid-codes.ts';
import { readRefusal, type Phone } from './phone.ts';
import type { Scheduler } from './scheduler.ts';
import { requestFacts } from './service.ts';
import type { StoredCustomer } from './store.ts';

export type { Code };

/** A dynamic code, and the look-up that it is paid with. */
export interface PaidCode {
  readonly code: Code;
  readonly lookUp: ReceivedCode;
  /** Whether the request leaves out the amount, which is then that of the code. */
  readonly isBare: boolean;
}

export interface CodeClientOptions {
  readonly phone: Phone;
  readonly customer: StoredCustomer;
  readonly scheduler: Scheduler;
  readonly codes: PaidCodes;
  readonly violated: (text: string) => void;
}

interface CodeResponse {
  readonly status: number;
  readonly lookUp: ReceivedCode | null;
}

/** How often the app reads a code before the user gives up. */
const maxReads = 4;

/** How likely the app pays with a look-up that it has not just received. */
const otherLookUps = 0.2;

/** How likely the user waits for minutes: a look-up is fresh for five minutes. */
const longPauses = 0.25;
const maxPauseMs = 20 * 60_000;

export class CodeClient {
  readonly #options: CodeClientOptions;

  constructor(options: CodeClientOptions) {
    this.#options = options;
  }

  /** @returns the look-up to pay with; null: the code could not be read. */
  async read(code: Code): Promise<ReceivedCode | null> {
    const { scheduler, phone, codes } = this.#options;
    const { chance } = scheduler;
    const [first, ...others] = codes.received;
    if (first && chance.happens(otherLookUps)) return chance.pick([first, ...others]);
    for (let reads = 0; reads < maxReads; reads += 1) {
      const response = await this.#read(code);
      if (response?.status === 401) await phone.logIn();
      const isLong = chance.happens(longPauses);
      const pauseMs = isLong ? chance.below(maxPauseMs) : chance.delayMs(30_000);
      await scheduler.sleep(phone.owner, pauseMs);
      if (response?.lookUp) return response.lookUp;
    }
    return null;
  }

  #read(code: Code): Promise<CodeResponse | null> {
    const { customer, phone, codes, scheduler, violated } = this.#options;
    return phone.request({
      label: `${customer.name} reads ${code.name}`,
      describe: (response) => (response ? String(response.status) : 'by no process'),
      run: async (context, token) => {
        const response = await this.#run(context, token, code).catch((error: unknown) => {
          const refusal = readRefusal(error);
          if (refusal) return { status: refusal.status, lookUp: null };
          if (!isDatabaseTrouble(error)) violated(`a defect: ${String(error)}`);
          return { status: 503, lookUp: null };
        });
        const { lookUp } = response;
        scheduler.count(`code answered ${response.status} ${lookUp?.state ?? 'unread'}`);
        if (lookUp) codes.receive(lookUp);
        return response;
      },
    });
  }

  async #run(context: Context, token: VerifiedToken, code: Code): Promise<CodeResponse> {
    const principal = await findPrincipal(context, token);
    if (!principal) throw new AppError('UNAUTHENTICATED');
    const input = { path: {}, query: {}, headers: {}, body: { copy_paste: code.text } };
    const request = requestFacts(context);
    const reply = await decodePixCode.run(context, { input, principal, request });
    if (reply.status !== 200) throw new Error(`a code was answered ${reply.status}`);
    const { lookup_id: id, expires_at: expiresAt = '', state = '', amount } = reply.body;
    if (id === undefined) return { status: 200, lookUp: null };
    const amountCents = amount === undefined ? null : Math.round(amount * 100);
    const { customer } = this.#options;
    const read = { customer, code, id, state, amountCents };
    return { status: 200, lookUp: { ...read, expiresAtMs: Date.parse(expiresAt) } };
  }
}
