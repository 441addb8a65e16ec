/** What a reading does without when the provider does not give it. */
import { ProviderError } from '../provider/errors.ts';
import { answerTo } from '../auth/provider-failure.ts';

/**
 * Reads from the provider for an answer that can be given without it.
 *
 * @returns what it tells, or null when it does not give it, for whatever reason.
 * @throws AppError UNAUTHENTICATED when the provider has ended the banking session: then nothing
 *   that is stored is shown either.
 */
export async function unlessSilent<T>(read: () => Promise<T>): Promise<T | null> {
  try {
    return await read();
  } catch (error) {
    if (!(error instanceof ProviderError) || error.code === 'TOKEN_REFUSED') throw answerTo(error);
    return null;
  }
}
