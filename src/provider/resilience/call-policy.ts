/**
 * What may be done with a call of each method: which lane it takes, whether its caller may stop it,
 * whether it changes something at the provider, and whether it may be repeated.
 *
 * Lanes are classes of calls that cannot hold each other up: each has a circuit breaker and a
 * bulkhead of its own. Calls that anonymous callers start (the steps of an onboarding, a CEP) and
 * calls of jobs so never stop payments and logins.
 */
import type { ProviderMethod } from '../provider.ts';

export const providerLanes = ['money', 'login', 'reads', 'onboarding', 'background'] as const;

export type ProviderLane = (typeof providerLanes)[number];

export interface BulkheadOptions {
  /** How many attempts are under way at once. */
  readonly concurrent: number;
  /** How many attempts may wait for a place; one more is refused. */
  readonly queue: number;
}

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

export interface CallPolicy {
  readonly lane: ProviderLane;
  /** Whether the caller's signal stops the call. */
  readonly abortable: boolean;
  /** Whether an attempt with an unknown end may have changed something: the money rule applies. */
  readonly changes: boolean;
  /** Whether the call may be repeated after such an attempt. */
  readonly repeatable: boolean;
}

const read = { abortable: true, changes: false, repeatable: true };
/** Reads that go on without their caller: their answer is needed or costs a budget. */
const lookUp = { abortable: false, changes: false, repeatable: true };
const change = { abortable: false, changes: true, repeatable: true };
/** The provider cannot recognise a repeat: it would make a second random key. */
const changeOnce = { ...change, repeatable: false };

/**
 * The steps of an onboarding are repeatable, because the provider keeps what it has; at worst the
 * person receives a second code, and the newest one counts.
 */
const policies: Readonly<Record<ProviderMethod, CallPolicy>> = {
  login: { lane: 'login', ...lookUp },
  balance: { lane: 'reads', ...read },
  statement: { lane: 'reads', ...read },
  lookUpKey: { lane: 'money', ...lookUp },
  pay: { lane: 'money', ...change },
  createDynamicCharge: { lane: 'money', ...change },
  createStaticCharge: { lane: 'money', ...change },
  listKeys: { lane: 'reads', ...read },
  createKey: { lane: 'reads', ...changeOnce },
  deleteKey: { lane: 'reads', ...change },
  registerPerson: { lane: 'onboarding', ...change },
  submitAddress: { lane: 'onboarding', ...change },
  submitDocument: { lane: 'onboarding', ...change },
  submitProposal: { lane: 'onboarding', ...change },
  requestValidation: { lane: 'onboarding', ...change },
  confirmValidation: { lane: 'onboarding', ...change },
  startLivenessCheck: { lane: 'onboarding', ...change },
  kyc: { lane: 'onboarding', ...read },
  lookUpCep: { lane: 'onboarding', ...read },
};

/**
 * The policy of a call. Calls that a job makes in a banking session take the lane `background`.
 *
 * @param isBackground whether a job makes the call.
 */
export function callPolicy(method: ProviderMethod, isBackground = false): CallPolicy {
  const policy = policies[method];
  const movesAside = isBackground && policy.lane !== 'onboarding';
  return movesAside ? { ...policy, lane: 'background' } : policy;
}
