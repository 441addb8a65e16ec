/**
 * The judge: what a report of the bank changes. It depends on the report and on the stored rows
 * alone, so that the same verdict can be carried out or only be shown. The first rule that fits
 * holds.
 */
import { isSameId, phasesOpenToSettlement, receivedByPayee } from '../domain/pix.ts';
import { normalisePixKey } from '../domain/pix-key.ts';
import {
  findByEndToEnd,
  findCharge,
  findClash,
  findOpen,
  findSend,
  hasOtherProviderId,
  isOfPayer,
  isWeak,
  knownBefore,
  namesOtherPayee,
} from './identity.ts';
import { judgeEnd } from './judge-end.ts';
import { judgeCharge, judgeExpiry } from './judge-money-in.ts';
import { judgeRefund } from './judge-refund.ts';
import {
  mayConcernStored,
  type Facts,
  type FinalReport,
  type Report,
  type Stored,
  type Verdict,
} from './report.ts';
import { unreadReasons } from '../provider/webhook-events.ts';
import {
  conflict,
  isFailure,
  isMade,
  judgeAgain,
  lacksAttempt,
  unmatched,
  waitsBeside,
} from './verdicts.ts';

/**
 * Judges a report.
 * @param stored the rows that the report may concern; empty for a report that needs none.
 * @returns a verdict for each change, at least one: a report may speak of both sides of a payment,
 *   and a refund may complete the send that it gives back.
 */
export function judge(said: Report, stored: Facts): readonly Verdict[] {
  const facts = knownBefore(said, stored);
  const report = withoutOtherPayee(said, facts);
  const { about, status } = report;
  if (about === 'analysis') return [judgeAnalysis(report, facts)];
  if (about === 'nothing' || status === null || status === 'PROCESSING') {
    return [judgeNothing(report, facts)];
  }
  const final: FinalReport = { ...report, status };
  switch (about) {
    case 'expiry':
      return [judgeExpiry(report, facts)];
    case 'refund':
      return judgeRefund(final, facts);
    case 'payment':
      return withReached(final, facts, judgePayment(final, facts));
    case 'received':
      return withReached(final, facts, judgeReceived(final, facts));
  }
}

/** Why a report was not understood; null: it was. */
export function unreadReason(said: Report, stored: Facts): (typeof unreadReasons)[number] | null {
  const { ignoredBecause } = withoutOtherPayee(said, knownBefore(said, stored));
  return unreadReasons.find((one) => one === ignoredBecause) ?? null;
}

/** @returns the report, or one that claims nothing if it names another payee than its send has. */
function withoutOtherPayee(report: Report, facts: Facts): Report {
  if (!namesOtherPayee(report, facts)) return report;
  return { ...report, about: 'nothing', ignoredBecause: 'other_payee_key' };
}

/* ---- which side of a payment ---- */

/**
 * A payment whose side is not said: that of a send, of the charge that it names and pays, or of
 * both. The reports of the payer have the request id: then only the send is meant.
 */
function judgePayment(report: FinalReport, facts: Facts): readonly Verdict[] {
  const { ids, amountCents, status } = report;
  const charge = ids.txid === null ? null : findCharge(report, facts.stored);
  const pays = charge !== null && charge.amountCents === amountCents;
  const hasRequest = isOfPayer(report, facts);
  // Another user's payment may have the same request id, so it proves neither.
  if (pays && hasRequest && ids.endToEnd === null) return [conflict(charge, 'ids_disagree')];
  if (!pays || hasRequest || status !== 'COMPLETED') return [judgeSend(report, facts)];
  const mayBeSent = ids.requestId === null && facts.stored.some(({ type }) => type === 'SEND');
  if (!mayBeSent) return [judgeCharge(report, facts)];
  const ofSend = judgeSend(report, facts);
  return isMade(ofSend) ? [ofSend, judgeCharge(report, facts)] : [ofSend];
}

/**
 * Money that came in. From a list without directions it is the payment of a send if that has its
 * end-to-end id and its key.
 */
function judgeReceived(report: FinalReport, facts: Facts): readonly Verdict[] {
  const { ids, payee, isUndirected } = report;
  const send = findByEndToEnd(report, facts, 'SEND');
  const isSent =
    isUndirected &&
    ids.txid === null &&
    payee.key !== null &&
    send !== null &&
    send.payeeKey === normalisePixKey(payee.key).key;
  if (!isSent) return [judgeCharge(report, facts)];
  const ofSend = judgeSend(report, facts);
  const isContradicted = ofSend.kind === 'conflict' && ofSend.reason === 'contradicts_final_status';
  if (!isMade(ofSend) && !isContradicted) return [ofSend];
  const ofReceived = judgeCharge(report, facts);
  return isCredit(ofReceived) ? [ofSend, ofReceived] : [ofSend];
}

/**
 * Adds that the money of a send has reached another customer, before the receipt is stored: of two
 * reports that are judged at once, the second to be stored meets the first. Only an overrule fails
 * a COMPLETED send: it waits for events, and looks at both sides, but not for the reading of a
 * statement. A verdict on the send itself is enough.
 */
function withReached(
  report: FinalReport,
  facts: Facts,
  verdicts: readonly Verdict[],
): readonly Verdict[] {
  const send = findByEndToEnd(report, facts, 'SEND');
  if (send === null || report.status !== 'COMPLETED') return verdicts;
  const isFinal = send.status === 'COMPLETED' && report.source.eventId !== null;
  const isKnown = send.hasReachedPayee && send.status !== 'FAILED';
  const isJudged = verdicts.some((one) => 'transaction' in one && one.transaction?.id === send.id);
  const isOfOther = (one: Verdict): boolean => isCredit(one) && ownerOf(one) !== send.userId;
  if (isFinal || isKnown || isJudged || !verdicts.some(isOfOther)) return verdicts;
  return [{ kind: 'reached', transaction: send }, ...verdicts];
}

