/**
 * The app that disputes payments: it repeats requests, sometimes at once, sometimes with other
 * content, looks at the dispute, and withdraws some.
 */
import type { OpenDisputeRequest, PixDispute } from '../../contract/types.ts';
import { findPrincipal } from '../../src/auth/banking-sessions.ts';
import type { Context } from '../../src/context/context.ts';
import { getDispute } from '../../src/disputes/get-dispute.ts';
import { openDispute } from '../../src/disputes/open-dispute.ts';
import { withdrawDispute } from '../../src/disputes/withdraw-dispute.ts';
import type { Principal } from '../../src/domain/principal.ts';
import { AppError } from '../../src/errors.ts';
import { isOutage } from './database-faults.ts';
import type { FaultProfile } from './fault-profile.ts';
import type { DisputeResponse, Disputes, DisputeVerb } from './oracle/disputes.ts';
import { isFinal } from './oracle/stored-disputes.ts';
import { readRefusal, type Phone } from './phone.ts';
import type { Scheduler } from './scheduler.ts';
import { requestFacts } from './service.ts';
import type { Store, StoredCustomer } from './store.ts';

export interface DisputeClientOptions {
  readonly phone: Phone;
  readonly customer: StoredCustomer;
  readonly scheduler: Scheduler;
  readonly profile: () => FaultProfile;
  readonly disputes: Disputes;
  readonly violated: (text: string) => void;
  /** The rows of what the customer has sent, which a list of the app shows. */
  readonly store: Store;
}

interface SentPix {
  readonly id: string;
  readonly endToEnd: string;
  readonly isDisputable: boolean;
}

interface PlannedDispute extends SentPix {
  /** Whether the customer withdraws it. */
  readonly isWithdrawn: boolean;
  readonly content: OpenDisputeRequest;
}

const slowestMs = 60_000;

/** How often the customer looks for sent payments, and the pause between two looks. */
const maxLooks = 12;
const looksPauseMs = 15_000;
const maxRounds = 6;

/** How likely the customer tries to dispute a payment that was not completed. */
const earlyDisputes = 0.02;

const situations = ['SCAM', 'ACCOUNT_TAKEOVER', 'COERCION', 'FRAUDULENT_ACCESS', 'OTHER'] as const;

/** What a customer has sent; some payments cannot be disputed yet. */
async function listSent(store: Store, { id }: StoredCustomer): Promise<SentPix[]> {
  return store.rows<SentPix>(
    `select id, end_to_end as "endToEnd", status = 'COMPLETED' as "isDisputable"
       from pix_transactions where user_id = $1 and operation = 'SEND' and end_to_end is not null
      order by created_at, id`,
    [id],
  );
}

export class DisputeClient {
  readonly #options: DisputeClientOptions;
  readonly #plans: PlannedDispute[] = [];

  constructor(options: DisputeClientOptions) {
    this.#options = options;
  }

