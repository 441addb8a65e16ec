/**
 * Checks the returns that customers order: none is made twice, none is forgotten, all of a PIX
 * never exceed it, and what the app receives about them is true.
 */
import { centsFromDecimal } from '../../../src/domain/money.ts';
import { isSameReturn, maxReturnDays, type PixStatus } from '../../../src/domain/pix.ts';
import type { ProcessedRow } from '../../../src/ledger/pix-transaction-repository.ts';
import { returnRequestId } from '../../../src/ledger/return-ids.ts';
import type { RefundNotice } from '../bank/later-notices.ts';
import type { Ledger, OrderedReturn } from '../bank/ledger.ts';
import type { Policy } from '../bank/policy.ts';
import type { Proof } from '../bank/responses.ts';
import { provesReturn } from '../bank/statement.ts';
import type { Delivery } from '../delivery.ts';
import type { Names } from '../names.ts';
import type { Owner, Scheduler } from '../scheduler.ts';
import type { StoredCustomer } from '../store.ts';
import type { Accounts } from './accounts.ts';
import type { LostCommits } from './lost-commits.ts';
import { findFinal, makeName, type AppRequest, type AppResponse } from './requests.ts';
import type { EventRow, FinalRow } from './stored-rows.ts';

export interface ReturnsOptions {
  readonly ledger: Ledger;
  readonly policy: Policy;
  readonly lost: LostCommits;
  readonly names: Names;
  readonly scheduler: Scheduler;
  readonly accounts: Accounts;
  readonly violated: (text: string) => void;
}

/** A return as the app requests it. */
export interface RequestedReturn {
  readonly key: string;
  /** The end-to-end id of the received PIX, and its amount. */
  readonly endToEnd: string;
  readonly originalCents: number;
  readonly amountCents: number;
}

interface Attempt {
  readonly process: Owner;
  end: Proof | 'not_sent' | 'open';
}

/** What is known of the return of one key. */
interface Known {
  readonly name: string;
  readonly customer: StoredCustomer;
  readonly clientRequestId: string;
  readonly requested: RequestedReturn[];
  readonly attempts: Attempt[];
  /** The return ids of its attempts. */
  readonly returnIds: Set<string>;
  executed: number;
  final: 'COMPLETED' | 'FAILED' | null;
  transactionId: string | null;
}

/** The stored status of a return. */
export interface StoredEnd {
  readonly user_id: number;
  readonly idempotency_key: string | null;
  readonly status: string;
}

interface Tracked {
  readonly notice: RefundNotice;
  readonly hash: string;
  readonly delivery: Delivery;
}

type Body = Readonly<Record<string, unknown>>;

export class Returns {
  readonly #options: ReturnsOptions;
  /** By `customer/key`. */
  readonly #known = new Map<string, Known>();
  readonly #paying = new Set<string>();
  readonly #ended = new Map<string, PixStatus>();
  /** The notices of failures; those of refunds are with the refunds. */
  readonly #failures: Tracked[] = [];
  readonly #reported: { readonly notice: RefundNotice; readonly hash: string }[] = [];

  constructor(options: ReturnsOptions) {
    this.#options = options;
  }

  /** The app requests a return. */
  requested(customer: StoredCustomer, requested: RequestedReturn): void {
    this.#find(customer, requested.key).requested.push(requested);
  }

  /** A row of a return has been read or written. */
  observed({ phase, status, endToEnd: id }: ProcessedRow): void {
    if (id === null) return;
    if (phase === 'PAYING') this.#paying.add(id);
    if (status !== 'PROCESSING') this.#ended.set(id, status);
  }

  /** A failover has lost commits: a final response is void unless a stored row still says it. */
  rolledBack(stored: readonly StoredEnd[]): void {
    for (const known of this.#known.values()) {
      const isKept = stored.some(
        (row) =>
          row.user_id === known.customer.id &&
          row.idempotency_key === known.requested[0]?.key &&
          row.status === known.final,
      );
      if (!isKept) known.final = null;
    }
  }

