/** How each method of the port may be treated: who may stop it, and what a repeat of it means. */
import type { ProviderCall, ProviderMethod } from './methods.ts';
import type { PaymentReceipt, PersonDocument } from './provider.ts';

export interface Manner {
  /** Whether the caller's signal stops it. */
  readonly callerMayStop: boolean;
  /** Whether an attempt without an answer may have changed something: the money rule. */
  readonly changes: boolean;
  /** Whether it may be asked for again after such an attempt. */
  readonly repeatable: boolean;
  /** Whether an answer says that what was asked for has failed. */
  saysFailed(answer: unknown): boolean;
  /** What an attempt may take beyond the time-out of a small call, in milliseconds. */
  moreTimeMs(args: readonly unknown[]): number;
}

/**
 * The slowest line that an upload is still worth on: 2 Mbit/s, some two hundred times less than
 * what stands between two data centres. Ten megabytes may so take forty seconds.
 */
const SLOWEST_BYTES_PER_MS = 256;

const small = { moreTimeMs: () => 0, saysFailed: () => false };

const reads: Manner = { callerMayStop: true, changes: false, repeatable: true, ...small };
const asks: Manner = { callerMayStop: false, changes: false, repeatable: true, ...small };
const changes: Manner = { callerMayStop: false, changes: true, repeatable: true, ...small };
/** Without an id of ours the provider cannot tell a repeat: two random keys would be made. */
const changesAnew: Manner = { ...changes, repeatable: false };
const pays: Manner = {
  ...changes,
  saysFailed: (answer) => (answer as PaymentReceipt).status === 'FAILED',
};
const uploads: Manner = {
  ...changes,
  moreTimeMs: ([, document]) =>
    Math.ceil((document as PersonDocument).sizeBytes / SLOWEST_BYTES_PER_MS),
};

/**
 * `login` is in: it asks the same provider, and an open breaker has to answer it as quickly. The
 * steps of an onboarding may all be repeated, because the provider keeps what it has; the worst of
 * it is a second code sent to the person, of which the newest counts.
 */
const manners: Readonly<Record<ProviderMethod, Manner>> = {
  login: asks,
  balance: reads,
  statement: reads,
  lookUpKey: asks,
  pay: pays,
  createDynamicCharge: changes,
  createStaticCharge: changes,
  listKeys: reads,
  createKey: changesAnew,
  deleteKey: changes,
  registerPerson: changes,
  submitAddress: changes,
  submitDocument: uploads,
  submitProposal: changes,
  requestValidation: changes,
  confirmValidation: changes,
  startLivenessCheck: changes,
  kyc: reads,
  lookUpCep: reads,
};

/** The manner of a call's method. */
export function mannerOf({ method }: ProviderCall): Manner {
  return manners[method];
}
