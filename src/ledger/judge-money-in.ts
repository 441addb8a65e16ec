/**
 * What a report changes of a charge, and of money that came in and pays none. The functions are
 * pure.
 */
import { chargeExpired } from '../domain/pix.ts';
import { isOtherPixKey } from '../domain/pix-key.ts';
import {
  findByEndToEnd,
  findCharge,
  findPayable,
  findPayee,
  findRecorded,
  isForOwner,
  isOtherPayment,
  isSamePayment,
  isWeak,
} from './identity.ts';
import { endedBy, judgeEnd, phasesOpenOfCharge } from './judge-end.ts';
import type { Beside, Facts, FinalReport, Report, Stored, Verdict } from './report.ts';
import type { ReceivedPix } from './transaction-repository.ts';
import { conflict, judgeAgain, unmatched, waitsBeside } from './verdicts.ts';

/**
 * Judges money that came in by the charge that it names. A charge that was completed without an
 * end-to-end id gets that of the first payment that names it, which distinguishes it from
 * further payments.
 */
export function judgeCharge(report: FinalReport, facts: Facts): Verdict {
  const charge = findPayable(report, facts);
  if (!charge) {
    const paid = findByEndToEnd(report, facts, 'CHARGE');
    return paid ? judgeAgain(report, paid) : judgeWithoutCharge(report, facts);
  }
  const { ids, amountCents, status } = report;
  const isUnidentified = charge.status === 'COMPLETED' && charge.endToEnd === null;
  const wouldChange = charge.status === 'PROCESSING' || isUnidentified;
  if (isWeak(report, charge) && wouldChange && amountCents === null) {
    return judgeWithoutCharge(report, facts);
  }
  if (amountCents !== null && amountCents !== charge.amountCents) {
    return judgeBeside(report, conflict(charge, 'amount_mismatch'), facts);
  }
  if (!isForOwner(report, facts.payees, charge)) {
    return judgeBeside(report, conflict(charge, 'payee_disagrees'), facts);
  }
  if (isUnidentified && status === 'COMPLETED' && ids.endToEnd !== null) {
    if (isOtherPayment(report, charge)) {
      const withoutCharge = judgeWithoutCharge(report, facts);
      if (withoutCharge.kind !== 'record' || charge.isStatic) return withoutCharge;
      // A dynamic code is paid once; the ids of a charge and of its payment may differ.
      return { ...withoutCharge, beside: conflict(charge, 'paid_again_without_id') };
    }
    return { kind: 'identify', transaction: charge, endToEnd: ids.endToEnd };
  }
  if (charge.status === 'COMPLETED' && status === 'COMPLETED' && ids.endToEnd === null) {
    return judgePaidAgain(report, charge, facts);
  }
  const verdict = judgeEnd(report, charge);
  return verdict.kind === 'conflict'
    ? judgeBeside(report, conflict(charge, verdict.reason), facts)
    : verdict;
}

/** Money that pays no charge is recorded once, for the one user whom it names. */
function judgeWithoutCharge(report: FinalReport, facts: Facts): Verdict {
  const { ids, status } = report;
  if (status !== 'COMPLETED' || ids.endToEnd === null) return unmatched;
  const known = findRecorded(report, facts);
  if (known) {
    const verdict = judgeAgain(report, known);
    // The charge may get an id yet: what was recorded first need not be what is right.
    const mayPay = ids.txid !== null || ids.providerTxid !== null;
    if (verdict.kind === 'conflict') {
      return mayPay ? { ...unmatched, beside: conflict(known, verdict.reason) } : verdict;
    }
    if (known.endToEnd === null) {
      return { kind: 'identify', transaction: known, endToEnd: ids.endToEnd };
    }
    return isForOther(report, facts, known) ? conflict(known, 'payee_disagrees') : verdict;
  }
  const userId = findPayee(report, facts, findCharge(report, facts.stored));
  const received = userId === null ? null : receivedBy(userId, report);
  return received ? { kind: 'record', received } : unmatched;
}