  /** A return leaves a process. */
  attempted(process: Owner, body: Body): void {
    const { violated, lost } = this.#options;
    const [returnId, requestId] = [String(body['returnId']), String(body['clientRequestId'])];
    const known = this.#findByRequest(requestId);
    if (!known) return violated('a return left that no key has');
    const { name, returnIds } = known;
    const isSame = [...returnIds].every((one) => one === returnId);
    if (!isSame && lost.failedOverAt === null) violated(`${name} left with another return id`);
    if ([...returnIds].some((one) => !isSameReturn(one, returnId))) {
      violated(`${name} left with an id that is not that of its key`);
    }
    returnIds.add(returnId);
    if (!this.#paying.has(returnId)) violated(`${name} left before PAYING was stored`);
    const ended = this.#ended.get(returnId);
    if (ended !== undefined && lost.failedOverAt === null && ended === 'FAILED') {
      violated(`${name} left again after it was ${ended}`);
    }
    known.attempts.push({ process, end: 'open' });
  }

  /** An attempt has ended. @param end null: without a whole response. */
  ended(process: Owner, body: Body, end: Proof | 'not_sent' | null): void {
    const known = this.#findByRequest(String(body['clientRequestId']));
    const open = known?.attempts.findLast((one) => one.process === process && one.end === 'open');
    if (open) open.end = end ?? 'nothing';
    else if (end === 'not_sent') known?.attempts.push({ process, end });
  }

  /** The bank has executed a return. */
  executed({ clientRequestId }: OrderedReturn): void {
    const { violated } = this.#options;
    const known = this.#findByRequest(clientRequestId);
    if (!known) return violated('a return was executed that no key has');
    known.executed += 1;
    this.#options.scheduler.count('returns executed');
    if (known.executed > 1) violated(`${known.name} was returned twice`);
    if (known.final === 'FAILED') {
      violated(`${known.name} was returned after the app received FAILED`);
    }
  }

  /** The service has answered a request about a return. */
  answered(request: AppRequest, response: AppResponse): void {
    const { violated, lost } = this.#options;
    const known = this.#find(request.customer, request.key);
    // The row that was read may be lost since.
    if (lost.failedOverAt !== null && request.requestedAt <= lost.failedOverAt) return;
    const { name } = known;
    const made = this.#made(known);
    const { status, outcome, pix } = response;
    if (pix) {
      if (
        lost.failedOverAt === null &&
        (known.transactionId ?? pix.transactionId) !== pix.transactionId
      ) {
        violated(`${name} has two transactions`);
      }
      known.transactionId = pix.transactionId;
    }
    if ((status === 422 || status === 404) && !this.#isRefusable(known, request, response)) {
      violated(`${name} was refused without a reason: ${status} ${String(response.fields)}`);
    }
    const final = findFinal(response);
    const isMade = made.some(({ state }) => state === 'completed');
    const mayBeMade = made.some(({ state }) => state !== 'reversed');
    if (final === 'COMPLETED' && !isMade) violated(`the app received COMPLETED for ${name}: false`);
    if (final === 'FAILED' && mayBeMade) violated(`the app received FAILED for ${name}: false`);
    if (known.final !== null && final !== null && final !== known.final && !isMade) {
      violated(`the app received ${known.final} for ${name}, then ${final}`);
    }
    const hasFailed = [...known.returnIds].some((id) => this.#ended.get(id) === 'FAILED');
    if (outcome === 'accepted' && made.length === 0 && !hasFailed) {
      violated(`the app received accepted for ${name}: false`);
    }
    if (final !== null) known.final = final;
  }

  /** @returns the delivery of the notice of a failure, to be updated. */
  posted(notice: RefundNotice, hash: string): Delivery {
    const delivery: Delivery = { state: 'under_way' };
    this.#failures.push({ notice, hash, delivery });
    return delivery;
  }

  /** A notice of a refund was posted: it may report the end of a return. */
  refundPosted(notice: RefundNotice, hash: string): void {
    this.#reported.push({ notice, hash });
  }

  /** Whether a true event about a return may be an anomaly. */
  mayContradict(hash: string, rows: readonly FinalRow[]): boolean {
    const failure = this.#failures.find((one) => one.hash === hash)?.notice;
    const notice = failure ?? this.#reported.find((one) => one.hash === hash)?.notice;
    if (!notice) return false;
    const row = rows.find((one) => isOwnRow(one, notice.refund.returnId));
    if (!row) return false;
    // The failure may be that of one attempt among several.
    return failure !== undefined || row.is_corrected;
  }

  /** Whether a return of a PIX is open: another refund of it may wait. */
  isOpen(endToEnd: string, rows: readonly FinalRow[]): boolean {
    const originals = rows.filter((row) => row.end_to_end === endToEnd);
    return rows.some(
      (row) =>
        isReturn(row) &&
        row.status === 'PROCESSING' &&
        originals.some(({ id }) => id === row.original_id),
    );
  }

  /** Checks the stored rows at rest. */
  check(rows: readonly FinalRow[], events: readonly EventRow[]): void {
    const returns = rows.filter(isReturn);
    for (const row of returns) this.#checkRow(row, events);
    for (const made of this.#options.ledger.returns) this.#checkMade(made, rows);
    this.#checkSums(rows);
    const keys = returns.map((row) => `${row.user_id}/${row.idempotency_key}`);
    if (new Set(keys).size < keys.length) this.#options.violated('a key has two returns');
  }

  #checkRow(row: FinalRow, events: readonly EventRow[]): void {
    const { violated, lost, names, scheduler, ledger, policy } = this.#options;
    const { phase, status, end_to_end: returnId } = row;
    const name = names.of('return', row.id);
    scheduler.count(`returns ${phase} ${status}`);
    const made = ledger.returns.filter((one) => isSameReturn(one.returnId, returnId));
    const isMade = made.some(({ state }) => state === 'completed');
    if (phase === 'PAYING') violated(`${name} was left in PAYING`);
    if (phase === 'RESERVED' && lost.failedOverAt === null) violated(`${name} was left RESERVED`);
    if (status === 'COMPLETED' && !isMade) violated(`${name} is COMPLETED and was not made`);
    if (status === 'FAILED' && made.some(({ state }) => state !== 'reversed')) {
      violated(`${name} is FAILED and was made`);
    }
    if (row.phases.filter((one) => one === 'PAYING').length > 1)
      violated(`${name} was PAYING twice`);
    const centsMade = made[0]?.amountCents ?? centsFromDecimal(row.amount);
    // A lost key may be used again for another amount: then the return stays open, for an operator.
    const isReused = phase === 'UNKNOWN' && lost.failedOverAt !== null;
    if (centsMade !== centsFromDecimal(row.amount) && !isReused) {
      violated(`${name} was made with another amount`);
    }
    if (status !== 'PROCESSING') return;
    const isReported = this.#reported.some(
      ({ notice, hash }) =>
        notice.isReadable &&
        notice.refund.direction === 'out' &&
        isSameReturn(notice.refund.returnId, returnId) &&
        events.some((one) => one.hash === hash && one.status !== 'orphaned'),
    );
    if (isReported && phase !== 'RESERVED') violated(`${name} is ${phase}, and an event ended it`);
    const isShown = returnId !== null && ledger.shown.has(returnId) && provesReturn(policy);
    if (isShown && isMade && phase === 'UNKNOWN') {
      violated(`${name} is UNKNOWN, and the statement proves it`);
    }
  }

  /** What was made is in a transaction, or a failover has lost that. */
  #checkMade({ returnId, state }: OrderedReturn, rows: readonly FinalRow[]): void {
    const { violated, lost, names } = this.#options;
    const stored = rows.filter(
      (row) => row.operation === 'REFUND_OUT' && isSameReturn(row.end_to_end, returnId),
    );
    const name = names.of('D', returnId);
    const counted = stored.filter(({ status }) => status !== 'FAILED');
    if (counted.length > 1) violated(`${name} is stored twice`);
    if (stored.length > 0 || lost.failedOverAt !== null || state === 'reversed') return;
    violated(`${name} was made and is in no transaction`);
  }

