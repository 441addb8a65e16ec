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
import { openDetails } from './details.ts';
import {
  claimCall,
  endCall,
  storeCheck,
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
  const claimed = { ...dispute, situation, details };
  try {
    await storeReported(context, id, await call(context, claimed, caller));
    return null;
  } catch (error) {
    if (!(error instanceof ProviderError)) throw error;
    logFailure(context, id, error);
    const isRefused = error.outcome === 'rejected' && error.code !== 'PROVIDER_RATE_LIMITED';
    if (isRefused) return endRefused(context, { claim, dispute: claimed, caller, error });
    await endCall(context, claim, error.outcome === 'unknown' ? 'unknown' : 'not_sent');
    return error.code === 'TOKEN_REFUSED' ? error : null;
  }
}

function call(
  context: Context,
  dispute: StoredDispute,
  { session, options }: DisputeCaller,
): Promise<ReportedDisputeStatus> {
  const { provider } = context;
  const { transactionId: disputeId, endToEnd, status, situation } = dispute;
  if (status === 'OPEN' || situation === null) {
    return provider.withdrawDispute({ session, dispute: { disputeId, endToEnd }, ...options });
  }
  const order = { disputeId, endToEnd, situation, details: readDetails(context, dispute) };
  return provider.openDispute({ session, order, ...options });
}

/** A dispute whose details no key opens any more is opened without them. */
function readDetails({ sealer, log }: Context, dispute: StoredDispute): string | null {
  const details = openDetails(sealer, dispute);
  if (details !== undefined) return details;
  log.error({ transactionId: dispute.transactionId }, 'the details of a dispute cannot be opened');
  return null;
}

interface RefusedCall {
  readonly claim: DisputeClaim;
  readonly dispute: StoredDispute;
  readonly caller: DisputeCaller;
  readonly error: ProviderError;
}

/**
 * Ends a call that the provider has refused. The refusal proves nothing if an earlier call may have
 * been executed: the provider is asked what it has.
 * @returns the error; null: an earlier call was executed, or nothing is proven yet.
 */
async function endRefused(
  context: Context,
  { claim, dispute, caller, error }: RefusedCall,
): Promise<ProviderError | null> {
  const { id } = claim;
  const status = claim.mayHaveBeenDone ? await read(context, dispute, caller) : null;
  if (status === undefined) {
    await endCall(context, claim, 'rejected');
    return null;
  }
  if (status !== null && status !== claim.status) {
    await storeReported(context, id, status);
    return null;
  }
  await endCall(context, { ...claim, mayHaveBeenDone: false }, 'rejected');
  return error;
}

/**
 * Reads an open dispute at the provider, whose events may be lost, and stores its status.
 * @returns false when it could not be read.
 */
export async function checkDispute(
  context: Context,
  dispute: StoredDispute,
  caller: DisputeCaller,
): Promise<boolean> {
  const { transactionId: id } = dispute;
  await storeCheck(context, id);
  const status = await read(context, dispute, caller);
  if (status) await storeReported(context, id, status);
  else if (status === null) {
    context.log.warn({ transactionId: id }, 'the provider does not know an open dispute');
  }
  return status !== undefined;
}

/** @returns null: the provider has no such dispute; undefined: it could not be read. */
async function read(
  context: Context,
  { transactionId: disputeId, endToEnd }: StoredDispute,
  { session, options }: DisputeCaller,
): Promise<ReportedDisputeStatus | null | undefined> {
  const request = { session, dispute: { disputeId, endToEnd }, ...options };
  try {
    return await context.provider.readDispute(request);
  } catch (error) {
    if (!(error instanceof ProviderError)) throw error;
    logFailure(context, disputeId, error);
    return undefined;
  }
}

function logFailure({ log }: Context, transactionId: string, error: ProviderError): void {
  const { outcome, code, reason } = error;
  log.warn({ transactionId, outcome, code, reason }, 'a call about a dispute failed');
}