function ownerOf(verdict: Verdict): number | undefined {
  if (verdict.kind === 'record') return verdict.received.userId;
  return 'transaction' in verdict ? verdict.transaction?.userId : undefined;
}

/** Whether a verdict on money that came in finds it received. */
function isCredit(verdict: Verdict): boolean {
  return isMade(verdict) || ['record', 'identify'].includes(verdict.kind);
}

/* ---- a send ---- */

function judgeSend(report: FinalReport, facts: Facts): Verdict {
  const send = findSend(report, facts);
  if (!send) return judgeNoSend(report, facts);
  const clash = findClash(report, send);
  if (clash !== null) return conflict(send, clash);
  const weak = isWeak(report, send);
  if (weak && report.amountCents === null && send.status === 'PROCESSING') return unmatched;
  if (report.amountCents !== null && report.amountCents !== send.amountCents) {
    const mismatch = conflict(send, 'amount_mismatch');
    // The payment's own send may be stored later, as after a loss of commits.
    return weak && report.ids.endToEnd !== null ? waitsBeside(mismatch) : mismatch;
  }
  const verdict = judgeEnd(report, send);
  const mayFail = lacksAttempt(verdict) ? isSameId(report.ids.endToEnd, send.endToEnd) : !weak;
  if (!mayFail && isFailure(report, verdict)) return waitsBeside(conflict(send, 'weak_id'));
  const fails = report.status === 'FAILED' && verdict.kind === 'move';
  return fails && isReceived(send, facts) ? conflict(send, receivedByPayee) : verdict;
}

/**
 * Whether the payee of a send, another customer, has its money: one end-to-end id is one payment.
 * What the payer has received under its id is money back.
 */
function isReceived({ endToEnd, userId, hasReachedPayee }: Stored, { stored }: Facts): boolean {
  const isReceipt = (one: Stored): boolean =>
    one.type !== 'SEND' &&
    one.userId !== userId &&
    one.status === 'COMPLETED' &&
    isSameId(one.endToEnd, endToEnd);
  return hasReachedPayee || stored.some(isReceipt);
}

function judgeNoSend(report: FinalReport, facts: Facts): Verdict {
  // It reports money that came in once more, without saying which way it went.
  const mayBeReceived =
    report.status === 'COMPLETED' &&
    report.ids.requestId === null &&
    facts.stored.every(({ type }) => type !== 'SEND');
  const again = facts.stored.find((one) => isSameId(one.endToEnd, report.ids.endToEnd));
  return mayBeReceived && again ? judgeAgain(report, again) : unmatched;
}

/* ---- what moves nothing ---- */

/** The analysis of the open send that has the end-to-end id and the amount of the report. */
function judgeAnalysis(report: Report, facts: Facts): Verdict {
  const { ids, amountCents } = report;
  const send = facts.stored.find(
    (one) =>
      one.type === 'SEND' &&
      isSameId(one.endToEnd, ids.endToEnd) &&
      phasesOpenToSettlement.some((phase) => phase === one.phase) &&
      (amountCents === null || amountCents === one.amountCents),
  );
  return send ? { kind: 'analysis', transaction: send } : { kind: 'ignored', reason: 'processing' };
}

/** Reasons for which a report about a COMPLETED transaction may be a refund that is lost. */
const mayBeRefund: ReadonlySet<string> = new Set(['reversal', 'unreadable_amount']);

/** A report that moves nothing may contradict money that came in, or concern what is open. */
function judgeNothing(report: Report, facts: Facts): Verdict {
  const reason = report.ignoredBecause ?? 'processing';
  const { stored } = facts;
  if (reason === 'contradictory_member') {
    return { kind: 'conflict', transaction: findOpen(report, stored), reason };
  }
  if (!mayConcernStored(reason)) return { kind: 'ignored', reason };
  const isUnpaid = reason === 'not_received';
  const received = isUnpaid ? findReceived(report, stored) : null;
  if (received) return conflict(received, 'contradicts_final_status');
  // A failed receipt may be the end of a send; for an open charge it has no meaning.
  const open = findOpen(report, isUnpaid ? stored.filter(({ type }) => type === 'SEND') : stored);
  const named = open ?? (mayBeRefund.has(reason) ? findCompleted(report, stored) : null);
  if (!named) return { kind: 'ignored', reason };
  const isOther = named.type === 'SEND' && hasOtherProviderId(report, named);
  if (isOther && report.status === 'FAILED') return conflict(named, 'other_provider_id');
  return { kind: 'unread', reason, transaction: named };
}

/** The transaction that the now failed money had completed; without an id, its charge. */
function findReceived(report: Report, stored: readonly Stored[]): Stored | null {
  const received = stored.filter(({ type, status }) => type !== 'SEND' && status === 'COMPLETED');
  if (report.ids.endToEnd === null) return findCharge(report, received);
  return received.find((one) => isSameId(one.endToEnd, report.ids.endToEnd)) ?? null;
}

function findCompleted({ ids }: Report, stored: readonly Stored[]): Stored | null {
  const completed = stored.filter(({ status }) => status === 'COMPLETED');
  return completed.find((one) => isSameId(one.endToEnd, ids.endToEnd)) ?? null;
}
