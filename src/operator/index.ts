/** The table of ops, by the name of the command. */
import { digestRequestId, listActions, listSecurityEvents } from './audit.ts';
import { listEvents, resendEvents } from './app-events.ts';
import { blockAccount, unblockAccount } from './accounts.ts';
import { createDevUser } from './ensure-dev-user.ts';
import { inspectDatabase } from './inspect-database.ts';
import { setLimits, showLimits } from './limits.ts';
import { countJobs, listJobs, retryJobs } from './jobs.ts';
import { migrateDownOp, migrateStatus, migrateUpOp } from './migrate.ts';
import type { Op } from './op.ts';
import { listSessions, revokeSession } from './sessions.ts';
import { eraseUser, exportSubject } from './subjects.ts';
import {
  createUser,
  disableUser,
  enableUser,
  identifyUser,
  listUsers,
  resetPassword,
} from './users.ts';
import { auditPix } from './pix-audit.ts';
import { listPix } from './pix-list.ts';
import { resolveList } from './pix-resolve-list.ts';
import { resolvePix } from './pix-resolve.ts';
import { showPix } from './pix-show.ts';
import { tryCodes } from './provider-try.ts';
import { listUnknown } from './provider-unknown.ts';
import { listWebhooks, showWebhook } from './webhooks.ts';
import { replayWebhooks } from './webhook-replay.ts';
import { composeWebhook } from './webhook-send.ts';

export const ops = {
  'inspect database': inspectDatabase,
  'migrate status': migrateStatus,
  'migrate up': migrateUpOp,
  'migrate down': migrateDownOp,
  'user create': createUser,
  'user create-dev': createDevUser,
  'user list': listUsers,
  'user identify': identifyUser,
  'user disable': disableUser,
  'user enable': enableUser,
  'user reset-password': resetPassword,
  'account block': blockAccount,
  'account unblock': unblockAccount,
  'limit show': showLimits,
  'limit set': setLimits,
  'subject export': exportSubject,
  'subject erase': eraseUser,
  'events list': listEvents,
  'events resend': resendEvents,
  'audit list': listActions,
  'audit events': listSecurityEvents,
  'request-id': digestRequestId,
  'session list': listSessions,
  'session revoke': revokeSession,
  'webhook list': listWebhooks,
  'webhook replay': replayWebhooks,
  'webhook send': composeWebhook,
  'webhook show': showWebhook,
  'jobs list': listJobs,
  'jobs retry': retryJobs,
  'jobs stats': countJobs,
  'pix audit': auditPix,
  'pix list': listPix,
  'pix resolve': resolvePix,
  'pix resolve-list': resolveList,
  'provider unknown': listUnknown,
  'provider try': tryCodes,
  'pix show': showPix,
} as const satisfies Readonly<Record<string, Op<never, unknown>>>;

export type OpName = keyof typeof ops;

export type OpInput<Name extends OpName> =
  (typeof ops)[Name] extends Op<infer Input, unknown> ? Input : never;

/** The result of an op; `never` if it is not plain JSON, as a result from another process is. */
export type OpResult<Name extends OpName> =
  (typeof ops)[Name] extends Op<never, infer Result>
    ? Result extends Json<Result>
      ? Result
      : never
    : never;

/**
 * `T` with `never` for `undefined`, functions, and objects with methods, such as dates and buffers.
 * `unknown` is not checked.
 */
type Json<T> = unknown extends T
  ? T
  : T extends string | number | boolean | null
    ? T
    : T extends (...args: never[]) => unknown
      ? never
      : T extends object
        ? { [Key in keyof T]: Json<T[Key]> }
        : never;
