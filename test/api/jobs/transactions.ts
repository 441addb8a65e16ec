/** Transactions as the service stores them, step by step, with ids that the test chooses. */
import { randomUUID } from 'node:crypto';
import { claimTransaction } from '../../../src/pix/idempotency.ts';
import { moveTransaction, type Move } from '../../../src/ledger/move-repository.ts';
import { newTransactionIdentification } from '../../../src/domain/pix.ts';
import type { SettlingApp } from './settling.ts';

/** What all of them cost, in centavos. */
export const amountCents = 1050;

export interface Reserved {
  readonly id: string;
  /** Stores the end-to-end id, and that the payment is about to leave. */
  pay(endToEnd: string): Promise<unknown>;
  /** Stores that the provider has accepted it, under an id of its own. */
  accept(providerTxid: string | null): Promise<unknown>;
  /** Ends it before anything has left. */
  giveUp(): Promise<unknown>;
}

/** Reserves a send under an idempotency key. */
export function reserveSend(app: SettlingApp, idempotencyKey: string): Promise<Reserved> {
  return reserve(app, { operation: 'SEND', idempotencyKey, transactionIdentification: null });
}

/** Reserves a charge under a transaction identification. */
export function reserveCharge(
  app: SettlingApp,
  transactionIdentification = newTransactionIdentification(),
  pixKey = 'ana@example.com',
): Promise<Reserved> {
  const idempotencyKey = randomUUID();
  return reserve(app, { operation: 'CHARGE', idempotencyKey, transactionIdentification, pixKey });
}

interface Ids {
  readonly operation: 'SEND' | 'CHARGE';
  readonly idempotencyKey: string;
  readonly transactionIdentification: string | null;
  readonly pixKey?: string;
}

async function reserve({ context, customer }: SettlingApp, ids: Ids): Promise<Reserved> {
  const { transaction } = await claimTransaction(context, {
    pixKey: 'ana@example.com',
    ...ids,
    id: randomUUID(),
    userId: customer.id,
    fingerprint: Buffer.from('test'),
    amountCents,
    description: null,
    claims: new Set(),
  });
  const { id } = transaction;
  const move = (changes: Partial<Move>): Promise<unknown> =>
    moveTransaction(context, id, {
      from: ['RESERVED', 'RESOLVED', 'PAYING', 'UNKNOWN'],
      status: 'PROCESSING',
      to: 'PAYING',
      timeline: [],
      ...changes,
    });
  return {
    id,
    pay: (endToEnd) => move({ from: ['RESERVED'], to: 'PAYING', endToEnd }),
    accept: (providerTxid) =>
      move({
        to: 'ACCEPTED',
        outcome: 'accepted',
        providerTxid,
        timeline: [{ phase: 'ACCEPTED' }],
      }),
    giveUp: () => move({ to: 'SETTLED', status: 'FAILED', outcome: 'not_sent' }),
  };
}
