/**
 * Lanes: classes of calls to the provider that cannot hold each other up. Each has a circuit
 * breaker and a bulkhead of its own. What anonymous callers can start (the steps of an onboarding,
 * the look-up of a CEP) so never closes the way of payments and logins, and neither do jobs.
 */
import type { BulkheadOptions } from './gate.ts';
import type { ProviderMethod } from './methods.ts';

export const providerLanes = ['money', 'login', 'reads', 'onboarding', 'background'] as const;

export type ProviderLane = (typeof providerLanes)[number];

/** How many attempts of each lane are under way at once, and how many may wait for a place. */
export const laneBulkheads: Readonly<Record<ProviderLane, BulkheadOptions>> = {
  money: { concurrent: 64, queue: 256 },
  login: { concurrent: 16, queue: 64 },
  reads: { concurrent: 48, queue: 192 },
  onboarding: { concurrent: 16, queue: 32 },
  background: { concurrent: 16, queue: 64 },
};

/** As many connections as attempts of all lanes, or one lane would wait for another's. */
export const mostAttemptsAtOnce = providerLanes.reduce(
  (sum, lane) => sum + laneBulkheads[lane].concurrent,
  0,
);

const laneOf: Readonly<Record<ProviderMethod, ProviderLane>> = {
  login: 'login',
  balance: 'reads',
  statement: 'reads',
  lookUpKey: 'money',
  pay: 'money',
  createDynamicCharge: 'money',
  createStaticCharge: 'money',
  listKeys: 'reads',
  createKey: 'reads',
  deleteKey: 'reads',
  registerPerson: 'onboarding',
  submitAddress: 'onboarding',
  submitDocument: 'onboarding',
  submitProposal: 'onboarding',
  requestValidation: 'onboarding',
  confirmValidation: 'onboarding',
  startLivenessCheck: 'onboarding',
  kyc: 'onboarding',
  lookUpCep: 'onboarding',
};

/**
 * The lane of a call: its method's, but for calls of a banking session that a job makes.
 *
 * @param isBackground whether a job makes the call.
 */
export function providerLane(method: ProviderMethod, isBackground = false): ProviderLane {
  const lane = laneOf[method];
  return isBackground && lane !== 'onboarding' ? 'background' : lane;
}