/**
 * Whether a report names one other user for money that is recorded. A key tells only if the record
 * has another one: since then it may have moved to the account of another user.
 */
function isForOther(report: Report, facts: Facts, known: Stored): boolean {
  const { key, document, accountNumber } = report.payee;
  const isNamed = document !== null || accountNumber !== null;
  const userId = findPayee(report, facts, findCharge(report, facts.stored));
  const hasOtherKey = key !== null && known.payeeKey !== null && isOtherPixKey(key, known.payeeKey);
  return userId !== null && userId !== known.userId && (isNamed || hasOtherKey);
}

/**
 * Money that contradicts the charge that it names came in all the same: it is recorded for the
 * owner of the charge, unless its payee is another, or it is recorded already.
 */
function judgeBeside(report: FinalReport, beside: Beside, facts: Facts): Verdict {
  if (report.status !== 'COMPLETED' || report.ids.endToEnd === null) return beside;
  const known = findRecorded(report, facts);
  if (known) {
    const verdict = judgeAgain(report, known);
    return verdict.kind === 'conflict' ? verdict : beside;
  }
  if (findByEndToEnd(report, facts, 'CHARGE')) return beside;
  const userId = findPayee(report, facts, beside.transaction);
  const received = userId === null ? null : receivedBy(userId, report);
  return received ? { kind: 'record', received, beside } : beside;
}

/**
 * A payment of a charge that is paid, without the end-to-end id that would tell the two apart. A
 * static code may be paid many times: a person must decide unless the report repeats the payment.
 * A dynamic code is paid once.
 */
function judgePaidAgain(report: FinalReport, charge: Stored, facts: Facts): Verdict {
  const known = findRecorded(report, facts);
  if (known) return judgeAgain(report, known);
  const isCertain =
    report.settledId === charge.id ||
    (!isOtherPayment(report, charge) && (!charge.isStatic || isSamePayment(report, charge)));
  return isCertain
    ? { kind: 'already', transaction: charge }
    : conflict(charge, 'paid_again_without_id');
}

function receivedBy(userId: number, report: Report): ReceivedPix | null {
  const { amountCents, payee, ids, bookedAt: at } = report;
  if (amountCents === null || amountCents <= 0) return null;
  const { endToEnd, providerTxid } = ids;
  return { userId, amountCents, pixKey: payee.key, endToEnd, providerTxid, at };
}

/**
 * The provider's word that a charge has expired unpaid. A charge that was paid stays so: a code
 * that may be paid more than once expires, too.
 */
export function judgeExpiry(report: Report, { stored }: Facts): Verdict {
  const { ids, amountCents, source } = report;
  const charge = findCharge(report, stored);
  // The provider's own id alone names a charge only together with the amount.
  const isNamed = ids.txid !== null || amountCents !== null;
  if (!charge || !isNamed) return unmatched;
  if (amountCents !== null && amountCents !== charge.amountCents) {
    return conflict(charge, 'amount_mismatch');
  }
  if (charge.status === 'FAILED') return { kind: 'already', transaction: charge };
  if (charge.status === 'COMPLETED') {
    return { kind: 'ignored', reason: 'charge_paid', transaction: charge };
  }
  if (report.isContradicted) return conflict(charge, 'contradicted_in_event');
  if (ids.txid === null) return waitsBeside(conflict(charge, 'weak_id'));
  return {
    kind: 'move',
    transaction: charge,
    move: {
      // It may have expired before the response that has its code could be stored.
      from: phasesOpenOfCharge,
      to: 'SETTLED',
      status: 'FAILED',
      ...(charge.outcome === null && { outcome: 'accepted' }),
      failureCode: chargeExpired,
      providerTxid: ids.providerTxid,
      timeline: [endedBy(source, 'FAILED')],
    },
  };
}
