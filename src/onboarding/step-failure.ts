/** Classifies failed provider calls for the steps of an application. */
import type { StepError } from '../domain/onboarding.ts';
import type { ProviderError } from '../provider/errors.ts';
import { DamagedDocument } from './document-content.ts';

/** @returns the error code of the step; the provider's own text is only logged. */
export function toStepError(error: ProviderError): StepError {
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
    case 'PIX_KEY_LIMIT':
    case 'PIX_KEY_TAKEN':
    case 'INSUFFICIENT_FUNDS':
      return 'PROVIDER_REJECTED';
  }
}

/**
 * Whether the provider permanently refuses the content. A 404 concerns the person or the step, and
 * a 429 is temporary.
 */
export function isRefusal({ outcome, statusClass }: ProviderError): boolean {
  return outcome === 'rejected' && statusClass === '4xx';
}

/** Whether a call was not made because a stored document is damaged. */
export function isDamage({ cause }: ProviderError): boolean {
  return cause instanceof DamagedDocument;
}
