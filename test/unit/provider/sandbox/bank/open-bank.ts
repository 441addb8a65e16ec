import assert from 'node:assert/strict';
import { type ManualClock, manualClock } from '../../../../support/clock.ts';
import type { Notify } from '../../../../../src/provider/sandbox/bank/webhooks.ts';
import {
  type Bank,
  type BankOptions,
  createBank,
} from '../../../../../src/provider/sandbox/bank/bank.ts';
import { Api } from '../../../../../src/provider/sandbox/api.ts';
import { createDispatcher } from '../../../../../src/provider/sandbox/dispatcher.ts';
import { createHttpClient, type HttpClient } from '../../../../../src/provider/http/client.ts';
import { createHttpProvider } from '../../../../../src/provider/http/index.ts';
import { ProviderError, type ProviderErrorOptions } from '../../../../../src/provider/errors.ts';
import type {
  AccountRef,
  ChargeOrder,
  PaymentOrder,
  Provider,
  ProviderSession,
} from '../../../../../src/provider/provider.ts';
import { dialects } from '../../../../support/dialects.ts';

export const settleMs = 1_500;

export const payer: AccountRef = {
  agency: '0001',
  accountNumber: '123456789',
  document: '11144477735',
};

/** A notice as its receiver reads it. */
export type Notice = Readonly<Record<string, unknown>>;

/** The parts of one test: the bank, the port over it, and the webhooks that it posted. */
export interface OpenBank {
  readonly bank: Bank;
  readonly provider: Provider;
  readonly clock: ManualClock;
  /** The payloads that were received, as they came. */
  readonly payloads: Buffer[];
  notices(): Notice[];
}

export function openBank(options: Partial<BankOptions> & { clock?: ManualClock } = {}): OpenBank {
  const clock = options.clock ?? manualClock();
  const payloads: Buffer[] = [];
  const receive: Notify = async (payload) => void payloads.push(payload);
  const bank = createBank({
    ispb: '11165756',
    settleMs,
    notify: receive,
    ...options,
    clock,
  });
  return {
    bank,
    provider: createHttpProvider({
      client: makeClient(bank, clock),
      clock,
      ispb: '11165756',
      dialects,
    }),
    clock,
    payloads,
    notices: () => payloads.map((payload) => JSON.parse(payload.toString('utf8')) as Notice),
  };
}

/** The real client of a bank in the same process. */
export function makeClient(bank: Bank, clock: ManualClock): HttpClient {
  const dispatcher = createDispatcher(new Api({ bank }));
  return createHttpClient({ baseUrl: 'http://bank.test', timeoutMs: 60_000, clock, dispatcher });
}

export function sessionWith(token: string): ProviderSession {
  return { userId: 1, token, currentToken: async () => token, expire: async () => {} };
}

export async function logIn(
  provider: Provider,
  email = 'dev@ponte.test',
): Promise<ProviderSession> {
  const login = await provider.login({ email, password: 'ponte-dev-password' });
  return sessionWith(login.token);
}

interface Wish {
  readonly key?: string;
  readonly amountCents?: number;
  readonly clientRequestId?: string;
}

/** Looks the key up and makes the order that pays it. */
export async function orderFor(
  provider: Provider,
  session: ProviderSession,
  { key = 'maria@example.com', amountCents = 1_050, clientRequestId = 'request-1' }: Wish = {},
): Promise<PaymentOrder> {
  const { endToEnd } = await provider.lookUpKey({ session, key, payerId: payer.document });
  const order = { endToEnd, clientRequestId, key, amountCents, payer };
  return { ...order, description: 'Almoço', txid: null };
}

/** The properties that decide what becomes of a failed call. */
export async function failure(call: Promise<unknown>): Promise<Partial<ProviderErrorOptions>> {
  const error = await call.then(
    () => assert.fail('the call should have failed'),
    (thrown: unknown) => thrown,
  );
  assert.ok(error instanceof ProviderError, `not a ProviderError: ${String(error)}`);
  const { outcome, code, statusClass, retryable, retryAfterMs, reason } = error;
  return {
    outcome,
    code,
    statusClass,
    retryable,
    ...(retryAfterMs === undefined ? {} : { retryAfterMs }),
    ...(reason === undefined ? {} : { reason }),
  };
}

export const unavailable = {
  outcome: 'unknown',
  code: 'PROVIDER_UNAVAILABLE',
  statusClass: '5xx',
  retryable: true,
} as const;

export const tokenRefused = {
  outcome: 'not_sent',
  code: 'TOKEN_REFUSED',
  statusClass: '401',
  retryable: false,
  reason: 'InvalidToken',
} as const;

/** A refusal by a rule of the bank. */
export function rejected(reason: string): Partial<ProviderErrorOptions> {
  return {
    outcome: 'rejected',
    code: 'PROVIDER_REJECTED',
    statusClass: '4xx',
    retryable: false,
    reason,
  };
}

export function chargeOrder(order: Partial<ChargeOrder> = {}): ChargeOrder {
  return {
    transactionIdentification: 'aB3dE6gH9jK2mN5pQ8sT1vW4yZ',
    key: 'dev@ponte.test',
    amountCents: 2_599,
    description: 'Mensalidade de março',
    receiverName: 'João da Conceição',
    city: 'São Paulo',
    zipcode: '01310100',
    expirationSeconds: 3_600,
    payerName: null,
    payerDocument: null,
    reusable: false,
    categoryCode: null,
    additionalData: [],
    ...order,
  };
}

/** Every call was refused for its token; of them only the orders may have been executed. */
export function assertAllRefused(
  failures: readonly Partial<ProviderErrorOptions>[],
  orders = 1,
): void {
  const doubts = failures.filter(({ outcome }) => outcome === 'unknown');
  const doubt = { ...tokenRefused, outcome: 'unknown', reason: 'INVALIDTOKEN' };
  assert.deepEqual(doubts, Array<object>(orders).fill(doubt));
  for (const one of failures) if (!doubts.includes(one)) assert.deepEqual(one, tokenRefused);
}

/** How the port reports a code that is not listed: the payment may have been executed. */
export function doubted(reason: string): Partial<ProviderErrorOptions> {
  return { ...rejected(reason), outcome: 'unknown' };
}
