/** The kinds of jobs. A job is added here, in one line, after its own file. */
import { applyRetention } from './apply-retention.ts';
import { deliverAppEvent } from './deliver-app-event.ts';
import { expireOnboarding } from './expire-onboarding.ts';
import { expireSessions } from './expire-sessions.ts';
import type { JobTable } from './job.ts';
import { onboardingStep } from './onboarding-step.ts';
import { purgeThrottle } from './purge-throttle.ts';
import { removeUnfinishedUploads } from './remove-unfinished-uploads.ts';
import { sealAgain } from './seal-again.ts';
import { settleWebhook } from './settle-webhook.ts';
import { sweepPix } from './sweep-pix.ts';
import { vacuumEmbedded } from './vacuum-embedded.ts';

export const jobs: JobTable = {
  'settle-webhook': settleWebhook,
  'onboarding-step': onboardingStep,
  'deliver-app-event': deliverAppEvent,
  'sweep-pix': sweepPix,
  'expire-sessions': expireSessions,
  'purge-throttle': purgeThrottle,
  'apply-retention': applyRetention,
  'remove-unfinished-uploads': removeUnfinishedUploads,
  'seal-again': sealAgain,
  'expire-onboarding': expireOnboarding,
  'vacuum-embedded': vacuumEmbedded,
};
