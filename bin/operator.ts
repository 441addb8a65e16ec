/** Who types: the name that is recorded with what an operator changes. */
import { userInfo } from 'node:os';

/**
 * @param given the name that the operator gives with `--by`: several people may share one user.
 * @returns the user of the system, and the name given in brackets.
 */
export function operator(given?: string): string {
  return given === undefined ? systemUser() : `${systemUser()} (${given})`;
}

/** A user that the system has no name for, as in a container, has a number. */
function systemUser(): string {
  try {
    return userInfo().username;
  } catch {
    return `uid ${process.getuid?.() ?? 'unknown'}`;
  }
}
