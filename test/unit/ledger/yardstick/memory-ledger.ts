/**
 * A ledger in memory: it carries out verdicts as the statements of `src/ledger` do, as far as the
 * end of one payment depends on it, and lets what waits be judged again after each change.
 */
import { judge } from '../../../../src/ledger/judge.ts';
import {
  toFacts,
  toReport,
  type MoveVerdict,
  type ReportedItem,
  type Stored,
  type Verdict,
} from '../../../../src/ledger/report.ts';
import type { CandidateRow, ReceivedPix } from '../../../../src/ledger/transaction-repository.ts';
import type { PayeeRow } from '../../../../src/ledger/payee-repository.ts';
import type { Refund } from '../../../../src/ledger/refund-repository.ts';
import { decimalFromCents } from '../../../../src/domain/money.ts';
import { receivedByPayee } from '../../../../src/domain/pix.ts';
import { findable } from './worlds.ts';

/** What happens to a payment: the bank reports something, or our own call is answered. */
export type Happening = ReportedItem | 'accepted';

/** What is left when everything was reported. */
export interface End {
  /** The transactions, in words and in an order of their own. */
  readonly transactions: readonly string[];
  /** What an operator is shown: contradictions, and reports that wait for ever. */
  readonly shown: readonly string[];
}

/** The stored transactions about one payment. */
export class MemoryLedger {
  readonly #rows: CandidateRow[];
  readonly #payees: readonly PayeeRow[];
  readonly #refunds = new Map<string, Refund>();
  readonly #shown = new Set<string>();
  #waiting: ReportedItem[] = [];

  constructor(rows: readonly CandidateRow[], payees: readonly PayeeRow[]) {
    this.#rows = rows.map((row) => ({ ...row }));
    this.#payees = payees;
  }

