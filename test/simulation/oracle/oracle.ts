/**
 * Checks every event against the bank's ledger as it happens: payments that leave, rows that are
 * read, responses to the app. A seed with a violation has failed.
 */
import type { ProcessedRow } from '../../../src/ledger/pix-transaction-repository.ts';
import type { PixStatus } from '../../../src/domain/pix.ts';
import type { Sealer } from '../../../src/security/sealing.ts';
import type { Ledger, Payment } from '../bank/ledger.ts';
import type { Policy } from '../bank/policy.ts';
import type { Hazards } from '../hazards.ts';
import type { Limits } from '../limits.ts';
import type { Names } from '../names.ts';
import type { Owner, Scheduler } from '../scheduler.ts';
import type { StoredCustomer } from '../store.ts';
import { Accounts } from './accounts.ts';
import type { Evidence } from './evidence.ts';
import { LookUps } from './look-ups.ts';
import { PaidCodes } from './paid-codes.ts';
import { Returns } from './returns.ts';
import {
  findFinal,
  makeName,
  type AppResponse,
  type AppRequest,
  type Order,
  type RequestedPayment,
} from './requests.ts';
import type { ChangedRow, LostCommits } from './lost-commits.ts';

type RequestOf = Pick<AppRequest, 'customer' | 'key'>;

/** A final response, and its step. */
interface FinalResponse {
  readonly status: 'COMPLETED' | 'FAILED';
  readonly at: number;
}

export interface OracleOptions {
  readonly ledger: Ledger;
  readonly evidence: Evidence;
  readonly hazards: Hazards;
  readonly names: Names;
  readonly scheduler: Scheduler;
  readonly limits: Limits;
  readonly policy: Policy;
  readonly sealer: Sealer;
  /** The largest clock skew of a process, in milliseconds. */
  readonly clockSkewMs: number;
}

export class Oracle {
  readonly violations: string[] = [];
  readonly ledger: Ledger;
  readonly accounts: Accounts;
  readonly lookUps: LookUps;
  readonly codes: PaidCodes;
  readonly returns: Returns;
  /** The transaction of each key in the responses to the app, by `customer/key`. */
  readonly transactions = new Map<string, string>();
  /** The amounts that the app has requested under a key. */
  readonly #requested = new Map<string, Set<number>>();
  readonly #finalResponses = new Map<string, FinalResponse>();
  readonly #finals = new Map<string, PixStatus>();
  /** When a transaction was first FAILED, in milliseconds. */
  readonly #failedAtMs = new Map<string, number>();
  /** The step at which the transaction of an end-to-end id was first final. */
  readonly #endedAt = new Map<string, number>();
  readonly #statuses = new Map<string, PixStatus>();
  readonly #paying = new Set<string>();
  /** The statuses that an operator may have set, by `customer/key`. */
  readonly #decided = new Map<string, Set<PixStatus>>();
  /** The end-to-end id of each key, and the reverse, of payments that have left. */
  readonly #attempted = new Map<string, string>();
  readonly #names: Names;
  readonly #scheduler: Scheduler;
  readonly #limits: Limits;
  /** The lowest limit that each customer has requested, in centavos. */
  readonly #ownLimits = new Map<string, number>();
  readonly #policy: Policy;

  readonly #evidence: Evidence;
  readonly #hazards: Hazards;
  readonly #lost: LostCommits;
  /** The step at which a failover has changed the row of a payment. */
  readonly #rolledBackAt = new Map<string, number>();

  constructor(options: OracleOptions) {
    const { ledger, evidence, hazards, names, scheduler, limits, sealer, clockSkewMs } = options;
    this.#limits = limits;
    this.#policy = options.policy;
    this.ledger = ledger;
    this.#evidence = evidence;
    this.#hazards = hazards;
    this.#names = names;
    this.#scheduler = scheduler;
    this.#lost = evidence.lost;
    const violated = (text: string): void => this.violated(text);
    this.accounts = new Accounts({ scheduler, violated });
    this.returns = new Returns({
      ledger,
      policy: this.#policy,
      lost: this.#lost,
      names,
      scheduler,
      accounts: this.accounts,
      violated,
    });
    const { lost } = evidence;
    const common = { sealer, names, scheduler, violated, clockSkewMs, sends: this };
    this.lookUps = new LookUps({ ...common, ledger });
    this.codes = new PaidCodes({ ...common, lost });
  }

