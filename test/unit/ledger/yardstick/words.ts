/** Verdicts in words, so that two ways to judge can be compared whatever their types. */
import type { Move } from '../../../../src/ledger/move-repository.ts';
import type { Refund } from '../../../../src/ledger/refund-repository.ts';
import type { Verdict } from '../../../../src/ledger/report.ts';
import type { ReceivedPix } from '../../../../src/ledger/transaction-repository.ts';
import type { Decision } from './frozen/decision.ts';

type Part = string | number | null | undefined | false;

const say = (...parts: readonly Part[]): string =>
  parts
    .filter((one) => one !== undefined && one !== false)
    .map((one) => one ?? '-')
    .join(' ');

interface Named {
  readonly id: string;
}

interface Told {
  readonly transaction: Named;
  readonly reason: string;
}

const beside = (told: Told | undefined): Part =>
  told && say('beside', told.transaction.id, told.reason);

function moveInWords({ id }: Named, move: Move): string {
  const { to, status, outcome, failureCode, endToEnd, providerTxid, timeline } = move;
  const ids = [`end-to-end ${endToEnd ?? '-'}`, `provider ${providerTxid ?? '-'}`] as const;
  const ends = [outcome ?? 'as it was', failureCode ?? '-', ...ids] as const;
  return say('move', id, to, status, ...ends, timeline.length > 1 && 'lost');
}

function recordInWords(received: ReceivedPix, told: Told | undefined): string {
  const { userId, amountCents, pixKey, endToEnd, providerTxid, at } = received;
  const ids = [pixKey, endToEnd, providerTxid, at && at.toISOString()];
  return say('record', userId, amountCents, ...ids, beside(told));
}

function refundInWords({ id }: Named, refund: Refund): string {
  const { operation, amountCents, returnId, providerTxid, at } = refund;
  return say('refund', id, operation, amountCents, returnId, providerTxid, at && at.toISOString());
}

/** All that a verdict changes, and of which transaction, but not how it is noted. */
export function inWords(verdict: Verdict): string {
  switch (verdict.kind) {
    case 'move':
      return moveInWords(verdict.transaction, verdict.move);
    case 'correct':
      return say('correct', verdict.transaction.id, verdict.endToEnd, verdict.providerTxid);
    case 'identify':
      return say('identify', verdict.transaction.id, verdict.endToEnd);
    case 'record':
      return recordInWords(verdict.received, verdict.beside);
    case 'refund':
      return refundInWords(verdict.transaction, verdict.refund);
    case 'analysis':
    case 'already':
    case 'reached':
      return say(verdict.kind, verdict.transaction.id);
    case 'waits':
      return say('waits', verdict.reason, verdict.transaction?.id ?? null, beside(verdict.beside));
    case 'ignored':
    case 'unread':
      return say(verdict.kind, verdict.reason, verdict.transaction?.id ?? null);
    case 'conflict':
      return say('conflict', verdict.transaction?.id ?? null, verdict.reason);
  }
}

/** A frozen decision in the same words. */
export function frozenInWords(decision: Decision): string {
  switch (decision.kind) {
    case 'move':
      return moveInWords(decision.transaction, decision.move);
    case 'correct':
      return say('correct', decision.transaction.id, decision.endToEnd, decision.providerTxid);
    case 'identify':
      return say('identify', decision.transaction.id, decision.endToEnd);
    case 'record':
      return recordInWords(decision.received, decision.flaggedCharge);
    case 'refund':
      return refundInWords(decision.transaction, decision.refund);
    case 'hold':
      return say('analysis', decision.transaction.id);
    case 'skip': {
      const { result, reason, transaction, reportNow } = decision;
      if (result === 'already') return say('already', transaction?.id ?? null);
      const kind = result === 'parked' ? 'waits' : 'ignored';
      return say(kind, reason, transaction?.id ?? null, beside(reportNow));
    }
    case 'unread':
      return say('unread', decision.reason, decision.transaction.id);
    case 'flag':
    case 'suspect':
      return say('conflict', decision.transaction?.id ?? null, decision.reason);
    case 'dispute':
      return say('dispute', decision.report.status);
  }
}
