/**
 * The table of ops, by the name of the command. The file of an op is loaded when its command runs:
 * all of them together would take half of a command's time.
 */
import type { Op } from './op.ts';

export const ops = {
  'inspect database': async () => (await import('./inspect-database.ts')).inspectDatabase,
  'migrate status': async () => (await import('./migrate.ts')).migrateStatus,
  'migrate up': async () => (await import('./migrate.ts')).migrateUpOp,
  'migrate down': async () => (await import('./migrate.ts')).migrateDownOp,
  'user create': async () => (await import('./users.ts')).createUser,
  'user create-dev': async () => (await import('./ensure-dev-user.ts')).createDevUser,
  'user list': async () => (await import('./users.ts')).listUsers,
  'user show': async () => (await import('./user-show.ts')).showUser,
  'user identify': async () => (await import('./users.ts')).identifyUser,
  'user disable': async () => (await import('./users.ts')).disableUser,
  'user enable': async () => (await import('./users.ts')).enableUser,
  'user reset-password': async () => (await import('./users.ts')).resetPassword,
  'account block': async () => (await import('./accounts.ts')).blockAccount,
  'account unblock': async () => (await import('./accounts.ts')).unblockAccount,
  'limit show': async () => (await import('./spending-limits.ts')).showLimits,
  'limit set': async () => (await import('./spending-limits.ts')).setLimits,
  'limit restore': async () => (await import('./spending-limits.ts')).restoreLimits,
  'subject export': async () => (await import('./subjects.ts')).exportSubject,
  'subject erase': async () => (await import('./subjects.ts')).eraseUser,
  'events list': async () => (await import('./app-events.ts')).listEvents,
  'events resend': async () => (await import('./app-events.ts')).resendEvents,
  'audit list': async () => (await import('./audit.ts')).listActions,
  'audit events': async () => (await import('./audit.ts')).listSecurityEvents,
  'request-id': async () => (await import('./audit.ts')).digestRequestId,
  'session list': async () => (await import('./sessions.ts')).listSessions,
  'session revoke': async () => (await import('./sessions.ts')).revokeSession,
  'webhook accept': async () => (await import('./webhook-accept.ts')).acceptWebhooks,
  'webhook list': async () => (await import('./webhooks.ts')).listWebhooks,
  'webhook replay': async () => (await import('./webhook-replay.ts')).replayWebhooks,
  'webhook send': async () => (await import('./webhook-send.ts')).composeWebhook,
  'webhook show': async () => (await import('./webhooks.ts')).showWebhook,
  'jobs list': async () => (await import('./jobs.ts')).listJobs,
  'jobs retry': async () => (await import('./jobs.ts')).retryJobs,
  'jobs stats': async () => (await import('./jobs.ts')).countJobs,
  reconcile: async () => (await import('./reconcile.ts')).reconcileOp,
  'reconcile list': async () => (await import('./reconcile.ts')).listDifferences,
  'reconcile waiting': async () => (await import('./reconcile.ts')).listWaiting,
  'reconcile accept': async () => (await import('./reconcile.ts')).acceptOp,
  'pix audit': async () => (await import('./pix-audit.ts')).auditPix,
  'pix list': async () => (await import('./pix-list.ts')).listPix,
  'pix for-bank': async () => (await import('./pix-for-bank.ts')).listForBank,
  'pix resolve': async () => (await import('./pix-resolve.ts')).resolvePix,
  'pix overrule': async () => (await import('./pix-overrule.ts')).overrulePix,
  'pix resolve-list': async () => (await import('./pix-resolve-list.ts')).resolveList,
  'provider unknown': async () => (await import('./provider-unknown.ts')).listUnknown,
  'provider try': async () => (await import('./provider-try.ts')).tryCodes,
  'pix pause': async () => (await import('./pix-pause.ts')).pausePix,
  'pix resume': async () => (await import('./pix-pause.ts')).resumePix,
  'pix disputes': async () => (await import('./pix-disputes.ts')).listDisputes,
  'pix show': async () => (await import('./pix-show.ts')).showPix,
} as const satisfies Readonly<Record<string, () => Promise<Op<never, unknown>>>>;

/** Loads the op of a command. */
export function loadOp(name: OpName): Promise<Op<never, unknown>> {
  return ops[name]();
}

export type OpName = keyof typeof ops;

type Loaded<Name extends OpName> = Awaited<ReturnType<(typeof ops)[Name]>>;

export type OpInput<Name extends OpName> =
  Loaded<Name> extends Op<infer Input, unknown> ? Input : never;

/** The result of an op; `never` if it is not plain JSON, as a result from another process is. */
export type OpResult<Name extends OpName> =
  Loaded<Name> extends Op<never, infer Result>
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
