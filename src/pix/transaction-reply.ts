/** How a stored send or charge is answered, the first time and on every repeat. */
import { outcomeOf } from '../domain/pix.ts';
import type { PixTransactionRow, PixViewRow } from './transactions.ts';

const replayedHeader = { 'Idempotency-Replayed': 'true' } as const;

/** The answer to a send: what is known of the payment stands in `Pix-Outcome`. */
export function pixReply(transaction: PixTransactionRow, { replayed }: { replayed: boolean }) {
  return {
    status: 200,
    body: {
      transaction_id: transaction.id,
      status: transaction.status,
      ...(transaction.end_to_end !== null && { end_to_end: transaction.end_to_end }),
    },
    headers: { 'Pix-Outcome': outcomeOf(transaction), ...(replayed && replayedHeader) },
  } as const;
}

/** The answer to a charge, with its code as far as it is stored. */
export function chargeReply(transaction: PixTransactionRow, { replayed }: { replayed: boolean }) {
  return {
    status: 200,
    body: { transaction_id: transaction.id, status: transaction.status, ...codeOf(transaction) },
    headers: { ...(replayed && replayedHeader) },
  } as const;
}

/** The code of a charge, where there is one. */
export function codeOf({ qr_code: qrCode, copy_paste: copyPaste }: PixViewRow) {
  return {
    ...(qrCode !== null && { qr_code: qrCode }),
    ...(copyPaste !== null && { copy_paste: copyPaste }),
  };
}
