import { callerSession } from '../auth/banking-sessions.ts';
import { toAppError } from '../auth/provider-failure.ts';
import type { SessionOperation } from '../context/operation.ts';
import { AppError, invalidField, type Text } from '../errors.ts';
import { callProvider } from './call-provider.ts';
import { disputeReply, requireDisputes } from './dispute-reply.ts';
import { findDispute, storeWithdrawal } from './dispute-repository.ts';

/**
 * Withdraws the open dispute of a payment of the caller. It may be repeated: a dispute that is
 * withdrawn stays so. Until the provider has confirmed it, the dispute stays open.
 */
export const withdrawDispute: SessionOperation<'withdrawDispute'> = {
  access: 'session',
  async run(context, { input, principal, request }) {
    requireDisputes(context);
    const disputed = { userId: principal.user.id, id: input.path.transactionId };
    const session = callerSession(context, principal);
    const isOpen = await storeWithdrawal(context, disputed);
    const dispute = await findDispute(context, disputed);
    if (dispute === null) throw new AppError('NOT_FOUND');
    if (!isOpen) {
      if (dispute.status === 'WITHDRAWN') return { status: 200, body: disputeReply(dispute) };
      throw invalidField('transactionId', dispute.status === 'REQUESTED' ? notOpenYet : notOpen);
    }
    const options = request.callOptions;
    const error = await callProvider(context, dispute, { session, options });
    if (error !== null) throw toAppError(error);
    const withdrawn = await findDispute(context, disputed);
    return { status: 200, body: disputeReply(withdrawn ?? dispute) };
  },
};

const notOpenYet: Text = {
  en: 'The bank has not confirmed the dispute yet. Try again in a moment.',
  pt: 'O banco ainda não confirmou a contestação. Tente novamente em instantes.',
};

const notOpen: Text = {
  en: 'The dispute is not open.',
  pt: 'A contestação não está aberta.',
};