  violated(text: string): void {
    this.#scheduler.note(`VIOLATION ${text}`);
    this.violations.push(text);
  }

  /**
   * An operator is about to resolve a payment: the service reports that status from now on, even if
   * it is wrong.
   * @returns a function that withdraws a refused decision.
   */
  decides(customer: StoredCustomer, key: string, status: PixStatus): () => void {
    const name = makeName(customer, key);
    const decided = this.#decided.get(name) ?? new Set();
    const isNew = !decided.has(status);
    this.#decided.set(name, decided.add(status));
    return () => void (isNew && decided.delete(status));
  }

  /** A request was served although its session had ended before. */
  servedAfterLogOut({ name }: StoredCustomer): void {
    if (this.#lost.failedOverAt === null) this.violated(`${name} is served after the log-out`);
  }

  #isDecided(name: string, status: PixStatus): boolean {
    return this.#decided.get(name)?.has(status) === true;
  }

  requested(customer: StoredCustomer, key: string, amountCents: number): void {
    const name = makeName(customer, key);
    this.#requested.set(name, (this.#requested.get(name) ?? new Set()).add(amountCents));
  }

  /** The payments that the app has requested so far; with an end-to-end id if one has left. */
  requests(): RequestedPayment[] {
    return [...this.#requested].flatMap(([name, amounts]) => {
      const key = name.slice(name.indexOf('/') + 1);
      const endToEnd = this.#attempted.get(name) ?? null;
      return [...amounts].map((amountCents) => ({ name, key, endToEnd, amountCents }));
    });
  }

  /** A payment leaves a process. */
  attempted(process: Owner, { customer, endToEnd, clientRequestId }: Order): void {
    if (this.#lost.hasLostRecord({ endToEnd })) {
      this.#lost.leftUnrecorded(endToEnd);
      return;
    }
    const name = makeName(customer, clientRequestId);
    const shown = this.#names.of('E', endToEnd);
    const sameIds =
      (this.#attempted.get(name) ?? endToEnd) === endToEnd &&
      (this.#attempted.get(endToEnd) ?? name) === name;
    if (!sameIds) this.violated(`an attempt at ${name} has other ids: ${shown}`);
    this.#attempted.set(name, endToEnd);
    this.#attempted.set(endToEnd, name);
    if (!this.#paying.has(endToEnd)) this.violated(`${shown} left before PAYING was stored`);
    this.#checkNotEnded(endToEnd);
    this.#evidence.attemptLeft(process, endToEnd);
  }

  /**
   * Checks that no attempt leaves for a final payment. A process reads the status again before each
   * further attempt, but the payment may complete between that read and the attempt.
   */
  #checkNotEnded(endToEnd: string): void {
    const endedAt = this.#endedAt.get(endToEnd);
    if (endedAt === undefined || !this.#hazards.has('repeats_after_end')) return;
    const lastEndAt = this.#evidence.lastAttemptEndedAt(endToEnd);
    const status = this.#statuses.get(endToEnd);
    if (status === 'FAILED' || (lastEndAt !== null && endedAt < lastEndAt)) {
      this.violated(`${this.#names.of('E', endToEnd)} left again after it was ${status}`);
    }
  }

  /** The bank has executed a payment. */
  executed(payment: Payment): void {
    const { customer, clientRequestId } = payment;
    this.codes.executed(payment);
    const name = makeName(customer, clientRequestId);
    const isExpected = this.#isDecided(name, 'FAILED') || this.#mayHaveReusedKey(payment);
    if (this.#finalResponses.get(name)?.status === 'FAILED' && !isExpected) {
      this.violated(`${name} was executed after the app received FAILED`);
    }
  }

  /** The end-to-end id of the attempts under a key, if one has left. */
  findAttempt(customer: StoredCustomer, key: string): string | null {
    return this.#attempted.get(makeName(customer, key)) ?? null;
  }

  /**
   * A row has been read or written.
   * @returns whether it is final for the first time.
   */
  observed(row: ProcessedRow): boolean {
    if (row.phase === 'PAYING' && row.endToEnd !== null) {
      this.#paying.add(row.endToEnd);
      this.#lost.beganPaying(row.endToEnd, row);
    }
    if (row.operation === 'REFUND_OUT') this.returns.observed(row);
    const final = this.#finals.get(row.id);
    const isRolledBack = row.operation !== 'SEND' && this.#lost.failedOverAt !== null;
    if (final !== undefined && final !== row.status && !isRolledBack) {
      this.#changed(row, final);
    }
    if (row.status === 'PROCESSING') return false;
    this.#finals.set(row.id, row.status);
    if (row.status === 'FAILED' && !this.#failedAtMs.has(row.id))
      this.#failedAtMs.set(row.id, this.#scheduler.nowMs);
    // Another customer's receipt has the same end-to-end id as the payment, so track sends only.
    if (row.operation === 'SEND' && row.endToEnd !== null) {
      if (!this.#endedAt.has(row.endToEnd)) this.#endedAt.set(row.endToEnd, this.#scheduler.taken);
      this.#statuses.set(row.endToEnd, row.status);
    }
    return final === undefined;
  }

  /**
   * A final transaction has changed: only a FAILED one that was paid may, and only to COMPLETED.
   * The charges and the returns are compared with the ledger at rest.
   */
  #changed(row: ProcessedRow, final: PixStatus): void {
    const wasPaid =
      row.operation === 'CHARGE' ||
      row.operation === 'REFUND_OUT' ||
      this.ledger.payments.some((one) => one.endToEnd === row.endToEnd && this.#wasMade(one));
    if (final === 'FAILED' && row.status === 'COMPLETED' && wasPaid) {
      this.#scheduler.count(`corrections of ${row.operation}`);
      return;
    }
    this.violated(`${this.#names.of('tx', row.id)} went from ${final} to ${row.status}`);
  }

  /** A failover has changed or removed a transaction: earlier responses about it are void. */
  rolledBack({ before, after }: ChangedRow): void {
    const { id, end_to_end: endToEnd, idempotency_key: key } = before;
    const customer = this.ledger.customers.find((one) => one.id === before.user_id);
    if (!customer) return;
    const name = makeName(customer, key);
    this.#rolledBackAt.set(name, this.#scheduler.taken);
    this.#finals.delete(id);
    this.#failedAtMs.delete(id);
    this.#finalResponses.delete(name);
    if (after === null) this.transactions.delete(name);
    if (endToEnd === null) return;
    this.#endedAt.delete(endToEnd);
    this.#statuses.delete(endToEnd);
    if (!this.#lost.hasLostRecord({ endToEnd })) return;
    this.#attempted.delete(name);
    this.#attempted.delete(endToEnd);
    if (this.#evidence.hasLeft(endToEnd)) this.#lost.leftUnrecorded(endToEnd);
    this.#evidence.forgot(endToEnd);
  }

  /** The service has answered a request about a payment. */
  answered(request: AppRequest, response: AppResponse): void {
    const name = makeName(request.customer, request.key);
    // A row that was read before a failover may be answered after it.
    if ((this.#rolledBackAt.get(name) ?? -1) > request.requestedAt) return;
    this.#checkId(name, response);
    if (response.status === 422 && !this.#isRefusable(request, response)) {
      this.violated(`${name} was refused without a reason`);
    }
    if (response.status === 502 && response.outcome === null) {
      this.violated(`${name} was answered 502 without its outcome`);
    }
    if (response.fields?.includes('lookup_id')) this.#scheduler.count('look-ups refused');
    this.#checkFinal(request, response);
    this.#checkOutcome(request, response);
  }

  /** Whether a refusal is right: a used look-up, a limit, a blocked account, or a reused key. */
  #isRefusable(request: AppRequest, { fields = [], outcome }: AppResponse): boolean {
    const { customer, key, requestedAt } = request;
    if (fields.includes('copy_paste'))
      return outcome !== null && this.codes.isRefusable(request, 'copy_paste');
    if (fields.includes('lookup_id')) {
      const isOfCode = this.codes.isRefusable(request, 'lookup_id');
      return outcome !== null && (isOfCode || this.lookUps.isRefusable(request));
    }
    if (fields.includes('amount'))
      return this.#mayExceedLimit(customer) || this.#mayBeHeld(request);
    if (fields.includes('account')) return this.accounts.wasBlockedSince(customer.id, requestedAt);
    return (this.#requested.get(makeName(customer, key))?.size ?? 0) > 1;
  }

  /**
   * After a failover, a line of a customer's statement that no stored send accounts for holds sends
   * of its amount. It may be a payment that was made elsewhere, or money received in a line that
   * does not say its direction: the service cannot tell. Lines of one payment with two amounts hold
   * sends of every amount.
   */
  #mayBeHeld({ customer, key }: AppRequest): boolean {
    if (this.#lost.failedOverAt === null) return false;
    const payments = this.ledger.listPayments(customer);
    const { fees, listsBeside } = this.#policy.statement;
    if ((fees || listsBeside) && payments.length > 0) return true;
    const amounts = this.#requested.get(makeName(customer, key));
    const received = this.ledger.receipts.filter((one) => one.customer === customer);
    return [...payments, ...received].some((one) => amounts?.has(one.amountCents));
  }

  /** A customer is about to set limits, in reais. */
  limitsRequested({ name }: StoredCustomer, limits: readonly (number | null | undefined)[]): void {
    const cents = limits.map((one) =>
      one === null || one === undefined ? Infinity : Math.round(one * 100),
    );
    this.#ownLimits.set(name, Math.min(this.#ownLimits.get(name) ?? Infinity, ...cents));
  }

  /** Whether the sum of a customer's requests exceeds a limit, of the bank or their own. */
  #mayExceedLimit({ name: customer }: StoredCustomer): boolean {
    const { day, night } = this.#limits;
    const ownLimit = this.#ownLimits.get(customer) ?? Infinity;
    const own = [...this.#requested].filter(([name]) => name.startsWith(`${customer}/`));
    const sum = own.reduce((total, [, amounts]) => total + Math.max(...amounts), 0);
    return sum > Math.min(day ?? Infinity, night ?? Infinity, ownLimit);
  }

  #checkId(name: string, { pix }: AppResponse): void {
    if (!pix) return;
    const known = this.transactions.get(name) ?? pix.transactionId;
    if (known !== pix.transactionId) this.violated(`${name} has two transactions`);
    this.transactions.set(name, known);
  }

  #checkFinal(request: AppRequest, response: AppResponse): void {
    const name = makeName(request.customer, request.key);
    const status = findFinal(response);
    const before = this.#finalResponses.get(name);
    const isWithdrawn =
      response.pix?.status === 'PROCESSING' && before && request.requestedAt > before.at;
    // A response that was on its way when the payment was corrected may arrive after the
    // correction.
    const isCorrected = before && before.status !== status && this.#isCorrected(request);
    if (before && !isCorrected && ((status && status !== before.status) || isWithdrawn)) {
      this.violated(
        `the app received ${before.status} for ${name}, then ${status ?? 'PROCESSING'}`,
      );
    }
    if (status === null) return;
    if (!before || isCorrected)
      this.#finalResponses.set(name, { status, at: this.#scheduler.taken });
    if (this.isTrue(request, status, response.pix?.endToEnd)) return;
    this.violated(`the app received ${status} for ${name}, which is false`);
  }

  /**
   * Whether a final status agrees with the ledger, or with an operator's decision.
   * @param endToEnd of the payment that was made.
   */
  isTrue(
    request: RequestOf,
    status: 'COMPLETED' | 'FAILED',
    endToEnd: string | null = null,
  ): boolean {
    const payments = this.findPayments(request, endToEnd);
    const agrees =
      status === 'COMPLETED'
        ? payments.some(
            (one) =>
              this.#wasMade(one) && (one.endToEnd === endToEnd || this.#lost.hasLostRecord(one)),
          )
        : payments.every((one) => this.#mayHaveFailed(one));
    return agrees || this.isDecided(request, status);
  }

  /** Whether an operator has decided that a payment has this status. */
  isDecided({ customer, key }: RequestOf, status: PixStatus): boolean {
    return this.#isDecided(makeName(customer, key), status);
  }

  /** Whether a failover has changed the row of a payment. @param name as `customer/key`. */
  wasRolledBack(name: string): boolean {
    return this.#rolledBackAt.has(name);
  }

  /** Whether the service may report that a payment was made. */
  #wasMade(payment: Payment): boolean {
    return payment.state === 'completed';
  }

  /** Whether the service may report that a payment failed, for all that the bank has said. */
  #mayHaveFailed(payment: Payment): boolean {
    const { state, isDenied } = payment;
    const isBelieved = state === 'reversed' || isDenied === true;
    return isBelieved || this.#mayHaveReusedKey(payment) || this.#wasExecutedAfterFailure(payment);
  }

  /**
   * Whether the bank has executed a payment only after its transaction had failed: its process was
   * frozen when a failover lost the record, and until the statement was read without it.
   */
  #wasExecutedAfterFailure(payment: Payment): boolean {
    const { customer, clientRequestId, executedAtMs } = payment;
    const id = this.transactions.get(makeName(customer, clientRequestId));
    const failedAtMs = id === undefined ? undefined : this.#failedAtMs.get(id);
    return (
      failedAtMs !== undefined && failedAtMs < executedAtMs && this.#lost.hasLostRecord(payment)
    );
  }

  /**
   * Whether responses about the key of a payment may concern another amount: a failover has lost
   * the record of the payment, and its line names no key, so that it holds only its own amount.
   */
  #mayHaveReusedKey(payment: Payment): boolean {
    const amounts = this.#requested.get(makeName(payment.customer, payment.clientRequestId));
    const isReused = amounts !== undefined && amounts.size > 1;
    return isReused && !this.#policy.statement.namesRequests && this.#lost.hasLostRecord(payment);
  }

  /** Whether a payment under the key was made, although FAILED was stored first. */
  #isCorrected({ customer, key }: RequestOf): boolean {
    const id = this.transactions.get(makeName(customer, key));
    const isCompleted = id !== undefined && this.#finals.get(id) === 'COMPLETED';
    const payments = this.findPayments({ customer, key });
    return isCompleted && payments.some((one) => this.#wasMade(one));
  }

  /** Checks the outcome. A 2xx may report FAILED: the payment was accepted but never executed. */
  #checkOutcome(request: AppRequest, { outcome, pix }: AppResponse): void {
    const payments = this.findPayments(request, pix?.endToEnd);
    const hasFailed = this.#hasFailed(request, pix);
    const isFalse =
      (outcome === 'accepted' && !hasFailed && payments.length === 0 && !this.#fitsLost(request)) ||
      ((outcome === 'not_sent' || outcome === 'rejected') &&
        payments.some((one) => !this.#mayHaveFailed(one)));
    const decided = outcome === 'accepted' ? 'COMPLETED' : 'FAILED';
    if (!isFalse || this.#isDecided(makeName(request.customer, request.key), decided)) return;
    this.violated(
      `the app received ${outcome} for ${makeName(request.customer, request.key)}: false`,
    );
  }

  /**
   * Whether a payment is stored as failed. A response without a transaction, such as the refusal of
   * a key that another payment has, may be the first response about it.
   */
  #hasFailed({ customer, key }: AppRequest, pix: AppResponse['pix']): boolean {
    const name = makeName(customer, key);
    const id = pix?.transactionId ?? this.transactions.get(name);
    if (id !== undefined) return this.#finals.get(id) === 'FAILED';
    const endToEnd = this.#attempted.get(name);
    return endToEnd !== undefined && this.#statuses.get(endToEnd) === 'FAILED';
  }

  /**
   * A receipt without our ids may belong to another user's payment with the same key; the service
   * cannot know it if a failover has lost the record of that payment.
   */
  #fitsLost({ key }: AppRequest): boolean {
    return this.ledger.payments.some(
      (one) => one.clientRequestId === key && this.#lost.hasLostRecord(one),
    );
  }

  /**
   * The payments under a key, and the one with the end-to-end id of the response if a failover has
   * lost its record: another device may have paid with the same look-up.
   */
  findPayments({ customer, key }: RequestOf, endToEnd: string | null = null): Payment[] {
    return this.ledger
      .listPayments(customer)
      .filter(
        (one) =>
          one.clientRequestId === key ||
          (one.endToEnd === endToEnd && this.#lost.hasLostRecord(one)),
      );
  }
}
