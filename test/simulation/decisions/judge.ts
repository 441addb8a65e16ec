/** The judge of the ledger, which the settlement of a recording calls in its place. */
import { decimalFromCents } from '../../../src/domain/money.ts';
import { judge as judgeReport } from '../../../src/ledger/judge.ts';
import type { Facts, Report, ReportedItem, Stored } from '../../../src/ledger/report.ts';
import type { CandidateRow, Candidates } from '../../../src/ledger/transaction-repository.ts';
import type { WebhookItem } from '../../../src/provider/webhook-events.ts';
import { signatureOf, toTriple, type Triple } from '../../unit/ledger/yardstick/triples.ts';

export { unreadReason } from '../../../src/ledger/judge.ts';

/** The first verdict of each signature. */
export const recorded = new Map<string, Triple>();

export const judge: typeof judgeReport = (report, facts) => {
  const triple = toTriple(toItem(report), toCandidates(facts));
  const signature = signatureOf(triple);
  if (!recorded.has(signature)) recorded.set(signature, triple);
  return judgeReport(report, facts);
};

const kinds: Readonly<Record<Report['about'], WebhookItem['kind']>> = {
  payment: 'payment',
  received: 'received',
  expiry: 'expired',
  refund: 'refund',
  analysis: 'held',
  nothing: 'ignored',
};

/** The item that a report was made of. */
function toItem(report: Report): ReportedItem {
  const { source, receivedAt, isContradicted, settledId, ids, direction, bookedAt } = report;
  const { endToEnd, requestId, txid, providerTxid, returnId } = ids;
  const item: WebhookItem = {
    index: 0,
    name: 'recorded',
    shape: null,
    kind: kinds[report.about],
    status: report.status,
    ids: {
      endToEnd,
      clientRequestId: requestId,
      transactionIdentification: txid,
      providerTxid,
    },
    ...(report.isUndirected && { isUndirected: true as const }),
    amountCents: report.amountCents,
    payee: report.payee,
    ...(returnId !== null && { refund: { returnId, direction } }),
    ...(bookedAt !== null && { at: bookedAt }),
    reason: report.failureCode,
    ignoredBecause: report.ignoredBecause,
    word: null,
  };
  return { source, item, receivedAt, isContradicted, settledId: settledId ?? undefined };
}

/** The rows that facts were made of. */
function toCandidates({ stored, payees }: Facts): Candidates {
  return { candidates: stored.map(toRow), payees };
}

function toRow(stored: Stored): CandidateRow {
  const { owner, endedBy, type, status } = stored;
  const isPaid = type === 'CHARGE' && status === 'COMPLETED';
  return {
    id: stored.id,
    userId: stored.userId,
    operation: type,
    status,
    phase: stored.phase,
    outcome: stored.outcome,
    failureCode: null,
    amount: decimalFromCents(stored.amountCents ?? 0),
    endToEnd: stored.endToEnd,
    idempotencyKey: stored.requestId,
    transactionIdentification: stored.txid,
    qrCode: null,
    copyPaste: null,
    pixKey: stored.payeeKey,
    providerTxid: stored.providerTxid,
    repeated: stored.hasOpenAttempt,
    createdAt: stored.createdAt,
    reachedPayee: stored.hasReachedPayee,
    expiresAt: stored.isStatic ? null : stored.createdAt,
    owner: owner && [owner.agency, owner.accountNumber, owner.document],
    paidBy: isPaid ? [endedBy.eventId, endedBy.providerTxid] : null,
  };
}
