/**
 * Checks the disputes of payments against the bank's: what a customer reads is true, each request
 * is answered in the end, each reported end is shown, and a final status stays.
 */
import type { OpenDisputeRequest, PixDispute } from '../../../contract/types.ts';
import { disputableDays, type DisputeStatus } from '../../../src/domain/dispute.ts';
import type { DisputeNotice } from '../bank/dispute-notices.ts';
import type { Dispute, Ledger } from '../bank/ledger.ts';
import type { Delivery } from '../delivery.ts';
import type { Names } from '../names.ts';
import type { Scheduler } from '../scheduler.ts';
import type { ExecutedStatement } from './accounts.ts';
import { DisputeCalls, describeContent } from './dispute-calls.ts';
import type { Evidence } from './evidence.ts';
import type { ChangedRow } from './lost-commits.ts';
import {
  isBackwards,
  isFinal,
  StoredDisputes,
  type DisputeRow,
  type ReadRows,
} from './stored-disputes.ts';
import type { EventRow, FinalRow } from './stored-rows.ts';

export interface DisputesOptions {
  readonly ledger: Ledger;
  readonly evidence: Evidence;
  readonly names: Names;
  readonly scheduler: Scheduler;
  readonly rows: ReadRows;
  /** Whether clocks and processes run evenly. */
  readonly keepsLeases: boolean;
  readonly violated: (text: string) => void;
}

export type DisputeVerb = 'open' | 'withdraw' | 'get';

/** A request of the app about the dispute of a transaction. */
export interface DisputeRequest {
  readonly id: string;
  readonly endToEnd: string;
  readonly verb: DisputeVerb;
  /** Whether the transaction was a completed send before the request. */
  readonly isDisputable: boolean;
  readonly content: OpenDisputeRequest;
  /** The step at which it was sent. */
  readonly requestedAt: number;
}

/** The response to a request. */
export interface DisputeResponse {
  readonly status: number;
  /** The fields of a 422. */
  readonly fields?: readonly string[];
  readonly dispute: PixDispute | null;
}

interface Tracked {
  readonly notice: DisputeNotice;
  readonly hash: string;
  readonly delivery: Delivery;
}

/** A status that the app has received, and its step. */
interface Shown {
  readonly status: DisputeStatus;
  readonly at: number;
}

interface AppEvent {
  readonly type: string;
  readonly status: string;
  readonly user_id: number;
  readonly transaction_id: string;
}

const readAppEvents = `
  select type, status, user_id, transaction_id from app_events where type like 'dispute.%'`;

const disputableMs = disputableDays * 24 * 60 * 60_000;

/** The statements that only read. */
const reading: ReadonlySet<string> = new Set([
  'dispute-find',
  'dispute-payment',
  'dispute-pending',
]);

export class Disputes {
  readonly stored: StoredDisputes;
  readonly calls: DisputeCalls;
  /** Called for each dispute that is stored with another status than before. */
  moved: (row: DisputeRow) => void = () => undefined;
  readonly #options: DisputesOptions;
  readonly #tracked: Tracked[] = [];
  /** By the id of the transaction. */
  readonly #shown = new Map<string, Shown>();
  /** The disputes whose withdrawal the service has accepted. */
  readonly #withdrawn = new Set<string>();
  /** The transactions that a failover has changed or removed. */
  readonly #changedPayments = new Set<string>();

  constructor(options: DisputesOptions) {
    this.#options = options;
    const { lost } = options.evidence;
    this.stored = new StoredDisputes({ ...options, lost, moved: (row) => this.moved(row) });
    this.calls = new DisputeCalls({ ...options, lost, stored: this.stored });
  }

  /** @returns the delivery of the notice, to be updated. */
  posted(notice: DisputeNotice, hash: string): Delivery {
    const delivery: Delivery = { state: 'under_way' };
    this.#tracked.push({ notice, hash, delivery });
    return delivery;
  }

  async statementExecuted({ name }: Pick<ExecutedStatement, 'name'>): Promise<void> {
    if (name.startsWith('dispute-') && !reading.has(name)) await this.stored.written();
  }

  /** A failover has changed disputes or their payments: earlier responses about them are void. */
  rolledBack(
    before: readonly DisputeRow[],
    after: readonly DisputeRow[],
    payments: readonly ChangedRow[],
  ): void {
    for (const id of this.stored.rolledBack(before, after)) {
      this.#shown.delete(id);
      this.#withdrawn.delete(id);
    }
    for (const payment of payments) this.#changedPayments.add(payment.before.id);
  }

  /** The app is about to send a request. */
  requested({ endToEnd, verb, content }: DisputeRequest): void {
    const requested = this.calls.findRequested(endToEnd);
    if (verb === 'open') requested.contents.add(describeContent({ ...content }));
    if (verb === 'withdraw') requested.isWithdrawn = true;
  }

