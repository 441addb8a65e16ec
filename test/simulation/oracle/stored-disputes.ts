/**
 * The disputes as the service stores them. They are compared with the bank after every statement
 * that writes one: a status is true when it is stored, and a final one stays.
 */
import { isActiveSession } from '../../../src/auth/session-repository.ts';
import type { DisputeStatus } from '../../../src/domain/dispute.ts';
import { finalDisputeStatuses } from '../../../src/domain/dispute.ts';
import type { PixStatus, PixType } from '../../../src/domain/pix.ts';
import type { Ledger } from '../bank/ledger.ts';
import type { Names } from '../names.ts';
import type { Scheduler } from '../scheduler.ts';
import type { LostCommits } from './lost-commits.ts';

export interface DisputeRow {
  /** That of the transaction. */
  readonly id: string;
  readonly user_id: number;
  readonly status: DisputeStatus;
  readonly situation: string | null;
  readonly may_be_done: boolean;
  readonly claimed_until: Date | null;
  readonly withdrawal_requested_at: Date | null;
  readonly requested_at: Date;
  readonly updated_at: Date;
  readonly end_to_end: string;
  readonly operation: PixType;
  readonly payment_status: PixStatus;
  readonly payer_id: number;
}

const readDisputes = `
  select d.transaction_id as id, d.user_id, d.status, d.situation, d.may_be_done, d.claimed_until,
         d.withdrawal_requested_at, d.requested_at, d.updated_at, t.end_to_end, t.operation,
         t.status as payment_status, t.user_id as payer_id
    from pix_disputes d join pix_transactions t on t.id = d.transaction_id
   order by t.created_at, d.transaction_id`;

/** Open disputes that a job should have read at the bank some time ago. */
const readOverdue = `
  select d.transaction_id as id
    from pix_disputes d
    join banking_sessions s on s.user_id = d.user_id and ${isActiveSession('s', '$1::timestamptz')}
   where d.status = 'OPEN' and d.withdrawal_requested_at is null
     and d.updated_at <= $1::timestamptz - interval '15 minutes'
         - greatest(least((d.updated_at - d.requested_at) / 10, interval '1 day'),
                    interval '1 hour')`;

/** Runs a statement of the simulation itself. */
export type ReadRows = <Row>(sql: string, parameters?: readonly unknown[]) => Promise<Row[]>;

export interface StoredDisputesOptions {
  readonly ledger: Ledger;
  readonly lost: LostCommits;
  readonly names: Names;
  readonly scheduler: Scheduler;
  readonly rows: ReadRows;
  readonly violated: (text: string) => void;
  /** Called for each dispute that is stored with another status than before. */
  readonly moved: (row: DisputeRow) => void;
}

export class StoredDisputes {
  readonly #options: StoredDisputesOptions;
  /** The rows as they were seen last, by the end-to-end id of their payment. */
  #seen: ReadonlyMap<string, DisputeRow> = new Map();
  /** The ids of disputes that were claimed for a call. */
  readonly #claimed = new Set<string>();
  /** The ids of disputes that a failover has changed or removed. */
  readonly #changed = new Set<string>();

  constructor(options: StoredDisputesOptions) {
    this.#options = options;
  }

  read(): Promise<DisputeRow[]> {
    return this.#options.rows<DisputeRow>(readDisputes);
  }

  /** @returns the ids of the open disputes that no job has read for too long. */
  async listOverdue(): Promise<readonly string[]> {
    const { rows, scheduler } = this.#options;
    const found = await rows<{ id: string }>(readOverdue, [new Date(scheduler.nowMs)]);
    return found.map(({ id }) => id);
  }

  find(endToEnd: string): DisputeRow | undefined {
    return this.#seen.get(endToEnd);
  }

  /** Whether a call about the dispute was ever claimed. */
  wasClaimed(id: string): boolean {
    return this.#claimed.has(id);
  }

  /** Whether a failover has lost a commit of the dispute. */
  isChanged(id: string): boolean {
    return this.#changed.has(id);
  }

  /** A statement has written a dispute. */
  async written(): Promise<void> {
    const rows = await this.read();
    for (const row of rows) this.#observe(row);
    this.#seen = new Map(rows.map((row) => [row.end_to_end, row]));
  }

  /** A failover has restored earlier rows. @returns the ids of those that it has changed. */
  rolledBack(before: readonly DisputeRow[], after: readonly DisputeRow[]): readonly string[] {
    const kept = new Map(after.map((row) => [row.id, row]));
    const changed = before.filter((row) => !isSame(row, kept.get(row.id))).map(({ id }) => id);
    for (const id of changed) this.#changed.add(id);
    this.#seen = new Map(after.map((row) => [row.end_to_end, row]));
    if (changed.length > 0) this.#options.scheduler.count('failovers that change a dispute');
    return changed;
  }

  #observe(row: DisputeRow): void {
    const { id, status, end_to_end: endToEnd } = row;
    const before = this.#seen.get(endToEnd);
    if (row.claimed_until !== null) this.#claimed.add(id);
    if (before?.status === status) return;
    const { violated, names, ledger } = this.#options;
    const name = `the dispute of ${names.of('tx', id)}`;
    if (before && isBackwards(before.status, status)) {
      violated(`${name} went from ${before.status} to ${status}`);
    }
    const isOfPayment =
      row.operation === 'SEND' &&
      row.payment_status === 'COMPLETED' &&
      row.user_id === row.payer_id;
    if (!isOfPayment) violated(`${name} disputes a ${row.payment_status} ${row.operation}`);
    const dispute = ledger.findDispute(endToEnd);
    if (status === 'OPEN' && !dispute) violated(`${name} is OPEN, and the bank has none`);
    if (isFinal(status) && dispute?.state !== status) {
      violated(`${name} is ${status}, and the bank has ${dispute?.state ?? 'none'}`);
    }
    if (status === 'REFUSED') this.#checkRefused(row, name);
    this.#options.moved(row);
  }

  #checkRefused({ id, end_to_end: endToEnd }: DisputeRow, name: string): void {
    const { violated, ledger } = this.#options;
    if (!ledger.refusedDisputes.has(endToEnd)) violated(`${name} is REFUSED: the bank has not`);
    const isOpened = ledger.disputes.some(({ disputeId }) => disputeId === id);
    // A failover may have lost that a call was made, whose repeat is refused.
    if (isOpened && !this.#changed.has(id)) violated(`${name} is REFUSED, and the bank has it`);
  }
}

const finals: readonly DisputeStatus[] = finalDisputeStatuses;

export function isFinal(status: DisputeStatus): boolean {
  return finals.includes(status);
}

/** Whether a dispute may not go from one status to another. */
export function isBackwards(from: DisputeStatus, to: DisputeStatus): boolean {
  if (from === to) return false;
  return isFinal(from) || (from === 'OPEN' && !isFinal(to));
}

/** Whether a failover has left all that decides about calls and answers. */
function isSame(before: DisputeRow, after: DisputeRow | undefined): boolean {
  return (
    after !== undefined &&
    before.status === after.status &&
    before.situation === after.situation &&
    before.may_be_done === after.may_be_done &&
    before.claimed_until?.getTime() === after.claimed_until?.getTime() &&
    before.requested_at.getTime() === after.requested_at.getTime() &&
    (before.withdrawal_requested_at === null) === (after.withdrawal_requested_at === null)
  );
}
