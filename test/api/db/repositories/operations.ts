/** Cases of the repository functions about events, jobs and what operators see. */
import { nilUuid } from '../../../../src/domain/text.ts';
import { fromStatement } from '../../../../src/domain/pix.ts';
import * as outbox from '../../../../src/app-events/outbox-repository.ts';
import * as jobs from '../../../../src/jobs/job-repository.ts';
import * as pages from '../../../../src/pages/change-repository.ts';
import * as refusals from '../../../../src/process/refusal-repository.ts';
import * as retention from '../../../../src/retention/retention-repository.ts';
import * as sealed from '../../../../src/retention/sealed-value-repository.ts';
import * as events from '../../../../src/settlement/event-repository.ts';
import * as queue from '../../../../src/settlement/event-queue-repository.ts';
import * as movements from '../../../../src/settlement/movement-repository.ts';
import * as reconciliation from '../../../../src/settlement/reconciliation-repository.ts';
import * as refunds from '../../../../src/ledger/refund-repository.ts';
import * as reversals from '../../../../src/ledger/reversal-repository.ts';
import * as transactions from '../../../../src/ledger/transaction-repository.ts';
import { endToEnd, type Cases } from './seed.ts';

const day = '2026-05-23';
const noIds = { clientRequestId: null, transactionIdentification: null, providerTxid: null };

const leased = (id: string) => ({ id, kind: 'test', payload: {}, attempt: 1, worker: 'me' });

const jobCases: Cases = {
  enqueueJob: (context) =>
    jobs.enqueueJob(context, { kind: 'work', uniqueKey: 'work:1', payload: { step: `"1'` } }),
  claimJobs: (context, { now }) =>
    jobs.claimJobs(context, { worker: 'me', leasedUntil: now }, new Map([['test', 2]])),
  renewLeases: (context, { jobId, now }) =>
    jobs.renewLeases(context, { ids: [jobId], workers: ['me'] }, now),
  requeueJob: (context, { jobId, now }) =>
    jobs.requeueJob(context, leased(jobId), { runAt: now, attempts: 1, error: null }),
  finishJob: (context, { jobId }) =>
    jobs.finishJob(context, leased(jobId), { status: 'done', error: null }),
  releaseLapsedJobs: (context) =>
    jobs.releaseLapsedJobs(context, {
      maxAttempts: 3,
      running: { ids: [], workers: [] },
      periodicKinds: ['sweep'],
    }),
  releaseAllLeases: (context) => jobs.releaseAllLeases(context),
  ensurePeriodicJob: (context, { now }) => jobs.ensurePeriodicJob(context, 'sweep', now),
  bringPeriodicJobsForward: (context, { now }) =>
    jobs.bringPeriodicJobsForward(context, new Map([['sweep', now]])),
};

const eventCases: Cases = {
  storeEvent: async (context, { now }) => {
    const event = { payload: Buffer.from('{"a":1}'), receivedAt: now, dueAt: null };
    const { id, ...stored } = await events.storeEvent(context, {
      ...event,
      failedEndToEnd: null,
      sought: null,
    });
    return { ...stored, id: typeof id };
  },
  findEvent: (context, { eventId }) => events.findEvent(context, eventId),
  finishAttempt: async (context, { eventId, now }) => {
    const attempt = { eventId, status: 'ignored', items: [{ result: 'ignored' }] } as const;
    const times = { attemptedAt: now, attemptedBefore: null, begunAt: null };
    const { movedIds, ...stored } = await events.finishAttempt(context, {
      ...attempt,
      ...times,
      moves: [],
    });
    return { ...stored, movedIds: [...movedIds] };
  },
  parkAttempt: (context, { eventId, now }) =>
    events.parkAttempt(context, {
      eventId,
      status: 'parked',
      items: [{ result: 'parked' }],
      attemptedAt: now,
      attemptedBefore: null,
      begunAt: null,
      waitingSince: now,
      waits: new Set(['E-waited-for']),
      dueAt: now,
    }),
};

const queueCases: Cases = {
  enqueueEvent: (context, { eventId, now }) => queue.enqueueEvent(context, eventId, now),
  takeEvents: (context, { now }) =>
    queue.takeEvents(context, { nextAt: now, rareAt: now, underWay: [], room: 2 }),
  wakeWaitingEvents: (context) => queue.wakeWaitingEvents(context, nilUuid),
  adoptEvents: (context) => queue.adoptEvents(context),
  postponeEvent: (context, { eventId, now }) =>
    queue.postponeEvent(context, { eventId, dueAt: now }, { nextAt: now, error: null }),
  removeQueuedEvent: (context, { eventId }) => queue.removeQueuedEvent(context, eventId),
};