  /** The service has answered a request. */
  answered(request: DisputeRequest, response: DisputeResponse): void {
    const { scheduler, evidence } = this.#options;
    scheduler.count(`dispute ${request.verb} answered ${response.status}`);
    if (response.dispute) this.#checkTrue(request, response.dispute);
    // The row that was read may be lost since.
    if ((evidence.lost.failedOverAt ?? -1) >= request.requestedAt) return;
    this.#checkStatus(request, response);
    if (!response.dispute) return;
    this.#checkOrder(request, response.dispute);
    if (request.verb === 'withdraw') this.#withdrawn.add(request.id);
  }

  /** Checks the rows at rest. */
  async check(payments: readonly FinalRow[], events: readonly EventRow[]): Promise<void> {
    const rows = await this.stored.read();
    const { ledger, rows: read } = this.#options;
    for (const row of rows) this.#checkAnswered(row);
    for (const dispute of ledger.disputes) {
      const payment = payments.find(
        (one) => one.operation === 'SEND' && one.end_to_end === dispute.endToEnd,
      );
      this.#checkDispute(dispute, {
        row: rows.find((one) => one.end_to_end === dispute.endToEnd),
        payment,
        events,
      });
    }
    for (const id of await this.stored.listOverdue()) {
      this.#options.violated(`${this.#name(id)} is open, and was not read at the bank`);
    }
    this.#checkAppEvents(rows, await read<AppEvent>(readAppEvents));
  }

  /** The disputes whose request the bank has not answered, and can answer. */
  async listPending(): Promise<readonly DisputeRow[]> {
    const rows = await this.stored.read();
    return rows.filter((row) => isPending(row) && !this.#isOfLostPayment(row));
  }

  #checkTrue({ id, endToEnd }: DisputeRequest, dispute: PixDispute): void {
    const { violated, ledger } = this.#options;
    const { status, situation, withdrawal_requested_at: withdrawnAt } = dispute;
    const name = this.#name(id);
    const state = ledger.findDispute(endToEnd)?.state;
    if (dispute.transaction_id !== id) violated(`${name} is answered with that of another payment`);
    if (isFinal(status) && state !== status) violated(`the app received ${status} for ${name}`);
    if (status === 'OPEN' && !state) violated(`the app received OPEN for ${name}: none exists`);
    const { contents, isWithdrawn } = this.calls.findRequested(endToEnd);
    const situations = [...contents].map((one) => (JSON.parse(one) as string[])[0]);
    if (situation !== undefined && !situations.includes(situation)) {
      violated(`${name} has a situation that nobody has stated`);
    }
    if (withdrawnAt !== undefined && !isWithdrawn) violated(`${name} is withdrawn by nobody`);
  }

  /** What the app received before a request is not taken back by its response. */
  #checkOrder({ id, requestedAt }: DisputeRequest, { status }: PixDispute): void {
    const { violated, scheduler } = this.#options;
    const before = this.#shown.get(id);
    if (before && before.at < requestedAt && isBackwards(before.status, status)) {
      violated(`the app received ${before.status} for ${this.#name(id)}, then ${status}`);
    }
    if (!before || !isFinal(before.status)) this.#shown.set(id, { status, at: scheduler.taken });
  }

  #checkStatus(request: DisputeRequest, { status, fields = [] }: DisputeResponse): void {
    const { violated } = this.#options;
    const { id, verb } = request;
    const name = `${verb} of ${this.#name(id)}`;
    if (status === 404 && this.#isKnown(request)) violated(`${name} is answered 404`);
    if (status === 422 && !this.#isRefusable(request, fields)) {
      violated(`${name} was refused without a reason: ${fields.join(', ')}`);
    }
    if (status === 502 && !this.#isRefusedByBank(request)) {
      violated(`${name} is answered 502, and the bank has not refused it`);
    }
  }

  /** Whether the service knows the dispute of a request, or can store it. */
  #isKnown({ id, verb, requestedAt }: DisputeRequest): boolean {
    if (this.#changedPayments.has(id)) return false;
    return verb === 'open' || (this.#shown.get(id)?.at ?? Infinity) < requestedAt;
  }

  #isRefusable(request: DisputeRequest, fields: readonly string[]): boolean {
    const { ledger, scheduler } = this.#options;
    const { id, endToEnd, verb, isDisputable, requestedAt } = request;
    if (verb === 'withdraw') {
      const shown = this.#shown.get(id);
      const wasOpen = shown?.status === 'OPEN' && shown.at < requestedAt;
      return !wasOpen || ledger.findDispute(endToEnd)?.state !== 'OPEN';
    }
    if (verb === 'get') return false;
    if (fields.includes('transactionId')) {
      const isLate = scheduler.elapsedMs > disputableMs;
      return isLate || !isDisputable || this.#changedPayments.has(id);
    }
    return this.calls.findRequested(endToEnd).contents.size > 1;
  }

  #isRefusedByBank({ endToEnd, verb }: DisputeRequest): boolean {
    const { refusedDisputes, refusedWithdrawals } = this.#options.ledger;
    return (verb === 'withdraw' ? refusedWithdrawals : refusedDisputes).has(endToEnd);
  }

  #checkAnswered(row: DisputeRow): void {
    const { violated, scheduler } = this.#options;
    scheduler.count(`disputes ${row.status}${isPending(row) ? ' pending' : ''}`);
    if (!isPending(row)) return this.#checkWithdrawn(row);
    const what = row.status === 'OPEN' ? 'withdrawal' : 'request';
    if (this.#isOfLostPayment(row)) scheduler.count('lacks: the dispute of a lost payment');
    else violated(`the ${what} of ${this.#name(row.id)} was never answered`);
  }

  /** What the customer has withdrawn has ended, unless the bank keeps it. */
  #checkWithdrawn({ id, status, end_to_end: endToEnd }: DisputeRow): void {
    const isKept = this.#options.ledger.refusedWithdrawals.has(endToEnd);
    if (status !== 'OPEN' || !this.#withdrawn.has(id) || isKept) return;
    this.#options.violated(`the withdrawal of ${this.#name(id)} was forgotten`);
  }

  /** Whether the bank has the dispute under the id of a payment that a failover has lost. */
  #isOfLostPayment({ id, end_to_end: endToEnd }: DisputeRow): boolean {
    const disputeId = this.#options.ledger.findDispute(endToEnd)?.disputeId ?? id;
    return disputeId !== id && this.#changedPayments.has(disputeId);
  }

  #checkDispute(
    dispute: Dispute,
    stored: {
      readonly row: DisputeRow | undefined;
      readonly payment: FinalRow | undefined;
      readonly events: readonly EventRow[];
    },
  ): void {
    const { violated, names } = this.#options;
    const { endToEnd, disputeId, state } = dispute;
    const { row, payment, events } = stored;
    const name = `the dispute of ${names.of('E', endToEnd)}`;
    if (disputeId !== null && !row && !this.stored.isChanged(disputeId)) {
      violated(`${name} was opened and is not stored`);
    }
    const isOther = disputeId !== null && payment?.id !== disputeId;
    // A failover has lost the payment, and another device has made it again.
    if (isOther && this.#changedPayments.has(disputeId)) return;
    if (isOther) violated(`${name} has the id of another payment`);
    if (payment?.status !== 'COMPLETED') return;
    const reported = this.#tracked.filter(
      (one) => one.notice.dispute === dispute && this.#isTaken(one, events),
    );
    if (reported.length > 0 && (!row || row.status === 'REQUESTED' || row.status === 'REFUSED')) {
      violated(`${name} is ${row?.status ?? 'not stored'}, and an event reports it`);
    }
    const isReported = reported.some(({ notice }) => notice.status === state) && state !== 'OPEN';
    if ((isReported || this.#isEndKnown(dispute)) && row?.status !== state) {
      violated(`${name} is ${row?.status ?? 'not stored'}, and it is known to be ${state}`);
    }
  }

  /** Whether a process that could store the end has received it in a response. */
  #isEndKnown({ endToEnd, state }: Dispute): boolean {
    const { evidence, scheduler } = this.#options;
    if (state === 'OPEN') return false;
    return this.calls
      .listKnown(endToEnd)
      .some(
        ({ process, at, state: known }) =>
          known === state &&
          at > (evidence.lost.failedOverAt ?? -1) &&
          !scheduler.isBuried(process) &&
          !evidence.hasDatabaseFailedSince(process, at),
      );
  }

  #isTaken({ delivery, hash }: Tracked, events: readonly EventRow[]): boolean {
    const { failedOverAt } = this.#options.evidence.lost;
    const isAcknowledged = delivery.state === 'acknowledged' && failedOverAt === null;
    return isAcknowledged || events.some((one) => one.hash === hash);
  }

  /** Each dispute has an event of its status, and no event is of another. */
  #checkAppEvents(rows: readonly DisputeRow[], events: readonly AppEvent[]): void {
    const { violated } = this.#options;
    for (const { id, status, user_id: userId } of rows) {
      const own = events.filter((one) => one.transaction_id === id);
      const finals = own.filter((one) => isFinal(one.status as DisputeStatus));
      const isOwn = own.every(
        (one) => one.user_id === userId && one.type === `dispute.${one.status.toLowerCase()}`,
      );
      if (!isOwn) violated(`an event about ${this.#name(id)} is wrong`);
      if (status !== 'REQUESTED' && !own.some((one) => one.status === status)) {
        violated(`${this.#name(id)} is ${status}, and no event tells the app`);
      }
      if (finals.some((one) => one.status !== status) || finals.length > 1) {
        violated(`an event tells another end of ${this.#name(id)}`);
      }
    }
    const ids = new Set(rows.map(({ id }) => id));
    if (events.some((one) => !ids.has(one.transaction_id))) violated('an event has no dispute');
  }

  #name(id: string): string {
    return `the dispute of ${this.#options.names.of('tx', id)}`;
  }
}

/** Whether the service has a call to make. */
function isPending({ status, withdrawal_requested_at: withdrawnAt }: DisputeRow): boolean {
  return status === 'REQUESTED' || (status === 'OPEN' && withdrawnAt !== null);
}
