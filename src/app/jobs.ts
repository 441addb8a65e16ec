/** What the jobs of each kind do. A job is added here, and its kind in `jobs/kinds.ts`. */
import { deliverAppEvent } from '../app-events/deliver-app-event.ts';
import { repeatDisputes } from '../disputes/repeat-disputes.ts';
import type { JobHandler } from '../jobs/job.ts';
import type { JobKind } from '../jobs/kinds.ts';
import {
  applyRetention,
  expireOnboarding,
  expireSessions,
  purgeThrottle,
  removeUnfinishedUploads,
  vacuumEmbedded,
} from '../retention/maintenance.ts';
import { onboardingStep } from '../onboarding/onboarding-step.ts';
import { reconcile, reconcileUserDays } from '../settlement/reconcile.ts';
import { sealAgain } from '../retention/seal-again.ts';
import { settleWebhook } from '../settlement/settle-webhook.ts';
import { sweepPix } from '../settlement/sweep-pix.ts';

export const jobs: Readonly<Record<JobKind, JobHandler>> = {
  'settle-webhook': settleWebhook,
  'onboarding-step': onboardingStep,
  'deliver-app-event': deliverAppEvent,
  'sweep-pix': sweepPix,
  'repeat-disputes': repeatDisputes,
  reconcile,
  'reconcile-user': reconcileUserDays,
  'expire-sessions': expireSessions,
  'purge-throttle': purgeThrottle,
  'apply-retention': applyRetention,
  'remove-unfinished-uploads': removeUnfinishedUploads,
  'seal-again': sealAgain,
  'expire-onboarding': expireOnboarding,
  'vacuum-embedded': vacuumEmbedded,
};
