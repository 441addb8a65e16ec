/**
 * Random worlds for the decisions of the ledger: a report, and the stored rows that the statement
 * of the candidates could find for it. Few values, so that ids and amounts often meet.
 */
import type { ReportedItem } from '../../../../src/ledger/report.ts';
import { returnRequestId } from '../../../../src/ledger/return-ids.ts';
import type { CandidateRow, Candidates } from '../../../../src/ledger/transaction-repository.ts';
import type { PayeeRow } from '../../../../src/ledger/payee-repository.ts';
import { fromEvent, type PixPhase, type PixStatus } from '../../../../src/domain/pix.ts';
import {
  noPayee,
  type IgnoredBecause,
  type WebhookItem,
} from '../../../../src/provider/webhook-events.ts';
import { Chance } from '../../../simulation/chance.ts';

export const endToEnds = [
  'E11165756202605241200aaaaaaaaaaa',
  'E11165756202605241200bbbbbbbbbbb',
  'E11165756202605241200ccccccccccc',
] as const;
const requestIds = ['k1', 'k2'] as const;
const providerTxids = ['P1', 'P2', 'P3'] as const;
const txids = [
  'abcdefghijklmnopqrstuvwxyz',
  'abcdefghijklmnopqrstuvwxyy',
  'zbcdefghijklmnopqrstuvwxyz',
] as const;
const returnIds = [
  'D11165756202605241201ccccccccccc',
  'D11165756202605241202ccccccccccc',
  'D11165756202605241201ddddddddddd',
] as const;
const amounts = [1_000, 1_050] as const;
const pixKeys = ['ana@example.com', 'bruno@example.com'] as const;
const documents = ['52998224725', '11144477735'] as const;
const before = new Date('2026-05-24T12:00:00.000Z');
const receivedAt = new Date('2026-05-24T12:00:01.000Z');
const after = new Date('2026-05-24T12:00:02.000Z');

const phasesOf: Readonly<Record<PixStatus, readonly [PixPhase, ...PixPhase[]]>> = {
  PROCESSING: ['RESERVED', 'RESOLVED', 'PAYING', 'ACCEPTED', 'UNKNOWN'],
  COMPLETED: ['SETTLED'],
  FAILED: ['REJECTED', 'SETTLED'],
};

export interface World {
  readonly reported: ReportedItem & { readonly eventId: string };
  readonly stored: Candidates;
}

/** Draws worlds. */
export class Worlds {
  readonly #chance: Chance;

  constructor(seed: number) {
    this.#chance = new Chance(seed);
  }

  next(): World {
    const item = this.#item();
    const rows = Array.from({ length: 2 + this.#chance.below(6) }, (_, index) => this.#row(index));
    const candidates = findable(item, rows);
    const hasPayees = item.kind === 'received' || item.kind === 'payment';
    const payees = hasPayees ? this.#payees(item) : [];
    const eventId = this.#pick(['e1', 'e3']);
    const reported = {
      eventId,
      source: fromEvent(eventId),
      item,
      receivedAt,
      isContradicted: item.status === 'FAILED' && this.#happens(0.1),
      settledId: this.#happens(0.05) ? 't0' : undefined,
    };
    return { reported, stored: { candidates, payees } };
  }

  #happens(probability: number): boolean {
    return this.#chance.happens(probability);
  }

  #pick<One>(values: readonly [One, ...One[]]): One {
    return this.#chance.pick([...values]);
  }