  /** Disputes payments some times. */
  async run(times: number): Promise<void> {
    const { scheduler, phone } = this.#options;
    const { chance } = scheduler;
    for (let left = times; left > 0; left -= 1) {
      await scheduler.sleep(phone.owner, 100 + chance.delayMs(slowestMs));
      const sent = await this.#choose();
      if (!sent) return;
      const count = chance.pick([1, 1, 1, 2]);
      const plans = Array.from({ length: count }, () => this.#plan(sent));
      await Promise.all(plans.map((plan) => this.#pursue(plan)));
    }
  }

  /** Repeats every request: none of them disputes again. */
  async repeatRequests(): Promise<void> {
    for (const plan of this.#plans) {
      await this.#request(plan, 'open');
      await this.#request(plan, 'get');
    }
  }

  /** Mostly a completed payment. */
  async #choose(): Promise<SentPix | null> {
    const { scheduler, phone, store, customer } = this.#options;
    const { chance } = scheduler;
    for (let looks = 0; looks < maxLooks; looks += 1) {
      if (looks > 0) await scheduler.sleep(phone.owner, looksPauseMs);
      const sent = await listSent(store, customer);
      const found = sent.filter(
        ({ isDisputable }) => isDisputable || chance.happens(earlyDisputes),
      );
      const [chosen] = chance.shuffled(found);
      if (chosen) return chosen;
    }
    return null;
  }

  #plan(sent: SentPix): PlannedDispute {
    const { chance } = this.#options.scheduler;
    const situation = chance.pick([...situations]);
    const content = chance.happens(0.5) ? { situation, details: 'Fui enganado.' } : { situation };
    const plan = { ...sent, content, isWithdrawn: chance.happens(0.5) };
    this.#plans.push(plan);
    return plan;
  }

  async #pursue(first: PlannedDispute): Promise<void> {
    const { scheduler, profile, phone } = this.#options;
    const { chance } = scheduler;
    let plan = first;
    let known: PixDispute | null = null;
    for (let round = 0; round < maxRounds; round += 1) {
      const requests: Promise<DisputeResponse | null>[] = [
        this.#request(plan, this.#chooseVerb(plan, known)),
      ];
      while (chance.happens(profile().impatience)) {
        requests.push(this.#request(plan, this.#chooseVerb(plan, known)));
      }
      if (chance.happens(profile().impatience / 5)) {
        requests.push(this.#request(this.#plan(plan), 'open'));
      }
      const responses = await Promise.all(requests);
      const isEnded = responses.some((response) => response?.status === 401);
      if (isEnded || chance.happens(profile().renewals)) await phone.logIn();
      known = responses.find((one) => one?.dispute)?.dispute ?? known;
      const isRefused = responses.some((one) => one?.status === 502);
      if (isRefused && chance.happens(0.5)) plan = this.#plan(plan);
      const isOther = responses[0]?.status === 422 && known?.status !== 'OPEN';
      const isOver = isOther || (known !== null && isFinal(known.status));
      if (isOver && !chance.happens(0.2)) return;
      await scheduler.sleep(phone.owner, 100 + chance.delayMs(slowestMs));
    }
  }

  #chooseVerb(plan: PlannedDispute, known: PixDispute | null): DisputeVerb {
    const { chance } = this.#options.scheduler;
    if (known === null) return chance.pick(['open', 'open', 'open', 'get', 'withdraw']);
    const isRequested = known.withdrawal_requested_at !== undefined;
    const isWaiting = isRequested && chance.happens(0.8);
    if (known.status === 'OPEN' && plan.isWithdrawn && !isWaiting) return 'withdraw';
    return chance.pick<DisputeVerb>(['open', 'get', 'get']);
  }

  #request(plan: PlannedDispute, verb: DisputeVerb): Promise<DisputeResponse | null> {
    const { scheduler, disputes, phone, customer } = this.#options;
    const request = { ...plan, verb, requestedAt: scheduler.taken };
    disputes.requested(request);
    return phone.request<DisputeResponse>({
      label: `${verb} a dispute of ${customer.name}`,
      describe,
      run: async (context, token) => {
        const principal = findPrincipal(context, token);
        const response = await principal
          .then((found) => this.#run(context, found, request))
          .catch((error: unknown) => this.#refusal(error));
        disputes.answered(request, response);
        return response;
      },
    });
  }

  async #run(
    context: Context,
    principal: Principal | null,
    { id, verb, content }: PlannedDispute & { readonly verb: DisputeVerb },
  ): Promise<DisputeResponse> {
    if (!principal) throw new AppError('UNAUTHENTICATED');
    const of = { path: { transactionId: id }, query: {}, headers: {} };
    const call = { principal, request: requestFacts(context) };
    const empty = { ...call, input: { ...of, body: undefined } };
    const replies = {
      open: () => openDispute.run(context, { ...call, input: { ...of, body: content } }),
      withdraw: () => withdrawDispute.run(context, empty),
      get: () => getDispute.run(context, empty),
    };
    const { status, body } = await replies[verb]();
    if (status !== 200) throw new Error(`a dispute was answered ${status}`);
    return { status, dispute: body };
  }

  #refusal(error: unknown): DisputeResponse {
    const refusal = readRefusal(error);
    if (refusal) return { ...refusal, dispute: null };
    if (!isOutage(error)) {
      this.#options.violated(`a defect in a dispute: ${String(error)}`);
    }
    return { status: 503, dispute: null };
  }
}

function describe(response: DisputeResponse | null): string {
  if (!response) return 'by no process';
  return [response.status, response.dispute?.status].filter(Boolean).join(' ');
}
