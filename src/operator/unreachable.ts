import { isDatabaseUnavailable } from '../db/unavailable.ts';
import { errorParts, startFailure } from './failure-message.ts';

/** What a command works on could not be reached; the message is a sentence for the operator. */
export class UnreachableError extends Error {
  constructor(message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = 'UnreachableError';
  }
}

/**
 * @param databaseUrl the configured one, where there is one.
 * @returns what to say of an error, and whether it says that the database could not be reached: it
 *   is not there, lets nobody in, or accepts no work.
 */
export function failureOf(
  error: unknown,
  databaseUrl?: string,
): { message: string; unreachable: boolean } {
  const unreachable = errorParts(error).some(
    (part) => isDatabaseUnavailable(part) || ('code' in part && part.code === '3D000'),
  );
  return { message: startFailure(error, databaseUrl), unreachable };
}
