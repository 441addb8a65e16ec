import { ProviderError, type ProviderErrorOptions } from '../../../src/provider/errors.ts';
import type {
  PaymentOrder,
  PaymentReceipt,
  PayRequest,
  Provider,
  ProviderRequest,
  ProviderSession,
} from '../../../src/provider/provider.ts';

/** The parts of a request that tests look at; which of them is there depends on the method. */
export type AnyRequest = ProviderRequest & Partial<PayRequest>;

export interface MadeCall {
  readonly method: string;
  readonly request: AnyRequest;
  /** The signal that the attempt was given. */
  readonly signal: AbortSignal | undefined;
}

/** What a provider does when it is called: it answers, throws, or takes its time. */
export type Step = (call: MadeCall) => unknown;

/** A provider whose every call, whatever the method, takes the next step of a script. */
export interface ScriptedProvider {
  readonly provider: Provider;
  readonly calls: MadeCall[];
}

/**
 * Makes a scripted provider.
 *
 * @param steps one for each call; the last one goes on for ever.
 */
export function scriptedProvider(...steps: Step[]): ScriptedProvider {
  const calls: MadeCall[] = [];
  const provider = new Proxy({} as Provider, {
    get: (_, method) => async (request: AnyRequest) => {
      const call = { method: String(method), request, signal: request.signal };
      calls.push(call);
      const step = steps[Math.min(calls.length, steps.length) - 1];
      return step?.(call);
    },
  });
  return { provider, calls };
}

export const order: PaymentOrder = {
  endToEnd: 'E11165756202605241530aB3dE5gH7jK',
  clientRequestId: 'key-1',
  key: 'ana@ponte.test',
  amountCents: 1050,
  description: null,
  txid: null,
  payer: { agency: '0001', accountNumber: '123456', document: '11144477735' },
};

export const receipt: PaymentReceipt = {
  endToEnd: order.endToEnd,
  clientRequestId: order.clientRequestId,
  providerTxid: 'p-1',
  status: 'PROCESSING',
};

export const session: ProviderSession = {
  userId: 7,
  token: 'token-1',
  currentToken: () => Promise.resolve('token-1'),
  expire: () => Promise.resolve(),
};

/** A step that answers. */
export function responds(value: unknown): Step {
  return () => value;
}

/** A step that fails with a ProviderError; by default a 500, which may have been executed. */
export function fails(options: Partial<ProviderErrorOptions> = {}): Step {
  return () => {
    throw failure(options);
  };
}

/** A step that never answers and obeys the signal, as the real client does. */
export const hangs: Step = ({ signal }) =>
  new Promise((_, reject) => {
    signal?.addEventListener('abort', () => reject(signal.reason as Error));
  });

/** A step that never ends, whatever its signal says. */
export const ignoresItsSignal: Step = () => new Promise(() => {});

export function failure(options: Partial<ProviderErrorOptions> = {}): ProviderError {
  return new ProviderError({
    outcome: 'unknown',
    code: 'PROVIDER_UNAVAILABLE',
    statusClass: '5xx',
    retryable: true,
    ...options,
  });
}

export const refused: Partial<ProviderErrorOptions> = {
  outcome: 'rejected',
  code: 'PROVIDER_REJECTED',
  statusClass: '4xx',
  retryable: false,
  reason: 'AC03',
};

export const notConnected: Partial<ProviderErrorOptions> = {
  outcome: 'not_sent',
  statusClass: 'connect',
};

export const tokenRefused: Partial<ProviderErrorOptions> = {
  outcome: 'not_sent',
  code: 'TOKEN_REFUSED',
  statusClass: '401',
  retryable: false,
};
