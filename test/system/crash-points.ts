/**
 * The points of a send at which a process can be made to crash, in the order in which a send passes
 * them.
 */
export const crashPoints = [
  /** The idempotency key is about to be claimed. */
  'before-reserved',
  'after-reserved',
  /** The directory has answered, and the end-to-end id is not stored yet. */
  'after-look-up',
  /** PAYING is stored, and the payment has not left. */
  'after-paying',
  /** The provider has answered the payment, and nothing of it is stored yet. */
  'after-payment',
  /** The outcome is stored, and the app has no answer yet. */
  'after-recorded',
] as const;

export type CrashPoint = (typeof crashPoints)[number];
