/** The periodic clean-up: rows and bytes that are kept for a limited time only. */
import { knownAddressDays } from '../auth/user-repository.ts';
import { dayMs } from '../clock.ts';
import type { JobHandler } from '../jobs/job.ts';
import { clearAged } from './retention-repository.ts';

const hourMs = 60 * 60_000;

/**
 * Ends banking sessions whose provider token has expired, and destroys the token. They admit no
 * one by then: every request checks the time itself.
 */
export const expireSessions: JobHandler = {
  everyMs: 60_000,
  canWait: true,
  async run(context) {
    await clearAged(context, { of: 'sessions', before: context.clock.now(), batch: 1_000 });
    return undefined;
  },
};

/** Deletes counters of windows that have ended, and addresses that no user knows any more. */
export const purgeThrottle: JobHandler = {
  everyMs: 5 * 60_000,
  canWait: true,
  async run(context) {
    const now = context.clock.now();
    const knownSince = new Date(now.getTime() - knownAddressDays * dayMs);
    await clearAged(context, { of: 'throttle', before: now, batch: 1_000 });
    await clearAged(context, { of: 'addresses', before: knownSince, batch: 1_000 });
    return undefined;
  },
};

/** Removes documents whose upload broke off: they never count, and their chunks take space. */
export const removeUnfinishedUploads: JobHandler = {
  everyMs: 10 * 60_000,
  canWait: true,
  async run(context) {
    // An hour is longer than any upload takes.
    const before = new Date(context.clock.now().getTime() - hourMs);
    // A document may have many chunks, which go with it.
    await clearAged(context, { of: 'unfinishedUploads', before, batch: 10 });
    return undefined;
  },
};

/** A year: long enough to look into a complaint. */
const securityEventDays = 365;

/** Longer than a day waits for a login. */
const reconciliationDays = 90;

/** A rejected dispute may be asked about; then the bank has the text. */
const disputeDetailDays = 90;

/** Long enough to see since when a secret is wrong. */
const webhookRefusalDays = 30;

/**
 * Deletes what is kept for a number of days only: the payloads of settled webhook events, which
 * hold personal data, jobs that are done, app events that were delivered, security events, counts
 * of refused webhooks, reconciled days, closed differences, and the text of ended disputes.
 */
export const applyRetention: JobHandler = {
  everyMs: hourMs,
  maxMs: 2 * 60 * 60_000,
  canWait: true,
  async run(context) {
    const { clock, log } = context;
    const { retention } = context.config;
    const before = (days: number): Date => new Date(clock.now().getTime() - days * dayMs);
    const payloads = await clearAged(context, {
      of: 'payloads',
      before: before(retention.webhookPayloads),
      batch: 500,
    });
    const finished = { before: before(retention.finishedJobs), batch: 1_000 };
    const jobs = await clearAged(context, { of: 'doneJobs', ...finished });
    await clearAged(context, { of: 'appEvents', ...finished });
    await clearAged(context, {
      of: 'securityEvents',
      before: before(securityEventDays),
      batch: 1_000,
    });
    await clearAged(context, {
      of: 'webhookRefusals',
      before: before(webhookRefusalDays),
      batch: 1_000,
    });
    await clearAged(context, {
      of: 'disputeDetails',
      before: before(disputeDetailDays),
      batch: 1_000,
    });
    const aYear = { before: before(securityEventDays), batch: 1_000 };
    await clearAged(context, { of: 'differences', ...aYear });
    await clearAged(context, {
      of: 'reconciliations',
      before: before(reconciliationDays),
      batch: 1_000,
    });
    if (payloads + jobs > 0) log.info({ payloads, jobs }, 'retention was applied');
    return undefined;
  },
};

/**
 * Removes applications that are neither approved nor have changed for ONBOARDING_EXPIRY_DAYS, with
 * their documents and with users who have never logged in at the provider: e-mail and document are
 * free again. Where onboarding is local, no job forwards the documents: those of a decided
 * application go after a day.
 */
export const expireOnboarding: JobHandler = {
  everyMs: hourMs,
  maxMs: 2 * 60 * 60_000,
  canWait: true,
  async run(context) {
    const { config, clock, log } = context;
    const before = (days: number): Date => new Date(clock.now().getTime() - days * dayMs);
    const applications = await clearAged(context, {
      of: 'applications',
      before: before(config.retention.onboarding),
      batch: 10,
    });
    const documents = config.onboardingLocalOnly
      ? await clearAged(context, { of: 'decidedDocuments', before: before(1), batch: 10 })
      : 0;
    if (applications + documents > 0) log.info({ applications, documents }, 'onboarding expired');
    return undefined;
  },
};

/** Takes back the space of deleted rows in the embedded database; a server does it by itself. */
export const vacuumEmbedded: JobHandler = {
  everyMs: hourMs,
  maxMs: 2 * 60 * 60_000,
  canWait: true,
  async run(context) {
    await context.db.vacuum();
    return undefined;
  },
};
