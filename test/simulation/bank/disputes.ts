/**
 * The disputes of payments at the bank: it opens or refuses each, decides it later, and reports
 * every change of its state. Money comes back as a refund of the payment.
 */
import type { Chance } from '../chance.ts';
import type { StoredCustomer } from '../store.ts';
import { writeDisputeNotice, type DisputeNotice } from './dispute-notices.ts';
import type { Ids } from './ids.ts';
import type { Dispute, Ledger, Payment } from './ledger.ts';
import type { Policy } from './policy.ts';
import { json, result, type BankResponse } from './responses.ts';

export interface DisputesOptions {
  readonly policy: Policy;
  readonly ledger: Ledger;
  readonly chance: Chance;
  readonly ids: Ids;
  /** Does work later, in a separate step. */
  readonly later: (delayMs: number, label: string, work: () => void) => void;
  readonly post: (notice: DisputeNotice, again: () => DisputeNotice) => void;
  /** Called for each dispute that was accepted: its payment is refunded. */
  readonly accepted: (payment: Payment) => void;
  readonly count: (name: string) => void;
}

/** A request about the dispute of a payment, as the bank has received it. */
interface DisputeRequest {
  readonly method: string;
  readonly endToEnd: string;
  readonly body: Readonly<Record<string, unknown>>;
  readonly isHiddenRepeat?: true;
}

const likelihoods = { refused: 0.2, withdrawalRefused: 0.15 } as const;

const slowestMs = 240_000;

/** How a dispute ends without the customer. */
const ends = ['ACCEPTED', 'ACCEPTED', 'REJECTED', 'WITHDRAWN'] as const;

/** The statuses with which a request is refused. */
const refusals = [400, 403, 422] as const;

export class Disputes {
  readonly #options: DisputesOptions;
  /** Whether a request with this content is refused: a repeat is refused, too. */
  readonly #isRefused = new Map<string, boolean>();

  constructor(options: DisputesOptions) {
    this.#options = options;
  }

  respond(customer: StoredCustomer, request: DisputeRequest): BankResponse {
    switch (request.method) {
      case 'POST':
        return this.#open(customer, request);
      case 'DELETE':
        return this.#withdraw(customer, request);
      default:
        return this.#show(customer, request);
    }
  }

  /** A payment was completed: its payer may dispute it at another channel. */
  paid(payment: Payment): void {
    const { chance, later, policy, ledger } = this.#options;
    if (!chance.happens(policy.disputes?.elsewhere ?? 0)) return;
    later(chance.delayMs(slowestMs), 'a dispute is opened at another channel', () => {
      if (ledger.findDispute(payment.endToEnd)) return;
      this.#options.count('disputes opened at another channel');
      this.#store(payment, { disputeId: null, situation: null });
    });
  }

  /** Opens a dispute, one at most for each payment; a refused content is refused again. */
  #open(
    customer: StoredCustomer,
    { endToEnd, body, isHiddenRepeat }: DisputeRequest,
  ): BankResponse {
    const { ledger, chance, policy, count } = this.#options;
    const [disputeId, situation] = [String(body['disputeId']), String(body['situation'])];
    const opened = ledger.findDispute(endToEnd);
    if (opened) {
      count('repeated disputes');
      const isReturned = policy.disputes?.repeat !== 'refused' || isHiddenRepeat;
      return isReturned ? this.#answer(opened) : this.#refuse(endToEnd, 'repeat');
    }
    const payment = ledger.payment(customer, endToEnd);
    if (payment?.state !== 'completed') return this.#refuse(endToEnd, 'payment');
    const content = `${endToEnd} ${situation}`;
    const isRefused = this.#isRefused.get(content) ?? chance.happens(likelihoods.refused);
    this.#isRefused.set(content, isRefused);
    if (isRefused) return this.#refuse(endToEnd, 'content');
    count('disputes opened');
    return this.#answer(this.#store(payment, { disputeId, situation }));
  }

  /** A dispute that has ended stays as it is. */
  #withdraw(customer: StoredCustomer, { endToEnd }: DisputeRequest): BankResponse {
    const { ledger, count } = this.#options;
    const dispute = ledger.findDispute(endToEnd);
    if (dispute?.customer !== customer) return notFound;
    if (dispute.state !== 'OPEN') return this.#answer(dispute);
    if (dispute.isKept) {
      ledger.refusedWithdrawals.add(endToEnd);
      return { ...json(422, { code: 'NOT_WITHDRAWABLE' }), summary: 'withdrawal refused' };
    }
    count('disputes withdrawn');
    this.#end(dispute, 'WITHDRAWN');
    return this.#answer(dispute);
  }

  #show(customer: StoredCustomer, { endToEnd }: DisputeRequest): BankResponse {
    const dispute = this.#options.ledger.findDispute(endToEnd);
    return dispute?.customer === customer ? this.#answer(dispute) : notFound;
  }

  #store(payment: Payment, requested: Pick<Dispute, 'disputeId' | 'situation'>): Dispute {
    const { ledger, chance, ids, later, policy } = this.#options;
    const { customer, endToEnd } = payment;
    const isKept = chance.happens(likelihoods.withdrawalRefused);
    const bankId = `dispute-${ids.next()}`;
    const dispute = ledger.openDispute({ customer, endToEnd, bankId, isKept, ...requested });
    this.#report(dispute);
    if (chance.happens(policy.disputes?.undecided ?? 0)) return dispute;
    const end = chance.pick([...ends]);
    later(chance.below(slowestMs), `the bank decides ${bankId}`, () => {
      if (dispute.state !== 'OPEN') return;
      this.#end(dispute, end);
      if (end === 'ACCEPTED') this.#options.accepted(payment);
    });
    return dispute;
  }

  #end(dispute: Dispute, state: Dispute['state']): void {
    dispute.state = state;
    this.#options.count(`disputes that the bank has ended ${state}`);
    this.#report(dispute);
  }

  /** Posts the present state. */
  #report(dispute: Dispute): void {
    const { chance, post } = this.#options;
    const { state } = dispute;
    const write = () => writeDisputeNotice(chance, dispute, state);
    post(write(), write);
  }

  #answer({ disputeId, endToEnd, state, bankId }: Dispute): BankResponse {
    const body = {
      id: bankId,
      ...(disputeId !== null && { disputeId }),
      endToEnd,
      status: state,
    };
    return {
      ...result(this.#options.policy, body),
      disputeState: state,
      summary: `dispute ${state}`,
    };
  }

  #refuse(endToEnd: string, why: keyof typeof refused): BankResponse {
    const { ledger, chance, count } = this.#options;
    count(`disputes refused: ${why}`);
    ledger.refusedDisputes.add(endToEnd);
    const [status, code] = refused[why] ?? [chance.pick([...refusals]), 'DISPUTE_REFUSED'];
    return {
      ...json(status, { code, message: 'Contestação recusada' }),
      summary: `${why} refused`,
    };
  }
}

const notFound: BankResponse = {
  ...json(404, { code: 'DisputeNotFound', message: 'Not found' }),
  summary: 'no dispute',
};

/** The refusals with a status of their own; null: any. */
const refused = {
  repeat: [409, 'DISPUTE_EXISTS'],
  payment: [422, 'PAYMENT_NOT_COMPLETED'],
  content: null,
} as const;
