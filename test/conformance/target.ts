/** What the parts of the suite share: a provider with its bank, and what is done with it first. */
import assert from 'node:assert/strict';
import { newReturnId } from '../../src/domain/pix.ts';
import type { Provider, ProviderSession, RefundOrder } from '../../src/provider/provider.ts';
import type { Bank } from '../../src/provider/sandbox/bank/bank.ts';
import type { Notify } from '../../src/provider/sandbox/bank/webhooks.ts';
import type { ManualClock } from '../support/clock.ts';
import { eventually } from '../support/eventually.ts';
import { afterFile } from '../support/suite.ts';
import {
  chargeOrder,
  failure,
  logIn,
  type Notice,
  orderFor,
  payer,
} from '../unit/provider/sandbox/bank/open-bank.ts';

/** A provider, and the bank that it asks. */
export interface Target {
  readonly provider: Provider;
  readonly bank: Bank;
  readonly clock: ManualClock;
  close(): Promise<void>;
}

export interface TargetOptions {
  /** Receives the bank's notices. */
  readonly notify: Notify;
}

export type Open = (options: TargetOptions) => Promise<Target>;

export const openingBalanceCents = 1_000_000;

export const today = { start: '2026-05-24', end: '2026-05-24' };

export const timedOut = {
  outcome: 'unknown',
  code: 'PROVIDER_TIMEOUT',
  statusClass: 'timeout',
  retryable: true,
} as const;

export const keyNotFound = {
  outcome: 'rejected',
  code: 'PIX_KEY_NOT_FOUND',
  statusClass: '404',
  retryable: false,
  reason: 'NotFound',
} as const;

export const lookUp = (key: string) => ({ key, payerId: payer.document });

export type Opened = Target & { notices(): Notice[] };

interface Served {
  readonly provider: Provider;
  readonly session: ProviderSession;
}

/** Opens a target until the end of the test file. */
export async function opened(open: Open, notify?: Notify): Promise<Opened> {
  const payloads: Buffer[] = [];
  const receive: Notify = async (payload) => void payloads.push(payload);
  const target = await open({ notify: notify ?? receive });
  afterFile(() => target.close());
  const notices = () => payloads.map((payload) => JSON.parse(payload.toString('utf8')) as Notice);
  return { ...target, notices };
}

/** Opens a target, and logs a customer in. */
export async function customer(open: Open, email?: string) {
  const target = await opened(open);
  return { ...target, session: await logIn(target.provider, email) };
}

/** Orders a payment to a magic key. */
export async function ordered(open: Open, name: string) {
  const target = await customer(open);
  const key = `${name}@ponte.test`;
  const order = await orderFor(target.provider, target.session, { key });
  return { ...target, order };
}

/** Receives a Pix of 20.00, and orders that a part of it is returned. */
export async function returning(open: Open, amountCents: number) {
  const target = await customer(open);
  const receivedCents = 2_000;
  const received = await target.bank.receive('dev@ponte.test', receivedCents);
  assert.ok(received.outcome === 'done');
  const { endToEnd } = received.value;
  const returnId = newReturnId('11165756', target.clock.now());
  const order: RefundOrder = {
    returnId,
    clientRequestId: 'return-1',
    endToEnd,
    amountCents,
    account: payer,
  };
  /** What has been returned, in centavos. */
  const returned = async (): Promise<number> => receivedCents + (await debited(target));
  const returnNotices = () =>
    target.notices().filter((notice) => JSON.stringify(notice).includes(returnId));
  return { ...target, order, returned, returnNotices };
}

/** Pays, and gives up once the bank has executed it. */
export async function paidInVain(target: Awaited<ReturnType<typeof ordered>>) {
  const { provider, session, order } = target;
  const controller = new AbortController();
  const call = failure(provider.pay({ session, order, signal: controller.signal }));
  await eventually(() => isExecuted(target), 'the payment');
  controller.abort(new Error('time is up'));
  return call;
}

async function isExecuted(target: Served): Promise<boolean> {
  return (await target.provider.balance({ session: target.session })).cents < openingBalanceCents;
}

/** What has left the account since it was opened, in centavos. */
export async function debited({ provider, session }: Served): Promise<number> {
  return openingBalanceCents - (await provider.balance({ session })).cents;
}

/** Every method with a session, called in some way. */
export function everyCall(provider: Provider, session: ProviderSession) {
  const key = 'maria@example.com';
  const order = { endToEnd: 'E', clientRequestId: 'r', key, amountCents: 1, payer };
  const refund = { ...order, returnId: newReturnId('11165756', new Date(0)), account: payer };
  return [
    provider.balance({ session }),
    provider.statement({ session, ...today }),
    provider.lookUpKey({ session, ...lookUp(key) }),
    provider.pay({ session, order: { ...order, description: null, txid: 'Pedido123' } }),
    provider.openDispute({
      session,
      order: { disputeId: 'd', endToEnd: 'E', situation: 'OTHER', details: null },
    }),
    provider.withdrawDispute({ session, dispute: { disputeId: 'd', endToEnd: 'E' } }),
    provider.readDispute({ session, dispute: { disputeId: 'd', endToEnd: 'E' } }),
    provider.refund({ session, order: refund }),
    provider.createDynamicCharge({ session, order: chargeOrder() }),
    provider.createStaticCharge({ session, order: chargeOrder() }),
    provider.listKeys({ session, account: payer }),
    provider.createKey({ session, keyType: 'CPF', key: payer.document, account: payer }),
    provider.deleteKey({ session, key, account: payer }),
  ];
}
