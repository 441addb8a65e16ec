import type { OpenDisputeRequest } from '../../contract/types.ts';
import { callerSession } from '../auth/banking-sessions.ts';
import { toAppError } from '../auth/provider-failure.ts';
import { dayMs } from '../clock.ts';
import type { Context } from '../context/context.ts';
import type { SessionOperation } from '../context/operation.ts';
import { disputableDays } from '../domain/dispute.ts';
import { AppError, invalidField, type FieldErrors, type Text } from '../errors.ts';
import { callProvider } from './call-provider.ts';
import { openDetails, sealDetails } from './details.ts';
import { disputeReply, requireDisputes } from './dispute-reply.ts';
import {
  findDispute,
  findDisputedPayment,
  storeRequest,
  type StoredDispute,
  type TransactionOfUser,
} from './dispute-repository.ts';

/**
 * Disputes a payment of the caller, once. A repeat with the same content gets the same dispute,
 * and calls the provider again as long as it has not answered.
 */
export const openDispute: SessionOperation<'openDispute'> = {
  access: 'session',
  async run(context, { input, principal, request }) {
    requireDisputes(context);
    const disputed = { userId: principal.user.id, id: input.path.transactionId };
    const session = callerSession(context, principal);
    const dispute = await requestOrFind(context, disputed, input.body);
    if (dispute.status !== 'REQUESTED') return { status: 200, body: disputeReply(dispute) };
    const caller = { session, options: request.callOptions };
    const error = await callProvider(context, dispute, caller);
    if (error !== null) throw toAppError(error);
    const opened = await findDispute(context, disputed);
    return { status: 200, body: disputeReply(opened ?? dispute) };
  },
};

/** @throws AppError NOT_FOUND, or VALIDATION_FAILED for a payment that cannot be disputed so. */
async function requestOrFind(
  context: Context,
  disputed: TransactionOfUser,
  content: OpenDisputeRequest,
): Promise<StoredDispute> {
  const paidSince = new Date(context.clock.now().getTime() - disputableDays * dayMs);
  const { situation, details: text } = content;
  const written = text === undefined ? null : { transactionId: disputed.id, details: text };
  const details = written && sealDetails(context.sealer, written);
  for (let tries = 0; tries < maxRequests; tries += 1) {
    const isStored = await storeRequest(context, { ...disputed, situation, details, paidSince });
    const dispute = await findDispute(context, disputed);
    if (isStored && dispute !== null) return dispute;
    // There is one already, perhaps of a concurrent request, or the payment cannot be disputed.
    if (dispute === null || dispute.status === 'REFUSED') {
      await refuseUndisputable(context, disputed, paidSince);
    }
    if (dispute !== null) return refuseOther(context, dispute, content);
  }
  throw new AppError('NOT_FOUND');
}

/** A payment may be completed after the first request has found that it is not. */
const maxRequests = 2;

/**
 * @returns the dispute, if the content is its own or can no longer be compared.
 * @throws AppError VALIDATION_FAILED by the fields that differ.
 */
function refuseOther(
  { sealer }: Context,
  dispute: StoredDispute,
  { situation, details }: OpenDisputeRequest,
): StoredDispute {
  if (dispute.situation === null) return dispute;
  const errors: Record<string, readonly Text[]> = {};
  if (dispute.situation !== situation) errors['situation'] = [disputedOtherwise];
  const stored = readDetails(sealer, dispute);
  const isOther = stored !== undefined && stored !== (details ?? null);
  if (isOther) errors['details'] = [disputedOtherwise];
  refuse(errors);
  return dispute;
}

/** @returns undefined when the details are no longer kept, or no key opens them any more. */
function readDetails(sealer: Context['sealer'], dispute: StoredDispute): string | null | undefined {
  const isForgotten = dispute.details === null && dispute.endedAt !== null;
  return isForgotten ? undefined : openDetails(sealer, dispute);
}

/** @throws AppError NOT_FOUND or VALIDATION_FAILED. */
async function refuseUndisputable(
  context: Context,
  disputed: TransactionOfUser,
  paidSince: Date,
): Promise<void> {
  const payment = await findDisputedPayment(context, disputed);
  if (payment === null) throw new AppError('NOT_FOUND');
  const { operation, status, settledAt } = payment;
  if (operation !== 'SEND') throw invalidField('transactionId', noSend);
  if (status !== 'COMPLETED' || settledAt === null) throw invalidField('transactionId', notPaid);
  if (settledAt < paidSince) throw invalidField('transactionId', tooOld);
}

function refuse(fields: FieldErrors): void {
  if (Object.keys(fields).length > 0) throw new AppError('VALIDATION_FAILED', { fields });
}

const disputedOtherwise: Text = {
  en: 'The payment is already disputed, with other content.',
  pt: 'O pagamento já foi contestado, com outro conteúdo.',
};

const noSend: Text = {
  en: 'Only a Pix that you have sent can be disputed.',
  pt: 'Só é possível contestar um Pix enviado.',
};

const notPaid: Text = {
  en: 'Only a completed payment can be disputed.',
  pt: 'Só é possível contestar um pagamento concluído.',
};

const tooOld: Text = {
  en: `A payment can be disputed for ${disputableDays} days.`,
  pt: `Um pagamento pode ser contestado por ${disputableDays} dias.`,
};
