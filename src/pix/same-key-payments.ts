/**
 * Payments of different users under one Idempotency-Key. The provider knows the key as the client's
 * request id, and some providers want it to be unique among all users: what they then answer may
 * be about the other user's payment.
 */
import type { Context } from '../context.ts';
import { findKeyHolder, type KeyHolderRow } from '../db/queries/pix-transactions.ts';
import type { Duplicate } from '../provider/errors.ts';
import { noteAnomaly, type PayingRow } from './transactions.ts';

/**
 * Tells whether the refusal "duplicate" of a payment's first attempt is about another payment. By
 * itself it proves nothing: something on the way may have repeated our request, and what the
 * provider has is then this very payment. It is another one only where the refusal names it by an
 * end-to-end id, and that id is stored as a send under the same key that the provider has accepted:
 * where a key belongs to one payment, the other one was not made.
 *
 * A holder of the key that the refusal does not name is noted for an operator.
 * @returns whether our payment was provably not made.
 */
export async function isOtherPayment(
  context: Context,
  paying: PayingRow,
  { endToEnd }: Duplicate,
): Promise<boolean> {
  const holder = await keyHolder(context, paying, endToEnd);
  if (holder && !holder.is_sought) await noteShared(context, paying, holder);
  return holder?.is_sought ?? false;
}

/**
 * Tells whether a receipt that names our payment by the key alone may be another user's: an answer
 * to a second payment under one key may be the receipt of the first one.
 */
export async function mayBeOtherReceipt(context: Context, paying: PayingRow): Promise<boolean> {
  const holder = await keyHolder(context, paying, null);
  if (holder) await noteShared(context, paying, holder);
  return holder !== null;
}

async function keyHolder(
  { db }: Context,
  { id, idempotency_key: key }: PayingRow,
  endToEnd: string | null,
): Promise<KeyHolderRow | null> {
  const [holder] = await db.query<KeyHolderRow>(findKeyHolder, [key, id, endToEnd]);
  return holder ?? null;
}

async function noteShared(context: Context, { id }: PayingRow, other: KeyHolderRow): Promise<void> {
  const anomaly = { transactionId: id, eventId: null, reason: `same_key_as ${other.id}` };
  if (!(await noteAnomaly(context, anomaly))) return;
  context.metrics.pixAnomalies.inc();
  context.log.error(anomaly, "the provider's answer may be about another user's payment");
}
