/** Cases of the repository functions about transactions. */
import { randomUUID } from 'node:crypto';
import { fromEvent } from '../../../../src/domain/pix.ts';
import * as disputes from '../../../../src/disputes/dispute-repository.ts';
import { eraseTransactions, forgetPayee } from '../../../../src/ledger/erasure-repository.ts';
import { noteAnalysis } from '../../../../src/ledger/analysis-repository.ts';
import * as closedKeys from '../../../../src/ledger/closed-key-repository.ts';
import * as corrections from '../../../../src/ledger/correction-repository.ts';
import * as history from '../../../../src/ledger/history-repository.ts';
import { announceLimits } from '../../../../src/pix/limit-event-repository.ts';
import { inTransaction } from '../../../../src/db/unit-of-work.ts';
import * as limits from '../../../../src/ledger/spending-limit-repository.ts';
import * as lostSends from '../../../../src/ledger/lost-send-repository.ts';
import * as moves from '../../../../src/ledger/move-repository.ts';
import { noteSight } from '../../../../src/settlement/statement-sight-repository.ts';
import * as overrules from '../../../../src/ledger/overrule-repository.ts';
import * as pauses from '../../../../src/ledger/pause-repository.ts';
import * as payments from '../../../../src/ledger/payment-repository.ts';
import * as transactions from '../../../../src/ledger/pix-transaction-repository.ts';
import * as refusedSessions from '../../../../src/ledger/refused-session-repository.ts';
import * as replays from '../../../../src/ledger/replay-repository.ts';
import * as reservations from '../../../../src/ledger/reservation-repository.ts';
import * as returns from '../../../../src/ledger/return-reservation-repository.ts';
import * as sweep from '../../../../src/ledger/sweep-repository.ts';
import { endToEnd, returnId, type Cases, type Seed } from './seed.ts';

const later = ({ now }: Pick<Seed, 'now'>): Date => new Date(now.getTime() + 3_600_000);

const send = ({ userId, sendId }: Seed): transactions.PixTransaction => ({
  id: sendId,
  userId,
  operation: 'SEND',
  idempotencyKey: 'key',
  status: 'PROCESSING',
  phase: 'RESERVED',
  outcome: null,
  failureCode: null,
  endToEnd: null,
  transactionIdentification: null,
  qrCode: null,
  copyPaste: null,
});

const terms = () => ({
  id: randomUUID(),
  idempotencyKey: 'reserved',
  fingerprint: Buffer.from('fingerprint'),
  amountCents: 1_050,
  pixKey: 'ana@example.com',
  description: null,
  claims: new Set<number | null>(),
});

const lost = ({ userId }: Pick<Seed, 'userId'>) => ({
  userId,
  endToEnd: endToEnd(9),
  amountCents: 700,
  idempotencyKey: 'lost',
});

