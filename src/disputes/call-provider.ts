/**
 * The calls to the provider about a dispute. The request is stored before the call; a call whose
 * outcome is unknown, or that could not be sent, is repeated with the same id: by the same request
 * of the app, or by the job `repeat-disputes`.
 */
import type { Context } from '../context/context.ts';
import { staleAfterMs } from '../domain/call-duration.ts';
import type { ReportedDisputeStatus } from '../domain/dispute.ts';
import { ProviderError } from '../provider/errors.ts';
import type { CallOptions, ProviderSession } from '../provider/provider.ts';
import {
  claimCall,
  endCall,
  storeReported,
  type DisputeClaim,
  type StoredDispute,
} from './dispute-repository.ts';

/** The session and the options of a call. */
export interface DisputeCaller {
  readonly session: ProviderSession;
  readonly options: CallOptions;
}

/**
 * Opens a requested dispute, or withdraws an open one, unless another process does so.
 * @returns the error of a call that the provider has refused for good, or whose session has ended;
 *   null: it is done, or is repeated later.
 */
export async function callProvider(
  context: Context,
  dispute: StoredDispute,
  caller: DisputeCaller,
): Promise<ProviderError | null> {
  const { transactionId: id, status } = dispute;
  if (status !== 'REQUESTED' && status !== 'OPEN') return null;
  const durationMs = staleAfterMs(context.config.provider);
  const claim = await claimCall(context, { id, status, durationMs });
  if (claim === null) return null;
  const { situation, details } = claim;
  try {
    const claimed = { ...dispute, situation, details };
    await storeReported(context, id, await call(context, claimed, caller));
    return null;
  } catch (error) {
    if (!(error instanceof ProviderError)) throw error;
    return endFailed(context, claim, error);
  }
}

function call(
  { provider, sealer }: Context,
  { transactionId: disputeId, endToEnd, status, situation, details }: StoredDispute,
  { session, options }: DisputeCaller,
): Promise<ReportedDisputeStatus> {
  if (status === 'OPEN' || situation === null) {
    return provider.withdrawDispute({ session, dispute: { disputeId, endToEnd }, ...options });
  }
  const text = details && sealer.open(details, detailsOwner(disputeId)).toString('utf8');
  const order = { disputeId, endToEnd, situation, details: text };
  return provider.openDispute({ session, order, ...options });
}

async function endFailed(
  context: Context,
  claim: DisputeClaim,
  error: ProviderError,
): Promise<ProviderError | null> {
  const { outcome, code } = error;
  await endCall(context, claim, code === 'PROVIDER_RATE_LIMITED' ? 'not_sent' : outcome);
  const facts = { transactionId: claim.id, outcome, code, reason: error.reason };
  context.log.warn(facts, 'a call about a dispute failed');
  if (code === 'TOKEN_REFUSED') return error;
  const isFinal = outcome === 'rejected' && code !== 'PROVIDER_RATE_LIMITED';
  return isFinal && !claim.mayHaveBeenDone ? error : null;
}

/** The details of a dispute are sealed for it. */
export function detailsOwner(transactionId: string): string {
  return `dispute:${transactionId}`;
}
