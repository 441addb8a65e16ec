import type { SessionOperation } from '../context/operation.ts';
import { AppError } from '../errors.ts';
import { disputeReply, requireDisputes } from './dispute-reply.ts';
import { findDispute } from './dispute-repository.ts';

/** Shows the dispute of a payment of the caller, as it is stored. */
export const getDispute: SessionOperation<'getDispute'> = {
  access: 'session',
  async run(context, { input, principal }) {
    requireDisputes(context);
    const id = input.path.transactionId;
    const dispute = await findDispute(context, { userId: principal.user.id, id });
    if (dispute === null) throw new AppError('NOT_FOUND');
    return { status: 200, body: disputeReply(dispute) };
  },
};
