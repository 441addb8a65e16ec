/** The names of the kinds of jobs, which commands know without what the jobs do. */
export const jobKinds = [
  'settle-webhook',
  'onboarding-step',
  'deliver-app-event',
  'sweep-pix',
  'repeat-disputes',
  'reconcile',
  'reconcile-user',
  'expire-sessions',
  'purge-throttle',
  'apply-retention',
  'remove-unfinished-uploads',
  'seal-again',
  'expire-onboarding',
  'vacuum-embedded',
] as const;

export type JobKind = (typeof jobKinds)[number];