  #maybe<One>(probability: number, values: readonly [One, ...One[]]): One | null {
    return this.#happens(probability) ? this.#pick(values) : null;
  }

  #row(index: number): CandidateRow {
    const operation = this.#pick([
      ...(['SEND', 'SEND', 'CHARGE', 'CHARGE', 'RECEIVED', 'REFUND_OUT'] as const),
    ]);
    const status =
      operation === 'RECEIVED'
        ? 'COMPLETED'
        : this.#pick(['PROCESSING', 'PROCESSING', 'COMPLETED', 'FAILED'] as const);
    const phase = this.#phase(operation, status);
    const isReported = operation === 'REFUND_OUT' && status === 'COMPLETED' && this.#happens(0.4);
    const isCharge = operation === 'CHARGE';
    const isPaid = isCharge && status === 'COMPLETED';
    return {
      id: `t${index}`,
      userId: this.#pick([1, 2]),
      operation,
      status,
      phase,
      outcome:
        status === 'COMPLETED'
          ? 'accepted'
          : this.#pick([null, 'accepted', 'unknown', 'rejected'] as const),
      failureCode: null,
      amount: (this.#pick(amounts) / 100).toFixed(2),
      endToEnd: this.#endToEnd(operation, status, phase),
      idempotencyKey:
        operation === 'RECEIVED' || isReported
          ? null
          : this.#pick(isCharge ? ['k1', 'ck'] : requestIds),
      transactionIdentification: isCharge ? this.#pick(txids) : null,
      qrCode: null,
      copyPaste: null,
      pixKey: this.#maybe(0.8, pixKeys),
      providerTxid: this.#maybe(0.6, providerTxids),
      repeated: status === 'PROCESSING' && !isCharge && this.#happens(0.3),
      createdAt: this.#happens(0.2) ? after : before,
      reachedPayee: null,
      expiresAt: isCharge ? this.#maybe(0.5, [after]) : null,
      owner: isCharge ? ['0001', '123456', this.#pick(documents)] : null,
      paidBy: isPaid ? [this.#maybe(0.6, ['e1', 'e2']), this.#maybe(0.6, providerTxids)] : null,
    };
  }

  #phase(operation: CandidateRow['operation'], status: PixStatus): PixPhase {
    const phase = this.#pick(phasesOf[status]);
    const isOpen = status === 'PROCESSING';
    if (operation === 'CHARGE' && isOpen) return this.#pick(['RESERVED', 'ACCEPTED'] as const);
    return operation === 'REFUND_OUT' && phase === 'RESOLVED' ? 'RESERVED' : phase;
  }

  #endToEnd(operation: CandidateRow['operation'], status: PixStatus, phase: PixPhase) {
    if (operation === 'REFUND_OUT') return this.#pick(returnIds);
    if (operation === 'CHARGE') return status === 'COMPLETED' ? this.#maybe(0.6, endToEnds) : null;
    if (operation === 'RECEIVED') return this.#maybe(0.6, endToEnds);
    const isCertain = status === 'COMPLETED' || (status === 'PROCESSING' && phase !== 'RESERVED');
    return this.#maybe(isCertain ? 1 : 0.3, endToEnds);
  }

  #item(): WebhookItem {
    const kind = this.#pick([
      ...(['payment', 'payment', 'payment', 'received', 'received', 'received'] as const),
      ...(['refund', 'refund', 'expired', 'held', 'ignored'] as const),
    ]);
    const isRefund = kind === 'refund';
    const isUndirected = kind === 'received' && this.#happens(0.3);
    return {
      index: 0,
      name: 'made up',
      shape: null,
      kind,
      status: this.#status(kind),
      ids: {
        endToEnd: this.#maybe(isRefund ? 1 : 0.6, endToEnds),
        clientRequestId: this.#requestId(kind),
        transactionIdentification: this.#txid(kind),
        providerTxid: this.#maybe(0.5, providerTxids),
      },
      isNamedAlone: true,
      ...(isUndirected && { isUndirected: true as const }),
      amountCents: this.#maybe(0.75, amounts),
      payee: this.#payee(),
      ...(isRefund && {
        refund: {
          returnId: this.#pick(returnIds),
          direction: this.#pick(['in', 'out', null] as const),
        },
      }),
      reason: this.#maybe(0.3, ['AB03']),
      ignoredBecause: kind === 'ignored' ? this.#pick(ignoredReasons) : null,
      word: null,
    };
  }

  #status(kind: WebhookItem['kind']): PixStatus | null {
    if (kind === 'expired') return 'FAILED';
    if (kind === 'held') return 'PROCESSING';
    return kind === 'ignored'
      ? this.#pick([null, 'FAILED', 'COMPLETED', 'PROCESSING'] as const)
      : this.#pick(['COMPLETED', 'COMPLETED', 'FAILED', 'PROCESSING'] as const);
  }

  #requestId(kind: WebhookItem['kind']): string | null {
    const isOfReturn = kind === 'refund' && this.#happens(0.3);
    if (!isOfReturn) return this.#maybe(0.4, requestIds);
    const [userId, idempotencyKey] = [this.#pick([1, 2]), this.#pick(requestIds)];
    return returnRequestId({ userId, idempotencyKey });
  }

  #txid(kind: WebhookItem['kind']): string | null {
    const txid = this.#maybe(kind === 'payment' ? 0.3 : 0.5, txids);
    return this.#happens(0.2) ? (txid?.slice(0, 25) ?? null) : txid;
  }

  #payee(): WebhookItem['payee'] {
    if (this.#happens(0.1)) return { ...noPayee, isContradictory: true };
    return {
      key: this.#maybe(0.4, pixKeys),
      document: this.#maybe(0.3, documents),
      agency: this.#maybe(0.2, ['1']),
      accountNumber: this.#maybe(0.2, ['123456']),
    };
  }

  #payees({ payee }: WebhookItem): readonly PayeeRow[] {
    return Array.from({ length: this.#chance.below(3) }, (_, index) => ({
      userId: index + 1,
      hasKey: payee.key !== null && this.#happens(0.5),
      agrees: this.#happens(0.6),
    })).toSorted((one, other) => Number(other.agrees) - Number(one.agrees));
  }
}

