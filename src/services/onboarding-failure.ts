/** How a failed call to the provider stands in a step. */
import type { StepError } from '../domain/onboarding.ts';
import type { ProviderError } from '../provider/outcome.ts';

/** @returns the word for the step; the provider's own text stays in the log. */
export function stepErrorOf({ code, statusClass }: ProviderError): StepError {
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