/** The cases of each module, by its path in `src`. */
export const paymentCases: Readonly<Record<string, Cases>> = {
  'disputes/dispute-repository.ts': {
    findDispute: (context, { userId, paidId: id }) => disputes.findDispute(context, { userId, id }),
    findDisputedPayment: (context, { userId, paidId: id }) =>
      disputes.findDisputedPayment(context, { userId, id }),
    storeRequest: (context, { userId, paidId: id }) =>
      disputes.storeRequest(context, {
        userId,
        id,
        situation: 'SCAM',
        details: null,
        paidSince: new Date(0),
      }),
    findPendingDisputes: (context) => disputes.findPendingDisputes(context, 10),
    claimCall: (context, { paidId: id }) =>
      disputes.claimCall(context, { id, status: 'REQUESTED', durationMs: 1_000 }),
    endCall: (context, { paidId: id, now }) => {
      const until = new Date(now.getTime() + 1_000);
      const claim = { id, status: 'REQUESTED', until, mayHaveBeenDone: false } as const;
      return disputes.endCall(context, claim, 'not_sent');
    },
    storeCheck: (context, { paidId }) => disputes.storeCheck(context, paidId),
    storeReported: (context, { paidId: id }) => disputes.storeReported(context, id, 'OPEN'),
    storeWithdrawal: (context, { userId, paidId: id }) =>
      disputes.storeWithdrawal(context, { userId, id }),
    storeDisputeReport: (context, { paidId: disputeId }) =>
      disputes.storeDisputeReport(context, { disputeId, endToEnd: null, status: 'ACCEPTED' }),
  },
  'settlement/statement-sight-repository.ts': {
    noteSight: (context, { sendId, now }) => noteSight(context, sendId, { readAt: now }),
  },
  'ledger/erasure-repository.ts': {
    forgetPayee: (context, { sendId }) => forgetPayee(context, sendId),
    eraseTransactions: (context, { userId, sendId }) =>
      eraseTransactions(context, {
        userId,
        values: ['ana@example.com'],
        paidByOthers: [sendId],
      }),
  },
  'ledger/analysis-repository.ts': {
    noteAnalysis: (context, { unknownId }) => noteAnalysis(context, unknownId),
  },
  'pix/limit-event-repository.ts': {
    announceLimits: (context, { userId }) => announceLimits(context, userId),
  },
  'ledger/pix-transaction-repository.ts': {
    takeOverTransaction: (context, { sendId }) => transactions.takeOverTransaction(context, sendId),
    readStored: (context, seed) => transactions.readStored(context, send(seed)),
    viewTransaction: (context, { token, chargeId }) =>
      transactions.viewTransaction(context, token, chargeId),
    listTransactions: (context, seed) => {
      const period = { from: new Date(0), until: later(seed), limit: 10 };
      return transactions.listTransactions(context, seed.userId, period);
    },
    noteAnomaly: (context, { paidId: transactionId }) =>
      transactions.noteAnomaly(context, { transactionId, eventId: null, reason: 'a_reason' }),
  },
  'ledger/history-repository.ts': {
    readPage: (context, seed) =>
      history.readPage(context, seed.token, {
        operation: null,
        status: 'PROCESSING',
        from: new Date(0),
        before: { createdAt: later(seed), id: seed.sendId },
        limit: 2,
      }),
    readReceipt: (context, { token, paidId }) => history.readReceipt(context, token, paidId),
  },
  'ledger/replay-repository.ts': {
    readReplay: (context, { token }) => replays.readReplay(context, token, terms()),
    readOutcomeOfKey: (context, { token }) =>
      replays.readOutcomeOfKey(context, token, { operation: 'SEND', idempotencyKey: 'reserved' }),
  },
  'ledger/spending-limit-repository.ts': {
    findLimits: (context, { userId }) => limits.findLimits(context, userId),
    findTerms: (context, { userId, now }) => limits.findTerms(context, userId, { now }),
    findEarlierLimits: (context, { userId }) => limits.findEarlierLimits(context, userId),
    storePayeeClass: (context, { userId, sendId: id }) =>
      limits.storePayeeClass(
        context,
        { id, userId },
        {
          payeeClass: 'company',
          version: 1,
          since: null,
        },
      ),
    judgeSendsAgain: (context, { userId }) => limits.judgeSendsAgain(context, userId),
    changeLimits: (context, { userId }) =>
      limits.changeLimits(context, { userId, by: 'customer' }, (stored) => ({
        ...stored,
        day: { ...stored.day, own: { value: 10_000, next: null, nextAt: null } },
      })),
  },
  'ledger/refused-session-repository.ts': {
    allowResume: (context, { sendId }) => refusedSessions.allowResume(context, sendId),
    resumeRefused: (context, seed) => refusedSessions.resumeRefused(context, send(seed)),
    forbidResume: (context, { sendId }) => refusedSessions.forbidResume(context, sendId),
  },
  'ledger/sweep-repository.ts': {
    findStaleTransactions: (context, seed) =>
      sweep.findStaleTransactions(context, ['RESERVED', 'PAYING'], {
        untouchedSince: later(seed),
        limit: 5,
      }),
    findExpiredCharges: (context, seed) =>
      sweep.findExpiredCharges(context, { expiredBefore: later(seed), limit: 5 }),
    findUnconfirmedOrders: (context, seed) =>
      sweep.findUnconfirmedOrders(context, { acceptedBefore: later(seed), limit: 5 }),
    touchSwept: (context, { unknownId }) => sweep.touchSwept(context, [{ id: unknownId }]),
    releaseAfterCrash: (context) => sweep.releaseAfterCrash(context),
  },
  'ledger/reservation-repository.ts': {
    reserveTransaction: (context, { userId }) =>
      reservations.reserveTransaction(context, {
        ...terms(),
        userId,
        operation: 'CHARGE',
        transactionIdentification: 'b'.repeat(26),
        expiresAt: null,
      }),
    claimSend: (context, { token, now }) =>
      reservations.claimSend(context, token, { reservation: terms(), now }),
    claimJudgedSend: (context, { token, now }) => {
      const judged = { now, version: 0, isAllowed: true, isByPayee: false };
      return reservations.claimJudgedSend(context, token, { reservation: terms(), judged });
    },
  },
  'ledger/return-reservation-repository.ts': {
    claimReturn: (context, { token, receivedId }) => {
      const { id, fingerprint, amountCents, claims } = terms();
      const of = { transactionId: receivedId, returnId: returnId(2), reason: 'OTHER' };
      const requested = { id, fingerprint, amountCents, claims, idempotencyKey: 'returned' };
      return returns.claimReturn(context, token, { ...requested, ...of });
    },
  },
  'ledger/closed-key-repository.ts': {
    storeClosedKey: (context, { token }) => {
      const order = { id: randomUUID(), operation: 'SEND', idempotencyKey: 'closed' } as const;
      const unmade = { fingerprint: Buffer.alloc(32), amountCents: null, failureCode: 'CANCELLED' };
      return closedKeys.storeClosedKey(context, token, { ...order, ...unmade, mayClose: true });
    },
  },
  'ledger/payment-repository.ts': {
    beginPaying: (context, seed) =>
      payments.beginPaying(context, send(seed), {
        endToEnd: endToEnd(5),
        at: seed.now,
        owner: { name: 'Ana', document: '***' },
      }),
    recordRetry: (context, { payingId: id, now }) =>
      payments.recordRetry(
        context,
        { id, claimedUntil: new Date(now.getTime() + 60_000) },
        { attempt: 2, last: { httpStatus: 503 }, note: 'after_unknown' },
      ),
    acceptPayment: (context, seed) =>
      payments.acceptPayment(
        context,
        { ...send(seed), phase: 'PAYING', endToEnd: endToEnd(5) },
        { providerTxid: 'bank-1', attempt: 1 },
      ),
    wasStartedOnlyByUs: (context, { sendId, now }) =>
      payments.wasStartedOnlyByUs(context, { id: sendId }, { at: now }),
    hasNeverLeft: (context) => payments.hasNeverLeft(context, 'E1'),
    storeReached: (context, { sendId }) => payments.storeReached(context, sendId),
    hasReachedPayee: (context, { sendId }) => payments.hasReachedPayee(context, sendId),
    forgetReached: (context, { sendId }) => payments.forgetReached(context, sendId),
    isSettledByEvent: (context, { paidId }) => payments.isSettledByEvent(context, paidId),
    findSameKeySend: (context, seed) => payments.findSameKeySend(context, send(seed)),
  },
  'ledger/move-repository.ts': {
    moveTransaction: (context, { unknownId, eventId }) =>
      moves.moveTransaction(context, unknownId, {
        from: ['UNKNOWN'],
        to: 'ACCEPTED',
        status: 'PROCESSING',
        outcome: 'accepted',
        providerTxid: 'bank-2',
        timeline: [{ phase: 'ACCEPTED', eventId }],
      }),
  },
  'ledger/correction-repository.ts': {
    awaitsOpenReturns: (context, { failedId }) => corrections.awaitsOpenReturns(context, failedId),
    findFailedOrders: (context, seed) => {
      const period = { userId: seed.userId, from: new Date(0), until: later(seed) };
      return corrections.findFailedOrders(context, period);
    },
    correctTransaction: (context, { failedId, eventId }) =>
      corrections.correctTransaction(context, failedId, {
        endToEnd: endToEnd(4),
        providerTxid: null,
        source: fromEvent(eventId),
      }),
  },
  'ledger/overrule-repository.ts': {
    isCompletedByBank: (context, { paidId }) => overrules.isCompletedByBank(context, paidId),
    lockEventQueue: (context) => inTransaction(context, overrules.lockEventQueue),
    hasClosedLine: (context, { paidId }) => overrules.hasClosedLine(context, paidId),
    overruleTransaction: (context, { paidId: id, now: settledAt }) =>
      overrules.overruleTransaction(context, {
        id,
        settledAt,
        note: 'overruled',
        closesLine: true,
      }),
  },
  'ledger/lost-send-repository.ts': {
    findKnownSends: async (context) => [
      ...(await lostSends.findKnownSends(context, [endToEnd(3), endToEnd(8)])),
    ],
    findStoredReturns: (context, { userId }) =>
      lostSends.findStoredReturns(context, userId, [returnId(1), returnId(9)]),
    storeSendAgain: (context, seed) => lostSends.storeSendAgain(context, lost(seed)),
    findSendOfKey: (context, seed) => lostSends.findSendOfKey(context, lost(seed)),
    lockAccounts: (context, { userId }) => lostSends.lockAccounts(context, [userId]),
    blockByLine: (context, { userId, now }) =>
      lostSends.blockByLine(context, {
        userId,
        subject: endToEnd(9),
        endToEnd: endToEnd(9),
        amountCents: 700,
        day: '2026-05-23',
        blocks: 'SEND',
        readingSince: now,
      }),
  },
  'ledger/pause-repository.ts': {
    beginPause: (context, { now }) =>
      pauses.beginPause(context, { by: 'ana', reason: 'a test', lostSince: now }),
    awaitClaims: (context) => pauses.awaitClaims(context),
    findPause: (context) => pauses.findPause(context).then((found) => found?.beganAt),
    endPause: async (context) => {
      const pause = await pauses.findPause(context);
      return pause && pauses.endPause(context, pause, 'ana');
    },
    findOwedReading: (context, { userId }) => pauses.findOwedReading(context, userId),
    storeReading: async (context, { userId }) => {
      const owed = await pauses.findOwedReading(context, userId);
      return owed && pauses.storeReading(context, userId, owed);
    },
  },
};