  /** Applies what happens, and then what has waited for it. */
  add(happening: Happening): void {
    let hasChanged = false;
    if (happening === 'accepted') hasChanged = this.#accept();
    else hasChanged = this.#judge(happening);
    while (hasChanged) {
      const waiting = this.#waiting;
      this.#waiting = [];
      hasChanged = waiting.map((one) => this.#judge(one)).some(Boolean);
    }
  }

  end(): End {
    const sorted = (texts: readonly string[]) => texts.toSorted((a, b) => (a < b ? -1 : 1));
    const refunds = [...this.#refunds.values()].map(
      ({ operation, returnId, amountCents }) => `${operation} ${returnId} ${amountCents}`,
    );
    const charged = new Set(
      this.#rows.flatMap(({ operation, endToEnd: id }) => (operation === 'CHARGE' ? id : [])),
    );
    // Lists show a received Pix that has completed a charge as the charge. Of several payments of a
    // static code, any may be the one that completes it.
    const rows = this.#rows
      .filter(({ operation, endToEnd: id }) => operation !== 'RECEIVED' || !charged.has(id))
      .flatMap(({ operation, status, endToEnd: id, amount }) => {
        const isIn = operation === 'RECEIVED' || (operation === 'CHARGE' && status === 'COMPLETED');
        const money = `${isIn ? 'in' : operation} ${id ?? '-'} ${amount}`;
        return operation === 'RECEIVED' ? [money] : [`${operation} ${status}`, money];
      });
    const waiting = this.#waiting.map(({ source }) => `${source.eventId} waits`);
    return { transactions: sorted([...rows, ...refunds]), shown: [...this.#shown, ...waiting] };
  }

  /** The response to our own call. */
  #accept(): boolean {
    const row = this.#rows.find(({ phase }) => phase === 'PAYING' || phase === 'UNKNOWN');
    if (!row) return false;
    Object.assign(row, { phase: 'ACCEPTED', outcome: 'accepted' });
    return true;
  }

  /** @returns whether a transaction has changed. */
  #judge(report: ReportedItem): boolean {
    const candidates = findable(report.item, this.#rows);
    const facts = toFacts({ candidates, payees: this.#payees });
    const verdicts = judge(toReport(report), facts);
    return verdicts.map((verdict) => this.#apply(report, verdict)).some(Boolean);
  }

  #apply(report: ReportedItem, verdict: Verdict): boolean {
    switch (verdict.kind) {
      case 'move':
        return this.#move(report, verdict);
      case 'correct':
        this.#show('corrected');
        this.#change(verdict.transaction.id, { status: 'COMPLETED', phase: 'SETTLED' });
        return true;
      case 'identify':
        this.#change(verdict.transaction.id, { endToEnd: verdict.endToEnd });
        return true;
      case 'record':
        if (verdict.beside) this.#show(verdict.beside.reason);
        this.#record(verdict.received);
        return true;
      case 'refund':
        return this.#refund(verdict.refund, verdict.transaction);
      case 'waits':
        if (verdict.beside) this.#show(verdict.beside.reason);
        this.#waiting.push(report);
        return false;
      case 'conflict':
      case 'unread':
        this.#show(verdict.reason);
        return false;
      case 'reached':
        if (this.#isFailed(verdict.transaction.id)) this.#show(receivedByPayee);
        this.#change(verdict.transaction.id, { reachedPayee: true });
        return false;
      case 'already':
      case 'ignored':
      case 'analysis':
        return false;
    }
  }

  #show(reason: string): void {
    this.#shown.add(reason);
  }

  #isFailed(id: string): boolean {
    return this.#rows.find((one) => one.id === id)?.status === 'FAILED';
  }

  #change(id: string, change: Partial<CandidateRow>): void {
    const row = this.#rows.find((one) => one.id === id);
    if (row) Object.assign(row, change);
  }

  #move({ source: { eventId } }: ReportedItem, { transaction, move }: MoveVerdict): boolean {
    const isPaid = transaction.type === 'CHARGE' && move.status === 'COMPLETED';
    this.#change(transaction.id, {
      status: move.status,
      phase: move.to,
      outcome: move.outcome ?? transaction.outcome,
      endToEnd: transaction.endToEnd ?? move.endToEnd ?? null,
      providerTxid: transaction.providerTxid ?? move.providerTxid ?? null,
      ...(isPaid && { paidBy: [eventId, move.providerTxid ?? null] as const }),
    });
    return true;
  }

  #record({ userId, amountCents, endToEnd, providerTxid }: ReceivedPix): void {
    this.#rows.push({
      ...emptyRow,
      id: `record ${this.#rows.length}`,
      userId,
      amount: decimalFromCents(amountCents),
      endToEnd,
      providerTxid,
    });
  }

  /** One return id is one refund, and all of them together at most the amount. */
  #refund(refund: Refund, original: Stored): boolean {
    const key = `${refund.operation} ${refund.returnId}`;
    const known = this.#refunds.get(key);
    if (known) {
      const isSame = known.amountCents === refund.amountCents;
      if (!isSame) this.#show('amount_mismatch');
      return false;
    }
    const refunds = [...this.#refunds.values()].filter(
      ({ originalId }) => originalId === original.id,
    );
    const sum = refunds.reduce((total, { amountCents }) => total + amountCents, 0);
    if (sum + refund.amountCents > (original.amountCents ?? 0)) {
      this.#show('refunds_exceed_amount');
      return false;
    }
    this.#refunds.set(key, refund);
    return true;
  }
}

/** A received Pix; the tests make other rows of it. */
export const emptyRow: CandidateRow = {
  id: '',
  userId: 1,
  operation: 'RECEIVED',
  status: 'COMPLETED',
  phase: 'SETTLED',
  outcome: 'accepted',
  failureCode: null,
  amount: '0.00',
  idempotencyKey: null,
  endToEnd: null,
  transactionIdentification: null,
  qrCode: null,
  copyPaste: null,
  pixKey: null,
  providerTxid: null,
  repeated: false,
  createdAt: new Date('2026-05-24T12:00:00.000Z'),
  expiresAt: null,
  reachedPayee: null,
  owner: null,
  paidBy: null,
};
