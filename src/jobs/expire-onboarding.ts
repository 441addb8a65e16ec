import type { JobHandler } from './job.ts';
import { clearAged } from './retention-repository.ts';

const hourMs = 60 * 60_000;

/**
 * Removes applications that are neither approved nor have changed for ONBOARDING_EXPIRY_DAYS, with
 * their documents and with users who have never logged in at the provider: e-mail and document are
 * free again. Where onboarding is local, no job forwards the documents: those of a decided
 * application go after a day.
 */
export const expireOnboarding: JobHandler = {
  everyMs: hourMs,
  canWait: true,
  async run(context) {
    const { config, clock, log } = context;
    const before = (hours: number): Date => new Date(clock.now().getTime() - hours * hourMs);
    const applications = await clearAged(context, {
      of: 'applications',
      before: before(24 * config.retention.onboarding),
      batch: 10,
    });
    const documents = config.onboardingLocalOnly
      ? await clearAged(context, { of: 'decidedDocuments', before: before(24), batch: 10 })
      : 0;
    if (applications + documents > 0) log.info({ applications, documents }, 'onboarding expired');
    return undefined;
  },
};