const settlementCases: Cases = {
  loadCandidates: (context) =>
    transactions.loadCandidates(context, {
      kind: 'received',
      ids: { ...noIds, endToEnd: endToEnd(3) },
      payee: { key: null, document: '52998224725', agency: null, accountNumber: null },
    } as never),
  findStatuses: async (context, { paidId }) => [
    ...(await transactions.findStatuses(context, [paidId])),
  ],
  storeIdentity: (context, { chargeId: transactionId }) =>
    transactions.storeIdentity(context, { transactionId, endToEnd: endToEnd(6), eventId: null }),
  storeReceived: (context, { userId, now }) =>
    transactions.storeReceived(context, fromStatement, {
      userId,
      amountCents: 500,
      pixKey: null,
      endToEnd: endToEnd(7),
      providerTxid: null,
      at: now,
    }),
};

const reconciliationCases: Cases = {
  findDueUsers: (context) =>
    reconciliation.findDueUsers(context, { day: '2026-05-22', afterUser: 0, limit: 5 }),
  countDueUsers: (context) =>
    reconciliation.countDueUsers(context, {
      day,
      afterUser: 0,
      again: { readBefore: new Date(0) },
    }),
  findStatementUser: (context, { userId }) => reconciliation.findStatementUser(context, userId),
  storeUnreadDays: (context, { userId }) =>
    reconciliation.storeUnreadDays(context, [userId], {
      first: '2026-05-20',
      last: '2026-05-21',
      reason: 'UNAVAILABLE',
    }),
  storeMissedDays: (context, { userId }) =>
    reconciliation.storeMissedDays(context, [userId], {
      oldest: '2026-05-18',
      until: '2026-05-25',
    }),
  findWaitingDays: (context, { userId }) =>
    reconciliation.findWaitingDays(context, userId, '2026-05-01'),
  findDaysAgain: (context) =>
    reconciliation.findDaysAgain(context, { oldest: '2026-05-01', limit: 5 }),
  storeReadDays: (context, { userId }) =>
    reconciliation.storeReadDays(context, {
      userId,
      first: day,
      last: day,
      differences: [],
      lines: 3,
      settled: 0,
    }),
};

const retentionCases: Cases = {
  clearAged: (context) =>
    retention.clearAged(context, { of: 'throttle', before: new Date(0), batch: 10 }),
};

const [place = sealed.sealedPlaces[0] as never] = sealed.sealedPlaces;

/** The cases of each module, by its path in `src`. */
export const operationCases: Readonly<Record<string, Cases>> = {
  'settlement/event-repository.ts': eventCases,
  'settlement/event-queue-repository.ts': queueCases,
  'ledger/transaction-repository.ts': settlementCases,
  'ledger/reversal-repository.ts': {
    storeReversal: (context, { paidId: originalId }) => {
      const reversal = { originalId, amountCents: 100, nth: 1, providerTxid: null };
      return reversals.storeReversal(context, reversal, { isDryRun: false });
    },
  },
  'ledger/refund-repository.ts': {
    storeRefund: (context, { paidId, now }) =>
      refunds.storeRefund(context, fromStatement, {
        originalId: paidId,
        endToEnd: endToEnd(3),
        operation: 'REFUND_IN',
        amountCents: 100,
        returnId: 'D-1',
        providerTxid: null,
        at: now,
      }),
  },
  'settlement/movement-repository.ts': {
    findStoredMovements: (context, { userId, now }) =>
      movements.findStoredMovements(context, {
        userId,
        from: new Date(0),
        until: new Date(now.getTime() + 1_000),
        ids: [endToEnd(3)],
      }),
  },
  'settlement/reconciliation-repository.ts': reconciliationCases,
  'jobs/job-repository.ts': jobCases,
  'app-events/outbox-repository.ts': {
    findUndelivered: (context) => outbox.findUndelivered(context, 'event-1'),
    markDelivered: (context) => outbox.markDelivered(context, 'event-1'),
    findOutbox: (context) => outbox.findOutbox(context, { state: null, limit: 5 }),
    queueAgain: (context) => outbox.queueAgain(context, { ids: ['event-1'], allDead: false }),
  },
  'process/refusal-repository.ts': {
    addRefusals: (context) => refusals.addRefusals(context, new Map([['wrong_secret', 2]])),
  },
  'pages/change-repository.ts': { lastSettled: (context) => pages.lastSettled(context) },
  'retention/retention-repository.ts': retentionCases,
  'retention/sealed-value-repository.ts': {
    findSealedByOthers: (context) =>
      sealed.findSealedByOthers(context, place, {
        prefix: Buffer.from('new'),
        after: '',
        limit: 5,
      }),
    replaceSealed: (context, { token: { sessionId } }) =>
      sealed.replaceSealed(context, place, {
        key: sessionId,
        from: Buffer.from('sealed'),
        to: Buffer.from('sealed'),
      }),
  },
};
