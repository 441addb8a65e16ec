/** Cases of the repository functions of operators. */
import * as audit from '../../../../src/operator/audit-repository.ts';
import * as inspection from '../../../../src/operator/inspection-repository.ts';
import * as jobs from '../../../../src/operator/job-admin-repository.ts';
import * as actions from '../../../../src/operator/operator-action-repository.ts';
import * as pix from '../../../../src/operator/pix-repository.ts';
import * as resolveList from '../../../../src/operator/pix-resolve-list-repository.ts';
import * as reconcile from '../../../../src/operator/reconcile-repository.ts';
import * as subjects from '../../../../src/operator/subject-repository.ts';
import * as naming from '../../../../src/operator/subject-search-repository.ts';
import { findOpenDisputes } from '../../../../src/operator/dispute-list-repository.ts';
import * as unknowns from '../../../../src/operator/unknown-repository.ts';
import { findUserSession } from '../../../../src/operator/user-session-repository.ts';
import * as users from '../../../../src/operator/user-inspection-repository.ts';
import * as webhooks from '../../../../src/operator/webhook-repository.ts';
import { nilUuid } from '../../../../src/domain/text.ts';
import { endToEnd, type Cases } from './seed.ts';

const action = { operator: 'ana', command: 'pix show', reason: 'a test' };

const which = { status: null, since: null, until: null, ids: null };

const kinds = ['transaction', 'event', 'job'] as const;

const pixCases: Cases = {
  findPixList: (context, { now }) =>
    pix.findPixList(context, { createdSince: now, amount: '10.50', limit: 10 }),
  findCorrectedPix: (context) => pix.findCorrectedPix(context, { limit: 5 }),
  countCorrectedPix: (context) => pix.countCorrectedPix(context, new Date(0)),
  findStuckPix: (context, { now }) =>
    pix.findStuckPix(context, { status: 'PROCESSING', limit: 5 }, { paying: now, accepted: now }),
  findPix: (context, { payingId }) => pix.findPix(context, payingId),
  findPixReferences: (context) => pix.findPixReferences(context, endToEnd(3)),
  findRefunds: (context, { paidId }) => pix.findRefunds(context, paidId, 5),
  findTimeline: (context, { paidId }) => pix.findTimeline(context, paidId, 5),
};

const subjectCases: Cases = {
  findSubject: (context, { userId }) => subjects.findSubject(context, userId),
  findIdentity: (context, { userId }) => subjects.findIdentity(context, userId),
  lockSubject: (context, { userId }) => subjects.lockSubject(context, userId),
  eraseSubject: (context, { userId, eventId }) =>
    subjects.eraseSubject(context, {
      userId,
      values: ['ana@example.com'],
      eventIds: [eventId],
      paidByOthers: [],
      identities: ['digest'],
    }),
};

