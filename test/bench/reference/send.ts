/** A send at the reference server: one statement for each step, durable before the next step. */
import { createHash, randomUUID } from 'node:crypto';
import * as statements from './database.ts';
import type { Query } from './database.ts';
import type { Provider } from './provider.ts';
import type { Sealer } from './security.ts';

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

interface ReservedRow extends Omit<TransactionRow, 'id'> {
  /** Null unless the key was claimed before. */
  readonly id: string | null;
  readonly is_new: boolean;
  readonly sealed_token: Buffer;
  readonly agency: string | null;
  readonly account_number: string | null;
  readonly document: string | null;
}

export interface SendRequest {
  readonly userId: number;
  readonly sessionId: string;
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

export interface SendParts {
  readonly query: Query;
  readonly provider: Provider;
  readonly sealer: Sealer;
}

export type SendRefusal = 'no session' | 'no account' | 'key in use';

/** @returns the outcome of the send, or the reason why there is none. */
export function createSend({ query, provider, sealer }: SendParts) {
  return async (request: SendRequest): Promise<Sent | SendRefusal> => {
    const { userId, sessionId, key, body } = request;
    const id = randomUUID();
    const pixKey = body.pix_key.trim().toLowerCase();
    const amountCents = Math.round(body.amount * 100);
    const fingerprint = createHash('sha256')
      .update(JSON.stringify([pixKey, amountCents, body.description ?? null]))
      .digest();
    const [reserved] = await query<ReservedRow>(statements.reserve, [
      sessionId,
      userId,
      id,
      key,
      fingerprint,
      (amountCents / 100).toFixed(2),
      pixKey,
      body.description ?? null,
    ]);
    if (!reserved) return 'no session';
    const { agency, account_number: accountNumber, document } = reserved;
    if (!agency || !accountNumber || !document) return 'no account';
    if (!reserved.is_new) {
      const known =
        reserved.id === null
          ? (await query<TransactionRow>(statements.findByKey, [userId, key]))[0]
          : (reserved as TransactionRow);
      if (!known?.fingerprint.equals(fingerprint)) return 'key in use';
      return { transaction: known, replayed: true };
    }
    const account = { agency, accountNumber, document };
    const token = sealer.open(reserved.sealed_token, `user:${userId}`);
    let endToEnd: string;
    try {
      endToEnd = await provider.lookUpKey(token, account.document, pixKey);
    } catch (error) {
      await query(statements.recordNotSent, [id]);
      throw error;
    }
    await query(statements.beginPaying, [id, endToEnd]);
    const order = { endToEnd, clientRequestId: key, key: pixKey, amountCents, payer: account };
    const description = body.description ?? null;
    const outcome = await provider
      .pay(token, { ...order, description })
      .then((providerTxid) => ['ACCEPTED', 'accepted', providerTxid])
      .catch(() => ['UNKNOWN', 'unknown', null]);
    const [transaction] = await query<TransactionRow>(statements.recordOutcome, [id, ...outcome]);
    if (!transaction) throw new Error('the outcome was not stored');
    return { transaction, replayed: false };
  };
}
