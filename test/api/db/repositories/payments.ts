/** Cases of the repository functions about transactions. */
import { randomUUID } from 'node:crypto';
import * as disputes from '../../../../src/disputes/dispute-repository.ts';
import { noteAnalysis } from '../../../../src/pix/analysis-repository.ts';
import * as corrections from '../../../../src/pix/correction-repository.ts';
import * as history from '../../../../src/pix/history-repository.ts';
import { announceLimits } from '../../../../src/pix/limit-event-repository.ts';
import * as limits from '../../../../src/pix/spending-limit-repository.ts';
import * as lostSends from '../../../../src/pix/lost-send-repository.ts';
import * as moves from '../../../../src/pix/move-repository.ts';
import * as pauses from '../../../../src/pix/pause-repository.ts';
import * as payments from '../../../../src/pix/payment-repository.ts';
import * as transactions from '../../../../src/pix/pix-transaction-repository.ts';
import * as replays from '../../../../src/pix/replay-repository.ts';
import * as reservations from '../../../../src/pix/reservation-repository.ts';
import * as returns from '../../../../src/pix/return-reservation-repository.ts';
import * as sweep from '../../../../src/pix/sweep-repository.ts';
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
  'pix/analysis-repository.ts': {
    noteAnalysis: (context, { unknownId }) => noteAnalysis(context, unknownId),
  },
  'pix/limit-event-repository.ts': {
    announceLimits: (context, { userId }) => announceLimits(context, userId),
  },
  'pix/pix-transaction-repository.ts': {
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
  'pix/history-repository.ts': {
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
  'pix/replay-repository.ts': {
    readReplay: (context, { token }) => replays.readReplay(context, token, terms()),
    readOutcomeOfKey: (context, { token }) =>
      replays.readOutcomeOfKey(context, token, { operation: 'SEND', idempotencyKey: 'reserved' }),
  },
  'pix/spending-limit-repository.ts': {
    findLimits: (context, { userId }) => limits.findLimits(context, userId),
    changeLimits: (context, { userId }) =>
      limits.changeLimits(context, userId, (stored) => ({
        ...stored,
        day: { ...stored.day, own: { value: 10_000, next: null, nextAt: null } },
      })),
  },
  'pix/sweep-repository.ts': {
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
  'pix/reservation-repository.ts': {
    reserveTransaction: (context, { userId }) =>
      reservations.reserveTransaction(context, {
        ...terms(),
        userId,
        operation: 'CHARGE',
        transactionIdentification: 'b'.repeat(26),
        expiresAt: null,
      }),
    reserveSend: async (context, { token }) => {
      const reserved = await reservations.reserveSend(context, token, terms());
      return { ...reserved, refuse: typeof reserved?.refuse };
    },
  },
  'pix/return-reservation-repository.ts': {
    claimReturn: (context, { token, receivedId }) => {
      const { id, fingerprint, amountCents } = terms();
      const of = { transactionId: receivedId, returnId: returnId(2), reason: 'OTHER' };
      const requested = { id, fingerprint, amountCents, idempotencyKey: 'returned' };
      return returns.claimReturn(context, token, { ...requested, ...of });
    },
  },
  'pix/payment-repository.ts': {
    beginPaying: (context, seed) =>
      payments.beginPaying(context, send(seed), {
        endToEnd: endToEnd(5),
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
    isSettledByEvent: (context, { paidId }) => payments.isSettledByEvent(context, paidId),
    findSameKeySend: (context, seed) => payments.findSameKeySend(context, send(seed)),
  },
  'pix/move-repository.ts': {
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
  'pix/correction-repository.ts': {
    awaitsOpenReturns: (context, { failedId }) => corrections.awaitsOpenReturns(context, failedId),
    findFailedOrders: (context, seed) => {
      const period = { userId: seed.userId, from: new Date(0), until: later(seed) };
      return corrections.findFailedOrders(context, period);
    },
    correctTransaction: (context, { failedId, eventId }) =>
      corrections.correctTransaction(context, failedId, {
        endToEnd: endToEnd(4),
        providerTxid: null,
        eventId,
      }),
  },
  'pix/lost-send-repository.ts': {
    findKnownSends: async (context) => [
      ...(await lostSends.findKnownSends(context, [endToEnd(3), endToEnd(8)])),
    ],
    findStoredReturns: (context, { userId }) =>
      lostSends.findStoredReturns(context, userId, [returnId(1), returnId(9)]),
    storeSendAgain: (context, seed) => lostSends.storeSendAgain(context, lost(seed)),
    findSendOfKey: (context, seed) => lostSends.findSendOfKey(context, lost(seed)),
    noteUnaccounted: (context, seed) => lostSends.noteUnaccounted(context, lost(seed)),
  },
  'pix/pause-repository.ts': {
    beginPause: (context, { now }) =>
      pauses.beginPause(context, { by: 'ana', reason: 'a test', lostSince: now }),
    findPause: (context) => pauses.findPause(context).then((found) => found?.beganAt),
    endPause: async (context) => {
      const id = (await pauses.findPause(context))?.id ?? 0;
      return pauses.endPause(context, { id, by: 'ana' });
    },
    findOwedReading: (context, { userId }) => pauses.findOwedReading(context, userId),
    storeReading: async (context, { userId }) => {
      const owed = await pauses.findOwedReading(context, userId);
      return owed && pauses.storeReading(context, userId, owed);
    },
  },
};
