/**
 * The methods of the port: the same wrapper around each, and the policy of each: its lane, whether
 * its caller may abort it, whether it changes something at the provider, and whether it may be
 * repeated.
 *
 * A lane is a class of calls with its own circuit breaker and bulkhead. Calls that anonymous
 * callers start (onboarding, CEP) and calls of jobs therefore never block payments and logins, and
 * anyone's look-ups of CEPs never block the steps of applicants.
 */
import type { Provider, ProviderMethod, ProviderRequest } from '../provider.ts';

export const providerLanes = [
  'money',
  'login',
  'reads',
  'onboarding',
  'cep',
  'background',
] as const;

export type ProviderLane = (typeof providerLanes)[number];

export interface BulkheadOptions {
  /** The largest number of concurrent attempts. */
  readonly concurrent: number;
  /** The largest number of waiting attempts; further ones are refused. */
  readonly queue: number;
}

export const laneBulkheads: Readonly<Record<ProviderLane, BulkheadOptions>> = {
  money: { concurrent: 64, queue: 256 },
  login: { concurrent: 16, queue: 64 },
  reads: { concurrent: 48, queue: 192 },
  onboarding: { concurrent: 16, queue: 32 },
  cep: { concurrent: 8, queue: 16 },
  background: { concurrent: 16, queue: 64 },
};

/** The number of connections that all lanes need, so that none waits for another lane's. */
export const maxAttemptsAtOnce = providerLanes.reduce(
  (sum, lane) => sum + laneBulkheads[lane].concurrent,
  0,
);

export interface CallPolicy {
  readonly lane: ProviderLane;
  /** Whether the caller's signal aborts the call. */
  readonly abortable: boolean;
  /**
   * Whether an attempt with an unknown outcome may have changed something: the money rule applies.
   */
  readonly changes: boolean;
  /** Whether the call may be repeated after such an attempt. */
  readonly repeatable: boolean;
  /** Whether the call debits an account: PROVIDER_PAYMENT_RETRIES counts. */
  readonly debits?: true;
}

const read = { abortable: true, changes: false, repeatable: true };
/**
 * Reads that continue without their caller, because the response is needed or counts in a budget.
 */
const lookUp = { abortable: false, changes: false, repeatable: true };
const change = { abortable: false, changes: true, repeatable: true };
const debit = { ...change, debits: true } as const;
/** The provider does not recognise a repeat and would create a second random key. */
const changeOnce = { ...change, repeatable: false };

/**
 * The steps of an onboarding are repeatable, because they are idempotent at the provider; at worst
 * the person receives a second code, and the newest one is valid.
 */
const policies: Readonly<Record<ProviderMethod, CallPolicy>> = {
  login: { lane: 'login', ...lookUp },
  balance: { lane: 'reads', ...read },
  statement: { lane: 'reads', ...read },
  lookUpKey: { lane: 'money', ...lookUp },
  readCode: { lane: 'money', ...lookUp },
  pay: { lane: 'money', ...debit },
  openDispute: { lane: 'reads', ...change },
  withdrawDispute: { lane: 'reads', ...change },
  readDispute: { lane: 'reads', ...read },
  refund: { lane: 'money', ...debit },
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
  lookUpCep: { lane: 'cep', ...read },
};

/**
 * Returns the policy of a call. Calls that a job makes in a banking session use the lane
 * `background`.
 *
 * @param isBackground whether a job makes the call.
 */
export function callPolicy(method: ProviderMethod, isBackground = false): CallPolicy {
  const policy = policies[method];
  const movesAside = isBackground && policy.lane !== 'onboarding';
  return movesAside ? { ...policy, lane: 'background' } : policy;
}

/** One method of the port. */
export type ProviderCall<Request extends ProviderRequest, Response> = (
  request: Request,
) => Promise<Response>;

/** Makes the call that replaces a method of the port. */
export type CallWrapper = <Request extends ProviderRequest, Response>(
  method: ProviderMethod,
  call: ProviderCall<Request, Response>,
) => ProviderCall<Request, Response>;

/** @returns a provider whose every method is wrapped. */
export function wrapProvider(provider: Provider, wrap: CallWrapper): Provider {
  const wrapped = (Object.keys(policies) as ProviderMethod[]).map((method) => [
    method,
    wrap(method, (request: never): Promise<unknown> => provider[method](request)),
  ]);
  return Object.fromEntries(wrapped) as Provider;
}
