/** How a failed call to the provider stands in a step. */
import type { StepError } from '../domain/onboarding.ts';
import type { ProviderError } from '../provider/errors.ts';
import { DamagedDocument } from './document-content.ts';

/** @returns the word for the step; the provider's own text stays in the log. */
export function stepErrorOf(error: ProviderError): StepError {
  const { code, statusClass } = error;
  if (isDamage(error)) return 'CONTENT_MISSING';
  if (statusClass === '404') return 'PROVIDER_NOT_FOUND';
  switch (code) {
    case 'PROVIDER_UNAVAILABLE':
    case 'PROVIDER_TIMEOUT':
    case 'PROVIDER_RATE_LIMITED':
    case 'PROVIDER_INVALID_RESPONSE':
      return code;
    case 'PROVIDER_REJECTED':
    case 'TOKEN_REFUSED':
    case 'PIX_KEY_NOT_FOUND':
    case 'INSUFFICIENT_FUNDS':
      return 'PROVIDER_REJECTED';
  }
}

/**
 * Whether the provider refuses for good what it was sent: the same would be refused again. A 404
 * speaks of the person or of the step, and a 429 of the time.
 */
export function isRefusal({ outcome, statusClass }: ProviderError): boolean {
  return outcome === 'rejected' && statusClass === '4xx';
}

/** Whether a call was not made because a document is not stored as it came. */
export function isDamage({ cause }: ProviderError): boolean {
  return cause instanceof DamagedDocument;
}