  /** The returns and refunds of a PIX, also those that are open, are at most its amount. */
  #checkSums(rows: readonly FinalRow[]): void {
    const { violated, names } = this.#options;
    const received = rows.filter(
      ({ operation, status }) =>
        status === 'COMPLETED' && (operation === 'CHARGE' || operation === 'RECEIVED'),
    );
    for (const [endToEnd, sides] of Map.groupBy(received, (row) => row.end_to_end)) {
      if (endToEnd === null) continue;
      const ids = new Set(sides.map(({ id }) => id));
      const cents = rows
        .filter((row) => ids.has(row.original_id ?? '') && row.status !== 'FAILED')
        .reduce((sum, { amount }) => sum + (centsFromDecimal(amount) ?? 0), 0);
      const most = Math.max(...sides.map(({ amount }) => centsFromDecimal(amount) ?? 0));
      if (cents > most) violated(`${names.of('E', endToEnd)} is returned beyond its amount`);
    }
  }

  /** Whether a refusal is right: the amount, a blocked account, or a reused key. */
  #isRefusable(known: Known, request: AppRequest, { status, fields = [] }: AppResponse): boolean {
    const { ledger, lost, accounts, scheduler } = this.#options;
    if (lost.failedOverAt !== null) return true;
    if (status === 404) return false;
    if (fields.includes('transactionId')) {
      const isLate = scheduler.elapsedMs > maxReturnDays * 24 * 60 * 60 * 1000;
      return isLate && known.transactionId === null;
    }
    if (fields.includes('account')) {
      return accounts.wasBlockedSince(request.customer.id, request.requestedAt);
    }
    if (fields.includes('amount')) {
      return known.requested.some(({ endToEnd, originalCents, amountCents }) => {
        const others = this.#requestedCents(request.customer, { endToEnd, except: known.name });
        const refunded = ledger.refunds
          .filter((one) => one.endToEnd === endToEnd && one.direction === 'out')
          .reduce((sum, one) => sum + one.amountCents, 0);
        return amountCents + others + refunded > originalCents;
      });
    }
    return new Set(known.requested.map(({ amountCents }) => amountCents)).size > 1;
  }

  /** The most that other keys may have reserved of a PIX. */
  #requestedCents(
    customer: StoredCustomer,
    { endToEnd, except }: { readonly endToEnd: string; readonly except: string },
  ): number {
    const others = [...this.#known.values()].filter(
      (one) => one.customer === customer && one.name !== except,
    );
    return others.reduce((sum, { requested }) => {
      const cents = requested
        .filter((one) => one.endToEnd === endToEnd)
        .map(({ amountCents }) => amountCents);
      return sum + Math.max(0, ...cents);
    }, 0);
  }

  #made({ clientRequestId }: Known): OrderedReturn[] {
    return this.#options.ledger.returns.filter((one) => one.clientRequestId === clientRequestId);
  }

  #find(customer: StoredCustomer, key: string): Known {
    const name = makeName(customer, key);
    const found = this.#known.get(name);
    if (found) return found;
    const known: Known = {
      name,
      customer,
      clientRequestId: returnRequestId({ userId: customer.id, idempotencyKey: key }),
      requested: [],
      attempts: [],
      returnIds: new Set(),
      executed: 0,
      final: null,
      transactionId: null,
    };
    this.#known.set(name, known);
    return known;
  }

  #findByRequest(clientRequestId: string): Known | undefined {
    return [...this.#known.values()].find((one) => one.clientRequestId === clientRequestId);
  }
}

/** A return has a key; any other refund is only reported. */
export function isReturn({ operation, idempotency_key: key }: FinalRow): boolean {
  return operation === 'REFUND_OUT' && key !== null;
}

function isOwnRow(row: FinalRow, returnId: string): boolean {
  return isReturn(row) && isSameReturn(row.end_to_end, returnId);
}
