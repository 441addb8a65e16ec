/**
 * The points of a send at which a test can crash the process, in the order of a send.
 */
export const crashPoints = [
  /** The idempotency key is about to be claimed. */
  'before-reserved',
  'after-reserved',
  /** The directory has answered, and the end-to-end id is not stored yet. */
  'after-look-up',
  /** PAYING is stored, and the payment is not sent yet. */
  'after-paying',
  /** The provider has answered the payment, and its response is not stored yet. */
  'after-payment',
  /** The outcome is stored, and the app has no response yet. */
  'after-recorded',
] as const;

export type CrashPoint = (typeof crashPoints)[number];
