/**
 * Reads the refund in an item: its return id, the payment that it refunds, and its amount.
 *
 * | format of the item | return id | refunded payment | amount |
 * |---|---|---|---|
 * | `{entity: "pix-reversal-in", body: {endToEndId, returnIdentification, amount}}` |
 *   `returnIdentification` | `endToEndId` | reais |
 * | `{event, refundTransaction: {endToEndId, value}, originalTransaction: {endToEndId}}` |
 *   `endToEndId` of the refund | that of the original | **centavos** |
 * | `{event, endToEnd, returnId, amount, status}` | `returnId` | `endToEnd` | reais |
 * | `{pix: [{endToEndId, devolucoes: [{rtrId, valor, status}]}]}` (BACEN) | `rtrId` | `endToEndId`
 *   of the PIX | reais, a text |
 *
 * A return id has the form `D…`, in any field; an end-to-end id never has. An item without
 * either cannot be tied to a payment.
 */
import { isReturnId } from '../domain/pix.ts';
import { readAmounts, type Parts } from './webhook-items.ts';
import {
  endToEndNames,
  findObjects,
  findValues,
  readCentavos,
  readId,
  readReais,
  type Fields,
} from './wire-reading.ts';

const refundObjects = ['refundtransaction', 'refund', 'reversal', 'devolucao'];
const originalObjects = ['originaltransaction', 'original'];
export const originalNames = ['originalendtoend', 'originalendtoendid'];
export const returnIdNames = [
  'returnidentification',
  'returnid',
  'rtrid',
  'refundid',
  'reversalid',
];

/** The refund that an item reports. */
export interface RefundReading {
  readonly returnId: string;
  /** The end-to-end id of the refunded payment. */
  readonly endToEnd: string;
  readonly amountCents: number;
}

/** The objects that describe the refund itself. */
export function findRefundObjects({ all }: Parts): Fields[] {
  return all.flatMap(findReturnObjects);
}

/** The objects of one object that describe a refund. */
export function findReturnObjects(fields: Fields): Fields[] {
  return findObjects(fields, ...refundObjects);
}

/** @returns the refund, or why it cannot be read. */
export function readRefund(
  parts: Parts,
): RefundReading | 'reversal' | 'contradictory_id' | 'unreadable_amount' {
  const refunds = findRefundObjects(parts);
  const originals = parts.all.flatMap((fields) => findObjects(fields, ...originalObjects));
  const objects = [...refunds, ...originals, ...parts.all];
  const named = findValues([...endToEndNames, ...originalNames], objects).map(readId);
  const ids = new Set(named.filter((id) => id !== null && !isReturnId(id)));
  const returnIds = new Set(
    [...named, ...findValues(returnIdNames, objects).map(readId)].filter(isReturnId),
  );
  if (ids.size > 1 || returnIds.size > 1) return 'contradictory_id';
  const [endToEnd] = ids;
  const [returnId] = returnIds;
  if (endToEnd === undefined || endToEnd === null || returnId === undefined) return 'reversal';
  const amounts = readRefundAmounts(parts, refunds);
  const [amountCents] = amounts;
  if (amounts.size > 1 || amountCents === undefined || amountCents === null) {
    return 'unreadable_amount';
  }
  return { returnId, endToEnd, amountCents };
}

/** Only the amount in the refund's object counts: others may be the payment's. */
function readRefundAmounts(parts: Parts, refunds: readonly Fields[]): ReadonlySet<number | null> {
  const ofRefund = new Set([
    ...findValues(['value'], refunds).map(readCentavos),
    ...findValues(['amount', 'valor'], refunds).map(readReais),
  ]);
  return ofRefund.size > 0 ? ofRefund : readAmounts(parts);
}
