/**
 * The yardstick: decisions that the simulation has met, each as a report, the stored facts and the
 * verdict in words. `npm run simulate -- --decisions --seeds 5000` records them again.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fromEvent, fromStatement } from '../../../../src/domain/pix.ts';
import { judge } from '../../../../src/ledger/judge.ts';
import { toFacts, toReport, type ReportedItem } from '../../../../src/ledger/report.ts';
import type { CandidateRow, Candidates } from '../../../../src/ledger/transaction-repository.ts';
import type { PayeeRow } from '../../../../src/ledger/payee-repository.ts';
import { noPayee, type WebhookItem } from '../../../../src/provider/webhook-events.ts';
import { emptyRow } from './memory-ledger.ts';
import { inWords } from './words.ts';

/** The file of the triples: one JSON object a line. */
export const triplesFile = join(import.meta.dirname, 'triples.jsonl');

/** A decision as it is recorded: what is null or usual is left out. */
export interface Triple {
  readonly report: Report;
  readonly rows: readonly Row[];
  readonly payees: readonly PayeeRow[];
  readonly verdict: readonly string[];
}

type Row = Partial<Omit<CandidateRow, 'createdAt' | 'expiresAt'>> &
  Pick<CandidateRow, 'id' | 'userId' | 'operation' | 'status' | 'phase' | 'amount'> & {
    /** Stored after the report was received. */
    readonly isLater?: true;
    readonly expires?: true;
  };

interface Report extends Partial<Omit<WebhookItem, 'kind' | 'ids' | 'payee' | 'at'>> {
  readonly kind: WebhookItem['kind'];
  readonly ids?: Partial<WebhookItem['ids']>;
  readonly payee?: Partial<WebhookItem['payee']>;
  readonly eventId?: string;
  readonly isDated?: true;
  readonly isContradicted?: true;
  readonly settledId?: string;
}

const receivedAt = new Date('2026-05-24T12:00:01.000Z');
const before = new Date('2026-05-24T12:00:00.000Z');
const after = new Date('2026-05-24T12:00:02.000Z');

/** @returns an object without the members that are null, undefined, false or empty. */
function dense<Value extends object>(value: Value): Partial<Value> {
  const members = Object.entries(value).filter(([, one]: [string, unknown]) => {
    const isEmpty = typeof one === 'object' && one !== null && Object.keys(one).length === 0;
    return one !== null && one !== undefined && one !== false && !isEmpty;
  });
  return Object.fromEntries(members) as Partial<Value>;
}

/** The triple of a decision; transactions and events get short names. */
export function toTriple(
  { source: { eventId }, item, receivedAt: at, isContradicted, settledId }: ReportedItem,
  { candidates, payees }: Candidates,
): Triple {
  const names = new Map<string, string>();
  const name = (prefix: string, id: string): string => {
    const known = names.get(id) ?? `${prefix}${names.size + 1}`;
    names.set(id, known);
    return known;
  };
  const rows = candidates.map((row): Row => {
    const { createdAt, expiresAt, paidBy, ...rest } = row;
    const [event = null, txid = null] = paidBy ?? [];
    const stored = { ...rest, ordinal: null, qrCode: null, copyPaste: null, failureCode: null };
    const { id, userId, operation, status, phase, amount } = rest;
    const always = { id: name('t', id), userId, operation, status, phase, amount };
    return {
      ...dense(stored),
      ...always,
      ...(paidBy && { paidBy: [event === null ? null : name('e', event), txid] as const }),
      ...(createdAt > at && { isLater: true as const }),
      ...(expiresAt !== null && { expires: true as const }),
    };
  });
  const { index: _, name: __, shape: ___, word: ____, at: dated, ...said } = item;
  const ids = dense(said.ids);
  const payee = dense(said.payee);
  const report = {
    ...dense({ ...said, ids, payee }),
    kind: said.kind,
    ...(eventId !== null && { eventId: name('e', eventId) }),
    ...(dated && { isDated: true as const }),
    ...(isContradicted === true && { isContradicted: true as const }),
    ...(settledId !== null &&
      settledId !== undefined && { settledId: names.get(settledId) ?? 'other' }),
  } as Report;
  const named = payees.map(({ userId, hasKey, agrees }) => ({ userId, hasKey, agrees }));
  const triple = { report, rows, payees: named };
  return { ...triple, verdict: verdictOf(triple) };
}

/** What a triple says, as the input of a decision. */
export function fromTriple({ report, rows, payees }: Omit<Triple, 'verdict'>): {
  readonly reported: ReportedItem;
  readonly stored: Candidates;
} {
  const {
    eventId = null,
    isDated,
    isContradicted = false,
    settledId,
    ids,
    payee,
    ...said
  } = report;
  const source = eventId === null ? fromStatement : fromEvent(eventId);
  const item: WebhookItem = {
    index: 0,
    name: 'recorded',
    shape: null,
    status: null,
    amountCents: null,
    reason: null,
    ignoredBecause: null,
    word: null,
    ...said,
    ids: {
      endToEnd: null,
      clientRequestId: null,
      transactionIdentification: null,
      providerTxid: null,
      ...ids,
    },
    payee: { ...noPayee, ...payee },
    ...(said.refund && { refund: { ...said.refund, direction: said.refund.direction ?? null } }),
    ...(isDated && { at: before }),
  };
  const candidates = rows.map(({ isLater, expires, ...row }): CandidateRow => ({
    ...emptyRow,
    outcome: null,
    ...row,
    createdAt: isLater ? after : before,
    expiresAt: expires ? after : null,
  }));
  return {
    reported: { source, item, receivedAt, isContradicted, settledId },
    stored: { candidates, payees },
  };
}

/** What is decided now about the report of a triple. */
export function verdictOf(triple: Omit<Triple, 'verdict'>): readonly string[] {
  const { reported, stored } = fromTriple(triple);
  return judge(toReport(reported), toFacts(stored)).map(inWords);
}

/** The recorded triples. */
export function readTriples(): readonly Triple[] {
  const lines = readFileSync(triplesFile, 'utf8').split('\n').filter(Boolean);
  return lines.map((line) => JSON.parse(line) as Triple);
}

/**
 * What distinguishes a decision from others: its verdict, what its report says, and the states of
 * the transactions that the verdict names. Of the decisions of one signature one is recorded.
 */
export function signatureOf({ report, rows, payees, verdict }: Triple): string {
  const { kind, status, ids = {}, payee = {}, ignoredBecause, isContradicted } = report;
  const isNamed = (row: Row): boolean => verdict.some((one) => one.includes(` ${row.id}`));
  const named = rows.filter(isNamed).map((row) => {
    const { operation, status: stored, phase, repeated, isLater } = row;
    return [operation, stored, phase, repeated, isLater];
  });
  const others = Math.min(2, rows.length - named.length);
  const words = verdict.map((one) => one.split(' ').filter((word) => /^[A-Za-z_]+$/.test(word)));
  const said = [kind, status, ignoredBecause, isContradicted, Object.keys(ids), 'key' in payee];
  const hasPayee = payees.some(({ agrees }) => agrees);
  return JSON.stringify([words, said, named, others, hasPayee]);
}
