/** What the customer has written about a dispute: sealed for the dispute's transaction. */
import { SealError, type Sealer } from '../security/sealing.ts';
import type { StoredDispute } from './dispute-repository.ts';

/** Seals the details of the dispute of a transaction. */
export function sealDetails(
  sealer: Sealer,
  { transactionId, details }: { readonly transactionId: string; readonly details: string },
): Buffer {
  return sealer.seal(details, owner(transactionId));
}

/** @returns null: there are none; undefined: no key opens them any more. */
export function openDetails(
  sealer: Sealer,
  { transactionId, details }: Pick<StoredDispute, 'transactionId' | 'details'>,
): string | null | undefined {
  if (details === null) return null;
  try {
    return sealer.open(details, owner(transactionId)).toString('utf8');
  } catch (error) {
    if (error instanceof SealError) return undefined;
    throw error;
  }
}

function owner(transactionId: string): string {
  return `dispute:${transactionId}`;
}
