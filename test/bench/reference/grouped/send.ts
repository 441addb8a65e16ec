/** A send at the grouped server: each step is durable before the next, and grouped with others. */
import { createHash, randomUUID } from 'node:crypto';
import type { Query } from '../database.ts';
import type { SendParts, SendRefusal, SendRequest, TransactionRow } from '../send.ts';
import { grouped, type OrdinalRow } from './batcher.ts';
import type { WriteStatements } from './statements.ts';

export type StoredSend = Pick<
  TransactionRow,
  'id' | 'status' | 'outcome' | 'end_to_end' | 'fingerprint'
>;

type Nulls<Row> = { readonly [Name in keyof Row]: Row[Name] | null };

interface ReservedRow extends OrdinalRow {
  readonly sealed_token: Buffer;
  readonly agency: string | null;
  readonly account_number: string | null;
  readonly document: string | null;
  readonly is_new: boolean;
}

interface Sent {
  readonly transaction: StoredSend;
  readonly replayed: boolean;
}

/** The number of claimed or replayed keys that are remembered: most repeats are recent. */
const maxKeys = 10_000;

/** @returns the outcome of the send, or the reason why there is none. */
export function createGroupedSend(
  { query, provider, sealer }: SendParts,
  statements: WriteStatements,
) {
  const find = findSend(query, statements);
  const reserve = grouped<ReservedRow>(query, statements.reserve);
  const move = grouped<OrdinalRow & StoredSend>(query, statements.move);
  const seen = new Set<string>();

  return async (request: SendRequest): Promise<Sent | SendRefusal> => {
    const { userId, sessionId, key, body } = request;
    const pixKey = body.pix_key.trim().toLowerCase();
    const amountCents = Math.round(body.amount * 100);
    const description = body.description ?? null;
    const fingerprint = createHash('sha256')
      .update(JSON.stringify([pixKey, amountCents, description]))
      .digest();
    const replay = async (): Promise<Sent | SendRefusal | null> => {
      const known = await find(request);
      if (typeof known === 'string' || known === null) return known;
      if (!known.fingerprint.equals(fingerprint)) return 'key in use';
      return { transaction: known, replayed: true };
    };
    const seenKey = `${userId} ${key}`;
    const early = seen.has(seenKey) ? await replay() : null;
    if (early !== null) return early;
    if (seen.size >= maxKeys) seen.clear();
    seen.add(seenKey);
    const id = randomUUID();
    const terms = [fingerprint, (amountCents / 100).toFixed(2), pixKey, description];
    const reserved = await reserve([sessionId, userId, id, key, ...terms]);
    if (!reserved) return 'no session';
    const { agency, account_number: accountNumber, document, sealed_token: sealed } = reserved;
    if (!agency || !accountNumber || !document) return 'no account';
    if (!reserved.is_new) return (await replay()) ?? 'key in use';
    const payer = { agency, accountNumber, document };
    const token = sealer.open(sealed, `user:${userId}`);
    let endToEnd: string;
    try {
      endToEnd = await provider.lookUpKey(token, document, pixKey);
    } catch (error) {
      await move([id, 'RESERVED', 'SETTLED', null, 'not_sent', null]);
      throw error;
    }
    const paying = await move([id, 'RESERVED', 'PAYING', endToEnd, null, null]);
    if (!paying) throw new Error('a send was moved by another');
    const order = { endToEnd, clientRequestId: key, key: pixKey, amountCents, payer };
    const outcome = await provider
      .pay(token, { ...order, description })
      .then((providerTxid) => ['ACCEPTED', null, 'accepted', providerTxid])
      .catch(() => ['UNKNOWN', null, 'unknown', null]);
    const transaction = await move([id, 'PAYING', ...outcome]);
    if (!transaction) throw new Error('the outcome was not stored');
    return { transaction, replayed: false };
  };
}

function findSend(query: Query, { findByKeys }: WriteStatements) {
  const find = grouped<OrdinalRow & Nulls<StoredSend>>(query, findByKeys);
  return async ({ sessionId, userId, key }: SendRequest) => {
    const known = await find([sessionId, userId, key]);
    if (!known) return 'no session' as const;
    return known.id === null ? null : (known as StoredSend);
  };
}
