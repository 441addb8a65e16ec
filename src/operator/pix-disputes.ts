/** `pix disputes`: the disputes that wait for the provider, and that of one payment. */
import type { LocalContext } from '../context/context.ts';
import { findDispute, type StoredDispute } from '../disputes/dispute-repository.ts';
import { findOpenDisputes, type ListedDispute } from './dispute-list-repository.ts';
import type { Op } from './op.ts';

/** A dispute that waits for the provider; times are ISO 8601 texts. */
export type OpenDisputeView = Omit<ListedDispute, 'requestedAt' | 'withdrawalRequestedAt'> & {
  readonly requestedAt: string;
  readonly withdrawalRequestedAt: string | null;
};

/** Lists the disputes that the provider has not confirmed or decided, the oldest first. */
export const listDisputes: Op<
  { readonly limit: number },
  { readonly disputes: readonly OpenDisputeView[] }
> = {
  async run(context, { limit }) {
    const disputes = await findOpenDisputes(context, limit);
    return { disputes: disputes.map(toOpenView) };
  },
};

function toOpenView(dispute: ListedDispute): OpenDisputeView {
  const { requestedAt, withdrawalRequestedAt, ...rest } = dispute;
  return {
    ...rest,
    requestedAt: requestedAt.toISOString(),
    withdrawalRequestedAt: withdrawalRequestedAt?.toISOString() ?? null,
  };
}

/** The dispute of a payment, without what the customer has written. */
export interface DisputeView {
  readonly status: StoredDispute['status'];
  /** Null: it was opened at another channel of the bank. */
  readonly situation: StoredDispute['situation'];
  readonly requestedAt: string;
  readonly openedAt: string | null;
  readonly withdrawalRequestedAt: string | null;
  readonly endedAt: string | null;
}

/** @returns the dispute of a transaction; null: there is none. */
export async function viewDispute(
  context: Pick<LocalContext, 'db'>,
  transaction: { readonly userId: number; readonly id: string },
): Promise<DisputeView | null> {
  const dispute = await findDispute(context, transaction);
  if (dispute === null) return null;
  const { status, situation, requestedAt, openedAt, withdrawalRequestedAt, endedAt } = dispute;
  return {
    status,
    situation,
    requestedAt: requestedAt.toISOString(),
    openedAt: openedAt?.toISOString() ?? null,
    withdrawalRequestedAt: withdrawalRequestedAt?.toISOString() ?? null,
    endedAt: endedAt?.toISOString() ?? null,
  };
}
