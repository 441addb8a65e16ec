/**
 * A customer's phone: it sends requests to any live process, loses some requests and responses, and
 * knows the banking session of its token.
 */
import type { Context } from '../../src/context/context.ts';
import { AppError } from '../../src/errors.ts';
import { logout } from '../../src/login/logout.ts';
import type { VerifiedToken } from '../../src/process/access-tokens.ts';
import { saveSession } from '../../src/auth/banking-sessions.ts';
import { reconcileAtLogin } from '../../src/login/reconcile-at-login.ts';
import type { Processes } from './processes.ts';
import type { Owner, Scheduler } from './scheduler.ts';
import { requestFacts } from './service.ts';
import type { StoredCustomer } from './store.ts';
import type { FaultProfile } from './fault-profile.ts';

export interface PhoneOptions {
  readonly customer: StoredCustomer;
  readonly processes: Processes;
  readonly scheduler: Scheduler;
  readonly profile: () => FaultProfile;
  /** Called when a request succeeds although its session has ended. */
  readonly servedAfterLogOut: () => void;
}

/** A request of the app. */
interface PhoneRequest<Response extends { readonly status: number }> {
  /** For the trace. */
  readonly label: string;
  run(context: Context, token: VerifiedToken): Promise<Response>;
  /** Describes the response for the trace. */
  describe(response: Response | null): string;
}

/** The app waits 2 s plus up to this: sometimes longer than a send with all its attempts takes. */
const maxPatienceMs = 30_000;

export class Phone {
  readonly owner: Owner;
  /** The banking session of the app's token. */
  sessionId = '';
  readonly #options: PhoneOptions;
  /** The sessions that the app knows to have ended. */
  readonly #ended = new Set<string>();

  constructor(options: PhoneOptions) {
    this.#options = options;
    this.owner = { name: options.customer.name };
  }

  /** @returns the response, or null when none arrives in time. */
  async request<Response extends { readonly status: number }>(
    request: PhoneRequest<Response>,
  ): Promise<Response | null> {
    const { scheduler } = this.#options;
    const patienceMs = 2_000 + scheduler.chance.below(maxPatienceMs);
    const noResponse = Promise.withResolvers<null>();
    const cancel = scheduler.after(this.owner, patienceMs, () => noResponse.resolve(null));
    const response = await Promise.race([this.#exchange(request), noResponse.promise]);
    cancel();
    return response;
  }

  /**
   * Logs in again at the provider, as `login` does, without a password check of the service.
   * @returns whether it succeeded.
   */
  async logIn(): Promise<boolean> {
    const { customer } = this.#options;
    return this.#serve(`${customer.name} logs in`, (context) => this.openSession(context));
  }

  /** Opens a banking session in a process, and reads the statement as a login does. */
  async openSession(context: Context): Promise<void> {
    const { customer } = this.#options;
    const login = await context.provider.login({ email: customer.email, password: '' });
    const from = { ...customer, clientAddress: '127.0.0.1' };
    this.sessionId = (await saveSession(context, from, login)) ?? this.sessionId;
    const session = { userId: customer.id, sessionId: this.sessionId };
    await reconcileAtLogin(context, session, requestFacts(context).callOptions);
  }

  /** Whether the app knows that a session has ended. */
  hasEnded(sessionId: string): boolean {
    return this.#ended.has(sessionId);
  }

  /** @returns whether it succeeded. */
  async logOut(): Promise<boolean> {
    const { customer, scheduler } = this.#options;
    scheduler.count('log-outs');
    const { sessionId } = this;
    const isDone = await this.#serve(`${customer.name} logs out`, async (context) => {
      const input = { path: {}, query: {}, headers: {}, body: undefined };
      const token = this.#token(context, sessionId);
      await logout.run(context, { input, token, request: requestFacts(context) });
    });
    if (isDone) this.#ended.add(sessionId);
    return isDone;
  }

  async #serve(label: string, work: (context: Context) => Promise<void>): Promise<boolean> {
    const { processes, scheduler } = this.#options;
    await scheduler.hop(this.owner, label);
    const served = processes.pick()?.serve(work);
    if (!served) return false;
    return served.then(
      () => true,
      () => false,
    );
  }

  async #exchange<Response extends { readonly status: number }>({
    label,
    run,
    describe,
  }: PhoneRequest<Response>): Promise<Response | null> {
    const { scheduler, profile, processes } = this.#options;
    await scheduler.hop(this.owner, `${label} is on its way`);
    const service = processes.pick();
    if (!service || scheduler.chance.happens(profile().lostMessages / 2)) return lost();
    scheduler.note(`${label} reaches ${service.name}`);
    const { sessionId } = this;
    const isEnded = this.#ended.has(sessionId);
    const response = await service
      .serve((context) => run(context, this.#token(context, sessionId)))
      .catch(() => null);
    if (isEnded && response?.status === 200) this.#options.servedAfterLogOut();
    await scheduler.hop(this.owner, `${label} is answered ${describe(response)}`);
    return response && scheduler.chance.happens(profile().lostMessages / 2) ? lost() : response;
  }

  /** @param sessionId the session of the token in the request, which may have waited for long. */
  #token(context: Context, sessionId: string): VerifiedToken {
    const { customer } = this.#options;
    return {
      userId: customer.id,
      sessionId,
      tokenId: 'simulation',
      expiresAt: context.clock.now(),
    };
  }
}

/** A lost message has no response: the app only notices the time-out. */
function lost(): Promise<never> {
  return new Promise(() => undefined);
}

/** A refusal of the service. */
export interface Refusal {
  readonly status: number;
  readonly outcome: string | null;
  /** The fields of a 422. */
  readonly fields: readonly string[];
}

/** @returns the refusal that the app receives; null for a defect. */
export function readRefusal(error: unknown): Refusal | null {
  if (!(error instanceof AppError)) return null;
  const { status, order, fields = {} } = error;
  return { status, outcome: order?.outcome ?? null, fields: Object.keys(fields) };
}
