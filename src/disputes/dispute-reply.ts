import type { PixDispute } from '../../contract/types.ts';
import { offers } from '../config/config.ts';
import type { LocalContext } from '../context/context.ts';
import { AppError } from '../errors.ts';
import type { StoredDispute } from './dispute-repository.ts';

/** Creates the reply about a dispute. */
export function disputeReply(dispute: StoredDispute): PixDispute {
  const { transactionId, status, situation, refundedAmount } = dispute;
  const { withdrawalRequestedAt, requestedAt, openedAt, endedAt } = dispute;
  return {
    transaction_id: transactionId,
    status,
    ...(situation !== null && { situation }),
    requested_at: requestedAt.toISOString(),
    ...(openedAt !== null && { opened_at: openedAt.toISOString() }),
    ...(withdrawalRequestedAt !== null && {
      withdrawal_requested_at: withdrawalRequestedAt.toISOString(),
    }),
    ...(endedAt !== null && { ended_at: endedAt.toISOString() }),
    ...(refundedAmount !== null && { refunded_amount: Number(refundedAmount) }),
  };
}

/** @throws AppError NOT_AVAILABLE where the provider does not offer disputes. */
export function requireDisputes({ config }: Pick<LocalContext, 'config'>): void {
  if (!offers(config, 'disputes')) throw new AppError('NOT_AVAILABLE');
}
