/** A send at the reference server: each step durable before the next, one statement a step. */
import { createHash, randomUUID } from 'node:crypto';
import * as statements from './database.ts';
import type { Query } from './database.ts';
import type { AccountRef } from '../../../src/provider/provider.ts';
import { answerOf, type Bank } from './provider.ts';

export interface TransactionRow {
  readonly id: string;
  readonly status: string;
  readonly phase: string;
  readonly outcome: string | null;
  readonly end_to_end: string | null;
  readonly fingerprint: Buffer;
  readonly qr_code: string | null;
  readonly copy_paste: string | null;
}

export interface SendRequest {
  readonly userId: number;
  readonly token: string;
  readonly account: AccountRef;
  readonly key: string;
  readonly body: {
    readonly pix_key: string;
    readonly amount: number;
    readonly description?: string;
  };
}

export interface Sent {
  readonly transaction: TransactionRow;
  readonly replayed: boolean;
}

/** @returns what became of the send, or null when the key belongs to another request. */
export function createSend(query: Query, bank: Bank) {
  return async (request: SendRequest): Promise<Sent | null> => {
    const { userId, token, account, key, body } = request;
    const id = randomUUID();
    const pixKey = body.pix_key.trim().toLowerCase();
    const amountCents = Math.round(body.amount * 100);
    const fingerprint = createHash('sha256')
      .update(JSON.stringify([pixKey, amountCents, body.description ?? null]))
      .digest();
    const [reserved] = await query(statements.reserve, [
      id,
      userId,
      key,
      fingerprint,
      (amountCents / 100).toFixed(2),
      pixKey,
      body.description ?? null,
    ]);
    if (!reserved) {
      const [known] = await query<TransactionRow>(statements.findByKey, [userId, key]);
      if (!known?.fingerprint.equals(fingerprint)) return null;
      return { transaction: known, replayed: true };
    }
    let endToEnd: string;
    try {
      const lookUp = { payerId: account.document, key: pixKey };
      ({ endToEnd } = await answerOf(bank.lookUpKey(token, lookUp)));
    } catch (error) {
      await query(statements.recordNotSent, [id]);
      throw error;
    }
    await query(statements.beginPaying, [id, endToEnd]);
    const order = { endToEnd, clientRequestId: key, key: pixKey, amountCents, payer: account };
    const description = body.description ?? null;
    const outcome = await answerOf(bank.pay(token, { ...order, description, txid: null }))
      .then(({ providerTxid }) => ['ACCEPTED', 'accepted', providerTxid])
      .catch(() => ['UNKNOWN', 'unknown', null]);
    const [transaction] = await query<TransactionRow>(statements.recordOutcome, [id, ...outcome]);
    if (!transaction) throw new Error('an outcome was not stored');
    return { transaction, replayed: false };
  };
}