const ignoredReasons: readonly [IgnoredBecause, ...IgnoredBecause[]] = [
  'reversal',
  'unreadable_amount',
  'not_received',
  'contradictory_member',
  'unknown_status',
  'processing',
  'moves_nothing',
  'unlisted_code',
  'no_id',
  'not_refunded',
];

/**
 * The rows that the constraints of the table allow together, and that `pix-candidates` and the read
 * of returns find for an item, the closest first.
 */
export function findable(item: WebhookItem, rows: readonly CandidateRow[]): CandidateRow[] {
  const taken = new Set<string>();
  const found = rows.filter((row) => {
    const unique = uniqueValues(row);
    if (!isNamed(item, row) || unique.some((one) => taken.has(one))) return false;
    for (const one of unique) taken.add(one);
    return true;
  });
  return found.toSorted((one, other) => distance(item, one) - distance(item, other));
}

function uniqueValues(row: CandidateRow): string[] {
  const { operation, userId, endToEnd, idempotencyKey: key } = row;
  const txid = row.transactionIdentification;
  return [
    endToEnd === null ? null : `${operation} ${endToEnd}`,
    key === null ? null : `${operation} ${userId} ${key}`,
    txid === null ? null : txid.slice(0, 25),
  ].filter((one) => one !== null);
}

const same = (one: string | null | undefined, other: string | null | undefined): boolean =>
  typeof one === 'string' && one === other;

function isNamed({ kind, ids }: WebhookItem, row: CandidateRow): boolean {
  const isReturn = row.operation === 'REFUND_OUT';
  if (isReturn) return kind === 'refund' && ids.endToEnd !== null && row.idempotencyKey !== null;
  const short = row.transactionIdentification?.slice(0, 25);
  return (
    same(row.endToEnd, ids.endToEnd) ||
    (row.operation === 'SEND' && same(row.idempotencyKey, ids.clientRequestId)) ||
    same(short, ids.transactionIdentification?.slice(0, 25)) ||
    same(row.providerTxid, ids.providerTxid)
  );
}

function distance({ ids }: WebhookItem, row: CandidateRow): number {
  if (row.operation === 'REFUND_OUT') return 100;
  const short = row.transactionIdentification?.slice(0, 25);
  const isTxid = same(short, ids.transactionIdentification?.slice(0, 25));
  return (
    (same(row.endToEnd, ids.endToEnd) ? 0 : 4) +
    (isTxid ? 0 : 2) +
    (same(row.providerTxid, ids.providerTxid) ? 0 : 1)
  );
}