/** The cases of each module, by its path in `src`. */
export const inspectionCases: Readonly<Record<string, Cases>> = {
  'operator/audit-repository.ts': {
    countRows: (context) => audit.countRows(context, 'event'),
    readPage: (context, { now: until }) =>
      Promise.all(
        kinds.map((kind) => audit.readPage(context, kind, { after: null, until, limit: 5 })),
      ),
    findBroken: (context, { paidId, failedId, now: auditedAt }) => {
      const page = { ids: [paidId, failedId], auditedAt };
      return Promise.all(
        audit.auditedInvariants.transaction.map((one) => audit.findBroken(context, one, page)),
      );
    },
  },
  'operator/inspection-repository.ts': {
    readBacklog: (context) => inspection.readBacklog(context),
    readServerState: async (context) => {
      const { now, ...state } = await inspection.readServerState(context);
      return { ...state, now: now instanceof Date };
    },
    readWebhookState: (context) =>
      inspection.readWebhookState(context, { refusedSince: new Date(0), unreadSince: new Date(0) }),
  },
  'operator/job-admin-repository.ts': {
    findJobs: (context) => jobs.findJobs(context, { status: 'dead', limit: 5 }),
    findJobStatuses: async (context, { jobId, deadJobId }) => [
      ...(await jobs.findJobStatuses(context, [jobId, deadJobId])),
    ],
    findDeadJobs: (context) => jobs.findDeadJobs(context, { kind: 'test', after: '0', limit: 5 }),
    countJobsByStatus: (context) => jobs.countJobsByStatus(context),
    queueDeadJobs: (context, { deadJobId }) => jobs.queueDeadJobs(context, [deadJobId]),
  },
  'operator/operator-action-repository.ts': {
    recordAction: (context) =>
      actions.recordAction(context, action, async () => {
        return { result: new Date(0), targets: ['pix:1'], outcome: 'done' };
      }),
    findRecentActions: async (context) => {
      const made = { command: 'pix show', target: 'pix:2', withinMs: 86_400_000 };
      return (await actions.findRecentActions(context, made)).map(({ isOwn }) => isOwn);
    },
    recordReading: (context) => actions.recordReading(context, action, ['pix:2']),
    findActions: async (context) =>
      (await actions.findActions(context, { operator: 'an', limit: 5 })).map(({ target, at }) => {
        return { target, at: at instanceof Date };
      }),
  },
  'operator/pix-repository.ts': pixCases,
  'operator/pix-resolve-list-repository.ts': {
    findOrdersForBank: async (context, { now }) =>
      (
        await resolveList.findOrdersForBank(context, {
          attemptedUntil: now,
          after: nilUuid,
          limit: 5,
        })
      ).map(({ phase }) => phase),
    findNamedPix: async (context, { paidId }) => [
      ...(await resolveList.findNamedPix(context, [paidId, endToEnd(4)])),
    ],
  },
  'operator/reconcile-repository.ts': {
    findDifferences: (context) =>
      reconcile.findDifferences(context, { all: true, blocking: false, limit: 5 }),
    findUnreadDays: (context) => reconcile.findUnreadDays(context, { limit: 5 }),
    acceptDifferences: (context) => reconcile.acceptDifferences(context, ['1']),
  },
  'operator/dispute-list-repository.ts': {
    findOpenDisputes: (context) => findOpenDisputes(context, 5),
  },
  'operator/unknown-repository.ts': {
    findUnknownResponses: (context) =>
      unknowns.findUnknownResponses(context, { shown: 2, limit: 5 }),
    countUnlisted: (context) => unknowns.countUnlisted(context),
    findRefusedOrders: (context) =>
      unknowns.findRefusedOrders(context, { codes: ['BE17'], after: nilUuid, limit: 5 }),
  },
  'operator/user-session-repository.ts': {
    findUserSession: async (context, { userId }) =>
      (await findUserSession(context, userId))?.userId ?? null,
  },
  'operator/user-inspection-repository.ts': {
    findInspectedUser: (context, { userId }) => users.findInspectedUser(context, userId),
  },
  'operator/webhook-repository.ts': {
    findEvents: (context) => webhooks.findEvents(context, which, 5),
    findEventPage: (context) =>
      webhooks.findEventPage(context, { which, after: nilUuid, limit: 5 }),
    countEventPage: (context) =>
      webhooks.countEventPage(context, { which, after: nilUuid, limit: 5 }),
    findEventIdsOfTransaction: (context, { paidId }) =>
      webhooks.findEventIdsOfTransaction(context, paidId, 5),
    findUnsettledEventIds: (context, { now }) =>
      webhooks.findUnsettledEventIds(context, { ids: [endToEnd(3)], since: now }, 5),
    findEventIdsNaming: (context, { paidId: id }) =>
      webhooks.findEventIdsNaming(context, { id, createdAt: new Date(0) }, 5),
    findEventIdsWaitingFor: (context) => webhooks.findEventIdsWaitingFor(context, 'E-1', 5),
    findEvent: (context, { eventId }) => webhooks.findEvent(context, eventId),
    acceptEvents: (context, { eventId }) => webhooks.acceptEvents(context, [eventId]),
    knownEventIds: async (context, { eventId }) => [
      ...(await webhooks.knownEventIds(context, [eventId])),
    ],
  },
  'operator/subject-repository.ts': subjectCases,
  'operator/subject-search-repository.ts': {
    findEventsNaming: (context) => naming.findEventsNaming(context, ['{}']),
    findNamedByOthers: (context, { otherUserId: userId }) =>
      naming.findNamedByOthers(context, { userId, values: ['ana@example.com'], words: ['Ana'] }),
  },
};
